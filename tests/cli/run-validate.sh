#!/bin/bash
# run-validate.sh - a file against a schema: every difference, each at its place.
#
# One schema, and changes to it: a file made of the changed schema differs from the first in
# just what was changed, and the other way round.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# needs: deflate
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

cat > "$tmp/base.yaml" <<'Y'
datarep: external32
hints: {access_style: read_mostly}
types:
  point: {struct: {x: DOUBLE, y: DOUBLE}}
dims:
  time: unlimited
  lat: 3
root:
  attrs: {title: All of it, ratio: 0.5, at: {type: point, value: [1, 2]}}
  sst: {dataset: FLOAT, dims: [time, lat], chunk: [4, 3], filters: [{deflate: 1}], fill: .nan}
  lats: {dataset: DOUBLE, dims: [lat], data: [-10, 0.25, 10], attrs: {units: degrees}}
  log: {dataset: point, shape: [2], maxshape: [unlimited], data: [[1, 2], [3, 4]]}
  words: {dataset: vstring, data: [one, two, three]}
  see: {dataset: ref(object), data: [/sst, /lats]}
  flat: {dataset: INT, shape: [2, 2], layout: contiguous, data: [[1, 2], [3, 4]]}
  nothing: {dataset: INT, shape: null}
  kind: {type: "enum(INT8_T){A=0,B=1}"}
  deep: {inner: {x: {dataset: INT, data: 5}}}
  soft: {link: soft, target: /sst}
  hard: {link: hard, target: /sst}
  out: {link: external, file: a.drep, target: /x}
  other: {dataset: DOUBLE, datarep: native:m68k, data: [1, 2]}
Y
"$DATAREP" create -f -s "$tmp/base.yaml" "$tmp/base.drep" || exit 1

# A file made of the schema with this change, against the schema as it was.
differs() { # SED PLACE PATTERN [LINES]
    sed "$1" "$tmp/base.yaml" > "$tmp/other.yaml"
    cmp -s "$tmp/base.yaml" "$tmp/other.yaml" && { echo "no change: $1"; return 1; }
    "$DATAREP" create -f -s "$tmp/other.yaml" "$tmp/other.drep" || return 1
    (cd "$tmp" && status 1 validate -s base.yaml other.drep) || { cat "$tmp/out"; return 1; }
    [ ! -s "$tmp/err" ] || { cat "$tmp/err"; return 1; }
    grep -qE "^base.yaml:$2: $3" "$tmp/out" || { cat "$tmp/out"; return 1; }
    [ "$(wc -l < "$tmp/out")" = "${4:-1}" ] || { echo "not ${4:-1} lines:"; cat "$tmp/out"; return 1; }
    # It is itself, and the other way round they differ as well.
    status 0 validate -s "$tmp/other.yaml" "$tmp/other.drep" || { cat "$tmp/out"; return 1; }
    status 1 validate -s "$tmp/other.yaml" "$tmp/base.drep"
}

# What a schema does not say is free.
free() { # SED
    sed "$1" "$tmp/base.yaml" > "$tmp/other.yaml"
    cmp -s "$tmp/base.yaml" "$tmp/other.yaml" && { echo "no change: $1"; return 1; }
    status 0 validate -s "$tmp/other.yaml" "$tmp/base.drep" || { cat "$tmp/out"; return 1; }
}

check "a file is as its schema describes it" status 0 validate -s "$tmp/base.yaml" "$tmp/base.drep"
check "of which nothing is printed" test ! -s "$tmp/out"
check "the schema comes from standard input" bash -c \
    "'$DATAREP' validate -s - '$tmp/base.drep' < '$tmp/base.yaml'"
check "the file comes from standard input" bash -c \
    "'$DATAREP' validate -s '$tmp/base.yaml' - < '$tmp/base.drep'"

check "the representation of a dataset" differs 's/native:m68k/internal/' 22:37 \
    "/other: the data representation is internal, not native:m68k$"
check "that of another machine" differs 's/native:m68k/native:i386/' 22:37 \
    "/other: native:m68k holds datatypes otherwise here$"
check "which is free where it is not said" free 's/datarep: native:m68k, //'
check "representation" differs '1s/external32/internal/' 1:10 "the data representation is internal"
check "hint" differs 's/read_mostly/write_once/' 2:23 'hint "access_style" is write_once'
check "hint that is missing" differs 's/access_style: read_mostly/nb_proc: "2"/' 2:23 "there is no hint"
check "named datatype" differs 's/A=0/A=7/' 17:16 "/kind: the datatype is enum.*A=7"
check "datatypes of all who use a name" differs 's/y: DOUBLE/y: FLOAT/' 4:10 "/point: the datatype is" 3
check "dimension" differs 's/lat: 3$/lat: 4/;s/data: \[-10, 0.25/data: [-10, 0, 0.25/;s/4, 3]/4, 4]/' \
    7:8 "/#lat: the length is 4, not 3" 4
check "dimension without end" differs 's/time: unlimited/time: 0/' 6:9 "/#time: the dimension is not unlimited" 2
check "attribute: value" differs 's/ratio: 0.5/ratio: 0.25/' 9:36 '/: attribute "ratio" is 0.25, not 0.5'
check "attribute: text" differs 's/All of it/None of it/' 9:18 '/: attribute "title" is "None of it"'
check "attribute: datatype" differs 's/ratio: 0.5/ratio: 1/' 9:36 '/: the datatype of attribute "ratio" is INT64_T'
check "attribute: shape" differs 's/ratio: 0.5/ratio: [0.5]/' 9:36 '/: the shape of attribute "ratio" is \[1\], not \[\]'
check "attribute: missing" differs 's/ratio: 0.5, //' 9:36 '/: there is no attribute "ratio"'
check "attribute: more" differs 's/ratio: 0.5/ratio: 0.5, more: 1/' 9:10 '/: attribute "more" is not in the schema'
check "datatype" differs 's/sst: {dataset: FLOAT/sst: {dataset: DOUBLE/' 10:18 "/sst: the datatype is DOUBLE, not FLOAT"
check "chunk" differs 's/4, 3/8, 3/' 10:51 '/sst: the chunk is \[8, 3\], not \[4, 3\]'
check "filters" differs 's/deflate: 1/deflate: 2/' 10:68 "/sst: the filters are others"
check "fill" differs 's/fill: .nan/fill: 0.5/' 10:90 '/sst: the fill is 0.5, not "nan"'
check "no fill" differs 's/fill: .nan/fill: none/' 10:90 "/sst: the fill is none, not a value"
check "dimension name" differs 's/dims: \[lat\]/shape: [3]/' 11:34 '/lats: dimension 0 is not "/#lat"'
check "largest shape" differs 's/maxshape: \[unlimited\]/maxshape: [9]/' 12:47 '/log: the largest shape is \[9\], not \[unlimited\]'
check "value" differs 's/0.25, 10/0.5, 10/' 11:46 '/lats\[1\]: the value is 0.5, not 0.25'
check "values" differs 's/\[-10, 0.25, 10\]/[-10, 7, 8]/' 11:46 '/lats\[1\]: the value is 7.0, not 0.25; 1 more differ'
check "value of a compound" differs 's/\[3, 4\]\]}/[3, 5]]}/;s/\[\[1, 2\], \[3, 5\]\]}$/&/' 12:66 "/log\\[1\\]: the value is .*5.0" 2
check "value of text" differs 's/two, three/too, three/' 13:35 '/words\[1\]: the value is "too", not "two"'
check "reference" differs 's:/sst, /lats\]:/sst, /sst]:' 14:37 '/see\[1\]: the value is "/sst", not "/lats"'
check "layout" differs 's/layout: contiguous/chunk: [1, 2]/' 15:47 "/flat: the layout is chunked, not contiguous"
check "shape" differs 's/\[2, 2\], layout: contiguous, data: \[\[1, 2\], \[3, 4\]\]/[2, 3], layout: contiguous/' \
    15:31 '/flat: the shape is \[2, 3\], not \[2, 2\]'
check "no elements at all" differs 's/shape: null/shape: []/' 16:34 '/nothing: the shape is \[\], not null'
check "kind of object" differs 's/inner: {x: {dataset: INT, data: 5}}/inner: {dataset: INT}/' 18:17 "/deep/inner: this is a dataset, not a group"
check "missing" differs 's/x: {dataset: INT, data: 5}//' 18:21 "/deep/inner/x: there is no such object"
check "more" differs 's/inner: {x/more: {}, inner: {x/' 18:9 '/deep: member "more" is not in the schema'
check "soft link" differs '19s:/sst:/log:' 19:30 "/soft: the target is /log, not /sst"
check "hard link" differs '20s:/sst:/log:' 20:30 '/hard: this is not the object "/sst"'
check "external link" differs 's/a.drep/b.drep/' 21:31 "/out: the file is b.drep, not a.drep"
check "kind of link" differs '19s/soft, /hard, /' 19:9 "/soft: this is an object, not a soft link"
check "an object instead of a link" differs '20s/{.*/{dataset: INT}/' 20:30 '/hard: this is not the object'

check "layout may be left open" free 's/layout: contiguous, //'
check "chunks may" free 's/chunk: \[4, 3\], filters: \[{deflate: 1}\], //'
check "fill may" free 's/, fill: .nan//'
check "values may" free 's/, data: \[\[1, 2\], \[3, 4\]\]}/}/'
check "the representation may" free '1d'
check "hints may" free '/^hints/d'

more_is_allowed() {
    sed '/^  words/d;s/, ratio: 0.5//' "$tmp/base.yaml" > "$tmp/less.yaml"
    status 1 validate -s "$tmp/less.yaml" "$tmp/base.drep" || return 1
    [ "$(wc -l < "$tmp/out")" = 2 ] || { cat "$tmp/out"; return 1; }
    status 0 validate --extra -s "$tmp/less.yaml" "$tmp/base.drep"
}
check "--extra" more_is_allowed

values_are_free() {
    sed 's/0.25, 10/0.5, 10/' "$tmp/base.yaml" > "$tmp/other.yaml"
    "$DATAREP" create -f -s "$tmp/other.yaml" "$tmp/other.drep" &&
        status 1 validate -s "$tmp/base.yaml" "$tmp/other.drep" &&
        status 0 validate -H -s "$tmp/base.yaml" "$tmp/other.drep"
}
check "-H looks at no values of datasets" values_are_free

# All at once: each line of the schema is named.
everything() {
    printf 'root: {sst: {}, soft: {}}\n' > "$tmp/none.yaml"
    "$DATAREP" create -f -s "$tmp/none.yaml" "$tmp/none.drep" || return 1
    (cd "$tmp" && status 1 validate -s base.yaml none.drep) || return 1
    [ "$(cut -d: -f2 "$tmp/out" | sort -un | tr '\n' ' ')" = \
        "1 2 4 6 7 9 10 11 12 13 14 15 16 17 18 19 20 21 22 " ] || { cat "$tmp/out"; return 1; }
}
check "everything that differs is said" everything

# More differences than complaints about a schema are shown.
very_many() {
    { echo "root:"; for i in $(seq 1000); do echo "  d$i: {dataset: INT}"; done; } > "$tmp/many.yaml"
    (cd "$tmp" && status 1 validate -s many.yaml none.drep) || return 1
    [ "$(grep -c "no such object" "$tmp/out")" = 1000 ] || { tail -n 3 "$tmp/out"; return 1; }
}
check "a thousand differences" very_many

grown() {
    printf 'dims: {t: unlimited}\nroot: {x: {dataset: INT, dims: [t], chunk: [4]%s}}\n' "$1" > "$tmp/grown.yaml"
}
may_have_grown() {
    grown "" && cp "$tmp/grown.yaml" "$tmp/empty.yaml"
    grown ", shape: [3], data: [1, 2, 3]" &&
        "$DATAREP" create -f -s "$tmp/grown.yaml" "$tmp/grown.drep" || return 1
    status 0 validate -s "$tmp/empty.yaml" "$tmp/grown.drep" || { cat "$tmp/out"; return 1; }
    "$DATAREP" create -f -s "$tmp/empty.yaml" "$tmp/empty.drep" &&
        status 1 validate -s "$tmp/grown.yaml" "$tmp/empty.drep" &&
        grep -q 'the shape is \[0\], not \[3\]' "$tmp/out"
}
check "what may grow may have grown" may_have_grown

check "no schema" refuses 2 "which schema" validate "$tmp/base.drep"
check "no file" refuses 2 "which file" validate -s "$tmp/base.yaml"
check "two standard inputs" refuses 2 "standard input" validate -s - -
check "a schema that is wrong" refuses 2 "unknown key" validate -s <(echo 'wrong: 1') "$tmp/base.drep"
check "a file that is not there" refuses 3 "No such file" validate -s "$tmp/base.yaml" "$tmp/nope"
check "a file that is something else" refuses 4 "not a Datarep file" validate -s "$tmp/base.yaml" "$tmp/base.yaml"
check "a full disk" bash -c "'$DATAREP' validate -s '$tmp/base.yaml' '$tmp/none.drep' > /dev/full; [ \$? = 3 ]"
done_testing
