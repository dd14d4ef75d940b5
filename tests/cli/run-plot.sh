#!/bin/bash
# run-plot.sh - plot: pictures, looked at pixel by pixel, and previews.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

png() { # CHECK FILE ARGUMENT...
    /usr/bin/python3 "$HERE/png.py" "$@"
}

if [ ! -e "$(dirname "$DATAREP")/datarep-plot.so" ]; then
    echo "1..0 # SKIP built without Cairo"
    exit 0
fi
cd "$tmp" || exit 1
/usr/bin/python3 - > plot.yaml <<'PY'
import math
print("""
dims: {time: 5, y: 2, x: 3}
types: {rec: {struct: {t: DOUBLE, p: {struct: {n: INT, s: string(3)}}}}}
root:
  four: {dataset: INT, shape: [2, 2], data: [[0, 1], [2, 3]]}
  six: {dataset: FLOAT, dims: [y, x], data: [[0, 1, 2], [3, 4, .nan]], attrs: {units: K, long_name: six numbers}}
  cube: {dataset: INT, shape: [2, 2, 2], data: [[[0, 1], [2, 3]], [[3, 2], [1, 0]]]}
  one: {dataset: INT, data: 7}
  none: {dataset: INT, shape: [0]}
  null: {dataset: INT, shape: null}
  text: {dataset: vstring, data: [a, b]}
  all missing: {dataset: DOUBLE, data: [.nan, .nan]}
  flat: {dataset: DOUBLE, data: [5, 5, 5]}
  packed: {dataset: SHORT, dims: [time], data: [0, 10, -999, 30, 40], attrs: {scale_factor: 0.5, add_offset: 100, missing_value: -999, units: m}}
  flags: {dataset: bool(INT8_T), data: [true, false, true, true]}
  colours: {dataset: "enum(INT8_T){RED=0,BLUE=3}", data: [RED, BLUE, RED]}
  complex: {dataset: C_DOUBLE_COMPLEX, shape: [3], data: [[3, 4], [0, 1], [6, 8]]}
  wide: {dataset: FLOAT128, data: [1, 2, "0x1p-16000"]}
  huge: {dataset: INTEGER16, data: [1, "170141183460469231731687303715884105727"]}
  recs: {dataset: rec, shape: [3], data: [{t: 0.5, p: {n: 1, s: a}}, {t: 1.5, p: {n: 4, s: b}}, {t: 2.5, p: {n: 9, s: c}}]}
  lat: {dataset: DOUBLE, data: [-45, 45], attrs: {units: degrees_north}}
  depth: {dataset: DOUBLE, data: [0, 10], attrs: {units: m, positive: down}}
  height: {dataset: DOUBLE, data: [10, 0], attrs: {units: m, positive: Down}}
  signs: {dataset: INT, shape: [2, 2], data: [[-4, 0], [0, 3]]}
  uneven: {dataset: DOUBLE, data: [0, 1, 100]}
  times: {dataset: DOUBLE, data: [10, 20, 30, 40, 50], attrs: {units: s}}""")
print("  widest: {dataset: DOUBLE, data: [-1.7e+308, 1.7e+308]}")
print("  \"esc\\e[31m\": {dataset: DOUBLE, data: [1, 2], attrs: {units: \"\\e[0mK\", long_name: \"%s\"}}" % ("\u00e9" * 200))
print("  rising: {dataset: DOUBLE, data: [%s]}" % ", ".join(str(i) for i in range(300)))
print("  gap: {dataset: DOUBLE, data: [%s]}" % ", ".join(".nan" if 100 <= i < 200 else "1" for i in range(301)))
print("  wave: {dataset: DOUBLE, data: [%s]}" % ", ".join("%.3f" % math.sin(i / 10) for i in range(100)))
print("  spike: {dataset: FLOAT, data: [%s]}" % ", ".join("9" if i == 54321 else "0" for i in range(100000)))
print("  powers: {dataset: DOUBLE, data: [%s]}" % ", ".join("1e%d" % i for i in range(-3, 6)))
PY
check "create" status 0 create -f -s plot.yaml p.drep

picture() { # OPTION-AND-OPERAND...: makes p.png and says nothing
    rm -f p.png
    status 0 plot -f p.drep "$@" -o p.png && [ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
}
looks() { # "CHECK [ARGUMENT...]" OPTION-AND-OPERAND...
    picture "${@:2}" || return 1
    # shellcheck disable=SC2086 # several words
    set -- $1
    png "$1" p.png "${@:2}"
}
check "a line" looks "size 960 600" /rising
check "of another size" looks "size 333 222" /rising --size=333x222
check "it rises" looks rising /rising
check "a line with coordinates" looks "size 960 600" /packed --x=/times
check "a gap" looks "gap 0.3333 0.6666" /gap
check "one of 100,000 is seen" looks spike /spike
check "an image" looks "quarters 0 1 2 3" /four --colors=gray
check "the other way up" looks "quarters 2 3 0 1" /four --colors=gray --origin=lower
check "a slice of a cube" looks "quarters 3 2 1 0" '/cube[1]' --colors=gray
check "a slice across" looks "quarters 0 1 3 2" '/cube[:,0]' --colors=gray
check "coordinates that go up" looks "quarters 2 3 0 1" /four --colors=gray --y=/lat
balance() {
    picture /signs && cp p.png signs.png && picture /signs --colors=balance && cmp p.png signs.png &&
        picture /four && cp p.png four.png && picture /four --colors=viridis && cmp p.png four.png
}
check "values of both signs get colours that diverge, others not" balance
check "depth goes down" looks "quarters 0 1 2 3" /four --colors=gray --y=/depth
check "also from the bottom" looks "quarters 2 3 0 1" /four --colors=gray --y=/height
check "several lines" looks "size 960 600" /rising '/spike[:300]' /gap
check "a tiny picture" looks "size 120 120" /six --size=120x120 --title "a very long title indeed"
for path in /flags /colours /complex /wide /huge /flat '/recs --member=t' '/recs --member=p.n' '/powers --log' /packed /six; do
    # shellcheck disable=SC2086 # two words
    check "$path" picture $path
done
for colors in viridis balance gray heat; do
    check "colours: $colors" picture /six --colors=$colors
done
check "from one end of all doubles to the other" looks rising /widest
check "and in logarithms" picture /widest --log
controls() { # nothing from the file tells the terminal to do something
    status 0 plot -f --preview p.drep "$(printf '/esc\033[31m')" && ! grep -q "$(printf '\033')" "$tmp/out" &&
        status 2 plot -f --preview p.drep "$(printf '/esc\033[31')" && ! grep -q "$(printf '\033')" "$tmp/err"
}
check "names with control characters" controls
check "names longer than a title" looks "size 960 600" "$(printf '/esc\033[31m')"
svg() { status 0 plot -f p.drep /six -o p.svg && /usr/bin/python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("p.svg")'; }
check "SVG is XML" svg
pdf() { status 0 plot -f p.drep /six -o p.pdf && head -c 5 p.pdf | grep -q '^%PDF-' && tail -c 6 p.pdf | grep -q '^%%EOF'; }
check "PDF" pdf
stdout() { "$DATAREP" plot -f p.drep /six -o - > out.png && png size out.png 960 600; }
check "to standard output" stdout
again() { picture /six && cp p.png first.png && picture /six && cmp p.png first.png; }
check "the same picture every time" again
check "from standard input" sh -c "'$DATAREP' plot - /six -o - < p.drep > stdin.png && [ -s stdin.png ]"

# ---- previews ----

preview() { # FILE OPTION-AND-OPERAND...
    (export LC_ALL=C.UTF-8 && expected "$1" plot --preview -w 60 p.drep "${@:2}")
}
check "preview of a line" preview preview-wave.txt /wave
check "preview of an image" preview preview-six.txt /six
check "preview of several lines" preview preview-two.txt /wave '/rising[:100]'
check "preview with packed numbers and coordinates" preview preview-packed.txt /packed --x=/times
check "preview of one value thrice" preview preview-flat.txt /flat
check "preview with colours" preview preview-color.txt --color=always /four
ascii() { (export LC_ALL=C && expected preview-ascii.txt plot --preview -w 60 p.drep /six) && ! LC_ALL=C grep -q '[^ -~]' "$tmp/out"; }
check "preview in ASCII" ascii
without_module() { # a preview needs none; a picture says what is missing
    mkdir -p alone && cp "$DATAREP" alone/datarep &&
        alone/datarep plot -f --preview p.drep /wave > alone/out &&
        ! alone/datarep plot -f p.drep /wave -o alone/x.png > alone/out 2> alone/err &&
        grep -q 'datarep-plot.so is neither .* built without Cairo' alone/err && [ ! -e alone/x.png ]
}
check "without the module" without_module

# ---- what goes wrong ----

no_picture() { # STATUS PATTERN ARGUMENT...: nothing is made
    rm -f p.png
    refuses "$1" "$2" plot "${@:3}" -o p.png && [ ! -e p.png ]
}
check "no dataset" refuses 2 "which dataset" plot -f p.drep -o p.png
check "nowhere to" refuses 2 "where to" plot -f p.drep /six
check "to two places" refuses 2 "either" plot -f p.drep /six -o p.png --preview
check "another kind of picture" refuses 2 "neither in .png" plot -f p.drep /six -o p.gif
check "no such dataset" no_picture 2 "did you mean /six" p.drep /sixx
check "one value" no_picture 2 "one value is no picture" p.drep /one
check "no elements" no_picture 2 "no elements" p.drep /none
check "no space" no_picture 2 "one value is no picture" p.drep /null
check "three dimensions" no_picture 2 "has 3 dimensions; choose two with a slice: '/cube\[0,:,:\]'" p.drep /cube
check "texts" no_picture 2 "elements are vstring, not numbers" p.drep /text
check "compounds" no_picture 2 "choose one with --member" p.drep /recs
check "a member that is not there" no_picture 2 "no member \"q\"" p.drep /recs --member=q
check "a member that is no number" no_picture 2 "not numbers" p.drep /recs --member=p.s
check "no number at all" no_picture 2 "no number to show" p.drep "/all missing"
check "an empty range" no_picture 2 "no number is between" p.drep /six --min=5 --max=1
check "nothing positive" no_picture 2 "no number to show" p.drep '/spike[:10]' --log
check "images are drawn alone" no_picture 2 "several datasets are lines" p.drep /four /six
check "too few coordinates" no_picture 2 "not one coordinate for each" p.drep /six --x=/lat
check "a bad size" no_picture 2 "WIDTHxHEIGHT" p.drep /six --size=10x10
check "a bad number" no_picture 2 "not 'x'" p.drep /six --min=x
check "unknown colours" no_picture 2 "viridis, balance" p.drep /six --colors=blue
check "a directory that is not there" refuses 3 "No such file" plot -f p.drep /six -o nowhere/p.png
check "uneven coordinates are told" sh -c "'$DATAREP' plot p.drep /six --x=/uneven -o p.png 2> err && grep -q 'not even; indices' err"
full() {
    "$DATAREP" plot -f p.drep /six -o - > /dev/full 2> err
    [ $? = 3 ] && grep -q "No space" err
}
check "a full disk" full
too_large() { # as a full disk, but for the number of the error
    (trap '' XFSZ && ulimit -f 1 && "$DATAREP" plot -f p.drep /six -o large.png 2> err)
    [ $? = 3 ] && grep -q '^datarep: large.png: ' err && [ -z "$(find . -name '*large.png*')" ]
}
check "a full disk leaves no part of a picture" too_large
little_memory() {
    "$DATAREP" create -f -s - big.drep <<< 'root: {d: {dataset: DOUBLE, shape: [5000, 5000], fill: 7}}' &&
        (ulimit -v 600000 && "$DATAREP" plot -f big.drep /d -o big.png && "$DATAREP" plot -f big.drep '/d[:,0]' -o big.png)
}
check "200 MB in little memory" little_memory
check "damage" refuses 4 "checksum mismatch" plot -f "$HERE/../vectors/bad/chunk-sum.drep" /c -o p.png
done_testing
