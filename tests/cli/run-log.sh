#!/bin/bash
# run-log.sh - the commits of a file, and what each of them holds.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"
file=$HERE/../vectors/commits.drep

newest_first() {
    status 0 log "$file" && awk 'NR > 1 { print $1, $5 }' "$tmp/out" > "$tmp/log" &&
        printf '4 14464\n3 13888\n2 13440\n1 8320\n' | cmp - "$tmp/log"
}

as_json() {
    status 0 log --json "$file" "$HERE/../vectors/scalar.drep" && python3 - "$tmp/out" <<'PY'
import json, sys
one, other = map(json.loads, open(sys.argv[1]))
assert [c["sequence"] for c in one["commits"]] == [4, 3, 2, 1]
assert int(one["commits"][3]["time"]) == 1700000000123456789
assert [c["sequence"] for c in other["commits"]] == [1]
PY
}

# Each commit has the objects that it had.
objects() { # COMMIT NAME...
    status 0 ls --commit "$1" "$file" && shift && awk '{ print $1 }' "$tmp/out" | sort > "$tmp/names" &&
        printf '/%s\n' "$@" | cmp - "$tmp/names"
}

value() { # COMMIT VALUES
    status 0 dump --commit="$1" --json "$file" /d && python3 - "$tmp/out" "$2" <<'PY'
import json, sys
assert json.load(open(sys.argv[1]))["object"]["data"] == json.loads(sys.argv[2])
PY
}

check "the newest first" newest_first
check "as JSON, of two files" as_json
check "what commit 1 has" objects 1 d
check "what commit 2 has" objects 2 d e
check "what commit 4 has" objects 4 d e
check "a value of commit 1" value 1 '[1, 2]'
check "a value of commit 3" value 3 '[3, 4]'
check "a commit that is not there" refuses 2 "commit 9 is not in the log of commit 4" dump --commit 9 "$file"
check "not a number" refuses 2 "'one' is not the number of a commit" ls --commit one "$file"
check "commit 0" refuses 2 "'0' is not the number" ls --commit 0 "$file"
check "beyond any number" refuses 2 "is not the number" ls --commit 99999999999999999999 "$file"
check "of standard input" refuses 2 "only a file with a name" dump --commit 1 - < "$file"
check "a log of no file" refuses 3 "No such file" log "$tmp/none.drep"
check "a log of nothing" refuses 2 "which file" log
done_testing
