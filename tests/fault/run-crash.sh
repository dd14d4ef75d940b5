#!/bin/sh
# run-crash.sh - files as a crash at any moment could have left them; `make crash` tries a million.
# timeout: 600
# SPDX-License-Identifier: MIT
set -u
: "${BUILDDIR:=build}"
test=0
failed=0

try() { # MODE STATES SEED
    test=$((test + 1))
    if text=$("$BUILDDIR/$1/tests/fault/crash" "$2" "$3" 2>&1); then
        echo "ok $test - $1: $text"
        echo "counted: ${text%% *} states that a crash could leave, $1"
    else
        failed=1
        echo "not ok $test - $1, seed $3"
        echo "$text" | sed 's/^/# /'
    fi
}

try release 24000 1
try asan 1200 1001
echo "1..$test"
exit $failed
