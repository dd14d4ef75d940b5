#!/bin/bash
# run-convert.sh - files written anew hold what they held, as it was asked for.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# needs: deflate zstd lz4
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

cat > "$tmp/s.yaml" <<'YAML'
datarep: external32
dims: {time: unlimited, lat: 6, lon: 8}
hints: {access_style: read_mostly}
types:
  sample: {struct: {when: INT64_T, value: DOUBLE, flag: C_BOOL}}
root:
  attrs: {title: "Sea surface temperature", version: 3}
  sst: {dataset: FLOAT, dims: [time, lat, lon], chunk: [1, 4, 5], fill: .nan, attrs: {units: K}}
  grid: {dataset: DOUBLE, shape: [60, 80]}
  small: {dataset: INT, shape: [3], data: [1, -2, 3]}
  again: {link: hard, target: /grid}
  words: {dataset: vstring, shape: [2], data: [one, "two words"]}
  raw:
    log: {dataset: sample, shape: [0], maxshape: [unlimited]}
YAML
file=$tmp/a.drep

make_file() {
    status 0 create -f -s "$tmp/s.yaml" "$file" || return 1
    python3 -c 'import struct, sys
sys.stdout.buffer.write(b"".join(struct.pack("<d", i / 7) for i in range(4800)))' > "$tmp/grid"
    python3 -c 'import struct, sys
sys.stdout.buffer.write(b"".join(struct.pack("<f", i % 61) for i in range(5 * 48)))' > "$tmp/sst"
    status 0 import --type=DOUBLE -u -i /grid "$tmp/grid" "$file" &&
        status 0 import --type=FLOAT --shape=5,6,8 -a -i /sst "$tmp/sst" "$file"
}

same() { # OPTION...: what comes out has no difference and no fault
    status 0 convert -f "$@" "$file" "$tmp/b.drep" && status 0 diff "$file" "$tmp/b.drep" &&
        status 0 check --deep "$tmp/b.drep"
}

stored() { # PATTERN OPTION...: and ls -l says this of it
    local pattern=$1
    shift
    same "$@" && status 0 ls -lr "$tmp/b.drep" && { grep -E -- "$pattern" "$tmp/out" || {
        cat "$tmp/out"
        return 1
    }; }
}

# Every representation, there and back.
around() {
    local rep
    for rep in native internal external32 native:s390x native:i386 native:m68k native:ppc64; do
        same --datarep="$rep" && cp "$tmp/b.drep" "$tmp/there.drep" &&
            status 0 convert -f --datarep=external32 "$tmp/there.drep" "$tmp/b.drep" &&
            status 0 diff "$file" "$tmp/b.drep" || return 1
    done
}

vectors() {
    local v left
    for v in "$HERE"/../vectors/*.drep; do
        # Only with their functions, or by a newer version.
        case $v in */code*.drep | */later*.drep | */beyond.drep) continue ;; esac
        case $v in */reps-later.drep) continue ;; esac # only by a later version
        case $v in */readonly.drep)
            refuses 4 "partial copies what this version knows" convert -f "$v" "$tmp/v.drep" || return 1
            continue
            ;;
        esac
        left=0 # tags that only a newer version knows are in no new file: one line each
        case $v in */extended.drep) left=8 ;; */version-1-3.drep) left=3 ;; */limits.drep) left=1 ;; esac
        status $((left > 0)) convert -f --external "$v" "$tmp/v.drep" &&
            [ "$(grep -c 'left out: .*unknown tag' "$tmp/err")" = "$left" ] &&
            status 0 check "$tmp/v.drep" && ! grep "unknown tag" "$tmp/out" || return 1
        case $v in */user-filter.drep | */hdf5-unknown.drep) continue ;; esac # their elements need filters that are not here
        status 0 diff --external "$v" "$tmp/v.drep" || {
            cat "$tmp/out"
            return 1
        }
    done
}

# What a newer version wrote is left out and named, one line each; the rest is as it was.
partly() { # VECTOR LINES OPTION...
    local v=$HERE/../vectors/$1 lines=$2
    shift 2
    rm -f "$tmp/v.drep"
    refuses 4 "partial copies what this version knows" convert -f "$@" "$v" "$tmp/v.drep" &&
        [ ! -e "$tmp/v.drep" ] && status 1 convert -f --partial "$@" "$v" "$tmp/v.drep" &&
        [ "$(grep -c 'left out: ' "$tmp/err")" = "$lines" ] &&
        [ "$(wc -l < "$tmp/err")" = "$lines" ] && status 0 check --deep "$tmp/v.drep"
}

partly_all() {
    partly later.drep 9 && status 0 ls -r "$tmp/v.drep" && [ "$(wc -l < "$tmp/out")" = 2 ] &&
        partly later-chunks.drep 2 && partly later-chunks.drep 5 --filters=none &&
        partly reps-later.drep 5 && partly readonly.drep 1 &&
        status 0 diff "$HERE/../vectors/readonly.drep" "$tmp/v.drep"
}

partly_piped() {
    "$DATAREP" convert -f --partial "$HERE/../vectors/later.drep" - > "$tmp/p.drep" 2> "$tmp/err"
    [ $? = 1 ] && grep -q '/layout: left out: layout 9, ' "$tmp/err" &&
        status 0 check --deep "$tmp/p.drep"
}

in_place() {
    cp "$file" "$tmp/c.drep" && status 0 convert -f --filters=shuffle,lz4 "$tmp/c.drep" "$tmp/c.drep" &&
        status 0 diff "$file" "$tmp/c.drep" && [ "$(find "$tmp" -name '.c.drep*')" = "" ] &&
        [ "$(stat -c %s "$tmp/c.drep")" -lt "$(stat -c %s "$file")" ]
}

# Free space goes: a file whose large dataset was removed is as small as one that never had it.
smaller() {
    status 0 convert -f --root=/raw "$file" "$tmp/d.drep" && [ "$(stat -c %s "$tmp/d.drep")" -lt 16384 ]
}

declared() {
    cat > "$tmp/ibm.yaml" <<'YAML'
datarep: mainframe
datareps:
  mainframe: {order: big, types: {FLOAT: ibm-hex32, DOUBLE: ibm-hex32, LONG: {size: 4}}}
root: {}
YAML
    status 1 convert -f -s "$tmp/ibm.yaml" --range=clamp "$file" "$tmp/b.drep" &&
        grep -q 'of 4800 values, 0 overflowed, [1-9][0-9]* were rounded' "$tmp/err" &&
        status 0 convert -f "$tmp/b.drep" "$tmp/e.drep" && status 0 diff "$tmp/b.drep" "$tmp/e.drep" &&
        status 0 dump -H "$tmp/e.drep" && grep -q '^datarep: mainframe' "$tmp/out"
}

commit() {
    status 0 convert -f --commit=1 "$HERE/../vectors/commits.drep" "$tmp/e.drep" &&
        status 0 ls "$tmp/e.drep" && grep -q '^/d ' "$tmp/out" && ! grep -q '^/e ' "$tmp/out"
}

# What a writer has left that ended in the middle.
leaks() {
    status 0 check "$HERE/../vectors/commits.drep" && grep -q 'note: [0-9]* bytes at byte [0-9]* belong to nothing' "$tmp/out" &&
        status 0 convert -f "$HERE/../vectors/commits.drep" "$tmp/e.drep" && status 0 check "$tmp/e.drep" &&
        ! grep note "$tmp/out"
}

check "a file to convert" make_file
check "as it is" same
check "into every representation" around
check "filters for all" stored '/grid .*shuffle\+deflate' --filters=shuffle,deflate:9
check "filters for one" stored '/sst .*zstd' --filters=/sst=zstd:19
check "chunks for one" stored '/sst .*chunk \[2, 3, 8\]' --chunk=/sst=2,3,8
check "chunks for a rank" stored '/grid .*chunk \[7, 9\]' --chunk=7,9
check "the one with a path counts" stored '/grid .*chunk \[60, 80\]' --chunk=/grid=60,80 --chunk=7,9
check "in one piece" stored '/sst .*contiguous' --chunk=/sst=contiguous
check "all in one piece" stored '/log .*contiguous' --chunk=contiguous
check "onto itself" in_place
check "every vector" vectors
check "what this version knows" partly_all
check "what it knows, into a pipe" partly_piped
check "all of a file that has nothing newer" same --partial
check "a part" smaller
check "into a declared representation, and what is lost" declared
check "an earlier commit" commit
check "bytes that belong to nothing" leaks
check "says how large" status 0 convert -f -v "$file" "$tmp/b.drep"
piped() { # OPTION...
    "$DATAREP" convert -f "$@" "$file" - | cat > "$tmp/p.drep" && status 0 diff "$file" "$tmp/p.drep" &&
        status 0 check --deep "$tmp/p.drep" &&
        "$DATAREP" convert -f "$@" "$file" - | "$DATAREP" ls -l - > "$tmp/piped" &&
        "$DATAREP" ls -l "$tmp/p.drep" > "$tmp/named" && cmp "$tmp/piped" "$tmp/named"
}

relayed() {
    "$DATAREP" convert -f --datarep=internal "$file" - | "$DATAREP" convert --datarep=external32 - - |
        "$DATAREP" check --deep - &&
        "$DATAREP" convert -f "$file" - | "$DATAREP" convert - - > "$tmp/p.drep" &&
        status 0 diff "$file" "$tmp/p.drep"
}

broken() {
    "$DATAREP" convert -f "$file" - | head -c 20000 > "$tmp/p.drep"
    refuses 4 "written as a stream" ls "$tmp/p.drep" &&
        refuses 4 "written as a stream" check --repair="$tmp/n.drep" "$tmp/p.drep"
}

streamed_on() {
    "$DATAREP" convert -f "$file" - > "$tmp/p.drep" &&
        status 0 import --type=FLOAT --shape=5,6,8 -a -i /sst "$tmp/sst" "$tmp/p.drep" &&
        status 0 import --type=FLOAT --shape=5,6,8 -a -i /sst "$tmp/sst" "$tmp/p.drep" &&
        status 0 check --deep "$tmp/p.drep" && status 1 diff "$file" "$tmp/p.drep" &&
        status 0 log "$tmp/p.drep" && grep -q "^ *3 " "$tmp/out" && grep -q "^ *2 " "$tmp/out" &&
        "$DATAREP" convert -f --commit=1 "$tmp/p.drep" - 2> "$tmp/err" | "$DATAREP" diff "$file" - ||
        grep -q "commit 1" "$tmp/err"
}

# PATH REPRESENTATION... : what ls -l says of the datasets of b.drep, in its order.
represented() {
    "$DATAREP" ls -lr "$tmp/b.drep" > "$tmp/out" || return 1
    while [ $# -gt 0 ]; do
        grep "^$1 " "$tmp/out" | grep -qE -- "$2" || {
            echo "not so: $1 $2"
            cat "$tmp/out"
            return 1
        }
        shift 2
    done
}

only_one() {
    same --datarep=native:s390x --only=/grid && represented /grid native:s390x /sst '[0-9] bytes' &&
        [ "$(grep -c s390x "$tmp/out")" = 1 ] && status 0 dump -H "$tmp/b.drep" &&
        grep -q '^datarep: external32' "$tmp/out"
}

# A group, a second name of a dataset, and a soft link; all else keeps what it has, also when the
# source has several already.
only_group() {
    cp "$tmp/b.drep" "$tmp/there.drep"
    status 0 convert -f --datarep=internal --only=/raw --only=/small "$tmp/there.drep" "$tmp/b.drep" &&
        represented /raw/log internal /small internal /grid native:s390x &&
        [ "$(grep -c internal "$tmp/out")" = 2 ] && status 0 diff "$file" "$tmp/b.drep" &&
        status 0 check --deep "$tmp/b.drep" && same --datarep=native:m68k --only=/again &&
        represented /grid native:m68k && [ "$(grep -c m68k "$tmp/out")" = 1 ] &&
        same --datarep=native:m68k --only=/ && [ "$("$DATAREP" ls -lr "$tmp/b.drep" | grep -c m68k)" = 5 ]
}

only_piped() {
    "$DATAREP" convert -f --datarep=internal --only=/sst "$file" - > "$tmp/b.drep" &&
        represented /sst internal && status 0 diff "$file" "$tmp/b.drep" && status 0 check --deep "$tmp/b.drep"
}

# Rounded where the representation is new, and nowhere else.
only_lossy() {
    status 1 convert -f -s "$tmp/ibm.yaml" --range=clamp --only=/grid "$file" "$tmp/b.drep" &&
        grep -q ': of 4800 values' "$tmp/err" && [ "$(grep -c values "$tmp/err")" = 1 ] &&
        represented /grid mainframe
}

check "one dataset in another representation" only_one
check "those below a group, by any of their names" only_group
check "one of them, into a pipe" only_piped
check "one in a declared representation" only_lossy
echo untouched > "$tmp/only.drep"
check "a representation only of what is not there" refuses 2 "no object" convert -f --datarep=internal \
    --only=/grid --only=/nix "$file" "$tmp/only.drep"
check "before anything was written" grep -q untouched "$tmp/only.drep"
check "into a pipe neither" refuses 2 "no object" convert -f --datarep=internal --only=/nix "$file" -
check "a representation only of a dimension" refuses 2 "neither a dataset nor a group" convert -f \
    --datarep=internal --only='/#lat' "$file" "$tmp/n.drep"
check "only, of no representation" refuses 2 "needs --datarep" convert -f --only=/grid "$file" "$tmp/n.drep"
check "no such filter" refuses 2 "no filter 'nix'" convert -f --filters=nix "$file" "$tmp/n.drep"
check "no such level" refuses 2 "no level" convert -f --filters=zstd:99 "$file" "$tmp/n.drep"
check "no such dataset" refuses 2 "no object" convert -f --chunk=/nix=3 "$file" "$tmp/n.drep"
check "another rank" refuses 2 "has rank 3" convert -f --chunk=/sst=3,3 "$file" "$tmp/n.drep"
check "no lengths" refuses 2 "64,64, not" convert -f --chunk=3x "$file" "$tmp/n.drep"
check "no such representation" refuses 4 "neither built in" convert -f --datarep=nix "$file" "$tmp/n.drep"
check "an existing target" refuses 3 "exists" convert -f -n "$file" "$tmp/b.drep"
check "no target" refuses 2 "which files" convert -f "$file"
check "into a pipe, and back" piped
check "into a pipe, in other chunks" piped --chunk=contiguous --filters=none
check "into a pipe, in another representation" piped --datarep=native:s390x --filters=shuffle
check "from pipe to pipe" relayed
check "a pipe that breaks off is told" broken
check "a stream that is written to" streamed_on
check "a failure leaves no file" refuses 2 "no object" convert -f --chunk=/nix=3 "$file" -
check "nothing is left behind" test ! -e "$tmp/n.drep"
done_testing
