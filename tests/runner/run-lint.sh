#!/bin/bash
# run-lint.sh - the sources keep the rules that take seconds to check: tools/lint has the others.
# SPDX-License-Identifier: MIT
set -u
cd "$SRCDIR" || exit 1
n=0

check() { # NAME COMMAND...
    n=$((n + 1))
    if "${@:2}" > "$TMPDIR/log" 2>&1; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        grep -vE '^(lib|tools|schema|format|python)[^ :]* +[0-9]+ ' "$TMPDIR/log" | sed 's/^/# /'
    fi
}

# The unit programs that tests/unit/rooms.txt has under no room, and those that it has and are not.
rooms() {
    local room
    for room in $(sed -n 's/^\([a-z]*\):.*/\1/p' tests/unit/rooms.txt | sort -u); do
        tests/run --list "unit-release:$room" || return 1
    done | sort -u > "$TMPDIR/named"
    tests/run --list unit-release | sort | diff "$TMPDIR/named" -
}

check "one way to say it" tools/lint dialect
check "rooms include those below them" tools/lint includes
check "each unit program has a room" rooms
if [ -e build/release/obj/lib/io/posix.o ]; then
    check "files, names and sizes are no worse than tools/lint-figures" tools/figures build/release/obj
else
    n=$((n + 1))
    echo "ok $n - figures # SKIP build/release is not built"
fi
echo "1..$n"
