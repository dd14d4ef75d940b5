#!/bin/sh
# run-growth.sh - how often files are made longer, synced and written, as strace counts it.
#
# A file grows in few steps however it is written, a commit syncs twice (the first one of a new file
# once), drep_sync=none never, and nothing that was taken ahead is left when the file is closed.
# SPDX-License-Identifier: MIT
set -u
: "${BUILDDIR:=build}" "${TMPDIR:=/tmp}"
program=$BUILDDIR/release/tests/fault/growth
test=0
failed=0

if ! strace -o /dev/null true 2>/dev/null; then
    echo "1..0 # SKIP strace cannot trace here"
    exit 0
fi

count() { # CALLS: how many there were
    awk -v calls=" $1 " 'index(calls, " " $NF " ") { n += $4 } END { print n + 0 }' "$TMPDIR/counts"
}

try() { # WAY: writes the file, counts
    rm -f "$TMPDIR/file.drep"
    strace -f -c -o "$TMPDIR/counts" "$program" "$1" "$TMPDIR/file.drep"
    growth=$(count "ftruncate ftruncate64 fallocate")
    syncs=$(count "fdatasync fsync")
    writes=$(count "pwrite64")
    size=$(wc -c < "$TMPDIR/file.drep")
}

expect() { # TEXT, then a condition of numbers
    test=$((test + 1))
    text=$1
    shift
    if [ "$@" ]; then
        echo "ok $test - $text"
    else
        failed=1
        echo "not ok $test - $text: not $*"
    fi
}

# One sync of the directory makes the new file's name last.
try large
expect "64 MiB in 1,024 writes: $growth steps of growth" "$growth" -le 22
expect "64 MiB in 1,024 writes: $writes calls write" "$writes" -le 1120
expect "the first commit syncs once, and the directory: $syncs" "$syncs" -eq 2
expect "nothing is left of what was taken ahead: $size bytes" "$size" -lt 67500000

try whole
expect "64 MiB in one write: $growth steps of growth" "$growth" -le 8
expect "64 MiB in one write: $size bytes" "$size" -lt 67500000

try small
expect "1,000 small commits: $growth steps of growth" "$growth" -le $((size / 65536 + 3))
expect "1,000 commits sync twice each, the first once and the directory: $syncs" "$syncs" -eq 2000
expect "1,000 small commits: $writes calls write" "$writes" -le 6000
expect "1,000 small commits: $size bytes" "$size" -lt 600000

try same
expect "200 commits in the same space: $growth steps of growth" "$growth" -le 6
expect "200 commits sync twice each, the first once and the directory: $syncs" "$syncs" -eq 400

try none
expect "drep_sync=none: $syncs syncs" "$syncs" -eq 0
echo "1..$test"
exit $failed
