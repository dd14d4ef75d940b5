#!/bin/bash
# run-replace.sh - what a file that is made takes over: permissions, owner, place behind links.
#
# Every subcommand that makes a file does the same, whether the library or the command writes it.
# shellcheck source=tests/cli/tap.sh disable=SC2154,SC2086 # tap.sh sets tmp and HERE; $f may be none
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

cd "$tmp" || exit 1
umask 022
cat > s.yaml << 'END'
root:
  d: {dataset: DOUBLE, shape: [4, 4], data: [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]}
END
"$DATAREP" create -s s.yaml a.drep || exit 1

[ -e "$(dirname "$DATAREP")/datarep-hdf5.so" ] && "$DATAREP" export a.drep a.h5
"$DATAREP" export a.drep a.npy

# What makes FILE, each from one other file; FLAG: -f by default.
make() { # KIND FILE [FLAG]
    local f=${3--f}
    case $1 in
    create) "$DATAREP" create $f -s s.yaml "$2" ;;
    convert) "$DATAREP" convert $f a.drep "$2" ;;
    repair) "$DATAREP" check -q $f --repair="$2" a.drep ;;
    import) "$DATAREP" import $f a.npy "$2" ;;
    import-hdf5) "$DATAREP" import $f a.h5 "$2" ;;
    export-hdf5) "$DATAREP" export $f --format=hdf5 a.drep "$2" ;;
    export-npz) "$DATAREP" export $f --format=npz a.drep "$2" ;;
    export-npy | export-csv | export-raw) "$DATAREP" export $f --format="${1#*-}" a.drep "$2" ;;
    plot) "$DATAREP" plot $f -o "$2" a.drep d ;;
    esac
}

kinds="create convert repair import export-npy export-csv export-raw"
[ ! -e a.h5 ] || kinds="$kinds import-hdf5 export-hdf5"
[ ! -e "$(dirname "$DATAREP")/datarep-zip.so" ] || kinds="$kinds export-npz"
[ ! -e "$(dirname "$DATAREP")/datarep-plot.so" ] || kinds="$kinds plot"

is() { # WANT GOT WHAT
    [ "$1" = "$2" ] || {
        echo "$3: $2, not $1"
        return 1
    }
}

# In a folder of its own, in which nothing else may stay.
fresh() {
    rm -rf box other && mkdir box other
}

left() { # NAMES...
    is "$*" "$(ls -A box | tr '\n' ' ' | sed 's/ $//')" "left behind"
}

keeps_mode() { # KIND
    local mode
    for mode in 600 664 444; do
        fresh
        echo old > box/t.png
        chmod $mode box/t.png
        (umask 027 && make "$1" box/t.png) || return 1
        is $mode "$(stat -c %a box/t.png)" mode && left t.png || return 1
        [ "$(head -c 3 box/t.png)" != old ] || return 1
    done
}

new_mode() { # KIND
    fresh
    (umask 027 && make "$1" box/t.png) && is 640 "$(stat -c %a box/t.png)" mode && left t.png
}

# What is made from a file that only its owner can read is not for others either.
private() { # KIND
    fresh
    chmod 600 a.*
    make "$1" box/t.png
    chmod 644 a.*
    is 600 "$(stat -c %a box/t.png)" mode && left t.png
}

keeps_owner() { # KIND
    fresh
    echo old > box/t.png
    chown 12345:23456 box/t.png
    chmod 640 box/t.png
    make "$1" box/t.png && is "12345:23456 640" "$(stat -c '%u:%g %a' box/t.png)" owner
}

follows() { # KIND
    fresh
    echo old > other/t.png
    chmod 600 other/t.png
    ln -s ../other/t.png box/l.png
    make "$1" box/l.png || return 1
    [ -L box/l.png ] && is 600 "$(stat -c %a other/t.png)" mode && left l.png || return 1
    is t.png "$(ls -A other)" "beside the target" && [ "$(head -c 3 other/t.png)" != old ]
}

dangling() { # KIND
    fresh
    ln -s ../other/new.png box/m.png
    ln -s m.png box/l.png
    make "$1" box/l.png && [ -L box/l.png ] && [ -L box/m.png ] && [ -f other/new.png ] &&
        left l.png m.png && is new.png "$(ls -A other)" "beside the target"
}

refused() { # KIND
    fresh
    ln -s b box/a
    ln -s a box/b
    ln -s ../other box/folder
    ! make "$1" box/a && ! make "$1" box/folder && ! make "$1" box && ! make "$1" box/none/t.png &&
        left a b folder && [ -z "$(ls -A other)" ]
}

# The bytes are on the disk before the name is, and the name before the command ends.
durable() { # KIND
    local kind=$1
    fresh
    export -f make
    export kind DATAREP
    strace -f -qq -e trace=fsync,fdatasync,rename,renameat,renameat2,linkat,link -o trace \
        bash -c 'make "$kind" box/t.png' || return 1
    sed -n 's/^[0-9]* *\(fsync\|fdatasync\|rename\|renameat\|renameat2\|link\|linkat\)(.*= 0$/\1/p' trace |
        sed 's/fdatasync/fsync/; s/rename.*/move/; s/link.*/move/' | uniq | tr '\n' ' ' > order
    grep -q 'fsync move fsync' order || {
        cat order trace
        return 1
    }
}

for kind in $kinds; do
    check "$kind: a replaced file's mode stays" keeps_mode "$kind"
    check "$kind: a new file's mode is the umask's" new_mode "$kind"
    [ "$kind" = create ] || check "$kind: no more readable than its source" private "$kind"
    if [ "$(id -u)" = 0 ]; then
        check "$kind: a replaced file's owner stays" keeps_owner "$kind"
    else
        skip "$kind: a replaced file's owner stays" "not root"
    fi
    check "$kind: a symbolic link is followed" follows "$kind"
    check "$kind: one to nothing as well" dangling "$kind"
    check "$kind: links in circles, folders" refused "$kind"
    if command -v strace > strace.path; then
        check "$kind: durable" durable "$kind"
    else
        skip "$kind: durable" "no strace"
    fi
done

# A file with contents goes only by --force; an empty one, as mktemp makes it, has none.
kept() { # KIND FLAG
    fresh
    echo precious > box/t.png
    ln -s t.png box/l.png
    make "$1" box/t.png "$2" 2> err && return 1
    make "$1" box/l.png "$2" 2>> err && return 1
    is precious "$(cat box/t.png)" contents && left l.png t.png || return 1
    [ "$2" = -n ] && return
    grep -q '^datarep: box/t.png: file exists; --force replaces it' err || {
        cat err
        return 1
    }
}
empty() { # KIND
    fresh
    : > box/t.png
    make "$1" box/t.png -n 2> err && return 1
    [ ! -s box/t.png ] && make "$1" box/t.png "" && [ -s box/t.png ]
}
# Two that find no file: one of them makes it.
raced() { # KIND
    local i
    for i in 1 2 3; do
        fresh
        make "$1" box/t.png "" 2> err1 &
        make "$1" box/t.png "" 2> err2
        wait $!
        [ -s box/t.png ] && left t.png || return 1
    done
}
for kind in $kinds; do
    check "$kind: contents stay" kept "$kind" ""
    check "$kind: contents stay with -n" kept "$kind" -n
    check "$kind: an empty file is replaced, but with -n" empty "$kind"
    check "$kind: two at a time" raced "$kind"
done
report() {
    fresh
    echo precious > box/t
    "$DATAREP" import --report=box/t a.npy other/a.drep 2> err && return 1
    is precious "$(cat box/t)" contents && grep -q 'box/t: file exists; --force' err || return 1
    cp a.npy box/a.npy
    "$DATAREP" import -f --report=box/a.npy box/a.npy other/a.drep 2> err && return 1
    cmp a.npy box/a.npy
}
check "a report replaces nothing, and its source never" report
itself() {
    local before
    fresh
    cp a.drep box/a.drep
    before=$(sha256sum box/a.drep)
    "$DATAREP" check --repair=box/a.drep box/a.drep 2> err && return 1
    "$DATAREP" check -f --repair=box/../box/a.drep box/a.drep 2> err && return 1
    "$DATAREP" convert --root=/d box/a.drep box/a.drep 2> err && return 1
    "$DATAREP" convert --partial box/a.drep box/a.drep 2> err && return 1
    is "$before" "$(sha256sum box/a.drep)" contents && "$DATAREP" convert box/a.drep box/a.drep &&
        "$DATAREP" diff a.drep box/a.drep
}
check "a damaged file is the last of its kind; a whole conversion is none" itself
advises() {
    fresh
    cp a.drep box/a.drep
    "$DATAREP" import a.npy box/a.drep 2> err && return 1
    grep -q -- '--force replaces it, -u updates it, -a appends to it' err &&
        "$DATAREP" import -u -i n a.npy box/a.drep && "$DATAREP" diff -q box/a.drep a.drep
    is 1 $? "status of diff"
}
check "import names the options that keep what is there" advises
updates() {
    fresh
    cp a.drep box/a.drep
    "$DATAREP" import -u a.h5 box/a.drep 2> err
    is 2 $? status && cmp a.drep box/a.drep
}
[ ! -e a.h5 ] || check "HDF5 does not update" updates

# A signal while a large file is made leaves nothing.
"$DATAREP" create -s /dev/stdin big.drep << 'END'
root:
  d: {dataset: "struct{a: DOUBLE, b: INT}", shape: [3000000]}
END
interrupted() { # FORMAT SIGNAL
    local pid i
    fresh
    env TMPDIR="$tmp/other" "$DATAREP" export --format="$1" big.drep box/t.out 2> err &
    pid=$!
    for i in $(seq 2000); do
        [ -z "$(ls -A box)" ] || break
        kill -0 $pid 2> gone || break
    done
    kill -"$2" $pid 2> gone
    wait $pid
    [ $? -gt 128 ] || [ "$(ls -A box)" = t.out ] || return 1
    [ "$(ls -A box)" = t.out ] || [ -z "$(ls -A box)" ] || {
        echo "round $i left $(ls -A box)"
        return 1
    }
    [ -z "$(ls -A other)" ]
}
for format in npy csv raw $([ ! -e a.h5 ] || echo hdf5) $([ ! -e "$(dirname "$DATAREP")/datarep-zip.so" ] || echo npz); do
    check "export to $format, stopped" interrupted "$format" TERM
    check "export to $format, interrupted" interrupted "$format" INT
done
done_testing
