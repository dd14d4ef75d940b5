#!/bin/bash
# run-readme.sh - builds and runs the examples of the documentation.
#
# A fenced code block is an example when the line above it is one of
#     <!-- test: c -->        a program; compiled against the built library and run
#     <!-- test: sh -->       commands; run by sh -e with datarep in the PATH
#     <!-- test: output -->   what the example before it prints on its standard output
#     <!-- test: file NAME -->  a file that the examples after it find under that name
# The examples of one document run in order in one directory.
# SPDX-License-Identifier: MIT
set -u
cd "$SRCDIR" || exit 1
lib=$BUILDDIR/release
PATH=$lib:$PATH
n=0

result() { # STATUS NAME
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$3"
    fi
}

# Writes each marked block to $1/NUMBER.KIND (or file-NAME) and prints "number kind line".
extract() { # DIRECTORY DOCUMENT
    awk -v dir="$1" '
        /^<!-- test: [a-z]+( [^ ]+)? -->$/ { kind = $3; name = $4 == "-->" ? "" : $4; next }
        /^```/ && inside { close(out); inside = 0; kind = ""; next }
        /^```/ && kind != "" {
            inside = 1
            out = dir "/" (kind == "file" ? name : sprintf("%02d.%s", ++i, kind))
            printf "" > out
            if (kind != "file")
                print i, kind, NR
            next
        }
        inside { print > out }
        !/^$/ && !inside { kind = "" }' "$2"
}

compile_and_run() { # BLOCK: the directory is the working directory
    gcc -std=c11 -Wall -Wextra -Werror -I"$SRCDIR/lib" -o prog -x c "$1" -L"$lib" -ldatarep &&
        LD_LIBRARY_PATH=$lib ./prog
}

run_document() {
    local doc=$1 dir log number kind line block
    dir=$TMPDIR/$(basename "$doc").d
    log=$TMPDIR/log
    mkdir -p "$dir/blocks"
    (cd "$dir" && extract blocks "$SRCDIR/$doc") > "$dir/list"
    find "$dir/blocks" -type f ! -name '[0-9][0-9].*' -exec cp {} "$dir" \;
    while read -r number kind line; do
        block=$(printf '%s/%02d.%s' blocks "$number" "$kind")
        case $kind in
        c) (cd "$dir" && compile_and_run "$block" > stdout 2> "$log") ;;
        sh) (cd "$dir" && sh -e "$block" > stdout 2> "$log") ;;
        output) (cd "$dir" && diff -u "$block" stdout > "$log") ;;
        *) (echo "unknown kind $kind" > "$log" && false) ;;
        esac
        result $? "$doc line $line: $kind" "$log"
    done < "$dir/list"
}

for doc in README.md TUTORIAL.md SPEC.md CONTRIBUTING.md; do
    [ -f "$doc" ] && run_document "$doc"
done
echo "1..$n"
