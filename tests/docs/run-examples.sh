#!/bin/bash
# run-examples.sh - builds and runs the example programs of tests/examples.
#
# NAME.c with NAME.out beside it is a program that prints just that; the others need more.
# SPDX-License-Identifier: MIT
set -u
lib=$BUILDDIR/release
n=0

result() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$TMPDIR/log"
    fi
}

cd "$TMPDIR" || exit 1
plain() { # NAME [ARGUMENT...]
    local name=$1
    shift
    gcc -std=c11 -Wall -Wextra -Wshadow -Wconversion -Werror -I"$SRCDIR/lib" -o "$name" \
        "$SRCDIR/tests/examples/$name.c" -pthread -L"$lib" -ldatarep > log 2>&1 &&
        LD_LIBRARY_PATH=$lib "./$name" "$@" > out 2> log &&
        diff -u "$SRCDIR/tests/examples/$name.out" out > log
}
for example in "$SRCDIR"/tests/examples/*.out; do
    name=$(basename "$example" .out)
    [ "$name" = walk ] && continue
    if [ "$name" = simulation ] && ! "$DATAREP" --version | grep -q zstd; then
        result 0 "$name.c prints what it should # SKIP no zstd"
        continue
    fi
    plain "$name"
    result $? "$name.c prints what it should"
done
plain walk grid.drep
result $? "walk.c shows a file that another example wrote"
for vector in "$SRCDIR"/tests/vectors/*.drep; do
    "$DATAREP" ls "$vector" > /dev/null 2>&1 || continue
    LD_LIBRARY_PATH=$lib ./walk "$vector" > out 2>&1 || echo "$vector"
done > log
[ ! -s log ]
result $? "walk.c shows every file of the vectors"

gcc -std=c11 -Wall -Wextra -Werror -I"$SRCDIR/lib" -o user_datarep \
    "$SRCDIR/tests/examples/user_datarep.c" -L"$lib" -ldatarep > log 2>&1
result $? "user_datarep.c compiles"
export LD_LIBRARY_PATH=$lib

./user_datarep write mirror.drep > log 2>&1
result $? "a container is written under a user's datarep"
./user_datarep read mirror.drep > log 2>&1
result $? "another process reads it after registering the functions"
grep -q '^refused: .*"mirror" is not registered' log
result $? "before that it is refused, naming the datarep"
grep -q '^header: datarep mirror, made of code$' log && grep -q '^values: 0 1 -2.5 1e+300$' log
result $? "its header can be read all the same"
"$DATAREP" dump -H mirror.drep > log 2>&1 && grep -q mirror log && grep -q 'DOUBLE' log
result $? "the command shows its header without the functions"
! "$DATAREP" dump mirror.drep > log 2> err && grep -q mirror err
result $? "and says which datarep it lacks for the elements"

cat > other.c <<'END'
/* Another representation of the same name: bytes as they are. */
#include <datarep.h>
#include <stdio.h>
#include <string.h>
static int copy(void *u, const drep_type *t, int64_t n, void *f, int64_t at, void *x)
{
    (void)t, (void)at, (void)x;
    memcpy(u, f, (size_t)n * 8);
    return 0;
}
static int extent(const drep_type *t, int64_t *bytes, void *x)
{
    (void)x;
    *bytes = drep_type_size(t);
    return 0;
}
int main(void)
{
    drep_file *f;
    drep_register_datarep("mirror", copy, copy, extent, NULL);
    drep_dataset *x;
    double back[64];
    int err = drep_open("mirror.drep", DREP_RDONLY, NULL, &f);
    if (err == 0)
        err = drep_dataset_open(f, "/x", &x);
    if (err == 0)
        err = drep_read(x, NULL, DREP_DOUBLE, back, NULL);
    printf("%d %s\n", err, drep_error());
    return err == DREP_ERR_UNSUPPORTED_DATAREP ? 0 : 1;
}
END
gcc -std=c11 -Wall -Wextra -I"$SRCDIR/lib" -o other other.c -L"$lib" -ldatarep > log 2>&1 &&
    ./other > log 2>&1 && grep -q witness log
result $? "D8: other functions under the same name are found out by the witness"
echo "1..$n"
