#!/bin/bash
# run-ready.sh - the schemas that are installed: each makes a file, is found to be what the file
# is, comes back from it, and takes what its first lines say.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# needs: deflate cxx
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"
schemas=$HERE/../../schema

ready() { # NAME
    "$DATAREP" create -s "$schemas/$1.yaml" "$tmp/$1.drep" || return 1
    status 0 validate -s "$schemas/$1.yaml" "$tmp/$1.drep" && [ ! -s "$tmp/out" ] || return 1
    "$DATAREP" dump -H --yaml "$tmp/$1.drep" > "$tmp/1.yaml" &&
        "$DATAREP" create --force -s "$tmp/1.yaml" "$tmp/again.drep" &&
        "$DATAREP" dump -H --yaml "$tmp/again.drep" > "$tmp/2.yaml" &&
        diff -u "$tmp/1.yaml" "$tmp/2.yaml" &&
        status 0 validate -s "$schemas/$1.yaml" "$tmp/again.drep" &&
        "$DATAREP" check --deep "$tmp/$1.drep" || return 1
    # Its first lines say how to use it.
    sed '/^#/!q' "$schemas/$1.yaml" | grep -q "^# .*datarep create -s $1.yaml\|datarep import -s $1.yaml"
}

# What a dump shows of a dataset.
shows() { # NAME PATH PATTERN
    "$DATAREP" dump "$tmp/$1.drep" "$2" > "$tmp/out" && grep -qE -- "$3" "$tmp/out" || {
        cat "$tmp/out"
        return 1
    }
}

zeros() { # NAME BYTES: of them a raw file
    head -c "$2" /dev/zero > "$tmp/$1.raw"
}

climate() {
    zeros january $((2 * 180 * 360 * 4))
    "$DATAREP" import --type=FLOAT --shape=2,180,360 "$tmp/january.raw" "$tmp/j.drep" &&
        "$DATAREP" export "$tmp/j.drep" "$tmp/january.npy" &&
        "$DATAREP" import -a -i /tas "$tmp/january.npy" "$tmp/climate_grid.drep" &&
        shows climate_grid '/tas[1,0,:3]' '0.0, 0.0, 0.0' &&
        status 0 validate -s "$schemas/climate_grid.yaml" "$tmp/climate_grid.drep"
}

particles() {
    cat > "$tmp/step1.csv" <<'CSV'
id,position.x,position.y,position.z,velocity.x,velocity.y,velocity.z,mass,charge,species
1,0,0.5,1,0,0,3e7,9.1e-31,-1,electron
2,1,0,0,0,0,0,1.67e-27,1,proton
CSV
    "$DATAREP" import -a -i /particles "$tmp/step1.csv" "$tmp/particle_table.drep" &&
        shows particle_table '/particles[1]' 'species: proton' &&
        status 0 validate -s "$schemas/particle_table.yaml" "$tmp/particle_table.drep"
}

images() {
    zeros frames $((2 * 1024 * 1280 * 2))
    "$DATAREP" import -a -i /images --datarep=external32 "$tmp/frames.raw" "$tmp/image_stack.drep" &&
        shows image_stack '/#frame' 'dimension 2/unlimited' &&
        status 0 validate -s "$schemas/image_stack.yaml" "$tmp/image_stack.drep"
}

samples() {
    printf 'time,channel,value,quality\n1,0,20.5,good\n2,1,,missing\n' > "$tmp/today.csv"
    "$DATAREP" import -a -i /samples "$tmp/today.csv" "$tmp/time_series_log.drep" &&
        "$DATAREP" import -a -i /samples "$tmp/today.csv" "$tmp/time_series_log.drep" &&
        shows time_series_log '/samples[3]' 'value: nan, quality: missing' &&
        status 0 validate -s "$schemas/time_series_log.yaml" "$tmp/time_series_log.drep"
}

# 100, between the lengths of a record, as a 370 wrote it.
tape() {
    printf '\0\0\0\4\102\144\0\0\0\0\0\4' > "$tmp/tape.dat"
    "$DATAREP" import -s "$schemas/legacy.yaml" --datarep=ibm370 --type=REAL4 --records=4-big \
        "$tmp/tape.dat" "$tmp/tape.drep" && shows tape /tape '^ *100.0' || return 1
    local rep
    for rep in ibm370 vax-d vax-g cray pdp11; do
        printf 'root: {x: {dataset: FLOAT, data: [1.5, -0.1]}}' > "$tmp/x.yaml"
        { sed '/^#/d' "$schemas/legacy.yaml"; echo "datarep: $rep"; cat "$tmp/x.yaml"; } > "$tmp/y.yaml"
        "$DATAREP" create --force -s "$tmp/y.yaml" "$tmp/y.drep" && "$DATAREP" dump "$tmp/y.drep" /x |
            grep -q '1.5, -0.1' || return 1
    done
}

# A tree as `make install` makes it: schemas are found from the command.
by_name() {
    local tree=$tmp/tree/bin/datarep installed=$tmp/tree/share/datarep/schemas
    mkdir -p "$tmp/tree/bin" "$installed" "$tmp/here" && cp "$DATAREP" "$tree" &&
        cp "$schemas"/*.yaml "$installed" || return 1
    cd "$tmp/here" || return 1
    # By its whole name and without its end; a file here comes first.
    "$tree" create -s climate_grid.yaml a.drep && "$tree" create -s climate_grid b.drep &&
        "$tree" diff a.drep b.drep && "$tree" validate -s climate_grid a.drep || return 1
    "$tree" reps -s legacy cray | grep -q 'FLOAT .*cray64' &&
        "$tree" reps -s legacy.yaml | grep -q '^pdp11 (table)' || return 1
    printf 'root: {mine: {dataset: INT}}' > climate_grid.yaml
    "$tree" create -s climate_grid.yaml c.drep && "$tree" ls c.drep | grep -q '^/mine' || return 1
    # One that is absent: what there is, and no file.
    "$tree" create -s nonsense.yaml d.drep 2> err && return 1
    [ ! -e d.drep ] && grep -q 'nonsense.yaml: no such file here.*climate_grid.yaml, image_stack.yaml, legacy.yaml' err &&
        ! "$tree" create -s ./legacy.yaml d.drep 2> err && ! grep -q image_stack err || {
        cat err
        return 1
    }
    [ "$("$tree" __complete create -s leg | tr '\0' '\n' | cut -f2 | grep -cx legacy.yaml)" = 1 ]
}

# The example of datarep-import(1), there and back.
archive() {
    local tree=$tmp/tree/bin/datarep n
    cd "$tmp/here" || return 1
    # 2.5 as a Cray had it, 64,800 times in 180 records.
    printf '\100\002\240\0\0\0\0\0' > word && for n in 1 2 3 4 5 6 7 8 9; do cat word word > twice; mv twice word; done
    head -c 2880 word > record
    for ((n = 0; n < 180; n++)); do printf '\0\0\0\0\0\0\13\100'; cat record; printf '\0\0\0\0\0\0\13\100'; done > run7.dat
    "$tree" import -s legacy.yaml --datarep=cray --type=REAL --order=F --shape=360,180 --records=8-big run7.dat run7.drep &&
        "$tree" ls run7.drep | grep -q 'REAL \[360, 180\]' &&
        [ "$("$tree" dump run7.drep '/run7[359,179]' | tail -n 1 | grep -c '2\.5')" = 1 ] &&
        "$tree" export -s legacy.yaml --datarep=cray --order=F --records=8-big run7.drep again.dat &&
        cmp run7.dat again.dat
}

for schema in "$schemas"/*.yaml; do
    name=$(basename "$schema" .yaml)
    check "$name" ready "$name"
done
check "climate_grid takes an array of steps" climate
check "particle_table takes a table" particles
check "image_stack takes bare elements" images
check "time_series_log takes samples as they come" samples
check "legacy reads a tape" tape
check "installed schemas are found by name" by_name
check "the manual's archive, there and back" archive
done_testing
