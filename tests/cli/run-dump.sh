#!/bin/bash
# run-dump.sh - dump, ls, stat and check: what they print, and of which part.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
. "$(dirname "$0")/tap.sh"

json() { # ARGUMENT...: valid JSON, no key twice
    status 0 dump --json "$@" && python3 -m json.tool "$tmp/out" > "$tmp/pretty" &&
        python3 - "$tmp/out" <<'PY'
import json, sys
def once(pairs):
    if len(dict(pairs)) != len(pairs):
        sys.exit("a key stands twice")
    return dict(pairs)
json.load(open(sys.argv[1]), object_pairs_hook=once)
PY
}

# The values of a slice are those that Python takes from the whole.
slice() { # PATH SLICE
    "$DATAREP" dump --json "$tmp/all.drep" "$1" > "$tmp/whole.json" || return 1
    "$DATAREP" dump --json "$tmp/all.drep" "$1$2" > "$tmp/part.json" || return 1
    python3 - "$tmp/whole.json" "$tmp/part.json" "$2" <<'PY'
import json, sys
whole, part = (json.load(open(p))["object"]["data"] for p in sys.argv[1:3])
def parse(text):
    for one in text[1:-1].split(","):
        bounds = [int(b) if b.strip() else None for b in one.split(":")]
        yield bounds[0] if len(bounds) == 1 else slice(*bounds)
def take(value, indices):
    if not indices:
        return value
    if isinstance(indices[0], int):
        return take(value[indices[0]], indices[1:])
    return [take(v, indices[1:]) for v in value[indices[0]]]
want = take(whole, list(parse(sys.argv[3])))
if part != want:
    sys.exit("%r is not %r" % (part, want))
PY
}

# A dataset larger than any buffer, by blocks, in every form.
large() {
    python3 - > "$tmp/large.yaml" <<'PY'
print("root:\n  d:\n    dataset: DOUBLE\n    shape: [7, 300]\n    chunk: [3, 100]\n    data:")
for i in range(7):
    print("    - [" + ", ".join(str(i * 300 + k) for k in range(300)) + "]")
print("  wide: {dataset: INT, shape: [3, 2000000], fill: 7}")
PY
    "$DATAREP" create -s "$tmp/large.yaml" "$tmp/large.drep" || return 1
    "$DATAREP" dump --json "$tmp/large.drep" > "$tmp/large.json" || return 1
    python3 - "$tmp/large.json" <<'PY' || return 1
import json, sys
m = json.load(open(sys.argv[1]))["root"]["members"]
assert m["d"]["data"] == [[i * 300 + k for k in range(300)] for i in range(7)]
assert m["wide"]["data"] == [[7] * 2000000] * 3
PY
    "$DATAREP" dump "$tmp/large.drep" /d > "$tmp/large.txt" || return 1
    [ "$(sed -n 's/^    \(.*\)  # .*/\1/p' "$tmp/large.txt" | tr ',' '\n' | wc -l)" = 2100 ]
}

no_memory() { # the 24 MB of `wide` pass through blocks
    (ulimit -v 300000 && "$DATAREP" dump --json "$tmp/large.drep" /wide) > "$tmp/out"
}

broken_pipe() { # says nothing and stops early
    "$DATAREP" dump "$tmp/large.drep" 2> "$tmp/err" | head -n 3 > "$tmp/out"
    [ "$(wc -l < "$tmp/out")" = 3 ] && [ ! -s "$tmp/err" ]
}

ignored_pipe() { # the same where the signal is ignored
    (trap '' PIPE; "$DATAREP" dump "$tmp/large.drep" 2> "$tmp/err") | head -n 3 > "$tmp/out"
    [ "$(wc -l < "$tmp/out")" = 3 ] && [ ! -s "$tmp/err" ]
}

full_disk() { # ARGUMENT...
    local got
    "$DATAREP" "$@" > /dev/full 2> "$tmp/err"
    got=$?
    [ "$got" = 3 ] && grep -q "No space left" "$tmp/err"
}

locale() { # numbers do not follow it
    LC_ALL=de_DE.UTF-8 "$DATAREP" dump --json "$tmp/all.drep" > "$tmp/de.json" &&
        LC_ALL=C "$DATAREP" dump --json "$tmp/all.drep" | cmp - "$tmp/de.json"
}

check "create" status 0 create -s "$HERE/all.yaml" "$tmp/all.drep"
cd "$tmp" || exit 1
check "text" expected all-data.txt dump all.drep
check "text, no values" expected all-header.txt dump -H all.drep
check "JSON" expected all.json dump --json all.drep
check "JSON is JSON" json all.drep
check "JSON without values is JSON" json -H all.drep
check "JSON of a group is JSON" json all.drep /grid
check "JSON does not follow the locale" locale
check "ls" expected ls.txt ls all.drep
check "ls of a group" expected ls-grid.txt ls all.drep grid
check "ls -rl" expected ls-rl.txt ls -rl all.drep
check "ls of a dataset" expected ls-one.txt ls all.drep /grid/t
check "check" status 0 check all.drep
check "check --deep" status 0 check --deep all.drep
check "stat" sh -c "'$DATAREP' stat all.drep | grep -q 'bytes  payload'"
check "stat --json" sh -c "'$DATAREP' stat --json all.drep | python3 -m json.tool > json"

for s in '[0]' '[-1]' '[0:2]' '[::2]' '[1:,0]' '[:,1]' '[-2:,-1]' '[0,0]' '[5:]' '[:-1:1,0:1]' \
    '[ 0 : 2 , 1 ]'; do
    check "slice $s" slice /grid/t "$s"
done
check "slice of text" expected slice.txt dump all.drep '/grid/t[1:,::1]'
check "slice with ..." expected ellipsis.txt dump all.drep '/grid/t[...,0]'
check "a path without its slash" status 0 dump all.drep grid/t
check "a path that ends with one" status 0 dump all.drep /grid/

check "no such path" refuses 2 "nope" dump all.drep /nope
check "no such path below a dataset" refuses 2 . dump all.drep /scalar/x
check "an index outside" refuses 2 "outside" dump all.drep '/grid/t[3]'
check "too many indices" refuses 2 "more indices" dump all.drep '/grid/t[0,0,0]'
check "steps backwards" refuses 2 "positive" dump all.drep '/grid/t[::-1]'
check "no slice" refuses 2 "expected" dump all.drep '/grid/t[x]'
check "a slice of a group" refuses 2 "only datasets" dump all.drep '/grid[0]'
check "ls of what is not there" refuses 2 "nope" ls all.drep /nope

check "a large dataset" large
check "in little memory" no_memory
check "a broken pipe" broken_pipe
check "a broken pipe, ignored" ignored_pipe
check "a full disk: dump" full_disk dump all.drep
check "a full disk: dump --json" full_disk dump --json large.drep
check "a full disk: ls" full_disk ls all.drep
check "a full disk: check" full_disk check all.drep
check "a full disk: stat" full_disk stat all.drep
done_testing
