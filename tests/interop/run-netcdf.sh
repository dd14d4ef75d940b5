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

for cdl in "$here"/*.cdl; do
    for rep in external32 internal native; do
        n=$((n + 1))
        if trip "$cdl" $rep > "$dir/log" 2>&1; then
            echo "ok $n - $(basename "$cdl") under $rep"
        else
            failed=1
            echo "not ok $n - $(basename "$cdl") under $rep"
            sed 's/^/# /' "$dir/log"
        fi
    done
done
echo "1..$n"
exit $failed
