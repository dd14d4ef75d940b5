#!/bin/bash
# run-figures.sh - tools/figures finds what it is to find, in a tree of two rooms made for it.
# SPDX-License-Identifier: MIT
set -u
tree=$TMPDIR/tree
n=0

result() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' out
    fi
}

compiled() {
    local f
    for f in format/*.c lib/top/*.c; do
        mkdir -p "obj/${f%/*}"
        gcc -std=c11 -fPIC -c -I. -Ilib -o "obj/${f%.c}.o" "$f" || return 1
    done
}

# says NAME STATUS PATTERN...: the figures end with the status and print lines like these.
says() {
    local name=$1 want=$2 got pattern bad=0
    shift 2
    compiled && "$SRCDIR/tools/figures" obj figures > out 2>&1
    got=$?
    [ $got = "$want" ] || bad=1
    for pattern; do
        grep -qE -- "$pattern" out || {
            bad=1
            echo "no such line: $pattern" >> out
        }
    done
    result $bad "$name"
}

mkdir -p "$tree/format" "$tree/lib/top" "$tree/schema" "$tree/tools"
cd "$tree" || exit 1
echo '/* public */' > lib/datarep.h
printf '%s\n' '/* low.h - a comment of' ' * two lines */' 'int low(int x);' > format/low.h
printf '%s\n' '#include "low.h"' 'int low(int x) { return x; }' > format/low.c
printf '%s\n' '#include "format/low.h"' 'int a(int x);' 'int a(int x) { return low(x); }' > lib/top/a.c
printf '%s\n' 'int a(int x);' 'int b(int x);' 'int b(int x) { return a(x); }' > lib/top/b.c
printf '%s\n' 'struct ops { int (*go)(int); };' 'static int go(int x) { return x; }' \
    'extern const struct ops plain;' 'const struct ops plain = {go};' > lib/top/ops.c
compiled && "$SRCDIR/tools/figures" --update obj figures > out 2>&1
result $? "the figures are written"
says "and are then no worse" 0 '^edges per file: 0\.50; largest circle: 1 files; largest private header: 3 lines, format/low.h' \
    '^circles: 0; doubled names: 0; callback tables: 1; comments: 18\.8%' '^format +1 +5 +0\.0 +40\.0%' '^lib/top .* format$'
cp -r "$tree" "$TMPDIR/good"

again() { # a new copy of the good tree
    cd "$TMPDIR" && rm -rf tree && cp -r good tree && cd tree || exit 1
}
printf '%s\n' 'int b(int x);' >> lib/top/a.c
printf '%s\n' 'int a2(int x);' 'int a2(int x) { return b(x); }' >> lib/top/a.c
says "two objects in a circle" 1 'largest circle: 2 files' 'a circle has new files: lib/top/a\.c lib/top/b\.c$'
"$SRCDIR/tools/figures" --update obj figures > out
says "that is known" 0 'largest circle: 2 files'
printf '%s\n' 'int b(int x);' 'int c(int x);' 'int c(int x) { return b(x); }' > lib/top/c.c
printf '%s\n' 'int c(int x);' 'int b2(int x);' 'int b2(int x) { return c(x); }' >> lib/top/b.c
says "and grows" 1 'largest circle: 3 files' 'a circle has new files: lib/top/c\.c$'
again
echo 'edges lib/top 0.6' >> figures
says "more edges than the budget has are no error" 0 '^lib/top +3 +[0-9]+ +0\.7! '
again
echo 'edges lib/top 0.65' >> figures
says "by 5 % are not even marked" 0 '^lib/top +3 +[0-9]+ +0\.7  '
again
printf '%s\n' 'int low(int x);' 'int low(int x) { return -x; }' > lib/top/c.c
says "a name that two objects define" 1 'external name defined twice: low$'
again
echo 'int more(int x);' >> format/low.h
says "a longer header" 1 'largest private header: format/low\.h has 4 lines, were 3$'
again
printf '%s\n' 'static int f(int x) { return x; }' 'int (*const *fs(void))(int);' \
    'static int (*const table[])(int) = {f};' 'int (*const *fs(void))(int) { return table; }' > lib/top/fs.c
says "one more callback table" 1 'callback tables: 2, were 1; new: table lib/top/fs\.c$'
again
printf '%s\n' 'int more(int x);' 'int yet(int x);' >> format/low.c
says "fewer comments" 1 'comments of format: 28\.6%, were 40\.0%$'
again
rm -r obj/lib obj/format
"$SRCDIR/tools/figures" obj figures > out 2>&1
[ $? = 1 ] && grep -q 'no objects' out
result $? "no objects"
echo "1..$n"
