#!/bin/bash
# run-demo.sh - the demonstration shows what it says.
# SPDX-License-Identifier: MIT
set -u
PATH="$(dirname "$DATAREP"):$PATH" sh "$SRCDIR/tests/demo/demo.sh" > "$TMPDIR/log" 2>&1
status=$?
if [ $status = 0 ]; then
    # Each of its steps shows something below the commands.
    awk '/^[0-9]\. / { if (step && !lines) print step; step = $0; lines = 0; next }
         !/^\$/ && NF { lines++ } END { if (step && !lines) print step }' "$TMPDIR/log" > "$TMPDIR/empty"
    [ ! -s "$TMPDIR/empty" ] && grep -q '^5\. ' "$TMPDIR/log"
    status=$?
fi
if [ $status = 0 ]; then
    echo "ok 1 - the demonstration ends with success, and each step shows something"
else
    echo "not ok 1 - the demonstration ends with success, and each step shows something"
    cat "$TMPDIR/empty" "$TMPDIR/log" 2> /dev/null | sed 's/^/# /'
fi
echo "1..1"
