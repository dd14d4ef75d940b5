#!/bin/bash
# run-install.sh - what `make install` puts where, and that a separate program builds with it.
# SPDX-License-Identifier: MIT
set -u
cd "$SRCDIR" || exit 1
root=$TMPDIR/root
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

cat > "$TMPDIR/app.c" << 'END'
#include <datarep.h>
#include <stdio.h>

int main(void)
{
    double in = 1.5, out = 0;
    unsigned char packed[8];
    int64_t position = 0;

    if (drep_pack("external32", &in, 1, DREP_DOUBLE, packed, 8, &position) || position != 8)
        return 1;
    position = 0;
    if (drep_unpack("external32", packed, 8, &position, &out, 1, DREP_DOUBLE) || out != in)
        return 1;
    return puts(drep_version()) < 0;
}
END

# The flags of the installed pkg-config file alone, taken inside the destination.
flags() {
    flags_of datarep "$@"
}
flags_of() {
    local package=$1
    shift
    PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
        PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
        pkg-config "$@" "$package"
}

build_shared() {
    # shellcheck disable=SC2046
    gcc -Wall -Werror -o "$TMPDIR/app" "$TMPDIR/app.c" $(flags --cflags --libs) &&
        LD_LIBRARY_PATH=$root/usr/lib "$TMPDIR/app" &&
        readelf -d "$TMPDIR/app" | grep -q 'NEEDED.*\[libdatarep\.so\.1\]'
}

# Our archive, everybody else's shared libraries.
build_static() {
    local libs
    libs=$(flags --libs --static | sed 's/-ldatarep/-l:libdatarep.a/')
    # shellcheck disable=SC2046,SC2086
    gcc -Wall -Werror -o "$TMPDIR/app-static" "$TMPDIR/app.c" $(flags --cflags) $libs &&
        "$TMPDIR/app-static" && ! readelf -d "$TMPDIR/app-static" | grep -q libdatarep
}

build_cxx() {
    # shellcheck disable=SC2046
    g++ -x c++ -Wall -Werror -o "$TMPDIR/app-cxx" "$TMPDIR/app.c" $(flags --cflags --libs) &&
        LD_LIBRARY_PATH=$root/usr/lib "$TMPDIR/app-cxx"
}

# Every example, but for plugins, which are no programs.
build_examples() {
    local source
    for source in "$root"/usr/share/doc/datarep/examples/*.c "$root"/usr/share/doc/datarep/examples/five/*-drep.c; do
        grep -q '^int main' "$source" || continue
        # shellcheck disable=SC2046
        gcc -O0 -Wall -Werror -o "$TMPDIR/example" "$source" -pthread $(flags --cflags --libs) || return 1
    done
}

# datarep.hpp, without a warning.
build_hpp() {
    # shellcheck disable=SC2046
    g++ -std=c++20 -Wall -Wextra -Wconversion -Wshadow -Werror -o "$TMPDIR/hpp" tests/install/app.cc \
        $(flags --cflags --libs) &&
        mkdir -p "$TMPDIR/hpp.d" && LD_LIBRARY_PATH=$root/usr/lib "$TMPDIR/hpp" "$TMPDIR/hpp.d" &&
        [ "$(wc -l < lib/datarep.hpp)" -le 300 ]
}

# Both targets, out of a tree that was moved.
build_cmake() {
    mkdir -p "$TMPDIR/cmake" && cp -r "$root/usr" "$TMPDIR/cmake/moved" &&
        cp "$TMPDIR/app.c" "$TMPDIR/cmake/" || return 1
    cat > "$TMPDIR/cmake/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.16)
project(app C)
find_package(datarep 1.0 REQUIRED)
foreach(how datarep static)
  add_executable(app-${how} app.c)
  target_link_libraries(app-${how} PRIVATE datarep::${how})
endforeach()
END
    (cd "$TMPDIR/cmake" && env -u MAKEFLAGS cmake -S . -B build -DCMAKE_PREFIX_PATH="$PWD/moved" &&
        env -u MAKEFLAGS cmake --build build && build/app-datarep && build/app-static &&
        readelf -d build/app-datarep | grep -q 'NEEDED.*\[libdatarep\.so\.1\]' &&
        ! readelf -d build/app-static | grep -q libdatarep &&
        for later in 1.1 2.0; do
            sed -i "s/datarep [0-9.]* REQUIRED/datarep $later REQUIRED/" CMakeLists.txt &&
                ! env -u MAKEFLAGS cmake -S . -B "later-$later" -DCMAKE_PREFIX_PATH="$PWD/moved" || exit 1
        done)
}

installed() {
    for f in bin/datarep include/datarep.h include/datarep-team.h include/datarep.hpp \
        lib/cmake/datarep/datarep-config.cmake lib/cmake/datarep/datarep-config-version.cmake lib/libdatarep.a lib/libdatarep.so lib/libdatarep.so.1 \
        lib/pkgconfig/datarep.pc share/man/man1/datarep.1 share/man/man1/datarep-dump.1 \
        share/man/man5/datarep.5 share/man/man7/datarep-hints.7 share/man/man7/datarep-types.7 share/man/man5/datarep-schema.5 \
        share/bash-completion/completions/datarep share/zsh/site-functions/_datarep \
        share/fish/vendor_completions.d/datarep.fish share/file/magic/datarep \
        share/mime/packages/datarep.xml share/datarep/dump.schema.json share/datarep/output.schema.json \
        share/doc/datarep/LICENSE share/doc/datarep/examples/fortran/heat.f90 share/doc/datarep/examples/mpi/heat.c; do
        [ -e "$root/usr/$f" ] || {
            echo "no $f"
            return 1
        }
    done
    grep -q 'Copyright.*Yann Collet' "$root/usr/share/doc/datarep/xxhash.notice"
}

soname() {
    readelf -d "$root/usr/lib/libdatarep.so" | grep -q 'SONAME.*\[libdatarep\.so\.1\]'
}

# file(1) and the desktops' database, as installed, know a file.
known() {
    [ "$(file -b --mime-type -m "$root/usr/share/file/magic/datarep" tests/vectors/scalar.drep)" = \
        application/vnd.datarep ] && mkdir -p "$TMPDIR/data" &&
        cp -r "$root/usr/share/mime" "$TMPDIR/data/mime" &&
        XDG_DATA_DIRS=$TMPDIR/data update-mime-database "$TMPDIR/data/mime" &&
        grep -q ':application/vnd.datarep:\*\.drep$' "$TMPDIR/data/mime/globs2"
}

# The file system keeps what is ours in our name: no path of this build inside.
no_build_path() {
    ! grep -q "$root\|$SRCDIR" "$root/usr/lib/pkgconfig/datarep.pc"
}

# Nor do the debuggers' tables: two builds in two directories are the same bytes.
no_source_path() {
    local f n=0
    grep -rlF "$SRCDIR" "$root/usr" && return 1
    for f in "$root"/usr/bin/datarep "$root"/usr/lib/libdatarep*.so "$root"/usr/lib/datarep/*.so; do
        [ -e "$f" ] || continue
        n=$((n + $(readelf -wi --dwarf-depth=1 "$f" | grep -c 'DW_AT_comp_dir.* \.$')))
        ! readelf -wi --dwarf-depth=1 "$f" | grep 'DW_AT_\(comp_dir\|name\) .* /' || return 1
    done
    [ $n -gt 0 ]
}

# No debug information; names to link with.
stripped() {
    make -s -o all install-strip DESTDIR="$root" PREFIX=/usr || return 1
    local f
    for f in bin/datarep lib/libdatarep.so lib/libdatarep.a $(cd "$root/usr" && find lib/datarep lib/libdatarep-mpi-*.so lib/libdatarep-fortran*.so -name '*.so' 2> /dev/null); do
        ! readelf -SW "$root/usr/$f" | grep -E '\.debug_' || return 1
    done
    build_shared && build_static && "$root/usr/bin/datarep" --version
}

# The package for Python uses the library and the command that are installed beside it.
python_package() {
    local dir=$root/usr/lib/python3/dist-packages
    (cd "$TMPDIR" && export PYTHONPATH="$dir" PYTHONDONTWRITEBYTECODE=1 &&
        /usr/bin/python3 - "$root" << 'END' && /usr/bin/python3 -m datarep --version
import sys
import datarep
with datarep.open(":memory:", "w") as f:
    f.attrs["title"] = "a"
maps = open("/proc/self/maps").read()
assert sys.argv[1] + "/usr/lib/libdatarep.so" in maps
END
    )
}

# The library for each MPI, as its compiler and pkg-config find it.
build_mpi() {
    local m package
    cat > "$TMPDIR/mpi.c" << 'END'
#include <datarep-mpi.h>

int main(int argc, char **argv)
{
    drep_type *type;
    int err;

    MPI_Init(&argc, &argv);
    err = drep_mpi_type(MPI_DOUBLE, &type);
    if (!err)
        drep_type_free(type);
    MPI_Finalize();
    return err;
}
END
    for m in $mpis; do
        package=libdatarep-mpi-$m
        "mpicc.$m" -Wall -Werror -o "$TMPDIR/mpi-$m" "$TMPDIR/mpi.c" -I"$root/usr/include" \
            -L"$root/usr/lib" "-ldatarep-mpi-$m" -ldatarep &&
            OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LD_LIBRARY_PATH=$root/usr/lib "$TMPDIR/mpi-$m" &&
            readelf -d "$root/usr/lib/$package.so" | grep -q "SONAME.*\[$package\.so\.1\]" &&
            ! nm -D --defined-only "$root/usr/lib/$package.so" | awk '$2 != "A" { print $3 }' | grep -v '^drep_mpi_' &&
            PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config --libs "$package" |
            grep -q -- "-ldatarep-mpi-$m .*-ldatarep .*-lm" || return 1
    done
}

# The example of the manual page with what is installed: the module by pkg-config, ...
fortran_module() {
    # shellcheck disable=SC2046
    gfortran -std=f2018 -Wall -Werror -o "$TMPDIR/grid" tests/examples/fortran/grid.f90 $(flags_of datarep-fortran --cflags --libs) &&
        LD_LIBRARY_PATH=$root/usr/lib "$TMPDIR/grid" "$TMPDIR/grid.drep" &&
        readelf -d "$TMPDIR/grid" | grep -q 'NEEDED.*\[libdatarep-fortran\.so\.1\]' &&
        "$root/usr/bin/datarep" check --deep "$TMPDIR/grid.drep" && [ -e "$root/usr/share/man/man7/datarep-fortran.7" ]
}

# ... by CMake, in a moved tree, where a component that there is not is refused, ...
fortran_cmake() {
    rm -rf "$TMPDIR/fcmake" && mkdir -p "$TMPDIR/fcmake" && cp -r "$root/usr" "$TMPDIR/fcmake/moved" &&
        cp tests/examples/fortran/grid.f90 "$TMPDIR/fcmake/" || return 1
    cat > "$TMPDIR/fcmake/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.16)
project(grid Fortran)
find_package(datarep 1.0 REQUIRED COMPONENTS Fortran)
add_executable(grid grid.f90)
target_link_libraries(grid PRIVATE datarep::fortran)
END
    (cd "$TMPDIR/fcmake" && env -u MAKEFLAGS cmake -S . -B build -DCMAKE_PREFIX_PATH="$PWD/moved" &&
        env -u MAKEFLAGS cmake --build build && build/grid x.drep &&
        sed -i 's/COMPONENTS Fortran/COMPONENTS Cobol/' CMakeLists.txt &&
        ! env -u MAKEFLAGS cmake -S . -B other -DCMAKE_PREFIX_PATH="$PWD/moved")
}

# ... as the source that other compilers take, by the commands of the manual page, ...
fortran_source() {
    rm -rf "$TMPDIR/fsource" && cp -r "$root/usr/share/datarep-fortran" "$TMPDIR/fsource" &&
        cp tests/examples/fortran/grid.f90 "$TMPDIR/fsource/" || return 1
    (cd "$TMPDIR/fsource" && gfortran kinds.f90 && ./a.out > kinds &&
        /usr/bin/python3 generate.py datarep.f90.in "$root/usr/include/datarep.h" kinds > datarep.f90 &&
        gfortran -c datarep.f90 && gcc -c ./*.c -I"$root/usr/include" &&
        gfortran -o grid grid.f90 ./*.o -L"$root/usr/lib" -ldatarep &&
        LD_LIBRARY_PATH=$root/usr/lib ./grid x.drep && ! readelf -d grid | grep -q libdatarep-fortran)
}

# ... and for ranks.
fortran_mpi() {
    local m mods
    for m in $mpis; do
        mods=$(PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config --variable=moddir "datarep-fortran-$m")
        PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config --cflags --libs "datarep-fortran-$m" |
            grep -- "-I$mods .*-ldatarep-fortran-$m .*-ldatarep-fortran .*-ldatarep-mpi-$m .*-ldatarep" &&
            "mpifort.$m" -std=f2018 -o "$TMPDIR/heat-$m" tests/examples/fortran/heat.f90 -I"$root$mods" \
                -I"$root${mods%/*}" -L"$root/usr/lib" "-ldatarep-fortran-$m" -ldatarep-fortran "-ldatarep-mpi-$m" -ldatarep &&
            OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 LD_LIBRARY_PATH=$root/usr/lib \
                "$TMPDIR/heat-$m" "$TMPDIR/heat-$m.drep" 30 &&
            "$root/usr/bin/datarep" check --deep "$TMPDIR/heat-$m.drep" || return 1
    done
}

# ncgen and ncdump with the installed library, and netCDF4 for Python where it is.
netcdf_programs() {
    printf 'netcdf n { dimensions: x = 3; variables: float v(x); data: v = 1, 2, 3; }' > "$TMPDIR/n.cdl"
    "$root/usr/bin/datarep" netcdf ncgen -o "$TMPDIR/n.drep" "$TMPDIR/n.cdl" &&
        "$root/usr/bin/datarep" check --deep "$TMPDIR/n.drep" &&
        "$root/usr/bin/datarep" netcdf ncdump "$TMPDIR/n.drep" | grep -q 'v = 1, 2, 3' || return 1
    [ -d "$root/usr/lib/python3/dist-packages/datarep" ] && /usr/bin/python3 -c 'import netCDF4' || return 0
    PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 -c 'import sys, datarep.netcdf, netCDF4
assert netCDF4.Dataset(sys.argv[1])["v"][:].tolist() == [1, 2, 3]' "$TMPDIR/n.drep"
}

# Each installed file belongs to one Debian package, whose libraries lie in a directory for the
# machine, and no line of a package's list is without files, but for an MPI that is not here, and the
# page of `datarep view` and its server where they were not built.
deb_lists() {
    /usr/bin/python3 - "$root" "$mpis" << 'END'
import glob, os, re, sys
root, mpis = sys.argv[1], sys.argv[2].split()
files = [os.path.relpath(os.path.join(d, f), root) for d, _, names in os.walk(root) for f in names]
files = [re.sub(r"^usr/lib/(?!python3/)", "usr/lib/machine/", f) for f in files if not f.endswith("/LICENSE")]
owners, wrong = {f: set() for f in files}, []
for name in sorted(glob.glob("debian/*.install")):
    package = os.path.basename(name)[:-len(".install")]
    absent = any(m in package and m not in mpis for m in ("mpich", "openmpi"))
    for line in filter(None, map(str.strip, open(name))):
        parts = [re.escape(part).replace(r"\*", "[^/]*") for part in line.split()[0].split("/")]
        found = [f for f in files if re.match("/".join(parts) + "(/|$)", f)]
        if not found and not absent and package != "datarep-view":
            wrong.append("%s: nothing is %s" % (package, line))
        for f in found:
            owners[f].add(package)
wrong += ["%s: %s" % (sorted(who) or "no package", f) for f, who in owners.items()
          if len(who) != 1 and not f.endswith(".notice")]
sys.exit("\n".join(wrong) or 0)
END
}

# The loader is told by whom it listens to, and only of a directory that it searches.
loader() {
    local dir=$TMPDIR/loader uid
    mkdir -p "$dir/bin" "$dir/lib" || return 1
    # ldconfig of a system that searches $dir/lib; id of the user $uid.
    printf '#!/bin/sh\n[ "$*" = -NXv ] && echo "%s: (from a test)" || echo "ran" >> %s\n' "$dir/lib" "$dir/log" > "$dir/bin/ldconfig"
    printf '#!/bin/sh\necho "$uid"\n' > "$dir/bin/id"
    chmod +x "$dir/bin/ldconfig" "$dir/bin/id"
    for uid in 0 1000; do
        uid=$uid PATH=$dir/bin:$PATH tools/loader "$dir/lib" > "$dir/out.$uid" 2>&1 &&
            uid=$uid PATH=$dir/bin:$PATH tools/loader "$dir" > "$dir/other.$uid" 2>&1 || return 1
    done
    [ ! -s "$dir/out.0" ] && [ "$(cat "$dir/log")" = ran ] && grep -q '^note: run ldconfig as root' "$dir/out.1000" &&
        grep -q "LD_LIBRARY_PATH=$dir," "$dir/other.0" && grep -q "LD_LIBRARY_PATH=$dir," "$dir/other.1000"
}

leaves_nothing() {
    make -s uninstall DESTDIR="$root" PREFIX=/usr && [ -z "$(find "$root" ! -type d)" ] &&
        [ -z "$(find "$root" -type d -name 'datarep*')" ]
}

echo 1..24
# What `make test` built is installed as it is: other tests run it at this moment.
check "make install" make -s -o all install DESTDIR="$root" PREFIX=/usr
check "everything is there" installed
check "the SONAME is libdatarep.so.1" soname
check "datarep.pc knows nothing of where it was built" no_build_path
check "file(1) and update-mime-database take what is installed" known
check "a program builds and runs with the shared library" build_shared
check "a program builds and runs with the static library" build_static
check "the installed examples build" build_examples
check "a C++ program builds and runs" build_cxx
check "a C++20 program builds and runs with datarep.hpp, which has at most 300 lines" build_hpp
check "programs build and run by find_package(datarep), in a moved tree; 1.1 and 2.0 are refused" build_cmake
check "the installed command runs" "$root/usr/bin/datarep" --version
if [ -d "$root/usr/lib/python3/dist-packages/datarep" ]; then
    check "the package for Python works where it is installed" python_package
else
    n=$((n + 1))
    echo "ok $n - the package for Python # SKIP Python's headers are missing"
fi
mpis=$(cd "$root/usr/lib" && ls libdatarep-mpi-*.so 2> /dev/null | sed 's/libdatarep-mpi-\(.*\)\.so/\1/' | xargs)
if [ -n "$mpis" ]; then
    check "programs build and run with the libraries for MPI: $mpis" build_mpi
else
    n=$((n + 1))
    echo "ok $n - the libraries for MPI # SKIP none was built"
fi
if [ -e "$root/usr/lib/libdatarep-fortran.so" ]; then
    check "a program in Fortran builds and runs with the installed module" fortran_module
    check "find_package(datarep COMPONENTS Fortran) finds it, in a moved tree" fortran_cmake
    check "its installed source compiles by the commands of datarep-fortran(7)" fortran_source
else
    for what in module CMake source; do
        n=$((n + 1))
        echo "ok $n - the module for Fortran: $what # SKIP no gfortran"
    done
fi
if [ -n "$(ls "$root"/usr/lib/libdatarep-fortran-*.so 2> /dev/null)" ]; then
    check "heat.f90 builds and runs with the installed modules for MPI: $mpis" fortran_mpi
else
    n=$((n + 1))
    echo "ok $n - the modules of Fortran for MPI # SKIP none was built"
fi
if [ -e "$root/usr/lib/datarep/libdatarep-netcdf.so" ] && command -v ncdump > /dev/null && command -v ncgen > /dev/null; then
    check "programs for netCDF run with the installed library" netcdf_programs
else
    n=$((n + 1))
    echo "ok $n - programs for netCDF # SKIP no ncdump, or built without netCDF's headers"
fi
check "debian/*.install have each installed file once" deb_lists
check "nothing that is installed knows where it was built" no_source_path
check "make install-strip leaves no debug information, and all that one links with" stripped
check "tools/loader runs ldconfig for root alone, and says what else is to do" loader
check "make uninstall leaves nothing" leaves_nothing
