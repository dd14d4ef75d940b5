# tap.sh - what the tests of the command share; sourced.
#
# A case is `check NAME COMMAND...`: ok when the command succeeds; what it printed is
# shown when it does not.  `done_testing` prints the plan.
# shellcheck shell=bash
# SPDX-License-Identifier: MIT

cd "$(dirname "$0")" || exit 1
DATAREP=${DATAREP:-$PWD/../../build/release/datarep}
HERE=$PWD
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cli.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
cases=0
bad=0

check() { # NAME COMMAND...
    local name=$1
    shift
    cases=$((cases + 1))
    if "$@" > "$tmp/said" 2>&1; then
        echo "ok $cases - $name"
    else
        bad=$((bad + 1))
        echo "not ok $cases - $name"
        sed 's/^/# /' "$tmp/said" | head -n 40
    fi
}

skip() { # NAME REASON
    cases=$((cases + 1))
    echo "ok $cases - $1 # SKIP $2"
}

# Runs the command with stdout and stderr in files and wants this exit status.
status() { # STATUS ARGUMENT...
    local want=$1 got
    shift
    "$DATAREP" "$@" > "$tmp/out" 2> "$tmp/err"
    got=$?
    [ "$got" = "$want" ] || {
        echo "datarep $*: status $got, not $want"
        cat "$tmp/err"
        return 1
    }
}

# The same, with nothing on stdout and a message like this on stderr.
refuses() { # STATUS PATTERN ARGUMENT...
    local pattern=$2
    status "$1" "${@:3}" || return 1
    [ ! -s "$tmp/out" ] || {
        echo "something on stdout:"
        head -n 5 "$tmp/out"
        return 1
    }
    grep -qE -- "$pattern" "$tmp/err" || {
        echo "no message like: $pattern"
        cat "$tmp/err"
        return 1
    }
}

# The output is that of the file in expect/, but for what changes from run to run.
# UPDATE=1 writes the file.
expected() { # FILE ARGUMENT...
    local want=$HERE/expect/$1
    shift
    "$DATAREP" "$@" > "$tmp/out" 2> "$tmp/err" || {
        echo "datarep $*: status $?"
        cat "$tmp/err"
        return 1
    }
    sed -e 's/^uuid: [0-9a-f]\{32\}$/uuid: UUID/' -e 's/^ "uuid": "[0-9a-f]\{32\}"/ "uuid": "UUID"/' \
        -e 's/^\( "time": \|commit: [0-9]*, \|writer: \| "writer": \| "machine": \).*/\1.../' \
        -e 's/^\({"file".*"uuid": "\)[0-9a-f]*\(".*"time": "\)[0-9]*\(", "writer": "\)[^"]*\(", "machine": "\)[^"]*/\1UUID\2...\3...\4.../' \
        "$tmp/out" > "$tmp/got"
    [ -z "${UPDATE:-}" ] || cp "$tmp/got" "$want"
    diff -u "$want" "$tmp/got"
}

done_testing() {
    echo "1..$cases"
    [ "$bad" = 0 ]
}
