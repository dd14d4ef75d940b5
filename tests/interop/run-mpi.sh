#!/bin/bash
# run-mpi.sh - external32 as MPICH and Open MPI pack it, where they are right (E5 to E8, E12, P6).
#
# What each gets wrong is left out and named below: comparing would prove nothing.
# SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")" || exit 1
build=${BUILDDIR:-$PWD/../../build}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mpi.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0
bad=0

report() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        bad=1
        echo "not ok $n - $2"
        sed 's/^/# /' "$tmp/log" | head -n 20
    fi
}

# NAME COMPILER "WRONG CASES" LAUNCHER...; PROGRAM and its argument follow the launcher
opinion() {
    local name=$1 compiler=$2 wrong=$3 case bytes
    shift 3
    if ! command -v "$compiler" > /dev/null; then
        n=$((n + 1))
        echo "ok $n - $name # SKIP $compiler not found"
        return
    fi
    if ! "$compiler" -o "$tmp/$name" mpi/pack.c > "$tmp/log" 2>&1 ||
        ! timeout 60 "${@//PROGRAM/$tmp/$name}" > "$tmp/$name.txt" 2> "$tmp/log"; then
        report 1 "$name packs"
        return
    fi
    while read -r case bytes; do
        case " $wrong " in *" $case "*) continue ;; esac
        grep "^$case " "$tmp/$name.txt" > "$tmp/log"
        echo "ours: $case $bytes" >> "$tmp/log"
        grep -qx "$case $bytes" "$tmp/$name.txt"
        report $? "$name packs $case as we do"
    done < "$tmp/ours.txt"
}

cc -o "$tmp/ours" -I../../lib mpi/ours.c "$build/release/libdatarep.so" -Wl,-rpath,"$build/release" -lm \
    > "$tmp/log" 2>&1 && "$tmp/ours" > "$tmp/ours.txt" 2>> "$tmp/log"
report $? "our own packs"
# MPICH gives up on structs; Open MPI's binary128 is x87 with its bytes turned.
opinion mpich mpicc.mpich "FLOAT_INT DOUBLE_INT LONG_INT 2INT SHORT_INT struct" \
    mpiexec.mpich -n 1 PROGRAM
opinion openmpi mpicc.openmpi "LONG_DOUBLE" \
    mpirun.openmpi --allow-run-as-root --oversubscribe -n 1 PROGRAM structs
echo "1..$n"
[ "$bad" = 0 ]
