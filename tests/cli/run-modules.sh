#!/bin/bash
# run-modules.sh - the modules of the command, and who could have written them.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

tree=$tmp/tree
library=$tree/lib/datarep
built=$(dirname "$DATAREP")
mkdir -p "$tree/bin" "$library" "$tree/share/datarep/view/assets"
echo page > "$tree/share/datarep/view/index.html"
printf 'root: {d: {dataset: INT, shape: [2, 2], data: [[0, 1], [2, 3]]}}' > "$tmp/d.yaml"
"$DATAREP" create -s "$tmp/d.yaml" "$tmp/d.drep" || exit 1
cp "$DATAREP" "$tree/bin" || exit 1
cp "$built"/datarep-*.so "$library" 2> /dev/null || {
    echo "1..0 # SKIP built without modules"
    exit 0
}
DATAREP=$tree/bin/datarep

loads() { # MODULE: the command does what needs it
    case $1 in
    hdf5) status 0 export -f "$tmp/d.drep" "$tmp/d.h5" && status 0 import -f "$tmp/d.h5" "$tmp/back.drep" ;;
    netcdf) status 0 export -f "$tmp/d.drep" "$tmp/d.nc" ;;
    zip) status 0 export -f "$tmp/d.drep" "$tmp/d.npz" ;;
    plot) status 0 plot -f "$tmp/d.drep" /d -o "$tmp/d.png" ;;
    # Nobody listens there: who has tried has the module.
    http) "$DATAREP" ls http://127.0.0.1:9/d.drep 2>&1 | grep -q 'd\.drep: the server: .*onnect' ;;
    esac
}
# The message names the file and the reason; nothing is made.
refused() { # MODULE PATTERN
    local out
    case $1 in
    hdf5) out=$tmp/no.h5 ;;
    netcdf) out=$tmp/no.nc ;;
    zip) out=$tmp/no.npz ;;
    plot) out=$tmp/no.png ;;
    http) out=$tmp/no.drep ;;
    view) out=$tmp/no ;;
    esac
    if [ "$1" = http ]; then
        set -- "$1" "$2" convert http://127.0.0.1:9/d.drep "$out"
    elif [ "$1" = view ]; then
        set -- "$1" "$2" view --no-browser "$tmp/d.drep"
    elif [ "$1" = plot ]; then
        set -- "$1" "$2" plot "$tmp/d.drep" /d -o "$out"
    else
        set -- "$1" "$2" export "$tmp/d.drep" "$out"
    fi
    ! "$DATAREP" "${@:3}" > "$tmp/out" 2> "$tmp/err" && cat "$tmp/err" && [ ! -e "$out" ] &&
        grep -q "datarep-$1\.so: the module is not loaded: $2" "$tmp/err" &&
        "$DATAREP" --version | grep -q " $1 (not loaded: $2"
}
with_mode() { # MODE PATH COMMAND...
    chmod "$1" "$2"
    "${@:3}"
    local result=$?
    chmod 755 "$2"
    return $result
}

for file in "$library"/datarep-*.so; do
    name=${file##*/datarep-}
    name=${name%.so}
    check "$name: a sound module" loads "$name"
    check "$name: one that anybody may write" \
        with_mode 757 "$file" refused "$name" 'it is writable by everybody'
done
check "a directory that anybody may write" \
    with_mode 777 "$library" refused "$name" 'its directory is writable by everybody'
check "sticky or not" \
    with_mode 1777 "$library" refused "$name" 'its directory is writable by everybody'
check "a directory above that anybody may write" \
    with_mode 777 "$tree" refused "$name" 'a directory above it is writable by everybody'
check "unless it is sticky" with_mode 1777 "$tree" loads "$name"
check "a group that may write is its owner's concern" with_mode 775 "$library" loads "$name"

# Beside the command is looked first: what is refused there is not passed over.
cp "$file" "$tree/bin"
check "beside the command" with_mode 757 "$tree/bin/${file##*/}" refused "$name" 'it is writable'
rm "$tree/bin/${file##*/}"
ln -s "$file" "$tree/bin"
check "a symbolic link" refused "$name" 'it is a symbolic link, not a regular file'
rm "$tree/bin/${file##*/}"
mv "$library" "$tree/moved" && ln -s ../moved "$library"
check "a directory by a symbolic link" loads "$name"
check "the directories above are those that it leads to" \
    with_mode 777 "$tree/moved" refused "$name" 'its directory is writable by everybody'
rm "$library" && mv "$tree/moved" "$library"

if [ "$(id -u)" = 0 ]; then
    chown 12345 "$file"
    check "somebody else's module" refused "$name" 'it belongs to user 12345'
    chown -R 12345 "$tree"
    check "the module of the command's owner" loads "$name"
    chown 12346 "$tree"
    check "a directory above that is a third's" refused "$name" 'a directory above it belongs to user 12346'
    chown -R 0 "$tree"
    chown 12346 "$tree" && chmod 1777 "$tree"
    check "sticky too" refused "$name" 'a directory above it belongs to user 12346'
else
    skip "modules of other users" "only root can make them"
fi
done_testing
