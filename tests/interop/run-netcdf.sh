#!/bin/sh
# run-netcdf.sh - files that the netCDF library made, imported, exported and read by it.
#
# For each .cdl beside this script and each data representation ncdump must print the
# same before and after, and h5diff must find no difference.  TAP on stdout.
# timeout: 300
# SPDX-License-Identifier: MIT
set -u

datarep=${DATAREP:-build/release/datarep}
here=$(dirname "$0")
for tool in ncgen ncdump h5diff; do
    command -v $tool > /dev/null || {
        echo "1..0 # SKIP no $tool"
        exit 0
    }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

trip() { # FILE.cdl DATAREP
    ncgen -4 -o "$dir/in.nc" "$1" &&
        "$datarep" import --force --datarep="$2" "$dir/in.nc" "$dir/x.drep" &&
        "$datarep" check "$dir/x.drep" > "$dir/check.txt" &&
        "$datarep" export --force "$dir/x.drep" "$dir/out.nc" &&
        h5diff -q "$dir/in.nc" "$dir/out.nc" &&
        ncdump -n x "$dir/in.nc" > "$dir/before" &&
        ncdump -n x "$dir/out.nc" > "$dir/after" &&
        diff "$dir/before" "$dir/after"
}

# Attributes of CHARs are NC_CHAR, which nc_get_att_text() reads, whatever their shape.
chars() {
    cat > "$dir/chars.yaml" << 'END'
datarep: external32
root:
  attrs: {one: {type: CHAR, value: "c"}, two: {type: CHAR, value: ["a", "b"]}, nul: {type: CHAR, value: ["a", "\0", "b"]},
          table: {type: CHAR, value: [["a", "b"], ["c", "d"]]}}
END
    "$datarep" create -f -s "$dir/chars.yaml" "$dir/chars.drep" || return 1
    "$datarep" export --force "$dir/chars.drep" "$dir/chars.nc" # 1: it tells of the shape of `table`
    [ $? = 1 ] && ncdump "$dir/chars.nc" > "$dir/shown" &&
        printf '\t\t:%s ;\n' 'one = "c"' 'two = "ab"' 'nul = "a\000b"' 'table = "abcd"' > "$dir/wanted" &&
        grep : "$dir/shown" | grep -v // | diff "$dir/wanted" -
}

try() { # NAME COMMAND...
    name=$1
    shift
    n=$((n + 1))
    if "$@" > "$dir/log" 2>&1; then
        echo "ok $n - $name"
    else
        failed=1
        echo "not ok $n - $name"
        sed 's/^/# /' "$dir/log"
    fi
}

for cdl in "$here"/*.cdl; do
    for rep in external32 internal native; do
        try "$(basename "$cdl") under $rep" trip "$cdl" $rep
    done
done
try "attributes of characters" chars
echo "1..$n"
exit $failed
