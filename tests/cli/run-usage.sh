#!/bin/bash
# run-usage.sh - help, wrong command lines, and exit statuses.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

helps() { # COMMAND: its help names it, on stdout alone, in at most 41 lines of 100 columns
    status 0 "$1" --help && grep -q "^Usage: datarep $1" "$tmp/out" && [ ! -s "$tmp/err" ] &&
        cp "$tmp/out" "$tmp/long" && status 0 "$1" -h && cmp "$tmp/out" "$tmp/long" &&
        status 0 help "$1" && cmp "$tmp/out" "$tmp/long" &&
        [ "$(wc -l < "$tmp/long")" -le 41 ] && ! grep -E '.{100}' "$tmp/long" &&
        [ "$(sed '1,/^Examples:/d' "$tmp/long" | grep -c "^  datarep $1 ")" -ge 1 ] &&
        [ "$(sed '1,/^Examples:/d' "$tmp/long" | wc -l)" = 2 ]
}

in_man_page() { # COMMAND: each of its options stands in its page, and its page in the overview
    local man=$HERE/../../tools/man option
    "$DATAREP" "$1" --help | grep -oE -- '^  (-., |    )--[a-z-]+' | grep -oE -- '--[a-z-]+' |
        while read -r option; do
            grep -q -- "Fl -${option#--}" "$man/datarep-$1.1" || echo "$1 $option"
        done > "$tmp/missing"
    cat "$tmp/missing"
    [ ! -s "$tmp/missing" ] && grep -q "^.It Xr datarep-$1 1" "$man/datarep.1"
}

no_stranger_in_man_page() { # COMMAND: each option of its page is one of its own
    local option
    sed -n 's/^\.It Fl/Fl/p' "$HERE/../../tools/man/datarep-$1.1" | grep -oE -- 'Fl -[a-z-]+' |
        while read -r _ option; do
            "$DATAREP" "$1" --help | grep -qE -- "-$option([= [\[]|\$)" || echo "$1 -$option"
        done > "$tmp/missing"
    cat "$tmp/missing"
    [ ! -s "$tmp/missing" ]
}

version() {
    status 0 --version && grep -q '^datarep [0-9.]*, format 1\.1, filters .*, kernels ' "$tmp/out" &&
        grep -q '^datareps .* external32 internal' "$tmp/out" && grep -q '^modules ' "$tmp/out" &&
        grep -q '^libraries xxhash-[0-9.]* ' "$tmp/out" &&
        grep -qE '^commit ([0-9a-f]{7,40}(-dirty)?|unknown)$' "$tmp/out" &&
        cp "$tmp/out" "$tmp/long" && status 0 -V && cmp "$tmp/out" "$tmp/long"
}

lists_all() {
    status 0 --help || return 1
    # All that there are, as the command lists them.
all=$("$DATAREP" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
for command in $all; do
        grep -q "^  $command " "$tmp/out" || return 1
    done
}

full_disk() { # ARGUMENT...
    local got
    "$DATAREP" "$@" > /dev/full 2> "$tmp/err"
    got=$?
    [ "$got" = 3 ] && grep -q "No space left" "$tmp/err"
}

# All that there are, as the command lists them.
all=$("$DATAREP" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p')
for command in $all; do
    check "$command --help" helps "$command"
    check "$command: its options are in the man page" in_man_page "$command"
    check "$command: its man page has no others" no_stranger_in_man_page "$command"
    [ "$command" != mpiexec ] || continue # other options are its launcher's
    check "$command: an unknown option" refuses 2 "unknown option '--nonsense'" "$command" --nonsense
    check "$command: an unknown letter" refuses 2 "unknown option '-Z'" "$command" -Z
done
for command in check dump export import ls stat; do
    check "$command: no file" refuses 2 "which file" "$command"
done
check "--version" version
check "--help lists all commands" lists_all
check "no command" refuses 2 "Usage" ""
check "an unknown command" refuses 2 "unknown command 'frobnicate'" frobnicate
check "an option that lacks its argument" refuses 2 "'-s' needs an argument" create -s
check "too many arguments" refuses 2 "too many" dump a b c
check "--yaml of a part" refuses 2 "--yaml prints a whole file" dump --yaml a b
check "a bad --range" refuses 2 "strict, round, clamp or wrap" import --range=some a b
check "an unknown representation" refuses 2 "nonsense" reps nonsense
check "a misspelt command" refuses 2 "did you mean 'dump'" dmup
check "a misspelt option" refuses 2 "did you mean '--header'" dump --haeder
check "nothing like it" refuses 2 "unknown option '--frobnicate'$" dump --frobnicate
check "an argument to an option that takes none" refuses 2 "'--json' takes no argument" dump --json=1 a
check "help of an unknown command" refuses 2 "unknown command 'x'" help x
check "a full disk: --help" full_disk --help
check "a full disk: --version" full_disk --version
check "a full disk: dump --help" full_disk dump --help
check "a full disk: reps" full_disk reps
check "reps lists the built-in ones" sh -c "'$DATAREP' reps | grep -q '^external32 (table): big-endian'"
check "reps NAME has a table" sh -c "'$DATAREP' reps native:s390x | grep -q 'LONG_DOUBLE *16 *8 *big *binary128'"
check "reps --json" sh -c "'$DATAREP' reps --json | python3 -m json.tool > '$tmp/json'"
done_testing
