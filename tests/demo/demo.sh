#!/bin/sh
# demo.sh - eight steps of a file's life: `make demo` calls it with the build in the environment.
#
# The observations are COADS, the climate of the oceans from the logs of ships, out of Debian's package
# ferret-datasets; without that package a field of the same shape is made by ncgen.  Each step is one
# command, and prints little.  Everything stays in build/demo.  Exit status 0: each step gave what it says.
# SPDX-License-Identifier: MIT
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
dir=$root/build/demo
machines=$root/tests/vectors/machines

say() {
    printf '\n\033[1m%s\033[0m\n' "$*"
}
[ -t 1 ] || say() {
    printf '\n%s\n' "$*"
}

# Prints a command and runs it.
show() {
    echo "\$ $1"
    eval "$1"
}

failed() {
    echo "demo: $*" >&2
    exit 1
}

# Classic netCDF out of the package, which is not installed.
fetch() {
    command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || return 1
    [ -e coads_climatology.cdf ] || {
        timeout 120 apt-get -q download ferret-datasets > apt.log 2>&1 &&
            dpkg-deb --fsys-tarfile ferret-datasets_*.deb |
            tar -xO ./usr/share/ferret-vis/data/coads_climatology.cdf > coads.part &&
            mv coads.part coads_climatology.cdf
    }
}

# The same shape, made up.
make_up() {
    awk 'BEGIN {
        r = atan2(0, -1) / 180
        print "netcdf coads {\ndimensions:\n COADSX = 180 ;\n COADSY = 90 ;\n TIME = UNLIMITED ;"
        print "variables:\n double COADSX(COADSX) ;\n  COADSX:units = \"degrees_east\" ;"
        print " double COADSY(COADSY) ;\n  COADSY:units = \"degrees_north\" ;"
        print " double TIME(TIME) ;\n  TIME:units = \"hour since 0000-01-01 00:00:00\" ;"
        for (v = 0; v < 2; v++) {
            n = v ? "AIRT" : "SST"
            printf " float %s(TIME, COADSY, COADSX) ;\n  %s:units = \"Deg C\" ;\n  %s:_FillValue = -1.e34f ;\n", n, n, n
        }
        print "data:"
        for (x = 0; x < 180; x++) printf "%s%d", x ? "," : " COADSX = ", 21 + 2 * x
        for (y = 0; y < 90; y++) printf "%s%d", y ? "," : ";\n COADSY = ", 2 * y - 89
        for (t = 0; t < 12; t++) printf "%s%g", t ? "," : ";\n TIME = ", 366 + 730.485 * t
        for (v = 0; v < 2; v++) {
            printf ";\n %s = ", v ? "AIRT" : "SST"
            for (t = 0; t < 12; t++) for (y = 0; y < 90; y++) for (x = 0; x < 180; x++)
                printf "%s%.2f", t + y + x ? "," : "", 31 * cos((2 * y - 89) * r) ^ 2 - v + 2 * sin(6 * x * r) - cos(t)
        }
        print ";\n}" }' > coads.cdl && ncgen -o coads_climatology.cdf coads.cdl
}

mkdir -p "$dir/bin"
cd "$dir"
# The package was built for the system's Python.
ln -sf /usr/bin/python3 bin/python3
PATH=$dir/bin:$PATH
rm -f ./*.drep ./*.nc ./*.png count
for tool in datarep ncgen nccopy h5diff; do
    command -v $tool > /dev/null || failed "$tool is not there: run make deps-demo, then make"
done
fetch || {
    echo "The package ferret-datasets cannot be fetched; made-up values of the same shape take its place."
    make_up || failed "ncgen made no file"
}
# As netCDF's own tool writes it today: netCDF-4, compressed, one month a chunk.
nccopy -k nc4 -d 1 -s -c TIME/1 -V TIME,COADSY,COADSX,SST,AIRT coads_climatology.cdf coads.nc

say "1. A century of ships' logs, as netCDF-4, goes in"
show 'datarep import coads.nc coads.drep && ls -l coads.nc coads.drep'

say "2. What is in it"
show 'datarep ls --tree coads.drep'

say "3. Look at it: January's sea surface temperature, north of 20 S"
show "datarep plot coads.drep '/SST[TIME=0000-01-16T06:00, COADSY=-20:]' -o map.png && ls $dir/map.png"

say "4. xarray reads it"
cat > mean.py << 'END'
import xarray as xr
sst = xr.open_dataset("coads.drep", engine="datarep", decode_times=False).SST
print(sst.sel(COADSY=slice(-10, 10)).mean(["COADSX", "COADSY"])[:3].round(2).values)
END
show 'cat mean.py && python3 mean.py'

say "5. A writer is killed with SIGKILL while it appends; each commit that it had made is there"
cat > writer.py << 'END'
import datarep as dr
with dr.open("log.drep", "w") as f:
    f.dims["n"] = None
    log = f.create("log", dtype="i8", dims=["n"])
    for n in range(10**9):
        log.append([n])
        f.commit()
        print(n + 1, flush=True)
END
python3 writer.py > count &
writer=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.3
    [ "$(wc -l < count)" -lt 20 ] || break
done
show "kill -9 $writer; wait $writer 2> /dev/null || echo \$(tail -n 1 count) values were committed"
show 'datarep check log.drep && datarep ls log.drep /log'
committed=$(tail -n 1 count)
found=$(datarep ls log.drep /log | sed 's/.*\[\([0-9]*\).*/\1/')
# The writer may have died between a commit and the note of it.
[ "${committed:-0}" -gt 0 ] && [ "$found" -ge "$committed" ] && [ "$found" -le $((committed + 1)) ] ||
    failed "$committed values were committed, $found are there"

say "6. One bit of the data flips: check names the place; repair saves the other eleven months of AIRT, and all else"
cp coads.drep hit.drep
# A byte in the middle of a month of AIRT, turned around.
at=$(python3 -c '
import datarep as dr
place = dr.open("coads.drep")["AIRT"].stored_at((6, 0, 0))
print(place.offset + place.size // 2)')
python3 -c "
f = open('hit.drep', 'r+b'); f.seek($at); b = f.read(1)[0]; f.seek($at); f.write(bytes([b ^ 1]))"
status=0
show 'datarep check -d hit.drep' || status=$?
[ $status = 1 ] || failed "check does not see it"
show 'datarep check --repair=mended.drep hit.drep' || status=$?
show 'datarep diff coads.drep mended.drep' || status=$?

say "7. Machines of every kind wrote a file each; this one reads the same numbers in all"
for m in s390x i386 alpha; do cp "$machines/$m.drep" .; done
show "for m in s390x i386 alpha; do datarep dump -w 0 \$m.drep '/types/DOUBLE[4:12]' | sed -n '\$p'; done | uniq -c"
show 'datarep diff s390x.drep alpha.drep && echo a big-endian and a little-endian machine, all 2,051 values: no difference'

say "8. Out again, as netCDF-4: HDF5's own tool compares it with the original"
show 'datarep export coads.drep back.nc && h5diff coads.nc back.nc && echo h5diff: status 0'
ncdump -h coads.nc | sed 1d > before.txt
ncdump -h back.nc | sed 1d > after.txt
cmp -s before.txt after.txt || failed "ncdump sees other dimensions, variables or attributes"
