#!/bin/bash
# run-runner.sh - the test driver counts what it is told, and every way to break down.
#
# A copy of the driver runs small programs in a tree of its own.
# SPDX-License-Identifier: MIT
set -u
fake=$TMPDIR/tree
mkdir -p "$fake/tests/suite"
cp "$SRCDIR/tests/run" "$fake/tests/run"
n=0

# expect NAME STATUS CLOSING-LINE PROGRAM [FILE]: one program, what the driver makes of it.
expect() {
    local file=$fake/tests/suite/${5-run-it} out status
    printf '%s\n' "$4" > "$file"
    chmod +x "$file"
    out=$("$fake/tests/run" suite 2>&1)
    status=$?
    rm "$file"
    n=$((n + 1))
    if [ $status = "$2" ] && [ "$(printf '%s\n' "$out" | tail -n 1)" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '%s\n' "status $status" "$out" | sed 's/^/# /'
    fi
}

sh=$'#!/bin/sh\n'
expect "cases are counted" 0 "2 passed, 0 failed, 1 skipped" \
    "$sh echo 1..3; echo ok 1 - a; echo 'ok 2 - b # SKIP no disk'; echo ok 3"
expect "a failed case" 1 "1 passed, 1 failed, 0 skipped" \
    "$sh echo ok 1; echo not ok 2 - b; echo 1..2"
expect "a failed case and a status are one failure" 1 "0 passed, 1 failed, 0 skipped" \
    "$sh echo not ok 1; echo 1..1; exit 3"
expect "a status alone is a failure" 1 "1 passed, 1 failed, 0 skipped" \
    "$sh echo ok 1; echo 1..1; exit 3"
expect "no plan" 1 "1 passed, 1 failed, 0 skipped" "$sh echo ok 1"
expect "a broken plan" 1 "1 passed, 1 failed, 0 skipped" "$sh echo 1..2; echo ok 1"
expect "a death" 1 "1 passed, 1 failed, 0 skipped" "$sh echo 1..1; echo ok 1; kill -9 \$\$"
expect "too long" 1 "1 passed, 1 failed, 0 skipped" \
    "$sh # timeout: 1
echo 1..1; echo ok 1; sleep 60"
expect "nothing said" 1 "0 passed, 1 failed, 0 skipped" "$sh"
expect "skipped as a whole is no success" 1 "0 passed, 0 failed, 1 skipped" \
    "$sh echo '1..0 # SKIP no network'"
expect "a summary of Check" 1 "56 passed, 1 failed, 0 skipped" \
    "$sh echo '98%: Checks: 57, Failures: 1, Errors: 0'; exit 1"
shown="$sh echo 1..1; echo ok 1; echo counted: 1234 stars"
printf '%s\n' "$shown" > "$fake/tests/suite/run-it"
chmod +x "$fake/tests/suite/run-it"
n=$((n + 1))
if "$fake/tests/run" suite | grep -q '^    suite: run-it: 1,234 stars$'; then
    echo "ok $n - what is counted is shown"
else
    echo "not ok $n - what is counted is shown"
fi
rm "$fake/tests/suite/run-it"
# A good program, a slow one, a bad one, one that cannot run, and four that would run too long.
printf '#!/bin/sh\necho 1..1; echo ok 1\n' > "$fake/tests/suite/run-1"
printf '#!/bin/sh\n# slow: a hundred machines\necho 1..1; echo ok 1\n' > "$fake/tests/suite/run-2"
printf '#!/bin/sh\necho 1..1; echo not ok 1\n' > "$fake/tests/suite/run-3"
printf '#!/nowhere/perl7\n' > "$fake/tests/suite/run-4"
for i in 5 6 7 8; do printf '#!/bin/sh\nexec sleep 600\n' > "$fake/tests/suite/run-$i"; done
chmod +x "$fake"/tests/suite/run-[1-8]
prints() { # NAME PATTERN OPTION...: the driver prints such a line
    local out
    n=$((n + 1))
    out=$("$fake/tests/run" "${@:3}" suite 2>&1)
    if printf '%s\n' "$out" | grep -qxE -- "$2"; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '%s\n' "$out" | sed 's/^/# /'
    fi
}
prints "--first ends with the first failure" "[0-2] passed, 1 failed, [01] skipped" --first
rm "$fake"/tests/suite/run-[5-8]
prints "--quick leaves out what is slow" "1 passed, 1 failed, 2 skipped" --quick
prints "and says so" "    suite: run-2: slow: a hundred machines" --quick
printf '#!/bin/sh\n# needs: zstd deflate python-sys python-nowhere\necho 1..1; echo ok 1\n' > "$fake/tests/suite/run-5"
chmod +x "$fake/tests/suite/run-5"
mkdir -p "$fake/build/release"
printf 'HAVE_ZSTD :=\nHAVE_ZSTD := 1\nHAVE_DEFLATE :=\n' > "$fake/build/release/config.mk"
prints "a program is skipped for what it needs" "    suite: run-5: needs deflate python-nowhere"
printf 'HAVE_ZSTD := 1\nHAVE_DEFLATE := 1\n' > "$fake/build/release/config.mk"
sed -i 's/ python-nowhere//' "$fake/tests/suite/run-5"
prints "and runs where that is there" "2 passed, 1 failed, 2 skipped" --quick
rm "$fake/tests/suite/run-5"
prints "a missing interpreter skips" "    suite: run-4: /nowhere/perl7 is not installed"
prints "an unknown option" "Usage: tests/run .*" --fast
prints "the programs are listed" "tests/suite/run-3" --list
n=$((n + 1))
if "$fake/tests/run" suite:run-1 | grep -qx "1 passed, 0 failed, 0 skipped" && ! "$fake/tests/run" suite:run-9 2> "$TMPDIR/why" &&
    grep -qx "run: suite suite has no program run-9" "$TMPDIR/why"; then
    echo "ok $n - one program by its name"
else
    echo "not ok $n - one program by its name"
fi
rm "$fake"/tests/suite/run-[1-4]
mkdir "$fake/tests/unit"
touch "$fake"/tests/unit/test_{tree,tree_walk,ahead,other}.c
printf '%s\n' '# a table' 'wood: tree ah*' 'wood: other' > "$fake/tests/unit/rooms.txt"
lists() { # NAME PROGRAM...
    n=$((n + 1))
    if [ "$("$fake/tests/run" --list "unit-fast:$1" | sed 's|build/fast/tests/unit/test_||' | tr '\n' ' ')" = "${*:2} " ]; then
        echo "ok $n - the unit programs of $1"
    else
        echo "not ok $n - the unit programs of $1"
    fi
}
lists wood ahead other tree
lists tree tree
lists test_tree_walk tree_walk
lists tree_ tree_walk
expect "a Python program" 0 "1 passed, 0 failed, 0 skipped" 'print("ok 1\n1..1")' test_it.py
expect "a bats file" 0 "1 passed, 0 failed, 0 skipped" '@test "true" { true; }' it.bats
expect "input is empty, TMPDIR is there" 0 "2 passed, 0 failed, 0 skipped" \
    "$sh read -r x || echo ok 1; test -d \"\$TMPDIR\" && echo ok 2; echo 1..2"
echo "1..$n"
