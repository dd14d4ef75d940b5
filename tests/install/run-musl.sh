#!/bin/bash
# run-musl.sh - the core builds with musl as a static library, and reads every vector.
#
# Usage: tests/install/run-musl.sh [--full]      --full: run the unit tests too
#
# musl has no libraries of Debian beside it: what is built here needs the C library and xxHash
# alone, and the tests take the runner of tests/plain.
# timeout: 900
# SPDX-License-Identifier: MIT
set -u
cd "$SRCDIR" || exit 1
full=${1-}
build=$BUILDDIR/musl
n=0

case_is() {
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else
        echo "not ok $n - $2"
        sed 's/^/# /' "$TMPDIR/log"
    fi
}

# Programs whose datasets have filters of other libraries, and one that loads shared objects,
# which a static program cannot.
left_out() {
    case $1 in
    test_failure | test_data_copy) echo "its datasets have filters of other libraries" ;;
    test_plugin) echo "a static program loads no shared objects" ;;
    test_ranks_driver) echo "a static program has nothing behind its own functions" ;;
    *) return 1 ;;
    esac
}

if ! command -v musl-gcc > /dev/null; then
    echo "1..0 # SKIP musl-gcc is missing (Debian: musl-tools)"
    exit 0
fi
targets="$build/libdatarep.a $build/tests/vectors/test_vectors"
# The short form compiles faster.
optimise="-O1 -g0"
if [ "$full" = --full ]; then
    targets="$targets unit-programs"
    optimise=
fi
# shellcheck disable=SC2086
make -s -j2 MODE=release BUILD="$build" CC=musl-gcc CXX=false PKG_CONFIG=false CFLAGS="$optimise" LDFLAGS=-static \
    WERROR=-Werror $targets > "$TMPDIR/log" 2>&1
case_is $? "the core and its tests build without a warning"

nm -u "$build/libdatarep.a" > "$TMPDIR/log" && ! grep -E ' (ZSTD|LZ4|libdeflate)_' "$TMPDIR/log"
case_is $? "the library needs the C library alone"

"$build/tests/vectors/test_vectors" > "$TMPDIR/vectors" 2>&1
grep -v '^ok' "$TMPDIR/vectors" > "$TMPDIR/log"
! grep -q '^not ok' "$TMPDIR/vectors" && grep -q '^ok' "$TMPDIR/vectors"
case_is $? "$(grep -c '^ok' "$TMPDIR/vectors") vectors"
sed -n 's/^ok .* # SKIP/# skipped:/p' "$TMPDIR/vectors"

if [ "$full" = --full ]; then
    for test in "$build"/tests/unit/test_*; do
        name=${test##*/}
        if why=$(left_out "$name"); then
            n=$((n + 1))
            echo "ok $n - $name # SKIP $why"
        else
            CK_DEFAULT_TIMEOUT=120 "$test" > "$TMPDIR/log" 2>&1
            case_is $? "$name"
        fi
    done
fi
echo "1..$n"
