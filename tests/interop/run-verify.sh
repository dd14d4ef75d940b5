#!/bin/bash
# run-verify.sh - export reads back what it wrote and compares.
#
# plugin_careless.so makes libhdf5 lose values without a word; export must see each, name the
# object, the element and both values, and leave no file.  TAP on stdout.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp
# SPDX-License-Identifier: MIT
careless=$(cd "${BUILDDIR:-build}" && pwd)/release/tests/interop/plugin_careless.so
. "$(dirname "$0")/../cli/tap.sh"

# Nothing is there that was not there before.
only() { # NAME...
    there=$(cd "$tmp/out" && find . -type f | sort | tr '\n' ' ')
    [ "$there" = "$*" ] || {
        echo "there is: $there"
        return 1
    }
}

sees() { # WHAT MESSAGE
    rm -rf "$tmp/out" && mkdir "$tmp/out" || return 1
    CARELESS=$1 LD_PRELOAD=$careless "$DATAREP" export "$tmp/a.drep" "$tmp/out/a.h5" 2> "$tmp/err"
    status=$?
    cat "$tmp/err"
    [ "$status" = 4 ] && grep -qF "$tmp/out/a.h5: $2" "$tmp/err" && only "" || return 1
    # Who asks for it goes without.
    CARELESS=$1 LD_PRELOAD=$careless "$DATAREP" export --no-verify "$tmp/a.drep" "$tmp/out/a.h5" &&
        only "./a.h5 " || return 1
    # What stood there stays.
    echo old > "$tmp/out/a.h5"
    CARELESS=$1 LD_PRELOAD=$careless "$DATAREP" export "$tmp/a.drep" "$tmp/out/a.h5"
    [ "$(cat "$tmp/out/a.h5")" = old ] && only "./a.h5 "
}

cat > "$tmp/a.yaml" << 'END'
root:
  attrs: {a: 3}
  f: {dataset: DOUBLE, shape: [2, 3], data: [[1, 2, 3], [4, 5, 6]], fill: 7.5}
  g:
    names: {dataset: "struct{s: vstring}[2]", shape: [3], data: [[{s: a}, {s: b}], [{s: c}, {s: d}], [{s: e}, {s: f}]]}
END
"$DATAREP" create -s "$tmp/a.yaml" "$tmp/a.drep" || exit 1

check "a number" sees data '/f: [1,2]: 6.0 was written, 6.000000000000001 is read back'
check "an attribute" sees attribute '/: attribute a: 3 was written, 2 is read back'
check "a fill value" sees fill '/f: fill value: 7.5 was written, 7.500000000000001 is read back'
check "strings in arrays" sees arrays '/g/names: [1][0].s: "c" was written, "" is read back'

# The other formats, where the system writes something else than it is given.
flat() { # FORMAT MESSAGE OPTION...
    format=$1 message=$2
    shift 2
    rm -rf "$tmp/out" && mkdir "$tmp/out" || return 1
    CARELESS=write LD_PRELOAD=$careless "$DATAREP" export --root=/f --format="$format" "$@" "$tmp/a.drep" \
        "$tmp/out/a.out" 2> "$tmp/err"
    status=$?
    cat "$tmp/err"
    [ "$status" = 4 ] && grep -qF "$tmp/out/a.out: $message" "$tmp/err" && only "" || return 1
    CARELESS=write LD_PRELOAD=$careless "$DATAREP" export --no-verify --root=/f --format="$format" "$@" \
        "$tmp/a.drep" "$tmp/out/a.out" && only "./a.out " || return 1
    "$DATAREP" export --force --root=/f --format="$format" "$@" "$tmp/a.drep" "$tmp/out/a.out"
}

check "a number in a .npy file" flat npy '/f: [1,2]: 6.0 was written'
check "a number in a raw file" flat raw '/f: [1,2]: 6.0 was written'
check "a number in a raw file of columns" flat raw '/f: [1,2]: 6.0 was written' --order=F
check "a byte of a table" flat csv 'other bytes than were written are read back'
done_testing
