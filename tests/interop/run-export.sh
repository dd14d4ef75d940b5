#!/bin/sh
# run-export.sh - files of other machines and representations, exported.
#
# The vectors hold what this machine's types do not: long doubles of other formats, a short
# of three bytes, IBM and Cray reals.  Their export must lose nothing (it would say so), be
# an HDF5 file, and come back.  TAP on stdout.
# SPDX-License-Identifier: MIT
set -u

datarep=${DATAREP:-build/release/datarep}
vectors=$(dirname "$0")/../vectors
command -v h5dump > /dev/null || {
    echo "1..0 # SKIP no h5dump"
    exit 0
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

trip() { # NAME
    "$datarep" export --force "$vectors/$1.drep" "$dir/x.h5" 2>&1 &&
        h5dump -H "$dir/x.h5" > "$dir/dump" &&
        "$datarep" import --force "$dir/x.h5" "$dir/y.drep" 2>&1 &&
        "$datarep" check "$dir/y.drep" > "$dir/check"
}

for name in types types-internal native-i386 native-m68k native-ppc64el native-s390x declared-cray \
    declared-ibm scalar extended compound vlen dims links chunked contiguous; do
    n=$((n + 1))
    if trip $name > "$dir/log" 2>&1 && [ ! -s "$dir/log" ]; then
        echo "ok $n - $name"
    else
        failed=1
        echo "not ok $n - $name"
        sed 's/^/# /' "$dir/log"
    fi
done

# HDF5's library cannot convert complex numbers of one and two bytes a part: they are named, and all others are there.
n=$((n + 1))
small_complex() {
    "$datarep" export --force --report="$dir/report" "$vectors/declared-vax.drep" "$dir/x.h5"
    [ $? -eq 1 ] && [ "$(grep -c COMPLEX "$dir/report")" -eq 2 ] && [ "$(grep -c 'lost' "$dir/report")" -eq 2 ] &&
        "$datarep" import --force "$dir/x.h5" "$dir/y.drep" && "$datarep" check --deep "$dir/y.drep"
}
if small_complex > "$dir/log" 2>&1; then
    echo "ok $n - declared-vax"
else
    failed=1
    echo "not ok $n - declared-vax"
    sed 's/^/# /' "$dir/log" "$dir/report"
fi

# Reals of base 16 that no binary128 holds have no place in HDF5: their dataset is left out by its
# name, and all others are there, bit for bit.
n=$((n + 1))
beyond() {
    "$datarep" export "$vectors/scalars.drep" "$dir/scalars.h5"
    [ $? -eq 1 ] && h5dump -n "$dir/scalars.h5" > "$dir/names" || return 1
    [ "$(grep -c dataset "$dir/names")" -eq "$(($("$datarep" ls "$vectors/scalars.drep" | wc -l) - 1))" ] &&
        ! grep '/far$' "$dir/names" && grep '/widest$' "$dir/names" && grep '/vax-h$' "$dir/names" &&
        "$datarep" import --force "$dir/scalars.h5" "$dir/y.drep" && "$datarep" check --deep "$dir/y.drep" &&
        for path in /widest /vax-h /hex; do
            "$datarep" diff "$vectors/scalars.drep" "$dir/scalars.h5" "$path" "$path" || return 1
        done
}
if beyond > "$dir/log" 2>&1 && [ "$(grep -c 'far: .*beyond binary128' "$dir/log")" -eq 1 ]; then
    echo "ok $n - reals beyond binary128"
else
    failed=1
    echo "not ok $n - reals beyond binary128"
    sed 's/^/# /' "$dir/log"
fi

# Every string and number arrives, also as h5dump reads it: twelve kinds of nesting, as the
# elements of datasets, attributes and fill values.
nested() {
    "$datarep" create -s "$(dirname "$0")/nested.yaml" "$dir/n.drep" &&
        "$datarep" export "$dir/n.drep" "$dir/n.h5" &&
        "$datarep" diff "$dir/n.drep" "$dir/n.h5" || return 1
    for path in /strings /nested /grid /seqarr /arrseq /insides /seqin; do
        letters=$(h5dump -d $path "$dir/n.h5" | sed -n '/DATA {/,$p' | grep -o '"[a-h]*"' | sort -u |
            tr -d '"\n')
        case $path in
        /strings) [ "$letters" = abcde ] ;;
        *) [ "$letters" = abcdefgh ] ;;
        esac || {
            echo "$path: h5dump shows only '$letters'"
            return 1
        }
    done
}

n=$((n + 1))
if nested > "$dir/log" 2>&1; then
    echo "ok $n - strings and sequences in nested arrays, structs and sequences"
else
    failed=1
    echo "not ok $n - strings and sequences in nested arrays, structs and sequences"
    sed 's/^/# /' "$dir/log"
fi
echo "1..$n"
exit $failed
