#!/bin/bash
# run-mutate.sh - tests/mutate finds the function that no test notices, in a tree made for it.
# SPDX-License-Identifier: MIT
set -u
tree=$TMPDIR/tree
n=0
mkdir -p "$tree"/{format,lib/room,schema,tools,tests,build}
cp "$SRCDIR/tests/mutate" "$tree/tests/"
cd "$tree" || exit 1

check() { # NAME COMMAND...
    n=$((n + 1))
    if "${@:2}" > log 2>&1; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' log
    fi
}

cat > lib/room/seen.c << 'C'
int seen(int x);
/* a + b */
int seen(int x)
{
    return x + 1;
}
C
sed 's/seen/unseen/' lib/room/seen.c > lib/room/unseen.c
cat > Makefile << 'M'
objects := build/release/obj/lib/room/seen.o build/release/obj/lib/room/unseen.o
quick-programs: build/program
build/release/obj/%.o: %.c
	mkdir -p $(@D)
	gcc -O1 -c -o $@ $<
build/program: tests/program.c $(objects)
	gcc -o $@ $^
M
cat > tests/program.c << 'C'
int seen(int x);
int main(void) { return seen(2) != 3; }
C
cat > tests/run << 'R'
#!/bin/sh
[ "$1" = --list ] && { echo build/program; exit; }
[ ! -e ../unsteady ] || { rm ../unsteady; echo; echo "---- suite: program"; exit 1; }
build/program || { echo; echo "---- suite: program"; exit 1; }
R
chmod +x tests/run

ends() { # STATUS LINE FILE...: two mutants of these files end like this
    tests/mutate 2 1 "${@:3}" > out
    [ $? = "$1" ] && [ "$(tail -n 1 out)" = "$2" ] && return
    cat out
    return 1
}
same() { # SEED SEED: the same lists?
    cmp <(cd "$SRCDIR" && tests/mutate --list 50 "$1") <(cd "$SRCDIR" && tests/mutate --list 50 "$2")
}
differ() {
    ! same "$@"
}
check "what a test notices" ends 0 "1 killed, 0 survived" lib/room/seen.c
check "by which test" grep -qxF 'killed by suite: program: lib/room/seen.c:5: return x + 1;  ->  return x - 1;' out
check "with which seed" grep -qx "seed: 1" out
check "what none notices" ends 1 "0 killed, 1 survived" lib/room/unseen.c
steady() { # a program that fails once, and then not, does not end the run
    tests/mutate 1 1 lib/room/unseen.c > out
    [ "$(tail -n 1 out)" = "0 killed, 1 survived" ] && [ ! -e build/unsteady ]
}
touch build/unsteady
check "what fails once does not count" steady
check "the sources stay" test -z "$(grep -h -- - lib/room/*.c build/mutate/lib/room/*.c)"
# The mutants of two files, at once and in two runs; the third has no object.
in_parts() {
    mkdir lib/mpi
    sed 's/seen/other/' lib/room/seen.c > lib/mpi/other.c
    tests/mutate 9 1 lib/*/*.c | grep ' by \|survived: ' > whole
    { tests/mutate 1 1 lib/*/*.c; tests/mutate --from=2 9 1 lib/*/*.c; } | grep ' by \|survived: ' | diff whole - &&
        [ "$(wc -l < whole)" = 2 ]
}
check "a run continues" in_parts
check "a seed repeats" same 3 3
check "another seed" differ 3 4
echo "1..$n"
