#!/bin/bash
# run-man.sh - the man pages: well formed, one for every subcommand, their examples in order.
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

for page in tools/man/*.[157]; do
    mandoc -T lint -W warning "$page" > "$TMPDIR/log" 2>&1
    result $? "mandoc -T lint $page"
    # What a page refers to is there, and it names itself.
    name=$(basename "$page")
    { grep -qix "\.Dt ${name%.*} ${name##*.}" "$page" || echo "its title is not its name"
      sed -n 's/^\.\(It \)\{0,1\}Xr \(datarep[a-z-]*\) \([157]\).*/\2.\3/p' "$page" | while read -r other; do
        [ -f "tools/man/$other" ] || echo "no $other"
      done; } > "$TMPDIR/log"
    [ ! -s "$TMPDIR/log" ]
    result $? "$page: its title and references"
done
# As pages of HTML, by make docs, they refer to each other.
tools/man/html "$TMPDIR/html" > "$TMPDIR/log" 2>&1 && : > "$TMPDIR/log"
sed -n 's/.*href="\([a-z][^":#]*\.html\)".*/\1/p' "$TMPDIR"/html/*.html | sort -u | while read -r link; do
    [ -s "$TMPDIR/html/$link" ] || echo "no page $link"
done >> "$TMPDIR/log"
grep -q 'href="datarep-fortran.7.html"' "$TMPDIR"/html/*.html || echo "no page refers to datarep-fortran(7)" >> "$TMPDIR/log"
[ ! -s "$TMPDIR/log" ]
result $? "the pages as HTML, with their links"
"$DATAREP" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | while read -r command; do
    [ -f "tools/man/datarep-$command.1" ] || echo "no page for $command"
    # A page's options are its synopsis's, all of them.
    sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "tools/man/datarep-$command.1" > "$TMPDIR/synopsis"
    sed -n 's/^\.It \(.*\)/\1/p' "tools/man/datarep-$command.1" | grep -oE -- 'Fl -[a-z-]+' | cut -c5- |
        while read -r option; do
            letter=$(sed -n "s/^\.It Fl \([a-zA-Z]\) .*Fl -$option.*/\1/p" "tools/man/datarep-$command.1" | head -1)
            grep -qE -- "Fl -$option\\b|Fl [a-zA-Z]*${letter:-%}|Ar options" "$TMPDIR/synopsis" ||
                [ "$option" = help ] || echo "$command: --$option is not in the synopsis"
        done
done > "$TMPDIR/log"
[ ! -s "$TMPDIR/log" ]
result $? "every command has a page with a whole synopsis"
# Every key and every format that a schema may have is in the tables of its page.
{ sed -n '/keys\[\] = {/,/}/p' schema/*.c
  grep -hE '^ +\{\{"' schema/type.c
  sed -n 's/^[XR]([A-Z].*\("[a-z].*"\).*/\1/p' format/formats.def; } | grep -oE '"[a-z0-9-]+"' | tr -d '"' |
    sort -u > "$TMPDIR/keys"
while read -r key; do
    grep -E '^\.(It|Ql|Li) ' tools/man/datarep-schema.5 | grep -qwe "$key" ||
        [ "$key" = custom ] || echo "datarep-schema.5: no $key"
done < "$TMPDIR/keys" > "$TMPDIR/log"
[ "$(wc -l < "$TMPDIR/keys")" -gt 60 ] && [ ! -s "$TMPDIR/log" ]
result $? "datarep-schema.5 has every key and every format"
echo "1..$n"
