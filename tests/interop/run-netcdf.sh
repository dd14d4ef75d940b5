#!/bin/bash
# run-netcdf.sh - files that the netCDF library made, imported, exported and read by it.
#
# For each .cdl beside this script and each data representation ncdump must print the
# same before and after, and h5diff must find no difference.  TAP on stdout.
# timeout: 300
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../cli/tap.sh"

for tool in ncgen ncdump h5diff; do
    command -v $tool > /dev/null || {
        echo "1..0 # SKIP no $tool"
        exit 0
    }
done

trip() { # FILE.cdl DATAREP
    ncgen -4 -o "$tmp/in.nc" "$1" &&
        "$DATAREP" import --force --datarep="$2" "$tmp/in.nc" "$tmp/x.drep" &&
        "$DATAREP" check "$tmp/x.drep" > "$tmp/check.txt" &&
        "$DATAREP" export --force "$tmp/x.drep" "$tmp/out.nc" &&
        h5diff -q "$tmp/in.nc" "$tmp/out.nc" &&
        ncdump -n x "$tmp/in.nc" > "$tmp/before" &&
        ncdump -n x "$tmp/out.nc" > "$tmp/after" &&
        diff "$tmp/before" "$tmp/after"
}

# Attributes of CHARs are NC_CHAR, which nc_get_att_text() reads, whatever their shape.
chars() {
    cat > "$tmp/chars.yaml" << 'END'
datarep: external32
root:
  attrs: {one: {type: CHAR, value: "c"}, two: {type: CHAR, value: ["a", "b"]}, nul: {type: CHAR, value: ["a", "\0", "b"]},
          table: {type: CHAR, value: [["a", "b"], ["c", "d"]]}}
END
    "$DATAREP" create -f -s "$tmp/chars.yaml" "$tmp/chars.drep" || return 1
    "$DATAREP" export --force "$tmp/chars.drep" "$tmp/chars.nc" # 1: it tells of the shape of `table`
    [ $? = 1 ] && ncdump "$tmp/chars.nc" > "$tmp/shown" &&
        printf '\t\t:%s ;\n' 'one = "c"' 'two = "ab"' 'nul = "a\000b"' 'table = "abcd"' > "$tmp/wanted" &&
        grep : "$tmp/shown" | grep -v // | diff "$tmp/wanted" -
}

for cdl in "$HERE"/*.cdl; do
    for rep in external32 internal native; do
        check "$(basename "$cdl") under $rep" trip "$cdl" $rep
    done
done
check "attributes of characters" chars
done_testing
