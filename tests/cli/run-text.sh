#!/bin/bash
# run-text.sh - a text of variable length may have NULs: it is never cut silently.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

cd "$tmp" || exit 1
says() { # TEXT FILE...: somewhere in these
    grep -qF -- "$1" "${@:2}" || {
        echo "no '$1' in"
        cat "${@:2}"
        return 1
    }
}
shows() { # TEXT ARGUMENT...
    status 0 "${@:2}" && says "$1" out
}

cat > nul.yaml << 'EOF'
root:
  v: {dataset: vstring, data: ["ok", "a\0b", "\0"]}
  s: {dataset: "struct{n: INT, s: vstring}", shape: [1], data: [{n: 1, s: "p\0"}]}
  q: {dataset: seq(vstring), shape: [1], data: [["x\0y"]]}
  f: {dataset: vstring, shape: [2], chunk: [2], fill: "f\0g"}
  attrs: {t: "t\0u"}
EOF
check "a schema" status 0 create -s nul.yaml nul.drep
check "check --deep" status 0 check --deep nul.drep
check "dump" shows '"ok", "a\u0000b", "\u0000"' dump nul.drep /v
check "JSON" shows '["ok", "a\u0000b", "\u0000"]' dump --json nul.drep
check "JSON lines" shows '"a\u0000b"' dump --jsonl nul.drep /v
check "a member" shows '"p\u0000"' dump nul.drep /s
check "a sequence" shows '"x\u0000y"' dump nul.drep /q
check "a fill value" shows '"f\u0000g", "f\u0000g"' dump nul.drep /f
check "an attribute" shows '"t\u0000u"' dump -H nul.drep
"$DATAREP" dump --yaml nul.drep > again.yaml
check "YAML is read back" status 0 create -s again.yaml again.drep
check "with all NULs" status 0 diff nul.drep again.drep
sed 's/a\\0b/a\\0c/' nul.yaml > other.yaml
status 0 create -s other.yaml other.drep
check "diff looks behind a NUL" status 1 diff nul.drep other.drep
check "diff shows both" says '"a\u0000b" -> "a\u0000c"' out
check "convert" status 0 convert nul.drep new.drep
check "converted" status 0 diff nul.drep new.drep
check "other representation" status 0 convert --datarep=external32 nul.drep ext.drep
check "converted to it" status 0 diff nul.drep ext.drep
printf '{"root": {"v": {"dataset": "vstring", "data": "a\\u0000b"}}}' > nul.json
check "a schema in JSON" status 0 create -s nul.json json.drep
check "its text" shows '"a\u0000b"' dump --jsonl json.drep /v
printf 'name,x\na\0b,1\n' > nul.csv
check "CSV" status 0 import nul.csv csv.drep
check "its text" shows '"a\u0000b"' dump --jsonl csv.drep
check "CSV again" status 0 export csv.drep back.csv
check "the same" cmp nul.csv back.csv

if [ -e "${DATAREP%/*}/datarep-hdf5.so" ]; then
    "$DATAREP" export -f nul.drep nul.h5 > out 2> err
    check "HDF5 has no such text" says 'has a NUL' err out
fi

printf 'root: {v: {dataset: vstring, data: {hex: "61ff62"}}}\n' > raw.yaml
check "bytes that are not UTF-8" status 0 create -s raw.yaml raw.drep
check "they are no fault" status 0 check --deep raw.drep
check "they are shown" sh -c "'$DATAREP' dump --jsonl raw.drep /v | grep -qi 'a.udcffb'"
done_testing
