#!/bin/bash
# run-golden.sh - files written as every known machine holds the C types: bytes that its compiler
# made, structs with their gaps among them (D1), and values that any machine is shown alike.
# slow: every value of every machine
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

golden() {
    /usr/bin/python3 "$HERE/golden.py" "$@"
}

machine() { # MACHINE
    golden schema "$1" > "$tmp/m.yaml" || return 1
    "$DATAREP" create -f --datarep "native:$1" -s "$tmp/m.yaml" "$tmp/m.drep" || return 1
    golden bytes "$1" "$tmp/m.drep" || return 1
    "$DATAREP" dump --json "$tmp/m.drep" > "$tmp/m.json" || return 1
    golden values "$1" "$tmp/m.json"
}

shown_alike() { # DATAREP
    "$DATAREP" create -f --datarep "$1" -s "$tmp/common.yaml" "$tmp/c.drep" || return 1
    "$DATAREP" dump --json "$tmp/c.drep" > "$tmp/c.json" || return 1
    golden same "$tmp/common.json" "$tmp/c.json"
}

# A file that was not written for that machine shows the bytes that it would hold.
as_machine() { # MACHINE
    golden schema "$1" > "$tmp/i.yaml" || return 1
    "$DATAREP" create -f --datarep internal -s "$tmp/i.yaml" "$tmp/i.drep" || return 1
    DATAREP=$DATAREP golden as "$1" "$tmp/i.drep"
}

golden common > "$tmp/common.yaml"
"$DATAREP" create -f --datarep external32 -s "$tmp/common.yaml" "$tmp/c.drep" &&
    "$DATAREP" dump --json "$tmp/c.drep" > "$tmp/common.json"
for m in $(golden machines); do
    check "D1 native:$m: the bytes and values of its compiler" machine "$m"
done
for m in $(golden machines); do
    check "D1 dump --as native:$m: the bytes of its compiler" as_machine "$m"
done
for rep in external32 internal native $(golden machines | sed 's/^/native:/'); do
    check "the same schema shows the same under $rep" shown_alike "$rep"
done
# The same binary with fewer instructions: asked to do without, and on a processor that has none.
cat > "$tmp/old" << END
#!/bin/sh
exec qemu-x86_64-static -cpu Nehalem "$DATAREP" "\$@"
END
chmod +x "$tmp/old"

on_old() {
    local DATAREP=$tmp/old

    machine "$1"
}

kernels() { # KERNEL
    "$DATAREP" --version | head -n 1 | grep -q "kernels $1"
}

for k in portable avx2; do
    export DREP_KERNEL=$k
    if [ $k = portable ] || grep -qw avx2 /proc/cpuinfo; then
        check "DREP_KERNEL=$k is heeded" kernels $k
    fi
    for m in amd64 s390x i386 m68k ppc64el-ibm alpha; do
        check "D1 native:$m with kernels $k: the bytes and values of its compiler" machine "$m"
    done
done
unset DREP_KERNEL
for m in s390x i386 m68k; do
    name="D1 native:$m on a processor without AVX: the bytes and values of its compiler"
    if [ "$(uname -m)" != x86_64 ]; then
        skip "$name" "this machine is $(uname -m)"
    elif ! command -v qemu-x86_64-static > /dev/null; then
        skip "$name" "no qemu-x86_64-static"
    else
        check "$name" on_old "$m"
    fi
done
done_testing
