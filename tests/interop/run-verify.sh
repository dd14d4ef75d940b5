#!/bin/sh
# run-verify.sh - export reads back what it wrote and compares.
#
# plugin_careless.so makes libhdf5 lose values without a word; export must see each, name the
# object, the element and both values, and leave no file.  TAP on stdout.
# SPDX-License-Identifier: MIT
set -u

datarep=${DATAREP:-build/release/datarep}
careless=$(cd "${BUILDDIR:-build}" && pwd)/release/tests/interop/plugin_careless.so
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

ok() { # NAME COMMAND...
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

# Nothing is there that was not there before.
only() { # NAME...
    there=$(cd "$dir/out" && find . -type f | sort | tr '\n' ' ')
    [ "$there" = "$*" ] || {
        echo "there is: $there"
        return 1
    }
}

sees() { # WHAT MESSAGE
    rm -rf "$dir/out" && mkdir "$dir/out" || return 1
    CARELESS=$1 LD_PRELOAD=$careless "$datarep" export "$dir/a.drep" "$dir/out/a.h5" 2> "$dir/err"
    status=$?
    cat "$dir/err"
    [ "$status" = 4 ] && grep -qF "$dir/out/a.h5: $2" "$dir/err" && only "" || return 1
    # Who asks for it goes without.
    CARELESS=$1 LD_PRELOAD=$careless "$datarep" export --no-verify "$dir/a.drep" "$dir/out/a.h5" &&
        only "./a.h5 " || return 1
    # What stood there stays.
    echo old > "$dir/out/a.h5"
    CARELESS=$1 LD_PRELOAD=$careless "$datarep" export "$dir/a.drep" "$dir/out/a.h5"
    [ "$(cat "$dir/out/a.h5")" = old ] && only "./a.h5 "
}

cat > "$dir/a.yaml" << 'END'
root:
  attrs: {a: 3}
  f: {dataset: DOUBLE, shape: [2, 3], data: [[1, 2, 3], [4, 5, 6]], fill: 7.5}
  g:
    names: {dataset: "struct{s: vstring}[2]", shape: [3], data: [[{s: a}, {s: b}], [{s: c}, {s: d}], [{s: e}, {s: f}]]}
END
"$datarep" create -s "$dir/a.yaml" "$dir/a.drep" || exit 1

ok "a number" sees data '/f: [1,2]: 6.0 was written, 6.000000000000001 is read back'
ok "an attribute" sees attribute '/: attribute a: 3 was written, 2 is read back'
ok "a fill value" sees fill '/f: fill value: 7.5 was written, 7.500000000000001 is read back'
ok "strings in arrays" sees arrays '/g/names: [1][0].s: "c" was written, "" is read back'

# The other formats, where the system writes something else than it is given.
flat() { # FORMAT MESSAGE OPTION...
    format=$1 message=$2
    shift 2
    rm -rf "$dir/out" && mkdir "$dir/out" || return 1
    CARELESS=write LD_PRELOAD=$careless "$datarep" export --root=/f --format="$format" "$@" "$dir/a.drep" \
        "$dir/out/a.out" 2> "$dir/err"
    status=$?
    cat "$dir/err"
    [ "$status" = 4 ] && grep -qF "$dir/out/a.out: $message" "$dir/err" && only "" || return 1
    CARELESS=write LD_PRELOAD=$careless "$datarep" export --no-verify --root=/f --format="$format" "$@" \
        "$dir/a.drep" "$dir/out/a.out" && only "./a.out " || return 1
    "$datarep" export --force --root=/f --format="$format" "$@" "$dir/a.drep" "$dir/out/a.out"
}

ok "a number in a .npy file" flat npy '/f: [1,2]: 6.0 was written'
ok "a number in a raw file" flat raw '/f: [1,2]: 6.0 was written'
ok "a number in a raw file of columns" flat raw '/f: [1,2]: 6.0 was written' --order=F
ok "a byte of a table" flat csv 'other bytes than were written are read back'
echo "1..$n"
exit $failed
