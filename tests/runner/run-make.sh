#!/bin/bash
# run-make.sh - the Makefile compiles again what a change of flags concerns, and nothing else.
#
# One object of each kind, built in a directory of the test's own.
# SPDX-License-Identifier: MIT
set -u
cd "$SRCDIR" || exit 1
unset V MAKEFLAGS
build=$TMPDIR/build
object() { # SOURCE...: of the first
    echo "$build/obj/${1%.c}.o"
}
library=$(object format/*.c)
command=$(object tools/*/*.c)
test=$(object tests/unit/test_*.c)
n=0

# compiles NAME WHAT SETTING...: these objects, and no other, in this order.
compiles() {
    local got
    n=$((n + 1))
    got=$(make BUILD="$build" "${@:3}" "$library" "$command" "$test" 2> "$TMPDIR/log" |
        sed -n "s|^  CC  $build/obj/\([a-z]*\)/.*|\1|p" | tr '\n' ' ')
    if [ "$got" = "$2" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' "$TMPDIR/log"
        echo "# compiled: $got"
    fi
}

compiles "the first time" "format tools tests " HAVE_MPFR= HAVE_SQLITE= HAVE_CHECK=
compiles "nothing changed" "" HAVE_MPFR= HAVE_SQLITE= HAVE_CHECK=
compiles "a library of the tests" "tests " HAVE_MPFR=1 HAVE_SQLITE=1 HAVE_CHECK=
compiles "a library of the command" "tools tests " HAVE_MPFR=1 HAVE_SQLITE=1 HAVE_CHECK= YAML_CFLAGS=-DCHANGED
compiles "the caller's flags" "format tools tests " HAVE_MPFR=1 HAVE_SQLITE=1 HAVE_CHECK= CFLAGS=-DCHANGED
echo "1..$n"
