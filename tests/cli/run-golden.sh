#!/bin/bash
# run-golden.sh - files written as every known machine holds the C types: bytes that its compiler
# made, structs with their gaps among them (D1), and values that any machine is shown alike.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
. "$(dirname "$0")/tap.sh"

golden() {
    /usr/bin/python3 "$HERE/golden.py" "$@"
}

machine() { # MACHINE
    golden schema "$1" > "$tmp/m.yaml" || return 1
    "$DATAREP" create --datarep "native:$1" -s "$tmp/m.yaml" "$tmp/m.drep" || return 1
    golden bytes "$1" "$tmp/m.drep" || return 1
    "$DATAREP" dump --json "$tmp/m.drep" > "$tmp/m.json" || return 1
    golden values "$1" "$tmp/m.json"
}

shown_alike() { # DATAREP
    "$DATAREP" create --datarep "$1" -s "$tmp/common.yaml" "$tmp/c.drep" || return 1
    "$DATAREP" dump --json "$tmp/c.drep" > "$tmp/c.json" || return 1
    golden same "$tmp/common.json" "$tmp/c.json"
}

# A file that was not written for that machine shows the bytes that it would hold.
as_machine() { # MACHINE
    golden schema "$1" > "$tmp/i.yaml" || return 1
    "$DATAREP" create --datarep internal -s "$tmp/i.yaml" "$tmp/i.drep" || return 1
    DATAREP=$DATAREP golden as "$1" "$tmp/i.drep"
}

golden common > "$tmp/common.yaml"
"$DATAREP" create --datarep external32 -s "$tmp/common.yaml" "$tmp/c.drep" &&
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
done_testing
