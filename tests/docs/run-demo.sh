#!/bin/bash
# run-demo.sh - the demonstration shows what it says, in few lines; its map is README.md's picture.
# SPDX-License-Identifier: MIT
set -u
n=0
result() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$TMPDIR/wrong" "$TMPDIR/log" 2> /dev/null
    fi
}
for tool in nccopy ncgen ncdump h5diff; do
    command -v $tool > /dev/null || {
        echo "1..0 # SKIP $tool is not installed"
        exit 0
    }
done
for part in release/datarep-plot.so python/datarep/_core.abi3.so; do
    [ -e "$BUILDDIR/$part" ] || {
        echo "1..0 # SKIP $part was not built"
        exit 0
    }
done
/usr/bin/python3 -c 'import xarray' 2> /dev/null || {
    echo "1..0 # SKIP xarray is not installed"
    exit 0
}
cd "$SRCDIR" || exit 1
eval "$(make -s env)"
sh tests/demo/demo.sh > "$TMPDIR/log" 2>&1
result $? "the demonstration ends with success"

# Steps print something, and little: the tree has a line for each object, xarray's step its program.
awk '/^[0-9]\. / { step = $1; next } /^\$/ || !NF { next } step { lines[step]++ }
     END { for (s = 1; s <= 8; s++) { most = s == 2 ? 8 : s == 6 || s == 4 ? 5 : 3
         if (!lines[s "."] || lines[s "."] > most) printf "step %d prints %d lines\n", s, lines[s "."] } }' \
    "$TMPDIR/log" > "$TMPDIR/wrong"
[ ! -s "$TMPDIR/wrong" ]
result $? "each of its eight steps prints something, and little"

if grep -q 'cannot be fetched' "$TMPDIR/log"; then
    n=$((n + 1))
    echo "ok $n - README.md's picture # SKIP the package ferret-datasets cannot be fetched"
else
    /usr/bin/python3 tests/docs/run-pictures.py --same tests/docs/pictures/map.png build/demo/map.png > "$TMPDIR/wrong" 2>&1
    result $? "README.md's picture is the one that its command makes"
    # README.md names the command that the demonstration runs.
    command=$(sed -n "s/^ *\(datarep plot coads.drep .* -o map.png\)$/\1/p" README.md)
    [ -n "$command" ] && grep -qF "\$ $command" "$TMPDIR/log"
    result $? "README.md names that command"
fi
echo "1..$n"
