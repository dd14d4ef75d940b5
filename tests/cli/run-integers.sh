#!/bin/bash
# run-integers.sh - integers are shown and compared in their whole width, names of enums too.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

cd "$tmp" || exit 1
wide=18446744073709551617 # 2^64 + 1
most=18446744073709551615
cat > a.yaml << EOF
root:
  s: {dataset: "enum(INTEGER16){A=1,M=-1}", data: [A, $wide, M, $most, -$most]}
  u: {dataset: "enum(UINT128_T){A=1,M=-1}", data: [A, $wide, M, $most, 340282366920938463463374607431768211455]}
  b: {dataset: "enum(scalar{custom,integer,little,12,signed=1,norm=0,pad=0/0,precision=90,offset=3,sign=0,\
    exp=0/0,sig=0/0,base=2,bias=0}){A=1,M=-1}", data: [A, $wide, M, $most]}
EOF
sed "s/ $wide/ 1/" a.yaml > b.yaml
check "create" status 0 create -s a.yaml a.drep
check "create with other values" status 0 create -s b.yaml b.drep

shows() { # PATH JSON: the values, one a line
    "$DATAREP" dump --jsonl a.drep "$1" | paste -sd' ' > "$tmp/out"
    echo "$2" | diff - "$tmp/out"
}
check "signed" shows /s "\"A\" \"$wide\" \"M\" \"$most\" \"-$most\""
check "unsigned: a name's value is a u64" shows /u \
    "\"A\" \"$wide\" \"M\" \"M\" \"340282366920938463463374607431768211455\""
check "a base of its own fields" shows /b "\"A\" \"$wide\" \"M\" \"$most\""
differ() { # PATH
    status 1 diff a.drep b.drep && grep -q "^$1: 1 of . values differ, first at .1.: $wide -> A" out
}
check "diff, signed" differ /s
check "diff, unsigned" differ /u
check "diff, its own fields" differ /b
"$DATAREP" dump --yaml a.drep > c.yaml
check "YAML is read back" status 0 create -s c.yaml c.drep
check "and equal" status 0 diff a.drep c.drep

wider() { # CLASS
    printf 'root: {v: {dataset: "scalar{custom,%s,little,17,signed=0,norm=0,pad=0/0,precision=100,offset=0,sign=0,exp=0/0,sig=0/0,base=2,bias=0}"}}' \
        "$1" > wide.yaml
    status 2 create -s wide.yaml wide.drep && grep -q '16 bytes, beyond the limits of this version (R5.21)' err
}
check "an integer of 17 bytes" wider integer
check "17 bytes of bits" wider bits
done_testing
