#!/bin/bash
# run-dump.sh - dump, ls, stat and check: what they print, and of which part.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# needs: deflate
# SPDX-License-Identifier: MIT
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

# Each line of --jsonl is an object of --json.
same_lines() {
    "$DATAREP" dump --json all.drep > whole.json && "$DATAREP" dump --jsonl all.drep > lines.jsonl &&
        python3 - whole.json lines.jsonl <<'PY'
import json, sys
whole = json.load(open(sys.argv[1]))
lines = [json.loads(line) for line in open(sys.argv[2])]
def walk(obj, path):
    members, dims = obj.pop("members", {}), obj.pop("dimensions", {}) if obj["kind"] == "group" else {}
    yield dict(obj, path=path)
    for name, dim in dims.items():
        yield dict(dim, path=path + "#" + name)
    for name, member in members.items():
        yield from walk(member, path.rstrip("/") + "/" + name)
want = list(walk(whole.pop("root"), "/"))
assert lines == [whole] + want
PY
}

# Of any width: no line that could be broken is longer, and the values are those of one line.
widths() {
    local w values
    "$DATAREP" dump -w 0 large.drep '/d[:2]' > rows.txt || return 1
    values=$(sed -n 's/^    \(.*\)  # .*/\1/p' rows.txt | tr ',' '\n' | tr -d ' ')
    [ "$(grep -c '# ' rows.txt)" = 2 ] || return 1
    for w in 1 20 41 79 80 81 200; do
        "$DATAREP" dump -w "$w" large.drep '/d[:2]' > narrow.txt || return 1
        [ "$values" = "$(sed -n 's/^    \(.*\)  # .*/\1/p' narrow.txt | tr ',' '\n' | tr -d ' ')" ] ||
            return 1
        ! awk -v w="$w" '/^    .*, .* # / && length > w' narrow.txt | grep . || return 1
        # Each row's index is that of its first value, which is its number in /d.
        sed -n 's/^    \([0-9]*\)\.0.*# \[\([0-9]*\),\([0-9]*\)\]/\1 \2 \3/p' narrow.txt |
            awk '$1 != $2 * 300 + $3 { print "wrong index"; exit 1 }' || return 1
    done
}

# As NumPy would have written them.
raw_bytes() {
    "$DATAREP" dump --raw all.drep /DOUBLE > raw && "$DATAREP" dump --raw --as external32 all.drep /DOUBLE > big &&
        "$DATAREP" dump --raw --as stored all.drep /DOUBLE | cmp - big && python3 - <<'PY'
import struct
want = [0.1, 1.7976931348623157e+308, 5e-324, 100, 1e22]
assert list(struct.unpack("=5d", open("raw", "rb").read())) == want
assert list(struct.unpack(">5d", open("big", "rb").read())) == want
PY
}

raw_slice() { # more than a block of elements, some of them left out
    "$DATAREP" dump --raw large.drep '/wide[::2,1:]' | python3 -c '
import sys, struct
assert sys.stdin.buffer.read() == struct.pack("=i", 7) * 2 * 1999999'
}

colours() {
    ! "$DATAREP" dump -H all.drep | grep -q "$(printf '\033')" &&
        ! NO_COLOR=1 TERM=xterm "$DATAREP" dump -H --color=auto all.drep | grep -q "$(printf '\033')" &&
        "$DATAREP" dump -H --color all.drep | grep -q "$(printf '\033')" &&
        refuses 2 "auto, always or never, not 'x'" dump --color=x all.drep
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
check "a large dataset" large
check "text" expected all-data.txt dump all.drep
check "text, no values" expected all-header.txt dump -H all.drep
check "JSON" expected all.json dump --json all.drep
check "JSON is JSON" json all.drep
check "JSON without values is JSON" json -H all.drep
check "JSON of a group is JSON" json all.drep /grid
check "JSON does not follow the locale" locale
check "JSON of one dataset" expected t.json dump --json all.drep '/grid/t[1:]'
check "JSON lines" expected all.jsonl dump --jsonl all.drep
check "JSON lines are JSON, and say the same" same_lines
check "JSON lines of a dataset" expected tracks.jsonl dump --jsonl all.drep /tracks
check "JSON lines of a matrix" expected t.jsonl dump --jsonl all.drep /grid/t
check "JSON lines of one value" expected scalar.jsonl dump --jsonl all.drep /scalar
check "JSON lines of its header" expected header.jsonl dump -H --jsonl all.drep /grid/t
check "a narrow text" expected narrow.txt dump -w 40 all.drep
check "no line is wider, and the values stay" widths
check "rows as they are" expected wide.txt dump -w 0 all.drep /UINT64_T
check "bytes as on a machine" expected as-s390x.txt dump --as native:s390x all.drep
check "bytes as stored" expected as-stored.txt dump --as stored all.drep /tracks
check "raw bytes" raw_bytes
check "raw bytes of a slice" raw_slice
check "colours" expected color.txt dump --color=always -H all.drep /grid
check "colours are asked for" colours
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
check "a name that is nearly right" refuses 2 "no such object; did you mean /grid/flat" dump all.drep /grid/falt
check "a group that is nearly right" refuses 2 "did you mean /grid/t\?" dump all.drep /gird/t
check "--as of nothing known" refuses 2 "did you mean 'native:s390x'" dump --as native:s309x all.drep
check "--as with JSON" refuses 2 "goes with" dump --json --as native all.drep
check "two forms" refuses 2 "one of" dump --json --yaml all.drep
check "--raw without a path" refuses 2 "which dataset" dump --raw all.drep
check "--raw of a group" refuses 2 "only datasets" dump --raw all.drep /grid
check "--raw of what has no bytes" refuses 4 "have no bytes as native" dump --raw all.drep /strings
check "a width that is none" refuses 2 "number of columns" dump -w x all.drep
check "ls of what is not there" refuses 2 "nope" ls all.drep /nope

# Objects are printed side by side: none is missing, each is what it is alone.
many_objects() {
    python3 -c '
print("root:")
for g in range(3):
    print(" g%d:" % g)
    for k in range(900):
        print("  d%d: {dataset: INT, shape: [%d], attrs: {next: {type: ref(object), value: /g%d}, n: %d}}" %
              (k, k, (g + 1) % 3, k))
    print("  same: {link: hard, target: /g0/d0}")' > "$tmp/many.yaml" &&
        "$DATAREP" create -s "$tmp/many.yaml" "$tmp/many.drep" &&
        "$DATAREP" dump -H "$tmp/many.drep" > "$tmp/many.txt" &&
        diff <("$DATAREP" ls -r "$tmp/many.drep" | cut -d' ' -f1) \
            <(sed -n '/^\/:/d; s/^\(\/[^:]*\): .*/\1/p' "$tmp/many.txt") || return 1
    local path
    for path in /g0/d0 /g0/d62 /g0/d63 /g0/d64 /g1/d500 /g2/d899; do
        diff <("$DATAREP" dump -H "$tmp/many.drep" $path) \
            <(sed -n "\\|^$path: |,/^\$/p" "$tmp/many.txt" | sed '/^$/d') || return 1
    done
}
# One member of each struct: what Python takes from the whole.
members() {
    cat > "$tmp/members.yaml" <<'YAML'
types:
  xy: {struct: {x: FLOAT, y: FLOAT}}
  pq: {struct: {p: SHORT, q: INT}}
  row: {struct: {id: INT, value: DOUBLE, at: xy, parts: {array: pq, shape: [2]}, "odd.name": SHORT, list: {seq: pq}}}
root:
  t:
    dataset: row
    shape: [3]
    data:
      - {id: 1, value: 1.5, at: {x: 1, y: 2}, parts: [{p: 1, q: 2}, {p: 3, q: 4}], "odd.name": 7, list: []}
      - {id: 2, value: 2.5, at: {x: 3, y: 4}, parts: [{p: 5, q: 6}, {p: 7, q: 8}], "odd.name": 8, list: [{p: 1, q: 9}]}
      - {id: 3, value: -1, at: {x: 5, y: 6}, parts: [{p: 9, q: 0}, {p: 0, q: 1}], "odd.name": 9, list: [{p: 2, q: 8}, {p: 3, q: 7}]}
  s: {dataset: xy, data: {x: 5, y: 6}}
  "t[0].id": {dataset: INT, data: 77}
YAML
    "$DATAREP" create -s "$tmp/members.yaml" "$tmp/members.drep" || return 1
    python3 - "$DATAREP" "$tmp/members.drep" <<'PY'
import json, subprocess, sys
def show(*what):
    return subprocess.run([sys.argv[1], "dump", *what], check=True, capture_output=True).stdout
def data(path):
    return json.loads(show("--json", sys.argv[2], path))["object"]["data"]
whole = data("/t")
def only(v, name):
    return [only(e, name) for e in v] if isinstance(v, list) else {name: v[name]}
for name in "id", "value", "at", "parts", "odd.name", "list":
    assert data("/t[:].%s" % name) == [e[name] for e in whole], name
    assert data("/t[2].%s" % name) == whole[2][name], name
assert data("/t[::2].at.y") == [2.0, 6.0]
assert data("/t[1:].parts.q") == [only(e["parts"], "q") for e in whole[1:]]
assert data("/t[:].list.p") == [only(e["list"], "p") for e in whole]
assert data("/s[].y") == 6.0
assert data("/t[0].id") == 77 # the object of that name
assert data("/t[0:1].id") == [1]
assert show(sys.argv[2], "/s[].x").endswith(b"data = 5.0\n")
assert show("--jsonl", sys.argv[2], "/t[:2].value") == b"1.5\n2.5\n"
assert show("--raw", "--as", "native:s390x", sys.argv[2], "/t[:].id") == bytes([0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3])
assert b"1.5, 2.5, -1.0" in show(sys.argv[2], "/t[:].value")
PY
}
check "one member of each struct" members
check "a member that is none" refuses 2 "no such member" dump members.drep "/t[1].nope"
check "a member of a number" refuses 2 "no such member" dump members.drep "/t[1].id.x"
check "a member of other commands" refuses 2 "text after the" plot --preview members.drep "/t[:].id"
check "2,700 objects" many_objects
check "in little memory" no_memory
check "a broken pipe" broken_pipe
check "a broken pipe, ignored" ignored_pipe
check "a full disk: dump" full_disk dump all.drep
check "a full disk: dump --json" full_disk dump --json large.drep
check "a full disk: ls" full_disk ls all.drep
check "a full disk: check" full_disk check all.drep
check "a full disk: stat" full_disk stat all.drep
done_testing
