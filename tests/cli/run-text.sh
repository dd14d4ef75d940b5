#!/bin/bash
# run-text.sh - a NUL inside a text of variable length is malformed: it is never cut silently.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

broken=$HERE/../vectors/bad
cd "$tmp" || exit 1
cp "$broken/text-nul.drep" "$broken/text-nul-in-attribute.drep" .

says() { # TEXT FILE...: somewhere in these
    grep -qF -- "$1" "${@:2}" || {
        echo "no '$1' in"
        cat "${@:2}"
        return 1
    }
}

check "dump" status 4 dump text-nul.drep
check "dump names dataset and element" says "text-nul.drep: /v: element 1: a text of 3 bytes has a NUL at its byte 1" err
check "dump of the element" status 4 dump text-nul.drep '/v[1]'
check "dump as JSON" status 4 dump --json text-nul.drep
check "an attribute" status 4 dump text-nul-in-attribute.drep
check "an attribute's name and element" says '/d: attribute "s": element 1: a text of 2 bytes' err
check "check --deep" status 1 check --deep text-nul.drep
check "check --deep names it" says 'dataset "/v": element 1: a text of 3 bytes has a NUL' out
check "check of an attribute" status 1 check text-nul-in-attribute.drep
check "convert" status 4 convert text-nul.drep new.drep
check "convert with an attribute" status 4 convert text-nul-in-attribute.drep new.drep
check "convert leaves no file" test ! -e new.drep
check "repair" status 1 check --repair=whole.drep text-nul.drep
check "repair says what is lost" says 'all its elements read as fill' out err
check "repair's file" status 0 check --deep whole.drep
check "repair's file has the dataset" status 0 dump whole.drep /v
check "repair of an attribute" status 1 check --repair=attr.drep text-nul-in-attribute.drep
check "repair says which is lost" says '/d: attribute "s" is lost' out err
check "repair's other file" status 0 check --deep attr.drep
check "the other attribute is kept" sh -c "'$DATAREP' dump attr.drep | grep -q 'a: INT = 1'"

refuses() { # STATUS TEXT ARGUMENT...
    status "$1" "${@:3}" && says "$2" err
}
printf 'root:\n  v: {dataset: vstring, data: "a\\0b"}\n' > nul.yaml
printf '{"root": {"v": {"dataset": "vstring", "data": "a\\u0000b"}}}' > nul.json
printf 'name,x\na\0b,1\n' > nul.csv
check "schema" refuses 2 "cannot contain a NUL" create -s nul.yaml nul.drep
check "schema in JSON" refuses 2 "cannot contain a NUL" create -s nul.json nul.drep
check "CSV" refuses 4 "cannot contain a NUL" import nul.csv nul.drep
check "no file is made" test ! -e nul.drep

printf 'root: {v: {dataset: vstring, data: {hex: "61ff62"}}}\n' > raw.yaml
check "bytes that are not UTF-8" status 0 create -s raw.yaml raw.drep
check "they are no fault" status 0 check --deep raw.drep
check "they are shown" sh -c "'$DATAREP' dump --jsonl raw.drep /v | grep -qi 'a.udcffb'"
done_testing
