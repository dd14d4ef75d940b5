#!/bin/bash
# run-mpiexec-command.sh - `datarep mpiexec`: the launcher gets the library of its MPI, its arguments and nothing
# else.  Stubs stand for the launchers and the libraries.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

stub=$(dirname "$DATAREP")/tests/cli/plugin_stub.so
mkdir -p "$tmp/tree/bin" "$tmp/tree/lib/datarep" "$tmp/path" "$tmp/real"
# Only the command's own directory decides where the libraries are.
cp "$DATAREP" "$tmp/tree/bin/datarep"
DATAREP=$tmp/tree/bin/datarep
lib=$(realpath "$tmp")/tree/lib/datarep
export PATH=$tmp/path:$PATH
unset LD_PRELOAD
for name in mpiexec.hydra orterun other; do
    printf '#!/bin/sh\necho "%s $LD_PRELOAD"\nprintf "<%%s>\\n" "$@"\nexit 7\n' "$name" > "$tmp/real/$name"
    chmod +x "$tmp/real/$name"
done
ln -s "$tmp/real/mpiexec.hydra" "$tmp/path/mpiexec.mpich"
ln -s "$tmp/real/orterun" "$tmp/path/mpiexec.openmpi"

launcher_is() { # NAME
    ln -sf "$tmp/real/$1" "$tmp/path/mpiexec"
}
prints() { # TEXT ARGUMENT...: on stdout, with the launcher's status
    local want=$1
    shift
    status 7 "$@" && [ "$(cat "$tmp/out")" = "$want" ] || { cat "$tmp/out" "$tmp/err"; return 1; }
}

launcher_is mpiexec.hydra
check "no library" refuses 125 'libdatarep-mpiio-mpich.so is neither .*not installed' mpiexec -n 2 true
for mpi in mpich openmpi; do
    cp "$stub" "$lib/libdatarep-mpiio-$mpi.so"
    chmod 644 "$lib/libdatarep-mpiio-$mpi.so"
done
check "MPICH's launcher" prints "mpiexec.hydra $lib/libdatarep-mpiio-mpich.so
<-n>
<2>
<a b>
<--help>" mpiexec -n 2 'a b' --help
launcher_is orterun
check "Open MPI's gives the variable to other machines" prints "orterun $lib/libdatarep-mpiio-openmpi.so
<-x>
<LD_PRELOAD>
<-n>
<2>
<*>" mpiexec -- -n 2 '*'
check "the MPI by its name" prints "mpiexec.hydra $lib/libdatarep-mpiio-mpich.so
<p>" mpiexec --mpi=mpich p
check "in two words" prints "mpiexec.hydra $lib/libdatarep-mpiio-mpich.so
<--mpi>
<x>" mpiexec --mpi mpich -- --mpi x
launcher_is other
check "a launcher that nobody knows" refuses 125 "is it MPICH's or Open MPI's" mpiexec p
check "a name that nobody knows" refuses 2 "mpich or openmpi, not 'lam'" mpiexec --mpi=lam p
check "no program" refuses 2 'which program' mpiexec
check "no program behind an option" refuses 2 'which program' mpiexec --mpi=mpich --
check "help" status 0 mpiexec --help
chmod 666 "$lib/libdatarep-mpiio-mpich.so"
check "a library that others may write" refuses 125 'writable by everybody' mpiexec --mpi=mpich p
done_testing
