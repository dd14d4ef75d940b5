#!/bin/bash
# run-wheel.sh - the wheel in a fresh environment: it is installed alone, and needs nothing of the tree.
# slow: makes an environment and installs into it
# SPDX-License-Identifier: MIT
set -u
cd "$SRCDIR" || exit 1

[ -e build/python/datarep/_core.abi3.so ] || {
    echo "1..0 # SKIP the package is not built: Python's headers are missing, or make python-package"
    exit 0
}
for module in setuptools wheel pip venv ensurepip numpy; do
    /usr/bin/python3 -c "import $module" 2> /dev/null || {
        echo "1..0 # SKIP no module $module: tools/install-deps python"
        exit 0
    }
done
n=0

# check NAME COMMAND...: one case.
check() {
    local name=$1
    shift
    n=$((n + 1))
    if "$@" > "$TMPDIR/log" 2>&1; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        sed 's/^/# /' "$TMPDIR/log"
    fi
}

python=$TMPDIR/venv/bin/python3

wheel() {
    make -s -o python-package wheel WHEEL="$TMPDIR/wheel" &&
        ls "$TMPDIR"/wheel/dist/datarep-*-cp311-abi3-linux_*.whl
}

install() {
    /usr/bin/python3 -m venv --system-site-packages "$TMPDIR/venv" &&
        "$python" -m pip install -q --no-index --no-deps "$TMPDIR"/wheel/dist/*.whl
}

# Its own library, not one of the tree or the system.
own_library() {
    (cd / && "$python" - << 'END'
import datarep, os
maps = open("/proc/self/maps").read()
assert os.path.join(os.path.dirname(datarep.__file__), "libdatarep.so.0") in maps, maps
assert "/venv/" in datarep.__file__
END
    )
}

# The libraries for MPI that were built are found beside it.
own_mpi() {
    for built in build/release/libdatarep-mpi-*.so.0; do
        [ -e "$built" ] || continue
        (cd / && "$python" - "$built" << 'END'
import os, re, sys
from datarep import mpi
family = re.search(r"mpi-(\w+)\.so", sys.argv[1]).group(1)
path = mpi.libraries(family)[0]
assert "/venv/" in path and os.path.isfile(path), path
END
        ) || return 1
    done
}

works() {
    (cd "$TMPDIR" && "$python" - << 'END'
import datarep as dr, numpy as np
with dr.open("a.drep", "w", datarep="external32") as f:
    f.create("x", np.arange(1000.0), filters="shuffle,zstd:3")
with dr.open("a.drep") as f:
    assert (f["x"][::-7] == np.arange(1000.0)[::-7]).all()
assert dr.check("a.drep")
END
    )
}

command() {
    (cd "$TMPDIR" && "$python" -m datarep ls a.drep | grep -q x &&
        "$TMPDIR/venv/bin/datarep" dump -H a.drep > /dev/null && "$python" -m datarep export a.drep a.h5)
}

# What begins with an underscore is outside of the limited API, but for these, which its macros use.
limited() {
    ! nm -D --undefined-only build/python/datarep/_core.abi3.so | grep -E ' _Py' |
        grep -vE ' (_Py_Dealloc|_PyObject_New|_Py[A-Za-z_]*_SizeT|_Py_NoneStruct|_Py_TrueStruct|_Py_FalseStruct|_Py_EllipsisObject|_Py_NotImplementedStruct)$'
}

uninstall() {
    "$python" -m pip uninstall -q -y datarep && ! (cd / && "$python" -c "import datarep")
}

check "make wheel" wheel
check "it is installed without an index and without dependencies" install
check "it loads the library that it brings" own_library
check "it finds the libraries for MPI that it brings" own_mpi
check "it writes and reads" works
check "it brings the command, under both names" command
check "it uses the limited API alone" limited
check "it is removed" uninstall
echo "1..$n"
