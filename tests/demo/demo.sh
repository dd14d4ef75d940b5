#!/bin/sh
# demo.sh - converts a real file to Datarep and back, and shows that nothing differs.
#
# Called by `make demo` with the command in PATH.  The file is a coastline of the world
# (netCDF-4) from Debian's package gmt-gshhg-low; if that is not available, a small file
# of equal structure is made through HDF5.  Exit status 0: all steps gave the expected result.
# SPDX-License-Identifier: MIT
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$root/build/demo
package=gmt-gshhg-low
file=binned_GSHHS_l.nc
values=/Relative_longitude_from_SW_corner_of_bin

say() {
    printf '\n\033[1m%s\033[0m\n' "$*"
}
[ -t 1 ] || say() {
    printf '\n%s\n' "$*"
}

# Prints a command and runs it.
show() {
    echo "\$ $*"
    "$@"
}

# Prints the first lines of a long output and the number of omitted lines.
first() {
    awk -v most="$1" 'NR <= most { print } END { if (NR > most) printf "... %d more lines\n", NR - most }'
}

# Prints the numbers in a text, one per line.
numbers() {
    grep -o -e '-\{0,1\}[0-9][0-9]*'
}

failed() {
    echo "demo: $*" >&2
    exit 1
}

fetch() {
    command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || return 1
    if ! ls "$package"_*.deb > /dev/null 2>&1; then
        timeout 120 apt-get -q download "$package" > apt.log 2>&1 || return 1
    fi
    rm -rf unpacked
    dpkg-deb -x "$package"_*.deb unpacked || return 1
    cp "unpacked/usr/share/gmt-gshhg/$file" .
}

mkdir -p "$dir"
cd "$dir"
rm -f ./*.drep ./*.nc ./*.txt
for tool in datarep h5diff; do
    command -v $tool > /dev/null || failed "$tool is not there: run make deps-interop, then make"
done

say "1. A file as the world has it: netCDF-4, little-endian, compressed"
if fetch; then
    echo "$file of Debian's package $package"
else
    echo "Debian's package $package is not available; a small similar file is used instead."
    file=coast.nc
    /usr/bin/python3 "$root/tests/demo/coast.py" $file || failed "no h5py to make a file with"
fi
show ls -l $file

out=${file%.nc}.drep
say "2. Imported: the same data as big-endian external32, in a file that says so itself"
show datarep import --datarep=external32 $file "$out"
echo "\$ datarep dump -H $out | head -12"
datarep dump -H "$out" > header.txt
sed '/^$/q' header.txt | first 12

say "3. What is in it"
echo "\$ datarep ls -r $out"
datarep ls -r "$out" > objects.txt
first 30 < objects.txt

say "4. A slice, turned into this machine's form while it is read"
echo "\$ datarep dump $out ${values}[0:24]"
datarep dump "$out" "${values}[0:24]" > slice.txt
cat slice.txt
sed '1,/data =/d; s/#.*//' slice.txt | numbers > ours.txt
h5dump -A 0 -d $values -s 0 -c 24 $file | sed -n 's/^ *([0-9]*)://p' | numbers > theirs.txt
[ "$(grep -c . ours.txt)" = 24 ] || failed "the slice has not 24 numbers"
cmp ours.txt theirs.txt || failed "h5dump reads other numbers from $file"
echo "h5dump reads equal numbers, all 24, from $file"

say "5. Checked, exported back, and compared by HDF5's own tool"
show datarep check "$out"
show datarep export "$out" back.nc
h5dump -pH back.nc > back.txt
grep -q 'H5T_STD_I16BE' back.txt || failed "the export is not big-endian"
status=0
show h5diff -q $file back.nc || status=$?
echo "exit status $status"
[ $status = 0 ] || failed "h5diff finds differences"
# h5diff may only report dimensions without values as not comparable.
if h5diff -v $file back.nc | grep '^Not comparable' | grep -v 'is an empty dataset'; then
    failed "h5diff cannot compare everything"
fi
if command -v ncdump > /dev/null; then
    ncdump -h $file | sed 1d > before.txt
    ncdump -h back.nc | sed 1d > after.txt
    # Only the byte order and the like may differ, and ncdump -h shows neither.
    cmp before.txt after.txt || failed "ncdump sees other dimensions, variables or attributes"
    echo "ncdump -h: equal dimensions, variables and attributes"
fi

say "What was shown"
objects=$(grep -c . objects.txt)
echo "All $objects objects of a netCDF-4 file were converted: dimensions, chunks, filters, attributes."
echo "The container stores its numbers as external32, big-endian, on any machine."
echo "After export HDF5 finds no difference; no step depended on this machine's byte order."
