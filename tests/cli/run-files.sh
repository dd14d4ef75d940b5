#!/bin/bash
# run-files.sh - files that are missing, foreign, cut off or damaged.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# needs: deflate
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

foreign() { # NAME PATTERN PRINTF-TEXT
    # shellcheck disable=SC2059
    printf "$3" > "$tmp/$1"
    for command in dump ls stat check; do
        refuses 4 "$2" "$command" "$tmp/$1" || return 1
    done
}

# Cut anywhere, the command refuses or shows something; it never crashes.
truncated() {
    local size at got
    size=$(wc -c < "$tmp/all.drep")
    for at in 1 8 100 4095 4096 8191 8192 10000 $((size / 2)) $((size - 1)); do
        head -c "$at" "$tmp/all.drep" > "$tmp/cut.drep"
        "$DATAREP" dump --json "$tmp/cut.drep" > "$tmp/out" 2> "$tmp/err"
        got=$?
        if [ "$got" != 4 ] || [ ! -s "$tmp/err" ]; then
            echo "cut at $at: status $got"
            return 1
        fi
    done
}

# A flipped byte is found by check, or stands where no byte means anything; and dump ends
# with 0 or 4, with JSON where it prints.
flipped() {
    local at got found=0
    for at in $(seq 5 997 "$(wc -c < "$tmp/all.drep")"); do
        python3 - "$tmp/all.drep" "$tmp/flip.drep" "$at" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[3])] ^= 0x10
open(sys.argv[2], "wb").write(data)
PY
        "$DATAREP" dump --json "$tmp/flip.drep" > "$tmp/out" 2> "$tmp/err"
        got=$?
        [ "$got" = 0 ] || [ "$got" = 4 ] || {
            echo "byte $at: dump gives $got"
            return 1
        }
        if [ -s "$tmp/out" ] && ! python3 -m json.tool "$tmp/out" > "$tmp/pretty"; then
            echo "byte $at: no JSON"
            return 1
        fi
        "$DATAREP" check --deep "$tmp/flip.drep" > "$tmp/out" 2> "$tmp/err"
        case $? in
        0) ;;
        1 | 4) found=$((found + 1)) ;;
        *)
            echo "byte $at: check gives $?"
            return 1
            ;;
        esac
    done
    [ "$found" -gt 0 ]
}

damaged_slot() {
    status 0 dump -H "$HERE/../vectors/damaged-slot.drep" && grep -q "slot . is damaged" "$tmp/err" &&
        status 1 check "$HERE/../vectors/damaged-slot.drep"
}

# A file that only functions can read shows all but the values of datasets.
code_form() {
    status 0 dump -H "$HERE/../vectors/code.drep" && status 0 ls -rl "$HERE/../vectors/code.drep" &&
        status 4 dump "$HERE/../vectors/code.drep" && grep -q "not registered" "$tmp/err" &&
        grep -q '"abc"' "$tmp/out" && # which needs no functions
        grep -q '^/i: dataset INT \[3\]' "$tmp/out" && grep -q '^/d: dataset DOUBLE \[2\]' "$tmp/out" &&
        status 0 check "$HERE/../vectors/code.drep" && status 1 check -d "$HERE/../vectors/code.drep" &&
        [ "$(grep -c 'dataset "/[id]": .*"zigzag" is not registered' "$tmp/out")" = 2 ] &&
        ! grep -q ': ok' "$tmp/out"
}

# Through a pipe, as standard input that is a file, and where it is larger than what is kept
# in memory: the same as by name.
from_stdin() { # FILE
    "$DATAREP" dump "$1" | sed 's/^file: .*/file: -/' > "$tmp/want" || return 1
    # shellcheck disable=SC2002 # a pipe is what is tried
    cat "$1" | status 0 dump - && cmp "$tmp/out" "$tmp/want" && status 0 dump - < "$1" &&
        cmp "$tmp/out" "$tmp/want"
}

large_stdin() {
    { printf 'root: {attrs: {a: "'; head -c 17000000 /dev/zero | tr '\0' x; echo '"}}'; } |
        "$DATAREP" create -s - "$tmp/large.drep" && from_stdin "$tmp/large.drep"
}

foreign_stdin() {
    printf '\211HDF\r\n\032\n________' | refuses 4 "^datarep: standard input: .*HDF5 file; use" dump - &&
        refuses 4 "^datarep: standard input: .*empty" dump - < /dev/null &&
        refuses 3 "standard input: read: Is a directory" ls - < "$tmp" &&
        head -c 9000 "$tmp/all.drep" | refuses 4 "^datarep: standard input: truncated" ls -
}

# FILE: PATH: what (byte N); what to do
form_of_messages() {
    local bad=$HERE/../vectors/bad/chunk-sum.drep
    status 4 dump "$bad" && grep -qxF "datarep: $bad: /c: chunk (0): checksum mismatch (R8.29) (byte 8192);\
 datarep check --deep $bad lists the damage" "$tmp/err"
}

# A damaged chunk: the dataset's path once, no number of an object, and one line, also of a deep check.
form_of_findings() {
    local bad=$HERE/../vectors/bad/chunk-sum.drep
    for how in '' --deep; do
        status 1 check ${how:+"$how"} "$bad" && [ "$(grep -vc note: "$tmp/out")" = 1 ] &&
            grep -qxF "$bad: byte 8192: dataset \"/c\": chunk (0): checksum mismatch (R8.29) at byte 8192" "$tmp/out" ||
            return 1
    done
}

# A name does nothing to a terminal, and a finding is one line.
findings_are_plain() {
    printf 'datarep: native\nroot: {"a\\e[31m\\nb": {dataset: INT, shape: [4], chunk: [4], data: [1, 2, 3, 4]}}\n' |
        status 0 create -s - "$tmp/plain.drep" &&
        printf x | dd of="$tmp/plain.drep" bs=1 seek=8192 conv=notrunc status=none &&
        status 1 check --deep "$tmp/plain.drep" && ! LC_ALL=C grep -q '[^ -~]' "$tmp/out" &&
        grep -qF ': dataset "/a\u001b[31m\nb": chunk (0): checksum' "$tmp/out"
}

unreadable() {
    : > "$tmp/locked.drep"
    chmod 0 "$tmp/locked.drep"
    refuses 3 . ls "$tmp/locked.drep"
}

check "create" status 0 create -s "$HERE/all.yaml" "$tmp/all.drep"
for command in dump ls stat check; do
    check "$command: a missing file" refuses 3 "nope.drep" "$command" "$tmp/nope.drep"
    check "$command: a directory" refuses 3 "is a directory" "$command" "$tmp"
done
check "an empty file" foreign empty "empty file" ''
check "an HDF5 file" foreign h5 "HDF5 file; use: datarep import" '\211HDF\r\n\032\n________'
check "an HDF5 file with a user block" \
    foreign block "HDF5 file; use" "$(printf 'x%.0s' $(seq 512))"'\211HDF\r\n\032\n________'
check "a netCDF file" foreign nc "netCDF" 'CDF\001abcd________'
check "a gzip file" foreign gz "gzip" '\037\213\010\000abcdefgh'
check "a zip file" foreign zip "zip" 'PK\003\004abcdefgh'
check "a NumPy file" foreign npy "NumPy" '\223NUMPY\001\000'
check "a schema" foreign yaml "schema; use: datarep create" 'datarep: native\nroot: {}\n'
check "what only begins like one" \
    foreign passwd '^datarep: [^ ]*passwd: not a Datarep file$' 'root:x:0:0:root:/root:/bin/sh\n'
check "text" foreign txt "not a Datarep file" 'hello, world\n'
if [ "$(id -u)" = 0 ]; then
    cases=$((cases + 1))
    echo "ok $cases - no permission # SKIP root may read everything"
else
    check "no permission" unreadable
fi
check "standard input" from_stdin "$tmp/all.drep"
check "much on standard input" large_stdin
check "no container on standard input" foreign_stdin
check "messages have one form" form_of_messages
check "findings among elements have one form" form_of_findings
check "findings are plain text" findings_are_plain
check "cut off files" truncated
check "flipped bytes" flipped
check "a damaged slot is told and found" damaged_slot
check "functions that are not here" code_form
while read -r vector _ _ how; do
    case $vector in '#'*) continue ;; esac
    [ "$how" = check ] && continue
    # Reading may be refused at once, or where the damage is.
    check "refused: $vector" sh -c "
        '$DATAREP' dump --json '$HERE/../vectors/bad/$vector' > '$tmp/out' 2> '$tmp/err'
        [ \$? = 4 ] && [ -s '$tmp/err' ]"
done < "$HERE/../vectors/bad/EXPECT"
# A target that cannot grow: its name, and what the system says.
full() {
    printf 'root: {d: {dataset: DOUBLE, shape: [40000], data: [1%s]}}\n' "$(printf ', 1.25%.0s' $(seq 39999))" > "$tmp/full.yaml"
    status 0 create -f -s "$tmp/full.yaml" "$tmp/full.drep" || return 1
    for target in full.h5 full.raw full.csv; do
        [ "$target" != full.h5 ] || "$DATAREP" --version | grep -q "^modules.* hdf5" || continue
        (trap '' XFSZ && ulimit -f 64 && status 3 export "$tmp/full.drep" "$tmp/$target") || return 1
        grep -q "File too large" "$tmp/err" && ! grep -qE '\.tmp|errno|buf =' "$tmp/err" && [ ! -e "$tmp/$target" ] || return 1
    done
}
check "a target that cannot grow" full
named_once() {
    head -c -50 "$tmp/full.drep" > "$tmp/cut.drep"
    status 1 check -f --repair="$tmp/rescued.drep" "$tmp/cut.drep" && [ "$(grep -c 'the file ends at' "$tmp/out")" -ge 1 ] &&
        ! grep -q "cut.drep.*cut.drep" "$tmp/out"
}
check "findings name their file once" named_once
container_imported() {
    status 2 import "$tmp/full.drep" "$tmp/again.drep" && grep -q "is a Datarep file already; datarep convert copies it" "$tmp/err"
}
check "a container to be imported" container_imported
done_testing
