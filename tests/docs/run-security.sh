#!/bin/bash
# run-security.sh - SECURITY.md: its tables say what the command and the library do.
# shellcheck disable=SC2016 # backquotes of Markdown
# SPDX-License-Identifier: MIT
set -u
cd "$SRCDIR" || exit 1
n=0

result() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$TMPDIR/log"
    fi
}

# Rows of the first table, and what the command says: NAME DEFAULT.
sed -n 's/^| `\([a-z]*\)` | \([^|]*\) |.*/\1 \2/p' SECURITY.md > "$TMPDIR/page"
"$DATAREP" --help | sed -n 's/^  --limit \([a-z]*\)=[A-Z]* *\(.*\)/\1 \2/p' > "$TMPDIR/command"
[ "$(wc -l < "$TMPDIR/page")" -ge 5 ] && diff "$TMPDIR/page" "$TMPDIR/command" > "$TMPDIR/log"
result $? "the limits of the command and their defaults"

sed -n 's/^| `\(drep_[a-z_]*\)` | \([^ |]*\) |.*/\1 \2/p' SECURITY.md | while read -r hint value; do
    grep -qE "^X\(\"$hint\", +(INT|SIZE|COUNT|SECONDS), +\"$value\"\)" format/hints.def || echo "$hint is not $value"
    grep -q "^ \*   $hint=$value" lib/datarep.h || echo "$hint=$value is not in datarep.h"
done > "$TMPDIR/log"
[ ! -s "$TMPDIR/log" ] && [ "$(grep -c '^| `drep_' SECURITY.md)" -ge 3 ]
result $? "the hints of the library and their defaults"

# Every limit has its entry in the manual, and each hint of a limit is the opener's.
while read -r name _; do
    grep -q "^\.It Cm $name\$" tools/man/datarep.1 || echo "datarep.1: no $name"
done < "$TMPDIR/command" > "$TMPDIR/log"
grep -oE '^X\("drep_limit_[a-z]+' format/hints.def | cut -d'"' -f2 | while read -r hint; do
    grep -q "\`$hint\`" SECURITY.md || echo "SECURITY.md: no $hint"
    grep -q "\"$hint\"" tools/host/limits.def || echo "limits.def: no option raises $hint"
done >> "$TMPDIR/log"
[ ! -s "$TMPDIR/log" ]
result $? "every limit is in the manual"

grep -oE '`tests/[a-z/-]+' SECURITY.md | tr -d '`' | while read -r path; do
    compgen -G "$path*" > /dev/null || echo "no $path"
done > "$TMPDIR/log"
grep -l 'SECURITY.md' README.md CONTRIBUTING.md lib/datarep.h | wc -l | grep -qx 3 ||
    echo "README.md, CONTRIBUTING.md and datarep.h name it" >> "$TMPDIR/log"
[ ! -s "$TMPDIR/log" ]
result $? "what it names is there, and it is named"
echo "1..$n"
