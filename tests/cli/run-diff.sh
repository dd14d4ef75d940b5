#!/bin/bash
# run-diff.sh - diff: every kind of difference by itself, tolerances against NumPy, other
# representations, HDF5.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# needs: python-numpy
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

make_file() { # NAME [OPTION...]: from the schema on stdin
    "$DATAREP" create -f -s - "${@:2}" "$tmp/$1.drep"
}

base='
types: {pair: {struct: {x: DOUBLE, n: {array: INT, shape: [2]}}}}
dims: {t: unlimited, y: 3}
root:
  attrs: {title: base, year: 2026}
  g:
    attrs: {a: [1, 2, 3], s: x}
    d: {dataset: DOUBLE, dims: [t, y], shape: [2, 3], chunk: [1, 3], data: [[1, 2, 3], [4, 5, 6]]}
    p: {dataset: pair, shape: [2], data: [{x: 1, n: [1, 2]}, {x: 2, n: [3, 4]}]}
    s: {dataset: vstring, data: [one, two]}
    q: {dataset: seq(INT), shape: [2], data: [[1, 2], [3]]}
    f: {dataset: FLOAT, shape: [3], fill: 7}
    z: {dataset: C_DOUBLE_COMPLEX, shape: [2], data: [[1, 2], [3, 4]]}
    e: {dataset: "enum(INT){A=0,B=1}", data: [A, B]}
    r: {dataset: ref(object), data: [/g]}
  soft: {link: soft, target: /g/d}
  hard: {link: hard, target: /g/d}
'
same() { # OPTION-AND-OPERAND...
    status 0 diff "$@" && [ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
}

# One change of the schema is one difference, and it is this line.
one() { # LINE SED-EXPRESSION [DIFF-OPTION...]
    printf '%s' "$base" | sed -e "$2" > "$tmp/changed.yaml"
    [ "$(cat "$tmp/changed.yaml")" != "$base" ] || { echo "nothing is changed"; return 1; }
    "$DATAREP" create -f -s "$tmp/changed.yaml" "$tmp/changed.drep" || return 1
    (cd "$tmp" && status 1 diff "${@:3}" base.drep changed.drep) || return 1
    printf '%s\n' "$1" | diff -u - "$tmp/out" && [ ! -s "$tmp/err" ]
}

# The same the other way round is found too, and --json says as many.
both_ways() { # SED-EXPRESSION: leaves changed.drep
    printf '%s' "$base" | sed -e "$1" | make_file changed
    status 1 diff "$tmp/changed.drep" "$tmp/base.drep" && status 1 diff --json "$tmp/base.drep" "$tmp/changed.drep" &&
        python3 -c 'import json, sys; d = json.load(open(sys.argv[1]))
assert len(d["differences"]) == d["found"] == 1, d' "$tmp/out"
}

# A long double that only a binary128 is long enough for, and one that all hold.
sed 's/"0x1.0000000000000000000000000001p-16382"/"0x1p-900"/' "$HERE/all.yaml" > "$tmp/held.yaml"

representations() { # REP REP
    "$DATAREP" create -f -s "$tmp/held.yaml" --datarep="$1" "$tmp/r1.drep" &&
        "$DATAREP" create -f -s "$tmp/held.yaml" --datarep="$2" "$tmp/r2.drep" &&
        status 0 diff "$tmp/r1.drep" "$tmp/r2.drep" && [ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ] &&
        status 1 diff --storage "$tmp/r1.drep" "$tmp/r2.drep" && grep -q "^/: data representation $1 -> $2$" "$tmp/out"
}

printf '%s' "$base" | make_file base
check "a file and itself" same "$tmp/base.drep" "$tmp/base.drep"
check "two files of the same" sh -c "'$DATAREP' dump --yaml '$tmp/base.drep' | '$DATAREP' create -s - '$tmp/again.drep' &&
    '$DATAREP' diff '$tmp/base.drep' '$tmp/again.drep'"
check "through a pipe" sh -c "'$DATAREP' diff - '$tmp/again.drep' < '$tmp/base.drep'"
check "an attribute's value" one '/: attribute title: "base" -> "other"' 's/title: base/title: other/'
check "a number in an attribute" one '/: attribute year: 2026 -> 2027' 's/2026/2027/'
check "an attribute's list" one '/g: attribute a: 1 of 3 values differ, first at [1]: 2 -> 5; at most by 3 at [1], relatively by 0.6' 's/a: \[1, 2, 3\]/a: [1, 5, 3]/'
check "values of an attribute" \
    one '/g: attribute a: 2 of 3 values differ, first at [1]: 2 -> 5; at most by 4 at [2], relatively by 0.6' \
    's/a: \[1, 2, 3\]/a: [1, 5, 7]/'
check "an attribute's shape" one '/g: attribute a shape [3] -> [2]' 's/a: \[1, 2, 3\]/a: [1, 2]/'
check "an attribute's type" one '/: attribute year type INT64_T -> INT' 's/year: 2026/year: {type: INT, value: 2026}/'
check "an attribute that is not there" one '/g: attribute s only in base.drep' 's/, s: x//'
check "an attribute that is new" one '/g: attribute new only in changed.drep' 's/, s: x/, s: x, new: 1/'
check "a value" one '/g/d: 1 of 6 values differ, first at [1,0]: 4.0 -> 4.5; at most by 0.5 at [1,0], relatively by 0.111111' \
    's/\[4, 5, 6\]/[4.5, 5, 6]/'
check "several values" \
    one '/g/d: 3 of 6 values differ, first at [0,1]: 2.0 -> nan; at most by 2 at [1,0], relatively by 0.5' \
    's/\[1, 2, 3\], \[4, 5, 6\]/[1, .nan, 3], [5, 5, 4]/; s/\[5, 5, 4\]/[8, 5, 4]/; s/\[8, 5, 4\]/[3, 5, 4]/; s/\[3, 5, 4\]/[2, 5, 4]/'
check "infinity" one '/g/d: 1 of 6 values differ, first at [0,0]: 1.0 -> inf; at most by inf at [0,0]' 's/\[1, 2, 3\], \[/[.inf, 2, 3], [/'
check "a member of a compound" \
    one '/g/p: 1 of 2 values differ, first at [1].n[0]: 3 -> 9; at most by 6 at [1], relatively by 0.666667' 's/\[3, 4\]}\]/[9, 4]}]/'
check "a text" one '/g/s: 1 of 2 values differ, first at [1]: "two" -> "three"' 's/\[one, two\]/[one, three]/'
check "a sequence" one '/g/q: 1 of 2 values differ, first at [0][1]: 2 -> 9; at most by 7 at [0], relatively by 0.777778' \
    's/\[\[1, 2\], \[3\]\]}/[[1, 9], [3]]}/'
check "a longer sequence" one '/g/q: 1 of 2 values differ, first at [1]: [3] -> [3, 4]' 's/\[\[1, 2\], \[3\]\]}/[[1, 2], [3, 4]]}/'
check "a complex number" one '/g/z: 1 of 2 values differ, first at [1]: [3.0, 4.0] -> [3.0, 5.0]; at most by 1 at [1], relatively by 0.2' \
    's/\[3, 4\]\]}/[3, 5]]}/'
check "an enum" one '/g/e: 1 of 2 values differ, first at [1]: B -> A; at most by 1 at [1], relatively by 1' 's/\[A, B\]}/[A, A]}/'
check "a reference" one '/g/r: [0]: "/g" -> "/g/d"' 's/data: \[\/g\]/data: [\/g\/d]/'
check "a fill value" one '/g/f: fill 7.0 -> 8.0' 's/fill: 7/fill: 8/' --ignore=values
check "no fill value" one '/g/f: fill a value -> zeros' 's/, fill: 7/, data: [7, 7, 7]/'
check "a shape" one '/g/s: shape [2] -> [3]' 's/\[one, two\]/[one, two, three]/'
check "a type" one '/g/f: type FLOAT -> DOUBLE' 's/dataset: FLOAT/dataset: DOUBLE/'
check "a type that cannot be compared" one '/g/f: type FLOAT -> string(4)' \
    's/dataset: FLOAT, shape: \[3\], fill: 7/dataset: string(4), shape: [3], fill: abcd/' --ignore=fill
check "a kind" one '/g/f: dataset -> group' 's/f: {.*}/f: {}/'
check "an object that is not there" one '/g/s: only in base.drep' '/ s: {dataset/d'
check "an object that is new" one '/new: only in changed.drep' 's/^  soft/  new: {}\n  soft/'
check "where a link leads" one '/soft: target /g/d -> /g/p' 's/target: \/g\/d}/&/; /soft/s/target: \/g\/d/target: \/g\/p/'
check "a kind of link" one '/soft: soft link -> hard link' 's/link: soft/link: hard/'
check "another object under a second name" one '/hard: another name of an object seen before -> another object' \
    '/hard/s/.*/  hard: {dataset: DOUBLE, dims: [t, y], shape: [2, 3], chunk: [1, 3], data: [[1, 2, 3], [4, 5, 6]]}/'
check "names of dimensions" one '/g/d: dimensions [/#t, /#y] -> [/#t, null]' \
    's/dims: \[t, y\], shape: \[2, 3\]/dims: [t, null], shape: [2, 3]/'
check "the greatest shape" one '/g/s: maxshape [2] -> [unlimited]' 's/s: {dataset: vstring,/& shape: [2], maxshape: [unlimited],/'
check "storage is not asked for" sh -c "printf '%s' '$base' | sed 's/chunk: .1, 3./chunk: [2, 3]/' |
    '$DATAREP' create -s - '$tmp/chunk.drep' && '$DATAREP' diff '$tmp/base.drep' '$tmp/chunk.drep'"
check "storage" one '/g/d: storage chunked [1, 3] -> chunked [2, 3], zstd 3' 's/chunk: \[1, 3\]/chunk: [2, 3], filters: [{zstd: 3}]/' --storage
check "both ways: a value" both_ways 's/\[4, 5, 6\]/[4.5, 5, 6]/'
check "both ways: an attribute" both_ways 's/, s: x//'
check "both ways: a type" both_ways 's/dataset: FLOAT/dataset: DOUBLE/'

printf '%s' "$base" | sed -e 's/\[4, 5, 6\]/[4.5, .nan, 7]/; s/title: base/title: b/; s/fill: 7/fill: 8/; /soft/s/target: \/g\/d/target: \/g/
    s/dataset: FLOAT/dataset: DOUBLE/; s/dims: \[t, y\], shape: \[2, 3\]/dims: [t, null], shape: [2, 3]/
    s/s: {dataset: vstring,/& shape: [2], maxshape: [unlimited],/' | make_file many
cd "$tmp" || exit 1
check "many differences" sh -c "'$DATAREP' diff base.drep many.drep > out; cat out; [ \$(wc -l < out) = 8 ]"
check "-q" sh -c "'$DATAREP' diff -q base.drep many.drep > out; [ \$? = 1 ] &&
    grep -qx 'base.drep and many.drep differ: [0-9]* differences among [0-9]* objects with [0-9]* values' out && [ \$(wc -l < out) = 1 ]"
check "-n" bash -c "'$DATAREP' diff -n 2 --ignore=dimensions base.drep many.drep /g/d | head -n 2 | diff - <(printf '/g/d[1,0]: 4.0 -> 4.5\n/g/d[1,1]: 5.0 -> nan\n')"
check "what is ignored" same --ignore=attributes,types,fill,maxshape,dimensions,links,values base.drep many.drep
check "-H" sh -c "'$DATAREP' diff -H base.drep many.drep | grep 'values differ'; [ \$? = 1 ]"
check "colours" sh -c "'$DATAREP' diff --color=always base.drep many.drep | grep -q '$(printf '\033')'"
check "by path" same base.drep many.drep /g/p
check "by two paths" same base.drep many.drep /g/d /hard --ignore=values,dimensions,maxshape
check "by slice" same base.drep many.drep '/g/d[0]' --ignore=dimensions
check "by two slices" sh -c "'$DATAREP' diff base.drep base.drep '/g/d[0,:2]' '/g/d[1,1:]'; [ \$? = 1 ]"
check "the index is that of A's dataset" sh -c "'$DATAREP' diff base.drep base.drep '/g/d[1,1:]' '/g/d[1,:2]' |
    grep -qF 'first at [1,1]: 5.0 -> 4.0'"

# ---- tolerances ----

# Random numbers, changed a little here and there: how many differ, which is the first and by how
# much is what NumPy says.
/usr/bin/python3 - "$tmp" <<'PY'
import sys, struct
import numpy as np
rng = np.random.default_rng(7)
def schema(name, kind, values):
    def text(v):
        if isinstance(v, (int, np.integer)):
            return str(int(v))
        return ".nan" if np.isnan(v) else (".inf" if v > 0 else "-.inf") if np.isinf(v) else '"%s"' % float(v).hex()
    with open("%s/%s.yaml" % (sys.argv[1], name), "w") as f:
        f.write("root: {d: {dataset: %s, data: [%s]}}\n" % (kind, ", ".join(map(text, values))))
    np.save("%s/%s.npy" % (sys.argv[1], name), values)
for kind, dtype in (("DOUBLE", "f8"), ("FLOAT", "f4"), ("FLOAT16", "f2"), ("INT32_T", "i4"), ("UINT8_T", "u1"), ("INT64_T", "i8")):
    n = 400
    if dtype[0] == "f":
        a = (rng.standard_normal(n) * 10.0 ** rng.integers(-4, 4, n)).astype(dtype)
        a[:12] = [0, -0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal, 1, -1, 0, np.inf, np.nan]
        b = a.copy()
        for i in range(40, n):
            steps = int(rng.choice([0, 0, 1, 2, 3, 10, 1000]))
            for _ in range(min(steps, 50)):
                b[i] = np.nextafter(b[i], dtype=dtype, x2=np.array(np.inf, dtype)) if False else np.nextafter(b[i], np.array(np.inf, dtype))
            if steps == 1000:
                b[i] = b[i] * np.array(1.01, dtype)
        b[1], b[5], b[6], b[9], b[10], b[11] = 0, 0, -b[6], np.nan, 1, 3
    else:
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        b = a.copy()
        b[::7] = rng.integers(info.min, info.max, len(b[::7]), dtype=dtype, endpoint=True)
        b[3::5] += a[3::5] < info.max
    schema("a-" + dtype, kind, a)
    schema("b-" + dtype, kind, b)
PY

tolerance() { # DTYPE OPTION...
    "$DATAREP" diff --json "a-$1.drep" "b-$1.drep" "${@:2}" > tolerance.json
    [ $? -le 1 ] || return 1
    /usr/bin/python3 - "$1" tolerance.json "${@:2}" <<'PY'
import json, sys
import numpy as np
dtype, path, options = sys.argv[1], sys.argv[2], dict(o[2:].split("=") for o in sys.argv[3:])
a, b = np.load("a-%s.npy" % dtype), np.load("b-%s.npy" % dtype)
with np.errstate(all="ignore"):
    x, y = a.astype("longdouble"), b.astype("longdouble")
    gap, big = np.abs(x - y), np.maximum(np.abs(x), np.abs(y))
    same = a == b
    if dtype[0] == "f":
        nan = np.isnan(a) & np.isnan(b)
        if options.get("nan") != "differ":
            same |= nan
    if "abs" in options:
        same |= gap <= float(options["abs"])
    if "rel" in options:
        same |= gap <= float(options["rel"]) * big
    if "ulp" in options and dtype[0] == "f":
        bits = {"f8": "i8", "f4": "i4", "f2": "i2"}[dtype]
        def steps(v):
            i = v.view(bits).astype(object)
            return np.where(i < 0, -(i & int(np.iinfo(bits).max)), i)
        finite = np.isfinite(a) & np.isfinite(b)
        same |= finite & (np.abs(steps(a) - steps(b)) <= int(options["ulp"])).astype(bool)
differ = np.flatnonzero(~same)
got = json.load(open(path))["differences"]
if not len(differ):
    assert got == [], got
    sys.exit()
d = got[0]
assert d["count"] == len(differ), (d["count"], len(differ), differ[:20])
assert d["first"]["index"] == [int(differ[0])], (d["first"], differ[0])
with np.errstate(all="ignore"):
    gaps = gap[differ]
gaps[np.isnan(gaps)] = 0
most = float(np.max(gaps))
told = float(d["greatest"]["absolute"])
assert told == most or abs(told - most) <= 1e-12 * most, (told, most)
if most:
    assert d["greatest"]["index"] == [int(differ[np.argmax(gaps)])], (d["greatest"], differ[np.argmax(gaps)])
PY
}
for t in f8 f4 f2 i4 u1 i8; do
    "$DATAREP" create -f -s "a-$t.yaml" --datarep=external32 "a-$t.drep" && "$DATAREP" create -s "b-$t.yaml" "b-$t.drep"
    for o in "" --abs=0 --abs=1e-3 --abs=5 --rel=1e-6 --rel=0.02 --ulp=0 --ulp=1 --ulp=2 --ulp=49 --nan=differ \
        "--abs=1e-5 --rel=1e-5" "--ulp=1 --abs=1" "--rel=1e-4 --nan=differ"; do
        # shellcheck disable=SC2086 # several options
        check "$t ${o:-exactly}: as NumPy has it" tolerance $t $o
    done
done

wide() { # the last bit of a binary128, and of an x87 beside it
    make_file w1 <<< 'root: {d: {dataset: FLOAT128, data: ["0x1.0000000000000000000000000001p+0", 1, "0x1p-16000", 3]}}' &&
        make_file w2 <<< 'root: {d: {dataset: FLOAT128, data: ["0x1.0000000000000000000000000002p+0", 1, "0x1p-16000", 3]}}' &&
        status 1 diff w1.drep w2.drep && grep -qF '/d: 1 of 4 values differ, first at [0]: 1.0000000000000000000000000000000002 -> 1.0000000000000000000000000000000004;' "$tmp/out" &&
        status 0 diff --ulp=1 w1.drep w2.drep && status 1 diff --ulp=0.5 w1.drep w2.drep &&
        status 0 diff --rel=1e-33 w1.drep w2.drep && status 1 diff --rel=1e-36 w1.drep w2.drep
}
check "more digits than a double has" wide

pairs() { # what no format but a pair of doubles holds
    make_file p1 <<< '{datarep: "native:ppc64el-ibm", root: {d: {dataset: LONG_DOUBLE, data: ["0x1.00000000000000000000000000000000000000000000000001p+0", 2, 3]}}}' &&
        make_file p2 <<< '{datarep: "native:ppc64el-ibm", root: {d: {dataset: LONG_DOUBLE, data: [1, 2, 3]}}}' &&
        make_file p3 <<< '{datarep: external32, root: {d: {dataset: LONG_DOUBLE, data: [1, 2, "0x1.8000000000000000000000000001p+1"]}}}' &&
        status 1 diff p1.drep p2.drep &&
        diff "$tmp/out" - <<< '/d: 1 of 3 values differ, first at [0]: 0x1.00000000000000000000000000000000000000000000000001p+0 -> 1.0; at most by 6.22302e-61 at [0], relatively by 6.22302e-61' &&
        status 1 diff p1.drep p3.drep && grep -qF '/d: 2 of 3 values differ, first at [0]' "$tmp/out" &&
        status 0 diff --rel=1e-33 p1.drep p3.drep && status 0 diff --ulp=1 p1.drep p2.drep &&
        status 0 ls --minmax p1.drep && grep -q 'min 0x1.0*1p+0  max 3.0$' "$tmp/out" &&
        "$DATAREP" dump --yaml p1.drep > p1.yaml && rm -f p4.drep && status 0 create -f -s p1.yaml p4.drep &&
        status 0 diff p1.drep p4.drep
}
check "pairs of doubles far apart" pairs

wide_ints() { # an integer and a real that are the same to 106 bits, to 113 bits, or altogether
    make_file n1 <<< 'root: {d: {dataset: INTEGER16, data: ["85070591730234615866996573362548899841", 7, "5192296858534827628530496329220097"]}}' &&
        make_file n2 <<< '{datarep: "native:ppc64el-ibm", root: {d: {dataset: LONG_DOUBLE, data: ["0x1.0000000000000004p+126", 7, "0x1p+112"]}}}' &&
        make_file n3 <<< 'root: {d: {dataset: FLOAT128, data: ["0x1.0000000000000004p+126", 7, "0x1.0000000000000000000000000001p+112"]}}' &&
        status 1 diff --ignore=types n1.drep n2.drep && grep -q '^/d: 2 of 3 values differ' "$tmp/out" &&
        status 1 diff --ignore=types n1.drep n3.drep && grep -q '^/d: 1 of 3 values differ' "$tmp/out" &&
        status 1 diff --ignore=types n3.drep n1.drep && grep -q '^/d: 1 of 3 values differ' "$tmp/out"
}
check "integers and reals of more digits than two doubles have" wide_ints

own_fields() { # by their own fields: what no binary128 holds, beside other formats and integers
    vax='datarep: h
datareps: {h: {order: vax, types: {LONG_DOUBLE: vax-h, LONG: {order: little, size: 8}}}}'
    make_file v1 <<< "$vax
root: {d: {dataset: LONG_DOUBLE, data: ['0x1.0000000000000000000000000001p-16384', 1.5, '0x1p-16383', '0x1.0000000000000002p+112']}}" &&
        make_file v2 <<< "$vax
root: {d: {dataset: LONG_DOUBLE, data: ['0x1.0000000000000000000000000002p-16384', 1.5, '0x1p-16383', '0x1.0000000000000002p+112']}}" &&
        make_file v3 <<< 'root: {d: {dataset: FLOAT128, data: ["0x1p-16384", 1.5, "0x1p-16383", "0x1.0000000000000002p+112"]}}' &&
        make_file v4 <<< 'root: {d: {dataset: INT128_T, data: [0, 1, 0, "5192296858534827629093446282641408"]}}' &&
        status 0 diff v1.drep v1.drep && status 1 diff v1.drep v2.drep &&
        grep -qF '/d: 1 of 4 values differ, first at [0]: 8.405257857780233765656694543304383e-4933 -> 8.405257857780233765656694543304385e-4933;' "$tmp/out" &&
        status 1 diff --ignore=types v1.drep v3.drep && grep -q '^/d: 1 of 4 values differ, first at \[0\]' "$tmp/out" &&
        status 1 diff --ignore=types v4.drep v1.drep && grep -q '^/d: 3 of 4 values differ' "$tmp/out" &&
        status 0 ls --minmax v1.drep && grep -qF 'min 8.405257857780233765656694543304383e-4933  max 5192296858534827629093446282641408.0' "$tmp/out" &&
        "$DATAREP" export --root=/d v1.drep v1.csv && grep -qx '8.405257857780233765656694543304383e-4933' v1.csv &&
        same "$HERE/../vectors/scalars.drep" "$HERE/../vectors/scalars.drep"
}
check "reals that no binary128 holds" own_fields

decimals() { # in 17 digits 2^-24 is exact, the shortest that a double reads back is not
    make_file e1 <<< 'root: {d: {dataset: FLOAT128, data: ["0x1p-24", 0.1, "0x1p-20", 0, 1e22, "0x1p80", 0.001]}}' &&
        "$DATAREP" dump --yaml e1.drep > e1.yaml && grep -q 'data: .0x1p-24, 0x1.9.*, 9.5367431640625e-07, 0.0, 1e+22, 0x1p+80,$' e1.yaml &&
        rm -f e2.drep && status 0 create -f -s e1.yaml e2.drep && status 0 diff e1.drep e2.drep
}
check "decimals in YAML are the value itself" decimals

int128() {
    make_file i1 <<< 'root: {d: {dataset: INTEGER16, data: ["170141183460469231731687303715884105727", -5]}}' &&
        make_file i2 <<< 'root: {d: {dataset: INTEGER16, data: ["170141183460469231731687303715884105726", -5]}}' &&
        status 1 diff i1.drep i2.drep &&
        grep -qF 'first at [0]: 170141183460469231731687303715884105727 -> 170141183460469231731687303715884105726' "$tmp/out"
}
check "integers of 128 bits" int128

for pair in "external32 internal" "native:s390x native:i386" "native:m68k external32" "native:ppc64el-ibm native"; do
    # shellcheck disable=SC2086 # two words
    check "the same under $pair" representations $pair
done
lost() {
    "$DATAREP" create -f -s "$HERE/all.yaml" --datarep=native:s390x "$tmp/r1.drep" &&
        "$DATAREP" create -f -s "$HERE/all.yaml" --datarep=native:i386 "$tmp/r2.drep" &&
        status 1 diff "$tmp/r1.drep" "$tmp/r2.drep" && [ "$(wc -l < "$tmp/out")" = 1 ] &&
        grep -qF '/LONG_DOUBLE: 1 of 3 values differ, first at [1]: 3.362103143112093506262677817321753e-4932 -> 3.3621031431120935062626778173217526e-4932' "$tmp/out"
}
check "what only one of two machines holds" lost

# ---- HDF5 ----

hdf5() {
    "$DATAREP" export base.drep base.h5 2> /dev/null
    /usr/bin/python3 -c 'import h5py
with h5py.File("base.h5", "r+") as f:
    f["g/d"][1, 2] = 60' &&
        status 1 diff base.drep base.h5 &&
        diff "$tmp/out" - <<< '/g/d: 1 of 6 values differ, first at [1,2]: 6.0 -> 60.0; at most by 54 at [1,2], relatively by 0.9' &&
        [ -z "$(ls "$TMPDIR"/datarep-* 2> /dev/null)" ]
}
check "with an HDF5 file" hdf5
check "an HDF5 file first" sh -c "'$DATAREP' diff base.h5 base.drep | grep -qF '[1,2]: 60.0 -> 6.0'"
check "two HDF5 files" same base.h5 base.h5
check "a part of an HDF5 file" same base.drep base.h5 /g/p
check "everything, and its export" sh -c "grep -v '^  little' held.yaml > some.yaml && '$DATAREP' create -s some.yaml some.drep &&
    '$DATAREP' export some.drep some.h5 2> err; '$DATAREP' diff some.drep some.h5"
head -c 300 base.h5 > cut.h5
check "a damaged HDF5 file" refuses 4 "cut.h5" diff base.drep cut.h5

# ---- what goes wrong ----

check "no second file" refuses 2 "which files" diff base.drep
check "a file that is not there" refuses 3 "nope" diff base.drep nope.drep
printf '\037\213\010\000abcdefgh' > a.gz
check "a file of another format" refuses 4 "gzip" diff base.drep a.gz
check "a path that B has not" refuses 2 "changed.drep: .*/g/nope" diff base.drep changed.drep /g/d /g/nope
check "a tolerance that is none" refuses 2 "not 'x'" diff --abs=x base.drep base.drep
check "a negative tolerance" refuses 2 "from 0 on" diff --rel=-1 base.drep base.drep
check "--ignore of nothing known" refuses 2 "there is no 'colour'" diff --ignore=colour base.drep base.drep
check "--nan" refuses 2 "equal or differ" diff --nan=x base.drep base.drep
check "slices of other shapes" sh -c "'$DATAREP' diff base.drep base.drep '/g/d[0]' '/g/d[:,0]' | grep -qF '/g/d: shape of [0] -> [:,0]'"
damaged=$HERE/../vectors/bad/chunk-sum.drep
check "damage is told, and is no sameness" sh -c "'$DATAREP' diff '$damaged' '$damaged' > out 2> err; [ \$? = 4 ] && grep -q 'checksum' err"

little_memory() {
    "$DATAREP" create -f -s - wide.drep <<< 'root: {d: {dataset: DOUBLE, shape: [5000, 5000], fill: 7}}' &&
        (ulimit -v 400000 && "$DATAREP" diff wide.drep wide.drep)
}
check "200 MB in little memory" little_memory
full() {
    "$DATAREP" diff base.drep many.drep > /dev/full 2> err
    [ $? = 3 ] && grep -q "No space" err
}
check "a full disk" full
done_testing
