#!/bin/bash
# run-schema.sh - schemas: every error with its place, and create, print, create again.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# needs: deflate python-yaml
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

# What is wrong with a schema on stdin is said at this place.
wrong() { # PLACE PATTERN [STATUS]
    local text
    text=$(cat)
    printf '%s' "$text" | "$DATAREP" create -f -s - "$tmp/wrong.drep" > "$tmp/out" 2> "$tmp/err"
    [ $? = "${3:-2}" ] || { echo "not refused: $text"; return 1; }
    [ ! -e "$tmp/wrong.drep" ] || { echo "a file was made"; return 1; }
    grep -qE "^(datarep: )?stdin:${1:+$1:} .*$2" "$tmp/err" || { cat "$tmp/err"; return 1; }
}

all_errors() {
    (cd "$HERE" && "$DATAREP" create -f -s bad.yaml "$tmp/bad.drep") > "$tmp/out" 2> "$tmp/got"
    [ $? = 2 ] || return 1
    [ ! -s "$tmp/out" ] && [ ! -e "$tmp/bad.drep" ] || return 1
    [ -z "${UPDATE:-}" ] || cp "$tmp/got" "$HERE/expect/bad.err"
    diff -u "$HERE/expect/bad.err" "$tmp/got"
}

# Prints FILE as N.yaml, makes M.drep from that and prints it as M.yaml.
again() { # FILE N M
    "$DATAREP" dump -H --yaml "$1" > "$tmp/$2.yaml" &&
        "$DATAREP" create -f -s "$tmp/$2.yaml" "$tmp/$3.drep" &&
        "$DATAREP" dump -H --yaml "$tmp/$3.drep" > "$tmp/$3.yaml"
}

# The same for a file that someone else wrote, with choices that the library would not make:
# what it makes of them stays.
settles() { # FILE
    again "$1" 1 2 && again "$tmp/2.drep" 2 3 && diff -u "$tmp/2.yaml" "$tmp/3.yaml"
}

# create -> print -> create -> print gives the same text twice, and the same structure.
fixed_point() { # FILE
    again "$1" 1 2 || return 1
    diff -u "$tmp/1.yaml" "$tmp/2.yaml" || return 1
    "$DATAREP" dump -H "$1" | sed 1,/^$/d > "$tmp/1.txt"
    "$DATAREP" dump -H "$tmp/2.drep" | sed 1,/^$/d > "$tmp/2.txt"
    diff -u "$tmp/1.txt" "$tmp/2.txt"
}

# The values too: what --yaml prints makes a file with the same of everything, and Python reads
# the same numbers and texts from both.
with_values() { # FILE KEY...: that must be the same
    "$DATAREP" dump --yaml --external "$1" > "$tmp/values.yaml" || return 1
    "$DATAREP" create -f -s "$tmp/values.yaml" "$tmp/values.drep" || return 1
    "$DATAREP" dump --jsonl --external "$1" | sed 1d > "$tmp/a.jsonl"
    "$DATAREP" dump --jsonl "$tmp/values.drep" | sed 1d > "$tmp/b.jsonl"
    /usr/bin/python3 - "$tmp/a.jsonl" "$tmp/b.jsonl" "$tmp/values.yaml" "${@:2}" <<'PY'
import json, sys, yaml
a, b = ({o["path"]: o for o in map(json.loads, open(p))} for p in sys.argv[1:3])
assert a, "no objects"
for path in a.keys() | b.keys():
    for key in sys.argv[4:]:
        one, two = (side[path].get(key) for side in (a, b))
        if one != two:
            sys.exit("%s: %s: %r is not %r" % (path, key, one, two))
yaml.compose(open(sys.argv[3], encoding="utf-8"))
PY
}

# Attributes and fill values have the formats of this machine: what these hold is the same again, and
# what they would round is refused.
foreign() { # FILE
    "$DATAREP" dump --yaml "$1" > "$tmp/foreign.yaml" || return 1
    if "$DATAREP" create -f -s "$tmp/foreign.yaml" "$tmp/foreign.drep" 2> "$tmp/err"; then
        with_values "$1" kind shape maxshape data attributes fill
    else
        ! grep -v "a hexadecimal number with more digits than this machine's type has; a decimal is rounded$" "$tmp/err"
    fi
}

# The value that a schema gives is the value that JSON shows.
value() { # TYPE VALUE [JSON]
    printf 'root: {d: {dataset: "%s", data: %s}, e: {type: INT, attrs: {a: {type: "%s", value: %s}}}}\n' \
        "$1" "$2" "$1" "$2" > "$tmp/value.yaml"
    "$DATAREP" create -f -s "$tmp/value.yaml" "$tmp/value.drep" &&
        "$DATAREP" dump --json "$tmp/value.drep" > "$tmp/value.json" || return 1
    python3 - "$tmp/value.json" "${3:-$2}" <<'PY'
import json, sys
root = json.load(open(sys.argv[1]))["root"]["members"]
want = json.loads(sys.argv[2])
got = root["d"]["data"], root["e"]["attributes"]["a"]["value"]
if got != (want, want):
    sys.exit("%r is not %r" % (got, want))
PY
}

check "all errors of a schema are said, with line and column" all_errors
check "not YAML" wrong 1:5 . <<< 'a: b: c'
check "an empty schema" wrong "" "empty" < /dev/null
check "a list is no schema" wrong 1:1 "expected a map" <<< '[1]'
check "an alias is refused" wrong 2:4 "alias" <<< $'a: &x [1]\nb: *x'
check "a tag is refused" wrong 1:10 "tag" <<< 'datarep: !!binary aGk='
check "two documents are refused" wrong 2:1 "one document" <<< $'root: {}\n--- {}'
check "a key given twice" wrong 1:22 "twice" <<< 'root: {a: {}, b: {}, a: {}}'
check "too deep" wrong 1:257 "deeper" <<< "$(printf '[%.0s' $(seq 300))"
check "an unknown representation" wrong 1:10 "nonsense" 4 <<< $'datarep: nonsense\nroot: {}'
check "a value too large for its type" wrong 1:57 "does not fit" <<< \
    'root: {a: {dataset: "struct{x: FLOAT16[2]}", data: [[1, 70000]]}}'
check "a value too large for its representation" wrong 3:36 "does not fit" 4 <<< 'datarep: m
datareps: {m: {types: {DOUBLE: ibm-hex64}}}
root: {a: {dataset: DOUBLE, data: [1e80]}}'
check "a truncated schema" wrong 2:1 . <<< 'root: {a: {dataset: INT, data: [1,'

check "no schema" refuses 2 "which schema" create -f "$tmp/x.drep"
check "a schema that is not there" refuses 3 "No such file" create -f -s "$tmp/nope.yaml" "$tmp/x.drep"
check "a schema that is a directory" refuses 3 "directory" create -f -s "$tmp" "$tmp/x.drep"
check "a directory that is not there" refuses 3 "nowhere" create -f -s "$HERE/all.yaml" "$tmp/nowhere/x"

check "a schema with everything" status 0 create -f -s "$HERE/all.yaml" "$tmp/all.drep"
check "its schema" expected all.yaml dump -H --yaml "$tmp/all.drep"
check "its schema makes it again" fixed_point "$tmp/all.drep"
check "with its values" \
    with_values "$tmp/all.drep" kind type shape maxshape filters fill data attributes
for v in scalars declared-vax; do # reals beyond binary128, too
    check "every bit of $v.drep" with_values "$HERE/../vectors/$v.drep" type shape data attributes
done
for v in reps declared-vax; do
    check "the representations of $v.drep" with_values "$HERE/../vectors/$v.drep" datarep data fill
done
cat > "$tmp/several.yaml" <<'Y'
datarep: internal
datareps:
  ibm: {order: big, types: {DOUBLE: ibm-hex64}}
root:
  plain: {dataset: INT, data: [1, 2]}
  said: {dataset: INT, datarep: internal, data: [1, 2]}
  big: {dataset: "struct{x: INT, y: DOUBLE}", datarep: external32, fill: {x: 3, y: 0.1}, shape: [2]}
  a: {b: {dataset: DOUBLE, datarep: ibm, chunk: [1], filters: [shuffle], data: [0.5, 0.1]}}
  c: {dataset: DOUBLE, datarep: ibm, data: [0.1, 1e70]}
Y
# What a dataset says is what it has, and a second table of a name gets another one.
several() {
    status 0 create -f -s "$tmp/several.yaml" "$tmp/several.drep" && status 0 ls -lr "$tmp/several.drep" || return 1
    tr -s ' ' < "$tmp/out" | grep -o '^/[^ ]*\|datarep .*' | sed 's/ \(compact\|chunk\).*//' > "$tmp/got"
    diff -u - "$tmp/got" <<'Y' || return 1
/plain
/said
/big
datarep 1 external32
/a
/a/b
datarep 2 ibm
/c
datarep 2 ibm
Y
    fixed_point "$tmp/several.drep" && with_values "$tmp/several.drep" datarep type shape fill data || return 1
    sed 's/hex64/hex32/' "$tmp/several.yaml" > "$tmp/other.yaml"
    status 1 convert -f -s "$tmp/other.yaml" --datarep=ibm --only=/c "$tmp/several.drep" "$tmp/both.drep" &&
        settles "$tmp/both.drep" && grep -q '^  ibm-2:$' "$tmp/1.yaml" &&
        with_values "$tmp/both.drep" type shape fill data && status 0 ls -l "$tmp/values.drep" &&
        grep -q '^/c .* ibm-2 ' "$tmp/out" && status 0 validate -s "$tmp/values.yaml" "$tmp/values.drep"
}
several_one() {
    status 0 create -f --datarep=external32 -s "$tmp/several.yaml" "$tmp/x.drep" && status 0 ls -lr "$tmp/x.drep" &&
        ! grep datarep "$tmp/out"
}
check "several representations" several
check "--datarep is that of all datasets" several_one
check "an unknown representation of a dataset" wrong 2:42 "/d: .*datarep \"nope\" is neither" 4 <<< \
    $'root:\n  d: {dataset: INT, shape: [2], datarep: nope}'
check "a representation that is no name" wrong 1:35 "expected a text" <<< 'root: {d: {dataset: INT, datarep: [a]}}'
# JSON has its words in quotes.
words_of_json() {
    status 0 create -f -s - "$tmp/x.drep" <<< '{"datareps": {"m": {"order": "big"}}, "root": {"l": {"link": "soft", "target": "/x"},
        "x": {"dataset": "float64", "shape": [3], "layout": "chunked", "chunk": [2], "filters": ["shuffle"]},
        "y": {"dataset": {"string": 4, "pad": "space"}, "shape": [3], "layout": "compact"}}}' &&
        status 0 ls -l "$tmp/x.drep" && grep -q "DOUBLE.*chunk.*shuffle" "$tmp/out" && grep -q "string(4,space).*compact" "$tmp/out"
}
check "words of JSON" words_of_json
check "a misspelt word" wrong 1:26 "did you mean \"datarep\"" <<< 'root: {d: {dataset: INT, datarap: internal}}'
check "a value too large for the dataset's" wrong 2:48 "does not fit" 4 <<< 'datareps: {m: {types: {DOUBLE: ibm-hex64}}}
root: {a: {dataset: DOUBLE, datarep: m, data: [1e80]}, b: {dataset: DOUBLE, data: [1e80]}}'
check "--datarep wins" status 0 create -f -s "$HERE/all.yaml" --datarep=native "$tmp/native.drep"
check "and holds the same" fixed_point "$tmp/native.drep"
check "--no-clobber" refuses 3 "exist" create -n -s "$HERE/all.yaml" "$tmp/all.drep"
check "an existing file is replaced" status 0 create -f -s "$HERE/all.yaml" "$tmp/all.drep"

cat > "$tmp/rep.yaml" <<'Y'
datarep: mainframe
datareps:
  mainframe: {order: big, types: {FLOAT: ibm-hex32, DOUBLE: ibm-hex64, LONG: {size: 4}}}
  unused: {order: little, base: external32, types: {INT: {size: 3}}}
root:
  f: {dataset: FLOAT, data: [1.5, -0.1]}
  d: {dataset: DOUBLE, data: [0.1]}
  l: {dataset: LONG, data: [-7]}
Y
check "a declared representation" status 0 create -f -s "$tmp/rep.yaml" "$tmp/rep.drep"
cd "$tmp" || exit 1
check "its values" expected rep.txt dump rep.drep
check "it is printed with its table" expected rep.yaml dump -H --yaml "$tmp/rep.drep"
check "and makes the file again" fixed_point "$tmp/rep.drep"

check "value: an integer" value INT -5
check "value: beyond 2^53" value INT64_T 9007199254740993 '"9007199254740993"'
check "value: 128 bits" value INTEGER16 -170141183460469231731687303715884105728 \
    '"-170141183460469231731687303715884105728"'
check "value: 0.1 as FLOAT" value FLOAT 0.1
check "value: NaN" value DOUBLE .nan '"nan"'
check "value: wider than a double" value FLOAT128 '"0x1.0000000000000000000000000001p-16382"'
check "value: a decimal in a FLOAT128" value FLOAT128 0.1 '"0x1.999999999999999999999999999ap-4"'
check "value: a double in a FLOAT128" value FLOAT128 "0x1.999999999999ap-4" 0.1
check "value: FLOAT16" value FLOAT16 0.5
check "value: FLOAT16, rounded once" value FLOAT16 1.00048828125000000000000000001 1.0009765625
check "value: complex" value C_FLOAT_COMPLEX '[1.5, -2]' '[1.5, -2.0]'
check "value: bool" value "bool(INT8_T)" true
check "value: enum" value 'enum(INT8_T){A=0,B=1}' B '"B"'
check "value: fixed string" value "string(4)" '"ab"'
check "value: bytes that are no UTF-8" value "string(4)" '{hex: "41ff"}' '"A\udcff"'
check "value: opaque" value "opaque(2)" '"0aff"'
check "value: compound" value 'struct{a: INT, b: vstring}' '{a: 1, b: x}' '{"a": 1, "b": "x"}'
check "value: array" value "INT[2,2]" '[[1, 2], [3, 4]]'
check "value: sequence" value "seq(seq(INT))" '[[1], [], [2, 3]]'
check "value: a character" value CHAR '"é"'
# What a decimal of a double is not exactly, a wider type needs in hexadecimal.
exact() {
    printf 'root: {d: {dataset: FLOAT128, data: ["0x1.999999999999ap-4", 0.5, "0x1p-1000", 1e22, 1e23]}}\n' |
        "$DATAREP" create -f -s - "$tmp/exact.drep" && with_values "$tmp/exact.drep" data &&
        grep -qF 'data: [0x1.999999999999ap-4, 0.5, 0x1p-1000, 1e+22,' "$tmp/values.yaml"
}
check "value: wide reals stay what they are" exact
check "value: a reference" value "ref(object)" /d '"/d"'

# Elements from other files, beside the schema.
mkdir -p "$tmp/from/below"
printf 'time,temp\n1,2.5\n2,NA\n' > "$tmp/from/table.csv"
printf '1\t2\n3\t4\n' > "$tmp/from/grid.tsv"
printf '\0\0\0\10BdvjA\20\0\0\0\0\0\10' > "$tmp/from/below/old.dat"
printf 'root: {x: {dataset: FLOAT, data: [[1, 2, 3], [4, 5, 6]]}}' |
    "$DATAREP" create -f -s - "$tmp/x.drep" && "$DATAREP" export -f "$tmp/x.drep" "$tmp/from/x.npy"
ln -s /etc/passwd "$tmp/from/link.csv"
ln -s table.csv "$tmp/from/inner.csv"
cat > "$tmp/from/s.yaml" <<'Y'
dims: {time: unlimited}
datareps: {ibm: {order: big, types: {FLOAT: ibm-hex32}}}
root:
  x: {dataset: DOUBLE, shape: [2, 3], from: x.npy}
  y: {dataset: FLOAT16, dims: [time, null], shape: [0, 3], from: {npy: x.npy}}
  t: {dataset: "struct{temp: FLOAT, time: INT}", shape: [2], from: {csv: table.csv, missing: NA}}
  c: {dataset: DOUBLE, dims: [time], from: {csv: inner.csv, column: temp, missing: NA}}
  g: {dataset: INT, shape: [2, 2], from: {csv: grid.tsv, header: false}}
  i: {dataset: FLOAT, shape: [2], from: {raw: below/old.dat, datarep: ibm, records: 4-big}}
  j: {dataset: FLOAT, shape: [1], from: {raw: below/old.dat, datarep: ibm, offset: 8}}
Y
from_files() {
    "$DATAREP" create -f -s "$tmp/from/s.yaml" "$tmp/from.drep" || return 1
    "$DATAREP" dump --json "$tmp/from.drep" > "$tmp/from.json" || return 1
    python3 - "$tmp/from.json" <<'PY' || return 1
import json, sys
got = {k: v.get("data") for k, v in json.load(open(sys.argv[1]))["root"]["members"].items()}
want = {"x": [[1, 2, 3], [4, 5, 6]], "y": [[1, 2, 3], [4, 5, 6]],
        "t": [{"temp": 2.5, "time": 1}, {"temp": "nan", "time": 2}], "c": [2.5, "nan"],
        "g": [[1, 2], [3, 4]], "i": [100.462555, 1], "j": [1]}
sys.exit(0 if got == want else "%s\nis not\n%s" % (got, want))
PY
    mkdir -p "$tmp/scratch"
    TMPDIR=$tmp/scratch status 0 validate -s "$tmp/from/s.yaml" "$tmp/from.drep" || { cat "$tmp/out"; return 1; }
    TMPDIR=/nonexistent status 3 validate -s "$tmp/from/s.yaml" "$tmp/from.drep" &&
        TMPDIR=/nonexistent status 0 validate -H -s "$tmp/from/s.yaml" "$tmp/from.drep" ||
        { cat "$tmp/out" "$tmp/err"; return 1; }
    [ -z "$(ls -A "$tmp/scratch")" ] || { echo "something is left in TMPDIR"; return 1; }
    sed 's/2.5/2.25/' "$tmp/from/table.csv" > "$tmp/from/new.csv" && mv "$tmp/from/new.csv" "$tmp/from/table.csv"
    status 1 validate -s "$tmp/from/s.yaml" "$tmp/from.drep" &&
        grep -q 's.yaml:6:68: /t\[0\]: the value is .*2.5.*, not .*2.25' "$tmp/out" || { cat "$tmp/out"; return 1; }
}
check "elements from other files" from_files

from_wrong() { # FROM PATTERN [STATUS]
    printf 'root: {a: {dataset: FLOAT, shape: [2, 3], from: %s}}' "$1" > "$tmp/from/w.yaml"
    rm -f "$tmp/w.drep"
    "$DATAREP" create -f -s "$tmp/from/w.yaml" "$tmp/w.drep" > "$tmp/out" 2> "$tmp/err"
    [ $? = "${3:-2}" ] && grep -qE "w.yaml:1:[0-9]+: .*$2" "$tmp/err" && [ ! -e "$tmp/w.drep" ] &&
        [ ! -s "$tmp/out" ] || { cat "$tmp/err"; return 1; }
}
check "a file that is not there" from_wrong nope.npy "No such file" 3
check "a file elsewhere" from_wrong ../x.npy "No such file" 3
check "a path out of the folder" from_wrong ../all.drep.csv "No such file|leads out" 3
check "a link out of the folder" from_wrong link.csv "leads out of the schema's folder" 3
check "a path from the root" from_wrong /etc/passwd.csv "named from the schema's folder" 3
check "a folder" from_wrong "{raw: below}" "no regular file" 3
check "a file of no known kind" from_wrong table.txt "does not end in"
check "an unknown option" from_wrong "{csv: table.csv, colum: x}" 'unknown key "colum" .did you mean "column"'
check "a wrong option" from_wrong "{raw: x.npy, order: D}" "order is C or F"
check "wrong records" from_wrong "{raw: x.npy, records: 3-big}" "records is fortran"
check "a wrong offset" from_wrong "{raw: x.npy, offset: -1}" "not in 0 to"
check "a wrong delimiter" from_wrong "{csv: table.csv, delimiter: ab}" "one character"
check "values twice" from_wrong "x.npy, data: [[1, 2, 3], [4, 5, 6]]" "already"
check "another shape" from_wrong "x.npy, attrs: {}}, b: {dataset: INT, shape: [7], from: x.npy" "/b: its elements"
check "a table that does not fit" from_wrong table.csv "/a: its elements cannot be read" 4

# Groups inside one another, as deep as a schema can be, and deeper.
groups() { # DEPTH NAME: a file with a dataset below so many groups
    local path=
    printf '\0\0\0\1' > "$tmp/one.raw"
    path=$(printf "/$2%.0s" $(seq "$1"))
    rm -f "$tmp/deep.drep"
    "$DATAREP" import -f --type=INT -i "$path/x" "$tmp/one.raw" "$tmp/deep.drep"
}
deep() { # DEPTH NAME
    groups "$1" "$2" && "$DATAREP" dump --yaml "$tmp/deep.drep" > "$tmp/deep.yaml" &&
        "$DATAREP" create -f -s "$tmp/deep.yaml" "$tmp/again.drep" &&
        "$DATAREP" diff "$tmp/deep.drep" "$tmp/again.drep" &&
        status 0 validate -s "$tmp/deep.yaml" "$tmp/deep.drep"
}
too_deep() { # DEPTH NAME
    groups "$1" "$2" && status 4 dump --yaml "$tmp/deep.drep" &&
        grep -q "a schema cannot be so deep" "$tmp/err" && cp "$tmp/out" "$tmp/deep.yaml" &&
        status 0 create -f -s "$tmp/deep.yaml" "$tmp/again.drep"
}
json() {
    echo '{"root": {"a": {"dataset": "INT", "shape": [2], "maxshape": ["unlimited"]}}, "dims": {"t": "unlimited"}}' > "$tmp/j.json" &&
        rm -f "$tmp/j.drep" && status 0 create -f -s "$tmp/j.json" "$tmp/j.drep" &&
        "$DATAREP" dump -H "$tmp/j.drep" | grep -qF '[2/unlimited]'
}
check "a schema in JSON" json
check "190 groups inside one another" deep 190 g
check "95 groups called as a key" deep 95 type
check "250 groups are too many" too_deep 250 g
check "120 groups called as a key are too many" too_deep 120 attrs

# Members that lie in the file where the datatype has them.
placed() {
    rm -f "$tmp/placed.drep" "$tmp/packed.drep"
    echo 'datarep: external32
root:
  a:
    dataset: "struct{x@12: INT, y@4: SHORT}:20"
    placed: true
    shape: [2]
    layout: contiguous
    fill: {x: 5, y: 6}
    data: [{x: 16909060, y: 2}, {x: -1, y: 3}]' > "$tmp/placed.yaml"
    sed "s/placed: true/placed: false/" "$tmp/placed.yaml" > "$tmp/packed.yaml"
    status 0 create -f -s "$tmp/placed.yaml" "$tmp/placed.drep" &&
        status 0 create -f -s "$tmp/packed.yaml" "$tmp/packed.drep" &&
        "$DATAREP" check --deep "$tmp/placed.drep" &&
        od -An -v -tx1 "$tmp/placed.drep" | tr -d ' \n' | grep -qF \
            00000000000200000000000001020304000000000000000000030000000000\
00ffffffff00000000 &&
        "$DATAREP" dump --yaml "$tmp/placed.drep" > "$tmp/again.yaml" &&
        grep -qF 'placed: true' "$tmp/again.yaml" && grep -qF 'x@12: INT, y@4: SHORT}:20' "$tmp/again.yaml" &&
        rm -f "$tmp/again.drep" && status 0 create -f -s "$tmp/again.yaml" "$tmp/again.drep" &&
        "$DATAREP" dump --yaml "$tmp/again.drep" | diff - "$tmp/again.yaml" &&
        ! "$DATAREP" dump --yaml "$tmp/packed.drep" | grep -q placed &&
        status 0 validate -s "$tmp/again.yaml" "$tmp/placed.drep" &&
        status 1 validate -s "$tmp/placed.yaml" "$tmp/packed.drep" && grep -q "not placed" "$tmp/out" "$tmp/err" &&
        status 2 create -f -s <(echo 'root: {a: {dataset: INT, placed: 3}}') "$tmp/wrong.drep" &&
        grep -q "placed is true or false" "$tmp/err" &&
        status 4 create -f -s <(echo 'root: {a: {dataset: "struct{x@2: INT, y@4: INT}", placed: true}}') "$tmp/wrong.drep"
}
check "members at offsets of their own" placed

# Memory has no complex number beyond binary128: text says no other number than the file.
wide_complex() {
    local says="in a complex number has more digits, or another power, than binary128 holds"
    wide() { # PARTS
        printf 'datareps: {v: {base: internal, types: {C_LONG_DOUBLE_COMPLEX: %s}}}
datarep: v
hints: {drep_checksum: deferred}
root: {c: {dataset: C_LONG_DOUBLE_COMPLEX, shape: [2], layout: contiguous, data: [[1, 0.5], [%s]]}}\n' "$@" > "$tmp/wide.yaml"
    }
    wide double-double "2, 0x1.0000000000000000000000000000001p0" && status 2 create -f -s "$tmp/wide.yaml" "$tmp/wide.drep" &&
        grep -q "$says" "$tmp/err" &&
        wide '{format: vax-h, order: vax}' "1.2345678901234567890123456789012345e-4932, 1" &&
        status 2 create -f -s "$tmp/wide.yaml" "$tmp/wide.drep" && grep -q "$says" "$tmp/err" &&
        wide '{format: vax-h, order: vax}' "0x1p-16384, 0x1.fffffffffffffffffffffffffffep0" &&
        status 0 create -f -s "$tmp/wide.yaml" "$tmp/wide.drep" &&
        "$DATAREP" dump --yaml "$tmp/wide.drep" | grep -q "\[0x1p-16384, 0x1.fffffffffffffffffffffffffffep+0\]" &&
        wide double-double "2, 0x1.0000000000000000000001p0" && status 0 create -f -s "$tmp/wide.yaml" "$tmp/wide.drep" &&
        "$DATAREP" dump --yaml "$tmp/wide.drep" | grep -qF "[2.0, 0x1.0000000000000000000001p+0]" || return 1
    cp "$tmp/wide.drep" "$tmp/other.drep"
    python3 - "$tmp/wide.drep" <<'PY' || return 1
import struct, sys
with open(sys.argv[1], "r+b") as f:
    data = f.read()
    low = struct.pack("<d", 2.0 ** -88)
    assert data.count(low) == 1
    f.seek(data.index(low))
    f.write(struct.pack("<d", 2.0 ** -300))
PY
    for how in "dump" "dump --json" "dump --yaml" "diff $tmp/other.drep" "export -f --format=csv" "export -f --format=csv --root=/c"; do
        # shellcheck disable=SC2086
        case $how in
        export*) status 4 $how "$tmp/wide.drep" "$tmp/wide.csv" ;;
        *) status 4 $how "$tmp/wide.drep" ;;
        esac && grep -q "a complex number has more digits, or another power, than binary128 holds" "$tmp/err" || return 1
    done
    "$DATAREP" dump "$tmp/wide.drep" '/c[0]' | grep -qF "[1.0, 0.5]"
}
check "complex numbers beyond binary128" wide_complex

# What cannot be read is said, and the rest is there.
damaged() {
    printf 'root:
  a: {dataset: INT, shape: [2, 2], layout: chunked, chunk: [1, 2], data: [[1, 2], [77777777, 4]]}
  b: {dataset: INT, shape: [3], data: [1, 2, 3]}\n' > "$tmp/damaged.yaml"
    status 0 create -f -s "$tmp/damaged.yaml" "$tmp/damaged.drep" &&
        python3 - "$tmp/damaged.drep" <<'PY' || return 1
import struct, sys
with open(sys.argv[1], "r+b") as f:
    f.seek(f.read().index(struct.pack("<i", 77777777)))
    f.write(b"?")
PY
    status 4 dump --yaml "$tmp/damaged.drep" && grep -q "checksum mismatch" "$tmp/err" || return 1
    [ "$(wc -l < "$tmp/err")" = 1 ] &&
        /usr/bin/python3 -c 'import sys, yaml; root = yaml.safe_load(sys.stdin)["root"]
assert root["a"]["data"] is None and root["b"]["data"] == [1, 2, 3], root' < "$tmp/out"
}
check "values that cannot be read" damaged

# Encodings of a newer version are left out of a representation's declaration, and said.
later() {
    status 4 dump --yaml "$HERE/../vectors/reps-later.drep" &&
        grep -q "its encoding of INT was written by a newer version" "$tmp/err"
}
check "encodings that a newer version wrote" later

for vector in "$HERE"/../vectors/*.drep; do
    name=$(basename "$vector" .drep)
    "$DATAREP" ls "$vector" > /dev/null 2>&1 || continue
    # Nobody has registered these, heard of that machine, or knows what a later version wrote.
    # Or makes values at the limits of the format, and beyond them.
    case $name in code* | user-filter | hdf5-unknown | native-unknown | later* | limits | beyond) continue ;; esac
    # Attributes that do not fit their datatypes are no values of a schema.
    [ "$name" != signs ] || continue
    case $name in
    attrs | fill-exact | native-*)
        check "long doubles of other machines: $name" foreign "$vector"
        continue
        ;;
    esac
    check "print and make again: $name" settles "$vector"
    check "with values: $name" with_values "$vector" kind shape maxshape data attributes fill
done
done_testing
