#!/bin/sh
# run-mutants.sh [COUNT [SEED]] - changed files (4,000), with limits of memory and time; a tenth of them under ASan.
# timeout: 1200
# SPDX-License-Identifier: MIT
set -u
: "${BUILDDIR:=build}"
: "${SRCDIR:=.}"
count=${1:-4000}
seed=${2:-1}
test=0
failed=0

try() { # MODE COUNT SEED
    test=$((test + 1))
    if text=$("$BUILDDIR/$1/tests/fault/mutants" "$2" "$3" "$SRCDIR"/tests/vectors/*.drep 2>&1); then
        echo "ok $test - $1: $text"
        echo "counted: ${text%% *} changed files opened, read, checked and written to, $1"
    else
        failed=1
        echo "not ok $test - $1"
        echo "$text" | tail -40 | sed 's/^/# /'
    fi
}

try release "$count" "$seed"
MUTANTS_UNLIMITED=1 # the sanitizer maps terabytes
export MUTANTS_UNLIMITED
try asan $((count / 10)) $((seed + 100000))
echo "1..$test"
exit $failed
