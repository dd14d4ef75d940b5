#!/bin/bash
# run-readme.sh - builds and runs the examples of the documentation.
#
# A fenced code block is an example when the line above it is one of
#     <!-- test: c -->        a program; compiled against the built library and run
#     <!-- test: sh -->       commands; run by sh -e with datarep in the PATH
#     <!-- test: sh NEEDS -->   the same, if all of NEEDS, with commas between, are there: programs,
#                               R:PACKAGE, and python3:MODULE of the system's Python; skipped with its
#                               output if not
#     <!-- test: python -->   a program in Python, with the same NEEDS; NAME.nc among them is a file of a
#                               grid that is made for it, of the shape that the demonstration's has
#     <!-- test: output -->   what the example before it prints on its standard output
#     <!-- test: file NAME -->  a file that the examples after it find under that name
# The examples of one document run in order in one directory, in the shell that README.md sets up after
# `make`, by `make env`: nothing is installed.
# SPDX-License-Identifier: MIT
set -u
cd "$SRCDIR" || exit 1
lib=$BUILDDIR/release
eval "$(make -s env)"
# The examples' Python is the system's, which has the packages that they use.
mkdir -p "$TMPDIR/bin"
ln -sf /usr/bin/python3 "$TMPDIR/bin/python3"
PATH=$TMPDIR/bin:$PATH
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
                print i, kind, NR, name
            next
        }
        inside { print > out }
        !/^$/ && !inside { kind = "" }' "$2"
}

# Twelve months of a grid, as netCDF-4.
make_grid() { # FILE
    ncgen -k nc4 -o "$1" - << 'END' 2> /dev/null
netcdf coads {
dimensions: TIME = 12; COADSY = 90; COADSX = 180;
variables: float SST(TIME, COADSY, COADSX); SST:units = "Deg C";
}
END
}

# What is missing of a list of needs; the directory is the working directory.
missing() { # NEED,NEED...
    local need IFS=,
    for need in $1; do
        case $need in
        python3:*) /usr/bin/python3 -c "import ${need#*:}" 2> /dev/null ;;
        R:*) Rscript -e "library(${need#*:})" > /dev/null 2>&1 ;;
        *.so) [ -e "$lib/$need" ] ;;
        *.nc) make_grid "$need" ;;
        *) command -v "$need" > /dev/null ;;
        esac || { echo "$need"; return; }
    done
}

compile_and_run() { # BLOCK: the directory is the working directory
    # shellcheck disable=SC2046
    gcc -std=c11 -Wall -Wextra -Werror -o prog -x c "$1" $(pkg-config --cflags --libs datarep) && ./prog
}

run_document() {
    local doc=$1 dir log number kind line needs block absent=
    dir=$TMPDIR/$(basename "$doc").d
    log=$TMPDIR/log
    mkdir -p "$dir/blocks"
    (cd "$dir" && extract blocks "$SRCDIR/$doc") > "$dir/list"
    find "$dir/blocks" -type f ! -name '[0-9][0-9].*' -exec cp {} "$dir" \;
    while read -r number kind line needs; do
        block=$(printf '%s/%02d.%s' blocks "$number" "$kind")
        # The output of an example that was not run is none.
        [ "$kind" = output ] || absent=$(cd "$dir" && missing "$needs")
        if [ -n "$absent" ]; then
            n=$((n + 1))
            echo "ok $n - $doc line $line: $kind # SKIP $absent is not installed"
            continue
        fi
        case $kind in
        c) (cd "$dir" && compile_and_run "$block" > stdout 2> "$log") ;;
        sh) (cd "$dir" && sh -e "$block" > stdout 2> "$log") ;;
        python) (cd "$dir" && python3 "$block" > stdout 2> "$log") ;;
        output) (cd "$dir" && diff -u "$block" stdout > "$log") ;;
        *) (echo "unknown kind $kind" > "$log" && false) ;;
        esac
        result $? "$doc line $line: $kind" "$log"
    done < "$dir/list"
}

for doc in README.md PORTABILITY.md TUTORIAL.md SPEC.md CONTRIBUTING.md; do
    [ -f "$doc" ] && run_document "$doc"
done
echo "1..$n"
