#!/bin/bash
# run-ends.sh - where import and export read and write: pipes, the source itself, filters.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../cli/tap.sh"

command -v h5diff > /dev/null || {
    echo "1..0 # SKIP no h5diff"
    exit 0
}

"$DATAREP" create -s "$HERE/../cli/all.yaml" "$tmp/a.drep" && "$DATAREP" export -n "$tmp/a.drep" "$tmp/a.h5" 2> "$tmp/err"
printf 'a,b\n1,2\n' > "$tmp/t.csv"
cd "$tmp" || exit 1
mkdir spool
export TMPDIR=$tmp/spool

untouched() { # FILE COMMAND-ARGUMENT...: it is both source and target
    cp "$1" before
    refuses 2 'both source and target' "${@:2}" && cmp "$1" before
}

nothing_made() { # ARGUMENT...
    refuses 2 'not written to standard output' "$@" && [ ! -e ./- ]
}

equal() { # a.h5, which came another way, is in b.drep; nothing is left
    "$DATAREP" diff b.drep a.h5 && rm b.drep && [ -z "$(ls spool)" ]
}

ln a.h5 hard.h5
ln -s a.drep soft.drep
check "import of a file onto itself" untouched a.h5 import a.h5 a.h5
check "import of a file onto another name of it" untouched a.h5 import a.h5 hard.h5
check "import of a table onto itself" untouched t.csv import t.csv t.csv
check "export of a file onto itself" untouched a.drep export --format=hdf5 a.drep a.drep
check "export of a file onto a link to it" untouched a.drep export --format=hdf5 soft.drep a.drep
check "export of a table onto the file" untouched a.drep export --format=csv a.drep soft.drep
check "import to standard output" nothing_made import a.h5 -
check "import of a table to standard output" nothing_made import t.csv -
check "export of HDF5 to standard output" nothing_made export --format=hdf5 a.drep -
check "import from standard input" sh -c '"$0" import - b.drep < a.h5' "$DATAREP"
check "... is the same" equal
check "import from a pipe" sh -c 'cat a.h5 | "$0" import --format=hdf5 - b.drep' "$DATAREP"
check "... is the same" equal
check "import of half a file from a pipe" sh -c '! head -c 1000 a.h5 | "$0" import --format=hdf5 - b.drep && [ ! -e b.drep ]' "$DATAREP"
"$DATAREP" import --exact a.h5 c.drep
check "export from a pipe" sh -c 'cat c.drep | "$0" export - b.h5 && "$0" diff c.drep b.h5' "$DATAREP"
check "levels that a filter has not" refuses 2 "zstd has no level '23'" import --filters=zstd:23 a.h5 b.drep
check "levels of filters without" refuses 2 "shuffle has no level '1'" import --filters=shuffle:1 a.h5 b.drep
check "levels that are no numbers" refuses 2 "deflate has no level '1x'" import --filters=deflate:1x a.h5 b.drep
check "a level and a filter" status 0 import --filters=shuffle,zstd:22 a.h5 b.drep
check "... is the same" equal
done_testing
