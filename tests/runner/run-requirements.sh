#!/bin/bash
# run-requirements.sh - every rule is named by a test, and one that is not is noticed.
# SPDX-License-Identifier: MIT
set -u
fake=$TMPDIR/tests
mkdir -p "$fake"
cp "$SRCDIR/tests/requirements.py" "$fake/"
n=0

result() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        tail -n 20 "$TMPDIR/out" | sed 's/^/# /'
    fi
}

# says STATUS WORDS: of a tree of two rules whose tests are on the input.
says() {
    printf '%s\n' 'E1 lengths' 'U6 positions' '- U6 of Fortran: none' > "$fake/requirements.txt"
    cat > "$fake/test_it.c"
    "$fake/requirements.py" > "$TMPDIR/out" 2>&1
    [ $? = "$1" ] && grep -qF -- "$2" "$TMPDIR/out"
}

"$SRCDIR/tests/requirements.py" > "$TMPDIR/out" 2>&1
result $? "every rule is named by a test"
says 0 '2 rules, 2 with tests' <<'END'
START_TEST(test_E1_lengths)
{
    /* U6: as well */
}
END_TEST
int main(void)
{
    tcase_add_test(tc, test_E1_lengths);
}
END
result $? "by its name, or by a comment"
says 1 'no test names U6: positions' <<'END'
/* U6: what the file is about is no test. */
START_TEST(test_E1_lengths)
{
}
END_TEST
START_TEST(test_U6_never_run)
{
}
END_TEST
int main(void)
{
    tcase_add_test(tc, test_E1_lengths);
}
END
result $? "a test that is not run does not count"
says 1 'no test names E1: lengths' <<'END'
ok("U6: any staging", x);
END
result $? "a case of a program counts"
echo "1..$n"
