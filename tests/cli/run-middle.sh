#!/bin/bash
# run-middle.sh - an operation that fails in the middle leaves nothing of itself.
#
# Each row is a command whose input is wrong late, or whose disk becomes full late.  It is run where
# its target is not there, and where the target has content: afterwards the folder of the target
# is as before, to the byte, without a temporary file beside it.
# shellcheck source=tests/cli/tap.sh disable=SC2154 # tap.sh sets tmp and HERE
# needs: deflate
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/tap.sh"

cd "$tmp" || exit 1
modules=$(dirname "$DATAREP")

# ---- inputs that are right but for their ends ----

damage() { # FROM TO TEXT: one bit behind the start of the last TEXT in the file
    python3 - "$@" << 'END'
import os
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[data.rindex(os.fsencode(sys.argv[3])) + 7] ^= 1
open(sys.argv[2], "wb").write(data)
END
}

inputs() {
    python3 - << 'END'
import struct
import zipfile

ROWS = 1000
with open("good.csv", "w") as f:
    f.write("a,b\n" + "".join("%d,%d\n" % (i, 2 * i) for i in range(ROWS)))
with open("bad.csv", "w") as f:
    f.write("a,b\n" + "".join("%d,%d\n" % (i, 2 * i) for i in range(ROWS - 1)) + "999,nothing\n")
with open("more.csv", "w") as f:
    f.write("a,b\n" + "".join("%d,%d\n" % (i, 2 * i) for i in range(ROWS)) + "1,2,3\n")

def npy(n):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % n
    head += " " * (117 - len(head)) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode()

values = struct.pack("<100000d", *range(100000))
with open("good.npy", "wb") as f:
    f.write(npy(100000) + values)
with open("bad.npy", "wb") as f:
    f.write(npy(100000) + values[:-3])
with zipfile.ZipFile("whole.npz", "w") as z:
    z.writestr("a.npy", npy(100000) + values)
    z.writestr("b.npy", npy(3) + b"MARKMARKMARKMARKMARKMARK")
with open("good.raw", "wb") as f:
    f.write(values)
with open("bad.raw", "wb") as f:
    f.write(values[:-3])
with open("bad.records", "wb") as f:
    f.write((struct.pack("<I", 8) + values[8:16] + struct.pack("<I", 8)) * ROWS +
            struct.pack("<I", 8) + values[8:16] + struct.pack("<I", 9))
with open("bad.yaml", "w") as f:
    f.write("root:\n" + "".join("  d%d: {dataset: DOUBLE, shape: [2], data: [1, 2]}\n" % i
                                for i in range(ROWS)) + "  z: {dataset: DOUBLE, shape: [2], data: [1, x]}\n")
with open("long.yaml", "w") as f:
    f.write("root:\n" + "".join("  d%d: {dataset: DOUBLE, shape: [2], data: [1, 2]}\n" % i
                                for i in range(ROWS)))
with open("type.yaml", "w") as f:
    f.write("root:\n  d: {dataset: DOUBLE, shape: [2], data: [1, 2]}\n  z: {dataset: DUBLE, shape: [2]}\n")
with open("good.yaml", "w") as f:
    f.write("root:\n  d: {dataset: DOUBLE, shape: [100000], chunk: [1000]}\n"
            "  t: {dataset: vstring, shape: [1000], chunk: [1], fill: ''}\n")
with open("small.yaml", "w") as f:
    f.write("root:\n  d: {dataset: INT16_T, shape: [100000], maxshape: [unlimited], chunk: [1000]}\n")
with open("table.yaml", "w") as f:
    f.write("root:\n  a: {dataset: INT32_T, shape: [0], maxshape: [unlimited]}\n"
            "  b: {dataset: INT32_T, shape: [0], maxshape: [unlimited]}\n")
with open("mark.raw", "wb") as f:
    f.write(values[:-8] + b"LASTMARK")
END
    damage whole.npz bad.npz MARKMARKMARKMARKMARKMARK
    "$DATAREP" create -s good.yaml good.drep &&
        "$DATAREP" import -u --type=DOUBLE -i /d mark.raw good.drep &&
        damage good.drep bad.drep LASTMARK &&
        "$DATAREP" convert --filters=deflate:6 good.drep packed.drep &&
        "$DATAREP" create -s table.yaml table.drep &&
        "$DATAREP" create -s small.yaml small.drep || return 1
    # zlib's two bytes begin each chunk.
    [ ! -e "$modules/datarep-hdf5.so" ] || {
        "$DATAREP" export packed.drep good.h5 && damage good.h5 bad.h5 $'x\x9c'
    }
}

# ---- one row ----

# Everything in the folder of the target, by name and content.
state() {
    (cd box && find . -type f -exec sha256sum {} + | sort)
}

# before: nothing, other (a file of another kind), or the file that stands there.
prepare() { # BEFORE TARGET
    rm -rf box && mkdir box || return 1
    case $1 in
    nothing) ;;
    other) echo "what stood there" > "box/$2" ;;
    *) cp "$1" "box/$2" ;;
    esac
}

# Fails, with a message, and changes nothing; no file may be longer than $longest KiB.
longest=unlimited
fails() { # BEFORE TARGET ARGUMENT...
    local got
    prepare "$1" "$2" || return 1
    state > before
    (
        ulimit -f "$longest"
        exec timeout 60 "$DATAREP" "${@:3}" 2>&1
    ) | cat > err
    got=${PIPESTATUS[0]}
    if [ "$got" -lt 2 ] || [ "$got" -gt 4 ] || [ ! -s err ]; then
        echo "status $got"
        cat err
        return 1
    fi
    state > after
    diff before after && return
    cat err
    return 1
}

# With files no longer than some part of what the command would write.
full() { # BEFORE TARGET ARGUMENT...
    local size part
    prepare "$1" "$2" || return 1
    "$DATAREP" "${@:3}" > out 2> err
    [ $? -lt 2 ] || {
        echo "fails with room enough:"
        cat err
        return 1
    }
    size=$(stat -c %s "box/$2")
    for part in 0 40 97; do
        longest=$((size * part / 100 / 1024))
        fails "$@" || {
            echo "with $part percent of the room"
            return 1
        }
    done
    longest=unlimited
}

# A file that is there cannot grow.
grown() { # BEFORE TARGET ARGUMENT...
    longest=$(($(stat -c %s "$1") / 1024))
    fails "$@" && "$DATAREP" check --deep "box/$2" && "$DATAREP" diff "$1" "box/$2"
    local status=$?
    longest=unlimited
    return $status
}

# A signal comes with each write from some number on: the second one ends the command at once.
signalled() { # BEFORE TARGET SIGNAL FIRST ARGUMENT...
    prepare "$1" "$2" || return 1
    state > before
    strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:signal="$3":when="$4"+ \
        "$DATAREP" "${@:5}" > out 2> err && return 1
    cat err
    state > after && diff before after
}

# The HDF5 library crashes in a process of its own.
crashes() { # BEFORE TARGET ARGUMENT...
    prepare "$1" "$2" || return 1
    state > before
    strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:signal=SIGSEGV:when=3 \
        "$DATAREP" "${@:3}" > out 2> err
    grep -q "HDF5 library crashed" err && state > after && diff before after
}

# Lines of: name | what stands there before | target's name | arguments.
rows() { # FUNCTION
    local name before target arguments word
    while IFS='|' read -r name before target arguments; do
        read -r name <<< "$name"
        read -r -a word <<< "$before $target $arguments"
        if [[ $arguments$target == *.h5* && ! -e good.h5 ]]; then
            skip "$name" "no HDF5"
        elif [[ $arguments$target == *.npz* && ! -e $modules/datarep-zip.so ]]; then
            skip "$name" "no libzip"
        elif [[ $target == *.png* && ! -e $modules/datarep-plot.so ]]; then
            skip "$name" "no Cairo"
        elif [ "${word[0]}" = new ]; then
            check "$name, nothing there" "$1" nothing "${word[@]:1}"
            read -r -a word <<< "$target $(sed -E 's/(create|convert|import|export|check|plot) /&--force /' <<< "$arguments")"
            check "$name, a file there" "$1" other "${word[@]}"
        else
            check "$name" "$1" "${word[@]}"
        fi
    done
}

check "the inputs" inputs

rows fails << 'END'
create: a value at the end         | new        | t.drep | create -s bad.yaml box/t.drep
create: a type at the end          | new        | t.drep | create -s type.yaml box/t.drep
convert: a chunk at the end        | new        | t.drep | convert bad.drep box/t.drep
convert to external32              | new        | t.drep | convert --datarep=external32 bad.drep box/t.drep
convert: a value out of range      | new        | t.drep | convert --range=strict --datarep=native:vax good.drep box/t.drep
convert onto itself                | bad.drep   | t.drep | convert box/t.drep box/t.drep
import csv: a value at the end     | new        | t.drep | import -s table.yaml -i / --columns bad.csv box/t.drep
import csv: a line too long        | new        | t.drep | import more.csv box/t.drep
import csv: append                 | table.drep | t.drep | import -a -i / --columns bad.csv box/t.drep
import npy: cut off                | new        | t.drep | import bad.npy box/t.drep
import npy: update                 | good.drep  | t.drep | import -u -i /d bad.npy box/t.drep
import npz: the last member        | new        | t.drep | import bad.npz box/t.drep
import npz: update                 | good.drep  | t.drep | import -u -i /more bad.npz box/t.drep
import raw: cut off                | new        | t.drep | import --type=DOUBLE bad.raw box/t.drep
import raw: the last record        | new        | t.drep | import --type=DOUBLE --records=4-little bad.records box/t.drep
import raw: a value out of range   | new        | t.drep | import --range=strict -s small.yaml --type=DOUBLE -i /d mark.raw box/t.drep
import raw: append                 | small.drep | t.drep | import --range=strict -a --type=DOUBLE -i /d mark.raw box/t.drep
import hdf5: a value out of range  | new        | t.drep | import --range=strict --datarep=native:vax good.h5 box/t.drep
export csv                         | new        | t.csv  | export --root=/d bad.drep box/t.csv
export npy                         | new        | t.npy  | export --root=/d bad.drep box/t.npy
export npz                         | new        | t.npz  | export bad.drep box/t.npz
export raw                         | new        | t.raw  | export --root=/d bad.drep box/t.raw
export hdf5                        | new        | t.h5   | export bad.drep box/t.h5
plot                               | new        | t.png  | plot -o box/t.png bad.drep /d
repair what is no Datarep file     | new        | t.drep | check --repair=box/t.drep good.raw
END

rows full << 'END'
full disk: create                  | new        | t.drep | create -s long.yaml box/t.drep
full disk: convert                 | new        | t.drep | convert good.drep box/t.drep
full disk: convert onto itself     | good.drep  | t.drep | convert box/t.drep box/t.drep
full disk: import csv              | new        | t.drep | import good.csv box/t.drep
full disk: import npy              | new        | t.drep | import good.npy box/t.drep
full disk: import npz              | new        | t.drep | import whole.npz box/t.drep
full disk: import raw              | new        | t.drep | import --type=DOUBLE good.raw box/t.drep
full disk: import hdf5             | new        | t.drep | import good.h5 box/t.drep
full disk: export csv              | new        | t.csv  | export --root=/d good.drep box/t.csv
full disk: export npy              | new        | t.npy  | export --root=/d good.drep box/t.npy
full disk: export npz              | new        | t.npz  | export good.drep box/t.npz
full disk: export raw              | new        | t.raw  | export --root=/d good.drep box/t.raw
full disk: export hdf5             | new        | t.h5   | export good.drep box/t.h5
full disk: repair                  | new        | t.drep | check --repair=box/t.drep bad.drep
END

cp "$HERE/../vectors/chunked.drep" unsealed.drep
rows grown << 'END'
full disk: append csv              | table.drep    | t.drep | import -a -i / --columns good.csv box/t.drep
full disk: append raw              | good.drep     | t.drep | import -a --type=DOUBLE -i /d good.raw box/t.drep
full disk: update npy              | good.drep     | t.drep | import -u -i /d good.npy box/t.drep
full disk: add npy                 | good.drep     | t.drep | import -u -i /new good.npy box/t.drep
full disk: seal                    | unsealed.drep | t.drep | check --seal box/t.drep
END

if command -v strace > strace.path; then
    rows crashes << 'END'
a crash: import hdf5               | new        | t.drep | import good.h5 box/t.drep
a crash: export hdf5               | new        | t.h5   | export good.drep box/t.h5
END
    # SIGXCPU is the limit of time; the first one stands for a stop that is asked for.
    rows signalled << 'END'
ended: create                      | new        | t.drep | SIGTERM 1 create -s long.yaml box/t.drep
ended: convert                     | new        | t.drep | SIGTERM 1 convert good.drep box/t.drep
ended: import npy                  | new        | t.drep | SIGHUP 1 import good.npy box/t.drep
ended: import hdf5                 | new        | t.drep | SIGINT 1 import good.h5 box/t.drep
ended: export hdf5                 | new        | t.h5   | SIGINT 1 export good.drep box/t.h5
ended: repair                      | new        | t.drep | SIGINT 1 check --repair=box/t.drep good.drep
out of time: convert               | new        | t.drep | SIGXCPU 1 convert --limit=time=0 good.drep box/t.drep
out of time: import npy            | new        | t.drep | SIGXCPU 1 import --limit=time=0 good.npy box/t.drep
out of time: repair                | new        | t.drep | SIGXCPU 1 check --limit=time=0 --repair=box/t.drep good.drep
END
else
    skip "a crash" "no strace"
fi
done_testing
