# Makefile - builds, tests and installs Datarep.  `make help` lists the targets.
#
# One Makefile for the whole tree.  Sources are found by wildcard: format/*.c and
# lib/*/*.c make the library, schema/*.c and tools/*/*.c the command.  The features of the
# system are probed once per build directory (tools/probe) and kept in its config.mk.
#
#   MODE=release|debug|asan|tsan|cov   how to compile; each has build/$(MODE)/
#   CC=gcc|clang                       which compiler
#   CROSS=s390x-linux-gnu              cross compile into build/$(CROSS)-$(MODE)/
#   SYSROOT=dir                        with CROSS: where that machine's libraries are; without
#                                      it, those that tools/cross-libs has built are taken
#   CFLAGS, LDFLAGS                    yours, added at the end
#   V=1                                show whole commands

MODE ?= release
PREFIX ?= /usr/local
bindir ?= $(PREFIX)/bin
libdir ?= $(PREFIX)/lib
includedir ?= $(PREFIX)/include
datadir ?= $(PREFIX)/share
mandir ?= $(datadir)/man
bashdir ?= $(datadir)/bash-completion/completions
zshdir ?= $(datadir)/zsh/site-functions
fishdir ?= $(datadir)/fish/vendor_completions.d
docdir ?= $(datadir)/doc/datarep
magicdir ?= $(datadir)/file/magic
mimedir ?= $(datadir)/mime/packages
# Where Debian's Python looks: of /usr one directory for all versions, of /usr/local one for each.
pydir ?= $(PREFIX)/lib/$(if $(filter /usr,$(PREFIX)),python3,$(notdir $(PY_INCLUDE)))/dist-packages
FUZZ_TIME ?= 60
RUNS ?= 1
AFL_TIME ?= 60
PROPERTY_TIME ?= 600
CRASH_STATES ?= 1000000
MUTANTS ?= 5000
SOAK_TIME ?= 1200

VERSION := $(shell sed -n 's/^.define DREP_VERSION "\(.*\)"/\1/p' lib/datarep.h)
SOMAJOR := $(firstword $(subst ., ,$(VERSION)))
BUILD ?= build/$(if $(CROSS),$(CROSS)-)$(MODE)

# ---------------------------------------------------------------- toolchain

ifdef CROSS
CC = $(CROSS)-gcc $(addprefix --sysroot=,$(SYSROOT))
CXX = $(CROSS)-g++ $(addprefix --sysroot=,$(SYSROOT))
AR = $(CROSS)-ar
OBJCOPY = $(CROSS)-objcopy
NM = $(CROSS)-nm
STRIP = $(CROSS)-strip
# The build machine's pkg-config must not answer for the other machine.
CROSS_DIRS = $(SYSROOT)/usr/lib/$(shell $(CC) -print-multiarch)/pkgconfig
CROSS_LIBS = $(CURDIR)/build/cross/$(CROSS)/lib/pkgconfig
PKG_CONFIG ?= env PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
    PKG_CONFIG_LIBDIR=$(if $(SYSROOT),$(CROSS_DIRS):$(SYSROOT)/usr/share/pkgconfig,$(CROSS_LIBS)) \
    pkg-config
else
ifeq ($(origin CC),default)
CC = gcc
endif
ifeq ($(origin CXX),default)
CXX = $(if $(findstring clang,$(CC)),$(patsubst clang%,clang++%,$(CC)),g++)
endif
OBJCOPY ?= objcopy
NM ?= nm
STRIP ?= strip
PKG_CONFIG ?= pkg-config
endif

# The system's directories are named so that a new library is found the next time.
CONFIG := $(BUILD)/config.mk
NO_CONFIG := web web-test vectors-dist clean help check t requirements lint lint-all figures uninstall reproducible demo interop bench bench-second fuzz fuzz-afl test fortran netcdf bench-netcdf remote bench-remote hetero musl deb recipes docs env site dist python python-asan python-others python-doc python-typing bench-python wheel wheel-roots mpi mpiio bench-mpi deps-%
ifneq ($(filter-out $(NO_CONFIG),$(or $(MAKECMDGOALS),all)),)
-include $(CONFIG)
endif

$(CONFIG): tools/probe $(wildcard /usr/include /usr/lib/*/pkgconfig /usr/local/lib/pkgconfig $(CROSS_LIBS))
	@mkdir -p $(@D)
	@CC="$(CC)" CXX="$(CXX)" OBJCOPY="$(OBJCOPY)" PKG_CONFIG="$(PKG_CONFIG)" tools/probe $(@D) > $@.new
	@mv $@.new $@

# -------------------------------------------------------------------- flags

WARN = -Wall -Wextra -Wshadow -Wconversion
COMMON = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -isystem $(BUILD)/borrowed -Ilib -I. -g -fPIC -pthread \
    $(WARN) $(WERROR)
FORTIFY = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 $(HARDEN_CFLAGS)
# A sanitizer's code makes gcc warn of what cannot be, so no warning ends that build.
SANITIZE = -Wno-error -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize

MODE_release = -O2 $(STRING_CFLAGS) $(FORTIFY) $(MAP_CFLAGS)
MODE_debug = -Og -DXXH_NO_INLINE_HINTS=1 -DCHECK_LOCKS
MODE_asan = -O1 -DCHECK_LOCKS $(SANITIZE)=address,undefined
MODE_tsan = -O1 -DCHECK_LOCKS $(SANITIZE)=thread
MODE_cov = -O0 --coverage
MODE_fuzz = -O1 $(SANITIZE)=fuzzer-no-link,address,undefined
MODE_afl = -O1 $(SANITIZE)=address,undefined
MODE_lint = -O0
ifeq ($(MODE_$(MODE)),)
$(error MODE=$(MODE) is not one of release, debug, asan, tsan, cov)
endif

have = $(foreach h,$(1),$(if $(HAVE_$(h)),-DHAVE_$(h)=1))
# The second directory in which the command searches modules, relative to its own,
# so that an installed tree may be moved.
MODULE_DIR := $(shell realpath -m --relative-to=$(bindir) $(libdir)/datarep)
DATA_DIR := $(shell realpath -m --relative-to=$(bindir) $(datadir)/datarep)

# Every part is compiled only with the flags of the libraries that it uses: when
# one appears, only the parts that use it are rebuilt.
FILTER_FLAGS = $(call have,ZSTD LZ4 DEFLATE LZF BLOSC) $(ZSTD_CFLAGS) $(LZ4_CFLAGS) $(DEFLATE_CFLAGS) \
    $(LZF_CFLAGS) $(BLOSC_CFLAGS)
COMMAND_FLAGS = $(FILTER_FLAGS) $(call have,YAML CXX) $(YAML_CFLAGS)
# The library hides everything that is not DREP_API.  The command keeps its symbols so that
# datarep-hdf5.so can call it back; that module keeps its own names to itself, as the command
# may have the same.
FLAGS_core = $(FILTER_FLAGS) -fvisibility=hidden
# Where a program that has the library linked in, as the command has, finds datarep-http.so.
FLAGS_plugins = $(FLAGS_core) -DDATAREP_MODULE_DIR='"$(MODULE_DIR)"'
FLAGS_command = $(COMMAND_FLAGS) -DDATAREP_MODULE_DIR='"$(MODULE_DIR)"' -DDATAREP_DATA_DIR='"$(DATA_DIR)"'
FLAGS_hdf5 = $(COMMAND_FLAGS) $(call have,HDF5) $(HDF5_CFLAGS) -fvisibility=hidden
FLAGS_netcdf = $(COMMAND_FLAGS) $(call have,NETCDF) $(NETCDF_CFLAGS) -fvisibility=hidden
FLAGS_zip = $(COMMAND_FLAGS) $(ZIP_CFLAGS)
FLAGS_remote = $(patsubst -I%,-isystem %,$(CURL_CFLAGS)) -fvisibility=hidden
FLAGS_plot = $(COMMAND_FLAGS) $(CAIRO_CFLAGS)
FLAGS_view = $(MICROHTTPD_CFLAGS) -fvisibility=hidden
FLAGS_tests = $(COMMAND_FLAGS) $(call have,HDF5 NETCDF MPFR SQLITE LMDB) $(HDF5_CFLAGS) $(NETCDF_CFLAGS) $(CHECK_CFLAGS) \
    $(MPFR_CFLAGS) $(SQLITE_CFLAGS) $(LMDB_CFLAGS)
# The extension uses the limited API of CPython 3.11: the headers of any later version do.
FLAGS_python = -isystem $(PY_INCLUDE) -Ipython -fvisibility=hidden
# ISO_Fortran_binding.h is gcc's.
FLAGS_fortran = -fvisibility=hidden $(if $(findstring clang,$(CC)),-idirafter $(shell gcc -print-file-name=include))
# The format for netCDF-C: headers of netCDF and <datarep.h>, no symbol of libnetcdf.
FLAGS_door = $(patsubst -I%,-isystem %,$(NETCDF_CFLAGS)) -fvisibility=hidden
# The library for MPI, once for each.
FLAGS_mpich = -Ilib/mpi $(patsubst -I%,-isystem %,$(MPICH_CFLAGS)) -fvisibility=hidden
FLAGS_openmpi = -Ilib/mpi $(patsubst -I%,-isystem %,$(OPENMPI_CFLAGS)) -fvisibility=hidden
PARTS := core plugins remote command hdf5 netcdf zip plot view python fortran door tests

# A part's flags, and those of single objects (TUNED); the caller's come last.
CPPFLAGS_ALL = $(COMMON) $(MODE_$(MODE)) $(FLAGS_$(PART)) $(TUNED) $(CPPFLAGS)
CFLAGS_ALL = -std=c11 $(CPPFLAGS_ALL) $(CFLAGS)
CXXFLAGS_ALL = -std=c++17 $(CPPFLAGS_ALL) $(CXXFLAGS)
LDFLAGS_ALL = $(MODE_$(MODE)) -pthread $(LDFLAGS)
# Not Blosc's, which is loaded when it is needed (lib/chunk/blosc_lib.h).
LIB_LIBS = $(ZSTD_LIBS) $(LZ4_LIBS) $(DEFLATE_LIBS) $(LZF_LIBS) $(ATOMIC_LIBS) -lm -ldl
TOOL_LIBS = $(YAML_LIBS)

# The library's kernels and its tree are worth -O3.
ifeq ($(MODE),release)
$(BUILD)/obj/lib/kern/%.o $(BUILD)/obj/lib/chunk/shuffle%.o $(BUILD)/obj/lib/tree/%.o: TUNED = -O3
endif
$(BUILD)/obj/tools/cmd/version.o: TUNED = -DDATAREP_COMMIT='"$(COMMIT)"'
# The releases of libraries that do not tell theirs, or of a module not loaded, are the package's.
release_of = $(foreach n,$(1),$(if $($(n)_RELEASE),-D$(n)_RELEASE='"$($(n)_RELEASE)"'))
$(BUILD)/obj/lib/api/libraries.o: TUNED = $(call release_of,LZF)
$(BUILD)/obj/tools/host/module.o: TUNED = $(call release_of,HDF5 NETCDF ZIP CAIRO CURL MICROHTTPD)
$(BUILD)/obj/tests/unit/%.o $(BUILD)/obj/tests/fault/%.o: TUNED = -DTESTS_DIR='"$(CURDIR)/tests"'
# Without Check the unit tests use the runner of tests/plain.
ifndef HAVE_CHECK
CHECK_CFLAGS = -Itests/plain
CHECK_OBJ = $(BUILD)/obj/tests/plain/check.o
endif

# ------------------------------------------------------------------ sources

objects = $(patsubst %,$(BUILD)/obj/%.o,$(basename $(1)))

# Sorted, as the order in which objects are linked is seen in the result.
LIB_SRC := $(sort $(filter-out lib/mpi/%,$(wildcard format/*.c lib/*/*.c)))
# Without libyaml there are no schemas, only values in text; the modules need HDF5, libzip, Cairo.
SCHEMA_SRC := $(if $(HAVE_YAML),$(sort $(wildcard schema/*.c)),$(patsubst %,schema/%.c,decimal doc filter members number paths suggest value))
HDF5_SRC := $(if $(HAVE_HDF5),$(sort $(wildcard tools/h5/*.c)))
NETCDF_SRC := $(if $(HAVE_NETCDF),$(sort $(wildcard tools/nc/*.c)))
REMOTE_SRC := $(if $(HAVE_CURL),$(sort $(wildcard remote/*.c)))
ZIP_SRC := $(if $(HAVE_ZIP),tools/flat/zip_module.c)
PLOT_SRC := $(if $(HAVE_CAIRO),tools/plot/cairo.c)
VIEW_SRC := $(if $(HAVE_MICROHTTPD),$(sort $(wildcard tools/view/*.c)))
TOOL_SRC := $(filter-out tools/h5/% tools/nc/% tools/view/% tools/flat/zip_module.c tools/plot/cairo.c,$(sort $(wildcard tools/*/*.c))) \
    $(if $(HAVE_CXX),$(wildcard tools/*/*.cc))
# The command and its modules use only the public interface and these files of the library,
# which hides its own copy of them.
BASE_SRC := $(patsubst %,lib/base/%.c,error escape hidden idset mem trust url vec)
# Without Python's headers there is no package for Python.
PYTHON := /usr/bin/python3
PY_INCLUDE := $(if $(CROSS),,$(patsubst %/Python.h,%,$(lastword $(sort $(wildcard /usr/include/python3.*/Python.h)))))
PY_SRC := $(if $(PY_INCLUDE),$(sort $(wildcard python/src/*.c)))
PY_FILES := $(sort $(wildcard python/datarep/*.py python/datarep/*.pyi)) python/datarep/py.typed
PY_H5_FILES := $(sort $(wildcard python/datarep/h5/*.py))
# Without a Fortran compiler there is no module for Fortran.
FC := $(if $(CROSS),,$(shell command -v gfortran))
FORTRAN_SRC := $(if $(FC),$(sort $(wildcard fortran/*.c)))
# netCDF programs reach our files where netCDF has the headers for formats of others.
DOOR_SRC := $(if $(HAVE_NETCDF_DISPATCH),$(sort $(wildcard netcdf/*.c)))
# Each MPI that is here has a library and test programs of its own.
MPIS := $(if $(CROSS),,$(if $(HAVE_MPICH),mpich) $(if $(HAVE_OPENMPI),openmpi))
MPI_SRC := $(sort $(wildcard lib/mpi/*.c))
MPI_TEST_SRC := $(sort $(wildcard tests/mpi/*.c))
# What programs under MPI preload, and what that loads.
MPIIO_FRONT_SRC := mpiio/front.c mpiio/next.c mpiio/fortran.c
MPIIO_ENGINE_SRC := $(filter-out $(MPIIO_FRONT_SRC),$(sort $(wildcard mpiio/*.c)))
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_COMMON := $(filter-out $(UNIT_SRC) tests/unit/plugin_%,$(wildcard tests/unit/*.c))
FUZZ_SRC := $(filter-out $(if $(HAVE_HDF5),,tests/fuzz/fuzz_hdf5.c),$(wildcard tests/fuzz/fuzz_*.c))
# Programs of the other suites, and plugins that they load.
SUITE_SRC := $(wildcard $(patsubst %,tests/%/*.c,vectors spec cli $(if $(HAVE_HDF5),interop) fault hetero model))
PLUGIN_SRC := $(filter-out $(if $(HAVE_HDF5),,tests/interop/%),$(wildcard tests/*/plugin_*.c))
BENCH_SRC := $(wildcard tests/bench/bench_*.c)
BENCH_START := tests/bench/start.c
BENCH_FORTRAN := tests/bench/fortran/bench_fortran.c
BENCH_COMMON := $(filter-out $(BENCH_SRC) $(BENCH_START),$(wildcard tests/bench/*.c))
ALL_SRC := $(LIB_SRC) $(SCHEMA_SRC) $(HDF5_SRC) $(NETCDF_SRC) $(ZIP_SRC) $(PLOT_SRC) $(VIEW_SRC) $(REMOTE_SRC) $(TOOL_SRC) $(PY_SRC) $(FORTRAN_SRC) $(DOOR_SRC) $(if $(DOOR_SRC),tests/netcdf/test_slots.c) $(UNIT_SRC) $(UNIT_COMMON) $(FUZZ_SRC) \
    $(SUITE_SRC) $(PLUGIN_SRC) $(wildcard tests/plain/*.c tests/fuzz/replay.c) $(if $(HAVE_HDF5),$(BENCH_SRC) $(BENCH_COMMON) $(BENCH_START) $(BENCH_FORTRAN))

LIB_OBJ := $(call objects,$(LIB_SRC))
CORE_OBJ := $(call objects,$(filter-out lib/par/% lib/team/%,$(LIB_SRC)))
CMD_OBJ := $(call objects,$(SCHEMA_SRC) $(TOOL_SRC))
BASE_OBJ := $(call objects,$(BASE_SRC))

# ------------------------------------------------------------------ targets

say = $(if $(V),,@echo '  $(1) $@'; )
, := ,

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

SHARED := $(BUILD)/libdatarep.so.$(VERSION)
CORE := $(if $(filter release,$(MODE)),$(BUILD)/core.so)
STATIC := $(BUILD)/libdatarep.a
COMMAND := $(BUILD)/datarep
MODULES := $(if $(HDF5_SRC),$(BUILD)/datarep-hdf5.so) $(if $(NETCDF_SRC),$(BUILD)/datarep-netcdf.so) \
    $(if $(ZIP_SRC),$(BUILD)/datarep-zip.so) \
    $(if $(PLOT_SRC),$(BUILD)/datarep-plot.so) $(if $(REMOTE_SRC),$(BUILD)/datarep-http.so) \
    $(if $(VIEW_SRC),$(BUILD)/datarep-view.so)
DOOR := $(if $(DOOR_SRC),$(BUILD)/libdatarep-netcdf.so)
MPI_SHARED := $(patsubst %,$(BUILD)/libdatarep-mpi-%.so.$(VERSION),$(MPIS))
MPIIO := $(foreach m,$(MPIS),$(BUILD)/libdatarep-mpiio-$(m).so $(BUILD)/libdatarep-mpiio-$(m)-engine.so)
MPI_TESTS := $(foreach m,$(MPIS),$(patsubst tests/mpi/%.c,$(BUILD)/$(m)/tests/mpi/%,$(MPI_TEST_SRC)))
UNIT := $(patsubst tests/%.c,$(BUILD)/tests/%,$(UNIT_SRC))
REPLAY := $(patsubst tests/%.c,$(BUILD)/tests/%,$(FUZZ_SRC))
SUITE := $(patsubst %.c,$(BUILD)/%,$(filter-out $(PLUGIN_SRC),$(SUITE_SRC)))
PLUGINS := $(patsubst %.c,$(BUILD)/%.so,$(PLUGIN_SRC))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(FUZZ_SRC))
BENCHES := $(patsubst tests/%.c,$(BUILD)/tests/%,$(BENCH_SRC))
BENCH_FORTRAN_PROGRAM := $(BUILD)/tests/bench/fortran/bench_fortran
# Programs of the table's rows, with other figures (FIGURE in tests/bench/bench.h).
BENCH_SECOND := $(patsubst tests/bench/%.c,$(BUILD)/second/%,$(shell grep -lw FIGURE $(BENCH_SRC)))

.PHONY: FORCE env site dist in-place web web-package web-page web-test mpiio remote bench-remote all libs fortran fortran-package netcdf-package netcdf mpi mpi-programs mpi-bench-programs bench-mpi bench-netcdf python python-package python-asan python-others python-doc python-typing bench-python wheel wheel-roots wheel-files unit-programs core-programs quick-programs test-programs fuzz-programs bench-programs bench-second-programs bench-second objects demo test unit spec vectors-dist \
    check t requirements lint lint-all figures bench crash model mutants soak fuzz fuzz-afl property interop hetero musl deb recipes docs install install-strip \
    reproducible uninstall clean help

# The package for Python is a part of it where there are its headers.
all: libs $(COMMAND) $(MODULES) $(DOOR) $(CORE) in-place $(if $(filter release,$(MODE)),$(if $(PY_SRC),python-package)) ## build the libraries and the command into build/$(MODE)/
libs: $(SHARED) $(CORE) $(STATIC) $(MPI_SHARED) $(MPIIO)
unit-programs: $(UNIT) $(PLUGINS)
test-programs: unit-programs $(SUITE) $(if $(HAVE_NETCDF_DISPATCH),netcdf-package $(BUILD)/tests/netcdf/test_slots) $(if $(filter release,$(MODE)),$(MPI_TESTS)) $(if $(filter asan,$(MODE)),$(REPLAY))
mpi-programs: $(MPI_SHARED) $(MPI_TESTS)
fuzz-programs: $(FUZZERS)
bench-second-programs: $(BENCH_SECOND)
bench-programs: $(BENCHES) $(BUILD)/tests/bench/start $(if $(FC),$(BENCH_FORTRAN_PROGRAM))
objects: $(call objects,$(ALL_SRC)) $(foreach m,$(MPIS),$(patsubst %.c,$(BUILD)/$(m)/obj/%.o,$(MPI_SRC) $(MPI_TEST_SRC) $(MPIIO_FRONT_SRC) $(MPIIO_ENGINE_SRC)))

# A change of the compiler or of a part's flags rebuilds that part.
SRC_core := $(filter-out lib/base/plugin.c,$(LIB_SRC))
SRC_plugins := lib/base/plugin.c
SRC_remote := $(wildcard remote/*.c)
SRC_command := $(SCHEMA_SRC) $(TOOL_SRC)
SRC_hdf5 := $(HDF5_SRC)
SRC_netcdf := $(NETCDF_SRC)
SRC_zip := $(ZIP_SRC)
SRC_plot := $(PLOT_SRC)
SRC_view := $(VIEW_SRC)
SRC_python := $(PY_SRC) $(wildcard python/portable/*.c)
SRC_fortran := $(FORTRAN_SRC)
SRC_door := $(DOOR_SRC)
SRC_tests := $(filter-out $(MPI_TEST_SRC),$(wildcard tests/*/*.c))
define part
$(call objects,$(SRC_$(1))): PART = $(1)
$(call objects,$(SRC_$(1))): $(BUILD)/flags-$(1)
$(BUILD)/flags-$(1): PART = $(1)
endef
$(foreach p,$(PARTS),$(eval $(call part,$(p))))

FLAGS_NOW = $(subst ','\'',$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL))
$(BUILD)/flags-%: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' > $@
FORCE:

# The commit of the sources, for --version; a new one rebuilds only version.o.
# An archive of the sources has it in a file.
COMMIT := $(or $(shell cat tools/share/commit 2> /dev/null || git describe --always --dirty --abbrev=12 2> /dev/null),unknown)
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@
$(BUILD)/obj/tools/cmd/version.o: $(BUILD)/commit

# xxHash is one header, compiled in.  It is copied so that a cross compiler, which does
# not look in /usr/include, finds it.
XXHASH := $(firstword $(wildcard $(addsuffix /usr/include/xxhash.h,$(SYSROOT)) /usr/include/xxhash.h \
    /usr/local/include/xxhash.h))
BORROWED := $(BUILD)/borrowed/xxhash.h
$(BORROWED): $(XXHASH)
	@test -n "$(XXHASH)" || { echo "xxhash.h is missing: run make deps-build" >&2; exit 1; }
	@mkdir -p $(@D)
	@cp $(XXHASH) $@

$(BUILD)/obj/%.o: %.c | $(BORROWED)
	@mkdir -p $(@D)
	$(call say,CC ) $(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.o: %.cc | $(BORROWED)
	@mkdir -p $(@D)
	$(call say,CXX) $(CXX) $(CXXFLAGS_ALL) -MMD -MP -c -o $@ $<

$(SHARED): $(LIB_OBJ) lib/datarep.map
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,libdatarep.so.$(SOMAJOR) \
	    -Wl,--version-script=lib/datarep.map $(if $(filter release,$(MODE)),-Wl$(,)-z$(,)defs) \
	    -o $@ $(LIB_OBJ) $(LIB_LIBS)
	@ln -sf $(@F) $(BUILD)/libdatarep.so.$(SOMAJOR)
	@ln -sf libdatarep.so.$(SOMAJOR) $(BUILD)/libdatarep.so

# The parallel mode is a guest: what one process needs links without it, at each build.  `tools/figures
# --par` names the symbols and places, should it not.  Sanitizers leave symbols undefined.
$(BUILD)/core.so: $(CORE_OBJ)
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -Wl,-z,defs,-S -o $@ $^ $(LIB_LIBS)

# What `make env` names: the headers, the files for pkg-config and the pages in directories as if they
# were installed.  pkg-config prefers NAME-uninstalled.pc to NAME.pc.
IN_PLACE := $(CURDIR)/$(BUILD)
PC_IN_PLACE := $(patsubst %,$(BUILD)/pkgconfig/%-uninstalled.pc,datarep $(patsubst %,libdatarep-mpi-%,$(MPIS)) \
    $(if $(FC),datarep-fortran $(patsubst %,datarep-fortran-%,$(MPIS))))
pc_in = $(if $(findstring fortran-,$*),fortran/mpi/datarep-fortran-mpi.pc.in,$(if $(findstring fortran,$*),fortran/datarep-fortran.pc.in,$(if \
    $(findstring mpi,$*),lib/mpi/datarep-mpi.pc.in,lib/datarep.pc.in)))
pc_mpi = $(filter $(MPIS),$(subst -, ,$*))
in-place: $(PC_IN_PLACE)
	@mkdir -p $(BUILD)/include $(BUILD)/man/man1 $(BUILD)/man/man5 $(BUILD)/man/man7
	@ln -sf $(CURDIR)/lib/datarep*.h* $(CURDIR)/lib/mpi/datarep-mpi.h $(BUILD)/include/
	@for n in 1 5 7; do ln -sf $(CURDIR)/tools/man/*.$$n $(BUILD)/man/man$$n/; done
$(PC_IN_PLACE): override libdir = $(IN_PLACE)
$(PC_IN_PLACE): override includedir = $(IN_PLACE)/include
$(BUILD)/pkgconfig/%-uninstalled.pc: lib/datarep.pc.in lib/mpi/datarep-mpi.pc.in fortran/datarep-fortran.pc.in \
    fortran/mpi/datarep-fortran-mpi.pc.in Makefile
	@mkdir -p $(@D)
	@$(fill_in) -e 's|@MPI@|$(pc_mpi)|' -e 's|@MPI_PACKAGE@|$(MPI_PACKAGE_$(pc_mpi))|' \
	    -e 's|^moddir=.*|moddir=$(IN_PLACE)/fortran$(patsubst %,/%,$(pc_mpi))|' $(pc_in) > $@

# One object with the hidden symbols made local (or, see tools/probe, renamed): only
# drep_* remains to link with.
$(STATIC): $(LIB_OBJ)
	@$(CC) -r -nostdlib $(filter-out rename,$(LOCALIZE)) -o $(BUILD)/libdatarep.o $(LIB_OBJ)
ifeq ($(LOCALIZE),rename)
	@$(NM) -g --defined-only $(BUILD)/libdatarep.o | \
	    awk '$$3 !~ /^drep_/ { print $$3, "drep__" $$3 }' > $(BUILD)/libdatarep.names
	@$(OBJCOPY) --redefine-syms=$(BUILD)/libdatarep.names $(BUILD)/libdatarep.o
else
	@$(OBJCOPY) --localize-hidden $(BUILD)/libdatarep.o
endif
	@rm -f $@
	$(call say,AR ) $(AR) rcsD $@ $(BUILD)/libdatarep.o

# The command exports only drep_* to the shared objects it loads, since their functions may
# have equal names.  libstdc++ is linked statically and hidden.
$(COMMAND): $(CMD_OBJ) $(BASE_OBJ) $(STATIC)
	$(call say,LD ) $(CC) $(LDFLAGS_ALL) -Wl,--export-dynamic-symbol='drep_*' -o $@ $(CMD_OBJ) $(BASE_OBJ) \
	    $(STATIC) $(TOOL_LIBS) \
	    $(if $(HAVE_CXX),-Wl$(,)--push-state$(,)-Bstatic$(,)--exclude-libs$(,)libstdc++.a -lstdc++ \
	        -Wl$(,)--pop-state) $(LIB_LIBS)

# The module links its own copy of what it shares with the command.
HDF5_OBJ := $(call objects,$(HDF5_SRC) tools/host/family.c tools/host/growing.c schema/members.c schema/paths.c tools/walk/box.c tools/walk/stretch.c \
    tools/walk/unread.c $(wildcard lib/chunk/blosc_lib.c lib/chunk/framing.c lib/chunk/hdf5.c lib/chunk/shuffle*.c) \
    lib/base/isa.c) $(BASE_OBJ)
$(BUILD)/datarep-hdf5.so: $(HDF5_OBJ)
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -Wl,-Bsymbolic -o $@ $^ $(HDF5_LIBS) $(LIB_LIBS)

$(BUILD)/datarep-netcdf.so: $(call objects,$(NETCDF_SRC) tools/host/growing.c tools/walk/beneath.c tools/walk/box.c tools/walk/stretch.c tools/walk/unread.c) $(BASE_OBJ)
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -Wl,-Bsymbolic -o $@ $^ $(NETCDF_LIBS)

$(BUILD)/datarep-zip.so: $(call objects,$(ZIP_SRC)) $(BASE_OBJ)
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -Wl,-Bsymbolic -o $@ $^ $(ZIP_LIBS)

$(BUILD)/datarep-plot.so: $(call objects,$(PLOT_SRC)) $(BASE_OBJ)
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -Wl,-Bsymbolic -o $@ $^ $(CAIRO_LIBS) -lm

$(BUILD)/datarep-view.so: $(call objects,$(VIEW_SRC))
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -Wl,-Bsymbolic -o $@ $^ $(MICROHTTPD_LIBS)

# URLs: loaded by the library, or by a program that has it linked in, and calls it back.
$(BUILD)/datarep-http.so: $(call objects,$(REMOTE_SRC))
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -Wl,-Bsymbolic -o $@ $^ $(CURL_LIBS)

# The library for one MPI, outside the core: public headers and the shared library alone.  Its test
# programs see its own functions and those of the core.
define mpi_library
$(BUILD)/$(1)/% $(BUILD)/flags-$(1) $(BUILD)/libdatarep-mpi-$(1).so.$(VERSION): PART = $(1)
$(BUILD)/$(1)/obj/%.o: %.c $(BUILD)/flags-$(1) | $(BORROWED)
	@mkdir -p $$(@D)
	$$(call say,CC ) $$(CC) $$(CFLAGS_ALL) -MMD -MP -c -o $$@ $$<
$(BUILD)/libdatarep-mpi-$(1).so.$(VERSION): $(patsubst %.c,$(BUILD)/$(1)/obj/%.o,$(MPI_SRC)) $(SHARED)
	$$(call say,LD ) $$(CC) -shared $$(LDFLAGS_ALL) -Wl,-soname,libdatarep-mpi-$(1).so.$(SOMAJOR) \
	    -Wl,--version-script=lib/datarep.map $(if $(filter release,$(MODE)),-Wl$(,)-z$(,)defs) -Wl,--as-needed \
	    -o $$@ $$^ $(2)
	@ln -sf $$(@F) $(BUILD)/libdatarep-mpi-$(1).so.$(SOMAJOR)
	@ln -sf libdatarep-mpi-$(1).so.$(SOMAJOR) $(BUILD)/libdatarep-mpi-$(1).so
$(BUILD)/$(1)/internal.a: $(patsubst %.c,$(BUILD)/$(1)/obj/%.o,$(MPI_SRC))
	@rm -f $$@
	$$(call say,AR ) $$(AR) rcsD $$@ $$^
$(BUILD)/$(1)/tests/%: $(BUILD)/$(1)/obj/tests/%.o $(BUILD)/$(1)/internal.a $(BUILD)/tests/internal.a
	@mkdir -p $$(@D)
	$$(call say,LD ) $$(CC) $$(LDFLAGS_ALL) -Wl,--as-needed -o $$@ $$^ $(2) $$(LIB_LIBS)
$(BUILD)/libdatarep-mpiio-$(1).so $(BUILD)/libdatarep-mpiio-$(1)-engine.so: PART = $(1)
# Processes without MPI load the first one, too: it refers to nothing of MPI.
$(BUILD)/libdatarep-mpiio-$(1).so: $(patsubst %.c,$(BUILD)/$(1)/obj/%.o,$(MPIIO_FRONT_SRC))
	$$(call say,LD ) $$(CC) -shared $$(LDFLAGS_ALL) -Wl,-soname,$$(@F) -Wl,-Bsymbolic \
	    $(if $(filter release,$(MODE)),-Wl$(,)-z$(,)defs) -Wl,--as-needed -o $$@ $$^ -ldl
$(BUILD)/libdatarep-mpiio-$(1)-engine.so: $(patsubst %.c,$(BUILD)/$(1)/obj/%.o,$(MPIIO_ENGINE_SRC)) $(BUILD)/libdatarep-mpi-$(1).so.$(VERSION) $(SHARED)
	$$(call say,LD ) $$(CC) -shared $$(LDFLAGS_ALL) -Wl,-soname,$$(@F) -Wl,-Bsymbolic $$(DOOR_RPATH) \
	    $(if $(filter release,$(MODE)),-Wl$(,)-z$(,)defs) -Wl,--as-needed -o $$@ $$^ $(2)
-include $(patsubst %.c,$(BUILD)/$(1)/obj/%.d,$(MPI_SRC) $(MPI_TEST_SRC) $(MPIIO_FRONT_SRC) $(MPIIO_ENGINE_SRC))
endef
# Benchmarks against the parallel HDF5 of the same MPI, or (views) that MPI alone: $(1) is its name,
# $(2) and $(3) the flags, $(4) which.
MPI_BENCH_ALONE := views
MPI_BENCH_HDF5 := $(filter-out bench $(MPI_BENCH_ALONE),$(patsubst tests/bench/mpi/%.c,%,$(wildcard tests/bench/mpi/*.c)))
define mpi_bench
$(patsubst %,$(BUILD)/$(1)/bench-%,$(4)): $(BUILD)/$(1)/bench-%: tests/bench/mpi/%.c tests/bench/mpi/bench.c tests/bench/mpi/bench.h $(BUILD)/libdatarep-mpi-$(1).so.$(VERSION) $(SHARED) | $(BORROWED)
	@mkdir -p $$(@D)
	$$(call say,LD ) $$(CC) -std=c11 $$(COMMON) -O2 -Ilib/mpi $(2) $$(LDFLAGS) -Wl,-rpath,'$$$$ORIGIN/..' -o $$@ \
	    $$(filter %.c %.so.$(VERSION),$$^) -Wl,--as-needed $(3) -lm
MPI_BENCHES += $(patsubst %,$(BUILD)/$(1)/bench-%,$(4))
endef
MPI_BENCHES :=
$(if $(HAVE_HDF5_MPICH),$(foreach m,$(filter mpich,$(MPIS)),$(eval $(call mpi_bench,$(m),$(patsubst -I%,-isystem %,$(HDF5_MPICH_CFLAGS)),$(HDF5_MPICH_LIBS),$(MPI_BENCH_HDF5)))))
$(if $(HAVE_HDF5_OPENMPI),$(foreach m,$(filter openmpi,$(MPIS)),$(eval $(call mpi_bench,$(m),$(patsubst -I%,-isystem %,$(HDF5_OPENMPI_CFLAGS)) $(PNETCDF_CFLAGS),$(HDF5_OPENMPI_LIBS) $(PNETCDF_LIBS),$(MPI_BENCH_HDF5)))))
$(foreach m,$(filter mpich,$(MPIS)),$(eval $(call mpi_bench,$(m),$(patsubst -I%,-isystem %,$(MPICH_CFLAGS)),$(MPICH_LIBS),$(MPI_BENCH_ALONE))))
$(foreach m,$(filter openmpi,$(MPIS)),$(eval $(call mpi_bench,$(m),$(patsubst -I%,-isystem %,$(OPENMPI_CFLAGS)),$(OPENMPI_LIBS),$(MPI_BENCH_ALONE))))
mpi-bench-programs: $(MPI_BENCHES)

.PRECIOUS: $(foreach m,$(MPIS),$(BUILD)/$(m)/obj/%.o)
$(foreach m,$(filter mpich,$(MPIS)),$(eval $(call mpi_library,$(m),$(MPICH_LIBS))))
$(foreach m,$(filter openmpi,$(MPIS)),$(eval $(call mpi_library,$(m),$(OPENMPI_LIBS))))

# The module for Fortran: its source is made for the kinds that the compiler has.  A program is compiled
# with -I$(FORTRAN) and linked with -ldatarep-fortran.
FORTRAN := $(BUILD)/fortran
FORTRAN_RPATH = -Wl,-rpath,'$$ORIGIN'
FFLAGS ?= -O2 -g
FFLAGS_ALL = -std=f2018 -fPIC -Wall -Wextra $(MAP_CFLAGS) $(filter -fsanitize% -fno-omit%,$(MODE_$(MODE))) $(FFLAGS)
FORTRAN_LIB := $(BUILD)/libdatarep-fortran.so.$(VERSION)
MPIFORT_mpich ?= mpifort.mpich
MPIFORT_openmpi ?= mpifort.openmpi
FORTRAN_MPIS := $(if $(FC),$(foreach m,$(MPIS),$(if $(shell command -v $(MPIFORT_$(m))),$(m))))
FORTRAN_MPI := $(patsubst %,$(BUILD)/libdatarep-fortran-%.so.$(VERSION),$(FORTRAN_MPIS))
fortran-package: $(if $(FC),$(FORTRAN_LIB) $(FORTRAN_MPI))
$(FORTRAN)/datarep.f90: fortran/datarep.f90.in fortran/generate.py fortran/kinds.f90 lib/datarep.h
	@mkdir -p $(@D)
	@$(FC) -o $(FORTRAN)/kinds fortran/kinds.f90 && $(FORTRAN)/kinds > $(FORTRAN)/kinds.txt
	@$(PYTHON) fortran/generate.py fortran/datarep.f90.in lib/datarep.h $(FORTRAN)/kinds.txt > $@
$(FORTRAN)/datarep.o: $(FORTRAN)/datarep.f90
	$(call say,FC ) $(FC) $(FFLAGS_ALL) -J$(FORTRAN) -c -o $@ $<
$(FORTRAN_LIB): $(FORTRAN)/datarep.o $(call objects,$(FORTRAN_SRC)) $(SHARED)
	$(call say,LD ) $(FC) -shared $(LDFLAGS_ALL) $(FORTRAN_RPATH) -Wl,-soname,libdatarep-fortran.so.$(SOMAJOR) \
	    $(if $(filter release,$(MODE)),-Wl$(,)-z$(,)defs) -o $@ $^
	@ln -sf $(@F) $(BUILD)/libdatarep-fortran.so.$(SOMAJOR)
	@ln -sf libdatarep-fortran.so.$(SOMAJOR) $(BUILD)/libdatarep-fortran.so
define fortran_mpi
$(FORTRAN)/$(1)/comm.o: fortran/mpi/comm.c fortran/glue.h fortran/memory.h $(BUILD)/flags-$(1)
	@mkdir -p $$(@D)
	$$(call say,CC ) $$(CC) $$(CFLAGS_ALL) -c -o $$@ $$<
$(FORTRAN)/$(1)/comm.o: PART = $(1)
$(FORTRAN)/$(1)/datarep_mpi.o: fortran/mpi/datarep_mpi.f90 $(FORTRAN)/datarep.o
	@mkdir -p $$(@D)
	$$(call say,FC ) $(MPIFORT_$(1)) $$(FFLAGS_ALL) -I$(FORTRAN) -J$$(@D) -c -o $$@ $$<
$(BUILD)/libdatarep-fortran-$(1).so.$(VERSION): $(FORTRAN)/$(1)/comm.o $(FORTRAN)/$(1)/datarep_mpi.o $(FORTRAN_LIB) \
    $(BUILD)/libdatarep-mpi-$(1).so.$(VERSION) $(SHARED)
	$$(call say,LD ) $(MPIFORT_$(1)) -shared $$(LDFLAGS_ALL) $$(FORTRAN_RPATH) -Wl,-soname,libdatarep-fortran-$(1).so.$(SOMAJOR) -o $$@ $$^
	@ln -sf $$(@F) $(BUILD)/libdatarep-fortran-$(1).so.$(SOMAJOR)
	@ln -sf libdatarep-fortran-$(1).so.$(SOMAJOR) $(BUILD)/libdatarep-fortran-$(1).so
endef
$(foreach m,$(FORTRAN_MPIS),$(eval $(call fortran_mpi,$(m))))

# The format for netCDF-C (netcdf/): loaded by programs that have libnetcdf, which it does not link.  It has
# no version of its own in its name: programs are told its path.
DOOR_RPATH = -Wl,-rpath,'$$ORIGIN:$$ORIGIN/..'
netcdf-package: $(DOOR)
$(BUILD)/libdatarep-netcdf.so: $(call objects,$(DOOR_SRC)) $(SHARED)
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -Wl,-soname,$(@F) -Wl,-Bsymbolic $(DOOR_RPATH) \
	    $(if $(filter release,$(MODE)),-Wl$(,)-z$(,)defs) -Wl,--as-needed -o $@ $^ -lm -ldl

# Its test is a program for netCDF, which loads it.
DOOR_TEST := $(if $(DOOR),$(BUILD)/tests/netcdf/test_slots)
$(DOOR_TEST): $(BUILD)/obj/tests/netcdf/test_slots.o $(DOOR)
	@mkdir -p $(@D)
	$(call say,LD ) $(CC) $(LDFLAGS_ALL) -o $@ $< $(NETCDF_LIBS) -ldl

# Calls of the module beside those of C, both by the shared library.
$(BUILD)/tests/bench/fortran/work.o: tests/bench/fortran/work.f90 $(FORTRAN)/datarep.o
	@mkdir -p $(@D)
	$(call say,FC ) $(FC) $(FFLAGS_ALL) -I$(FORTRAN) -J$(@D) -c -o $@ $<
$(BENCH_FORTRAN_PROGRAM): $(call objects,$(BENCH_FORTRAN) $(BENCH_COMMON)) $(BUILD)/tests/bench/fortran/work.o $(FORTRAN_LIB) $(SHARED)
	$(call say,LD ) $(FC) $(LDFLAGS_ALL) -Wl,-rpath,'$$ORIGIN/../../..' -o $@ $^

# The package as it runs in this tree: the library and the command are those of the build.
# PY_RPATH= : the linker finds the library by itself, as distributions have it.
PY_RPATH = -Wl,-rpath,'$$ORIGIN'
PYDIR := build/python$(if $(filter-out release,$(MODE)),-$(MODE))/datarep
PY_BUILT := $(PYDIR)/_core.abi3.so $(patsubst python/datarep/%,$(PYDIR)/%,$(PY_FILES) $(PY_H5_FILES)) \
    $(dir $(PYDIR))datarep-$(VERSION).dist-info/METADATA
python-package: $(PY_BUILT) $(COMMAND) $(MODULES) $(DOOR)
	@mkdir -p $(PYDIR)/bin
	@ln -sf ../../$(MODE)/libdatarep.so.$(SOMAJOR) $(PYDIR)/libdatarep.so.$(SOMAJOR)
	@ln -sf ../../../$(MODE)/datarep $(PYDIR)/bin/datarep
$(PYDIR)/_core.abi3.so: $(call objects,$(PY_SRC)) $(SHARED)
	@mkdir -p $(@D)
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) $(PY_RPATH) -o $@ $(filter %.o,$^) $(SHARED)
$(PYDIR)/%: python/datarep/%
	@mkdir -p $(@D)
	@cp $< $@
# xarray finds its engine by it.
$(dir $(PYDIR))datarep-$(VERSION).dist-info/METADATA: python/entry_points.txt
	@mkdir -p $(@D)
	@cp $< $(@D)/
	@printf 'Metadata-Version: 2.1\nName: datarep\nVersion: %s\n' $(VERSION) > $@

# The package as a wheel brings it: the same objects, with the libraries linked in where there are
# archives of them, so that it needs nothing but the C library.  What python/portable has replaces what
# such archives want and a shared object cannot have.  liblzf, of which Debian has no archive, goes along
# under a name of its own, as long as its own, which is thus all that changes in it.  The maps of the
# linker say what was linked in: python/backend.py makes the list of parts of them.
PORTABLE := $(BUILD)/portable
PORTABLE_SRC := $(if $(PY_SRC),$(sort $(wildcard python/portable/*.c)))
PORTABLE_OBJ = $(call objects,$(PORTABLE_SRC))
portable_libs = $(foreach n,$(1),$(or $($(n)_STATIC),$($(n)_LIBS)))
LZF_CARRIED := $(if $(HAVE_LZF),$(if $(LZF_STATIC),,$(PORTABLE)/lib/libdrlzf.so))
PORTABLE_LIBS = $(if $(BLOSC_STATIC),-Wl$(,)-u$(,)blosc_compress_ctx) $(call portable_libs,BLOSC ZSTD LZ4 DEFLATE) \
    $(or $(LZF_CARRIED),$(call portable_libs,LZF)) $(ATOMIC_LIBS) -lm -ldl
PORTABLE_LD = $(CC) $(LDFLAGS_ALL) -Wl,--wrap=stderr,--wrap=stdout -static-libgcc -Wl,--as-needed \
    -Wl,-Map=$@.map
# Where a file finds what the package carries, from its own directory.
carried = $(if $(LZF_CARRIED),-Wl$(,)-rpath$(,)'$$ORIGIN/$(1)')

$(PORTABLE)/lib/libdrlzf.so:
	@mkdir -p $(@D)
	@LC_ALL=C sed 's/liblzf\.so\.1\x00/libdrlzf.so\x00/' "$$(realpath "$$($(CC) -print-file-name=liblzf.so)")" > $@
	@! grep -q 'liblzf\.so' $@ && grep -q 'libdrlzf\.so' $@
	@echo "$$(realpath "$$($(CC) -print-file-name=liblzf.so)")" > $@.map

$(PORTABLE)/libdatarep.so.$(SOMAJOR): $(LIB_OBJ) $(PORTABLE_OBJ) lib/datarep.map $(LZF_CARRIED)
	@mkdir -p $(@D)
	$(call say,LD ) $(PORTABLE_LD) -shared -Wl,-soname,$(@F) -Wl,--version-script=lib/datarep.map -Wl,-z,defs \
	    $(call carried,lib) -o $@ $(LIB_OBJ) $(PORTABLE_OBJ) $(PORTABLE_LIBS)

$(PORTABLE)/_core.abi3.so: $(call objects,$(PY_SRC)) $(PORTABLE)/libdatarep.so.$(SOMAJOR)
	$(call say,LD ) $(PORTABLE_LD) -shared -Wl,--version-script=python/core.map -Wl,-rpath,'$$ORIGIN' -o $@ \
	    $(filter-out %.map,$^)

$(PORTABLE)/bin/datarep: $(CMD_OBJ) $(BASE_OBJ) $(STATIC) $(PORTABLE_OBJ) $(LZF_CARRIED)
	@mkdir -p $(@D)
	$(call say,LD ) $(PORTABLE_LD) -Wl,--export-dynamic-symbol='drep_*' $(call carried,../lib) -o $@ \
	    $(CMD_OBJ) $(BASE_OBJ) $(PORTABLE_OBJ) $(STATIC) $(call portable_libs,YAML) $(if $(HAVE_CXX),-l:libstdc++.a) \
	    $(PORTABLE_LIBS)

$(PORTABLE)/lib/datarep/datarep-hdf5.so: $(HDF5_OBJ) $(PORTABLE_OBJ) $(LZF_CARRIED)
	@mkdir -p $(@D)
	$(call say,LD ) $(PORTABLE_LD) -shared -Wl,-Bsymbolic -Wl,--version-script=tools/h5/module.map $(call carried,..) \
	    -o $@ $(HDF5_OBJ) $(PORTABLE_OBJ) \
	    $(call portable_libs,HDF5) $(PORTABLE_LIBS)

# The netCDF library is that of netCDF4 (datarep/netcdf.py), or of the program that the command starts.
$(PORTABLE)/lib/datarep/libdatarep-netcdf.so: $(call objects,$(DOOR_SRC)) $(filter %/streams.o,$(PORTABLE_OBJ)) \
    $(PORTABLE)/libdatarep.so.$(SOMAJOR)
	@mkdir -p $(@D)
	$(call say,LD ) $(PORTABLE_LD) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -Wl,-rpath,'$$ORIGIN/../..' -o $@ $^ -lm -ldl

# The MPI is that of mpi4py, which is loaded before (datarep/mpi.py).
$(PORTABLE)/libdatarep-mpi-%.so.$(SOMAJOR): $(BUILD)/libdatarep-mpi-%.so.$(VERSION) $(PORTABLE)/libdatarep.so.$(SOMAJOR)
	$(call say,LD ) $(PORTABLE_LD) -shared -Wl,-soname,$(@F) -Wl,--version-script=lib/datarep.map -Wl,-rpath,'$$ORIGIN' \
	    -o $@ $(patsubst %.c,$(BUILD)/$*/obj/%.o,$(MPI_SRC)) $(PORTABLE)/libdatarep.so.$(SOMAJOR)

PORTABLE_ELF := $(LZF_CARRIED) $(addprefix $(PORTABLE)/,libdatarep.so.$(SOMAJOR) _core.abi3.so bin/datarep \
    $(if $(HDF5_SRC),lib/datarep/datarep-hdf5.so) $(if $(DOOR_SRC),lib/datarep/libdatarep-netcdf.so) $(patsubst %,libdatarep-mpi-%.so.$(SOMAJOR),$(MPIS)))
wheel-files: $(PORTABLE_ELF)
	@for f in $(patsubst $(PORTABLE)/%,%,$^); do \
	    mkdir -p "$$(dirname $(WHEEL)/datarep/$$f)" && $(STRIP) --strip-all -o $(WHEEL)/datarep/$$f $(PORTABLE)/$$f || exit 1; done
	@mkdir -p $(WHEEL)/datarep/h5 $(WHEEL)/datarep/share/datarep/schemas
	@cp $(PY_FILES) $(WHEEL)/datarep/
	@cp $(PY_H5_FILES) $(WHEEL)/datarep/h5/
	@cp $(SCHEMAS) $(WHEEL)/datarep/share/datarep/schemas/

# Tests see the internal symbols.  Archives, so that a test links only what it needs.
$(BUILD)/tests/internal.a: $(LIB_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR ) $(AR) rcsD $@ $^
$(BUILD)/tests/command.a: $(CMD_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR ) $(AR) rcsD $@ $^
TEST_AR := $(BUILD)/tests/command.a $(BUILD)/tests/internal.a
TEST_LIBS = $(TEST_AR) $(TOOL_LIBS) $(if $(HAVE_CXX),-Wl$(,)--as-needed -lstdc++) $(LIB_LIBS)

$(UNIT): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(call objects,$(UNIT_COMMON)) $(CHECK_OBJ) $(TEST_AR)
	@mkdir -p $(@D)
	$(call say,LD ) $(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $(filter %.o,$^) $(TEST_LIBS) $(CHECK_LIBS) $(MPFR_LIBS)

# What of the module for URLs needs no network.
$(BUILD)/tests/unit/test_remote $(BUILD)/tests/core/test_remote: $(call objects,remote/address.c remote/plan.c remote/reply.c)

# The unit programs that have no team, with the core alone.
CORE_UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/core/%,$(shell grep -LE 'ranks_help\.h|thread_team\.h|tests/mpi/|"team/|"par/' $(UNIT_SRC)))
core-programs: $(CORE_UNIT)
$(BUILD)/tests/core.a: $(CORE_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR ) $(AR) rcsD $@ $^
$(CORE_UNIT): $(BUILD)/tests/core/%: $(BUILD)/obj/tests/unit/%.o $(filter-out %/thread_team.o,$(call objects,$(UNIT_COMMON))) \
    $(CHECK_OBJ) $(BUILD)/tests/command.a $(BUILD)/tests/core.a
	@mkdir -p $(@D)
	$(call say,LD ) $(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $(filter %.o,$^) $(filter %.a,$^) \
	    $(TOOL_LIBS) $(if $(HAVE_CXX),-Wl$(,)--as-needed -lstdc++) $(LIB_LIBS) $(CHECK_LIBS) $(MPFR_LIBS)

# The code that parses HDF5 files in the child of an import.
$(BUILD)/tests/fuzz/fuzz_hdf5 $(BUILD)/fuzz_hdf5: $(call objects,$(HDF5_SRC))
$(BUILD)/tests/fuzz/fuzz_hdf5 $(BUILD)/fuzz_hdf5: PRIVATE_LIBS = $(HDF5_LIBS)

$(REPLAY): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(BUILD)/obj/tests/fuzz/replay.o $(TEST_AR)
	@mkdir -p $(@D)
	$(call say,LD ) $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(TEST_LIBS) $(PRIVATE_LIBS)

# Programs of the suite fault also use in-memory files that record all writes.
$(filter $(BUILD)/tests/fault/%,$(SUITE)): $(BUILD)/obj/tests/unit/faultio.o
# Ranks of a recorded run are threads.
$(BUILD)/tests/model/record: $(BUILD)/obj/tests/unit/thread_team.o
$(SUITE): $(BUILD)/%: $(BUILD)/obj/%.o $(TEST_AR)
	@mkdir -p $(@D)
	$(call say,LD ) $(CC) $(LDFLAGS_ALL) -rdynamic -o $@ $(filter %.o,$^) $(TEST_LIBS) $(HDF5_LIBS) $(MPFR_LIBS)

$(PLUGINS): $(BUILD)/%.so: $(BUILD)/obj/%.o
	@mkdir -p $(@D)
	$(call say,LD ) $(CC) -shared $(LDFLAGS_ALL) -o $@ $< $(if $(findstring /interop/,$@),$(HDF5_LIBS))

$(FUZZERS): $(BUILD)/%: $(BUILD)/obj/tests/fuzz/%.o $(TEST_AR)
	$(call say,LD ) $(CC) $(LDFLAGS_ALL) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(TEST_LIBS) $(PRIVATE_LIBS)

BENCH_LIBS = $(STATIC) $(LIB_LIBS) $(HDF5_LIBS) $(NETCDF_LIBS) $(SQLITE_LIBS) $(LMDB_LIBS)
$(BENCHES): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o $(call objects,$(BENCH_COMMON)) $(STATIC)
	@mkdir -p $(@D)
	$(call say,LD ) $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(BENCH_LIBS)

$(BENCH_SECOND): $(BUILD)/second/%: tests/bench/%.c $(wildcard tests/bench/*.h) $(call objects,$(BENCH_COMMON)) $(STATIC)
	@mkdir -p $(@D)
	$(call say,CC ) $(CC) $(CFLAGS_ALL) $(FLAGS_tests) -DBENCH_SECOND $(LDFLAGS_ALL) -o $@ $(filter %.c %.o,$^) $(BENCH_LIBS)

$(BUILD)/tests/bench/start: $(BUILD)/obj/tests/bench/start.o $(STATIC)
	@mkdir -p $(@D)
	$(call say,LD ) $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) $(STATIC) $(LIB_LIBS)

-include $(patsubst %.o,%.d,$(call objects,$(ALL_SRC)))

# ------------------------------------------------------- the core in WebAssembly

# Debian's emcc compiles by ways of its own cache; clang with its system root needs no writable one.
# Filters that only read, from Debian's source packages, which tools/cross-libs unpacks.
WEB := build/web
WEB_FLAGS = -target wasm32-unknown-emscripten --sysroot=/usr/share/emscripten/cache/sysroot \
    -Xclang -iwithsysroot/include/compat -D__EMSCRIPTEN__ -Dunix -D__unix -D__unix__ -fignore-exceptions \
    -mllvm -enable-emscripten-sjlj -mllvm -disable-lsr -Os
WEB_CORE_FLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -fvisibility=hidden -I. -Ilib -isystem $(WEB)/borrowed \
    -DXXH_NO_INLINE_HINTS=1 -DHAVE_DEFLATE=1 -DHAVE_LZ4=1 -DHAVE_ZSTD=1 -Werror=implicit-function-declaration
# What `plot` decides, of the command: web/core/said.c stands in for its terminal.
WEB_PLOT := $(addprefix tools/,$(patsubst %,plot/%.c,make data map dates axis) $(patsubst %,text/%.c,operand by_value printer cf num \
    array print nesting real sink) $(patsubst %,walk/%.c,slice blocks field walk) host/exit.c host/utf8.c) $(patsubst %,schema/%.c,members paths suggest value decimal number rep)
WEB_SRC := $(filter-out lib/io/posix.c lib/par/% lib/team/%,$(LIB_SRC)) $(WEB_PLOT) $(sort $(wildcard web/core/*.c))
WEB_OBJ := $(patsubst %.c,$(WEB)/obj/%.o,$(WEB_SRC))
# What gcc and clang say of the library, `make lint-all` shows.
$(WEB)/obj/lib/% $(WEB)/obj/format/% $(WEB)/obj/tools/% $(WEB)/obj/schema/%: WEB_WARN = -w
$(WEB)/obj/web/%: WEB_WARN = -Wall -Wextra -Wshadow -Wconversion $(WERROR)
WEB_FILTERS := $(WEB)/filters.a
WEB_WASM := $(WEB)/datarep-wasm/core.wasm

$(WEB)/obj/%.o: %.c | $(WEB_FILTERS)
	@mkdir -p $(@D)
	$(call say,CC ) clang $(WEB_FLAGS) $(WEB_CORE_FLAGS) $(WEB_WARN) -MMD -MP -c -o $@ $<

$(WEB_FILTERS): web/filters
	$(call say,AR ) web/filters $(WEB) $(WEB_FLAGS)

# emcc takes host_read() for a symbol that is undefined; a name that really is becomes an import
# that web/datarep-wasm/instance.js does not have: starting one instance finds it.
WEB_START = import {Instance} from "./web/datarep-wasm/instance.js"; import {readFileSync, rmSync} from "node:fs"; \
    try { await Instance.make(new WebAssembly.Module(readFileSync("$@")), () => false); } \
    catch (e) { rmSync("$@"); console.error("$@ does not start: " + e.message); process.exit(1); }
$(WEB_WASM): $(WEB_OBJ) $(WEB_FILTERS)
	@mkdir -p $(@D)
	$(call say,LD ) NODE_PATH=/usr/share/nodejs emcc -Os --no-entry -o $@ $(WEB_OBJ) $(WEB_FILTERS) -sSTANDALONE_WASM=1 \
	    -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=1GB -sINITIAL_MEMORY=4MB -sTOTAL_STACK=1MB \
	    -sEXPORTED_FUNCTIONS=_malloc,_free -sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0
	@node --input-type=module -e '$(WEB_START)'

# The package as it is published.
WEB_FILES := $(wildcard web/datarep-wasm/*)
$(WEB)/datarep-wasm/package.json: $(WEB_FILES) LICENSE $(WEB_FILTERS)
	@mkdir -p $(@D)
	@cp $(WEB_FILES) LICENSE $(WEB)/LICENSES.txt $(@D)/
	@touch $@

# The page, from the lock file; npm keeps what it has installed by its own record.
PAGE_FILES := $(filter-out web/page/node_modules,$(wildcard web/page/* web/page/.npmrc))
$(WEB)/page/node_modules/.package-lock.json: web/page/package.json web/page/package-lock.json web/page/.npmrc
	@mkdir -p $(WEB)/page
	@cp $^ $(WEB)/page/
	$(call say,NPM) cd $(WEB)/page && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
# The command writes the coastlines, with the module that imports netCDF.
$(WEB)/www/index.html: $(WEB)/page/node_modules/.package-lock.json $(PAGE_FILES) $(WEB)/datarep-wasm/package.json $(WEB_WASM) web/coast | $(COMMAND) $(MODULES)
	@cp -r $(PAGE_FILES) $(WEB)/page/
	$(call say,VITE) cd $(WEB)/page && node_modules/.bin/vite build --logLevel=error
	@node web/page/licences.mjs $(WEB)/page > $(WEB)/www/LICENSES.txt && cat $(WEB)/LICENSES.txt >> $(WEB)/www/LICENSES.txt
	@web/coast $(COMMAND) $(WEB)/www
	@touch $@

# Installed where it was built: `make` alone needs no registry of packages.
WEB_PAGE := $(wildcard $(WEB)/www/index.html)

web-package: $(WEB_WASM) $(WEB)/datarep-wasm/package.json
web-page: web-package $(WEB)/www/index.html

-include $(WEB_OBJ:.o=.d)

# ------------------------------------------------------------ things to run

# One job per processor unless the caller sets -j.
SUB = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

demo: ## install missing packages, build, show eight steps of a file's life
	@tools/install-deps demo
	@mkdir -p build && echo "building; the log is build/demo.log"
	+@$(SUB) MODE=release all > build/demo.log 2>&1 || { tail -n 20 build/demo.log; exit 1; }
	@eval "$$($(MAKE) -s env)" && sh tests/demo/demo.sh

test: ## install missing packages, build, and run every test
	@tools/install-deps build test interop hetero-short python model remote
	+@$(SUB) MODE=release all test-programs fortran-package netcdf-package $(if $(PY_INCLUDE),python-package)
	+@$(SUB) MODE=asan all test-programs netcdf-package
	@tests/run

# The programs of suites vectors and cli, as `make test` builds them all.
QUICK := $(filter $(BUILD)/tests/vectors/% $(BUILD)/tests/cli/%,$(SUITE))
quick-programs: all unit-programs $(QUICK)

check: ## build and run the quick tests: installs nothing, needs no root; prints the minutes that it took
	@mkdir -p build && date +%s > build/check-began
	@for p in /usr/bin/python3; do command -v $$p > /dev/null || { \
	    echo "check: $$p is missing and required for all tests: make deps-test" >&2; exit 1; }; done
	@missing=$$(tools/install-deps --check build test interop 2> /dev/null | tr '\n' ' '); \
	    test -z "$$missing" || echo "check: not installed, tests that need them are skipped: $$missing"
	+@$(SUB) MODE=release quick-programs
	@tests/run --quick unit-release vectors cli; status=$$?; \
	    echo | awk -v s=$$(($$(date +%s) - $$(cat build/check-began))) '{ printf "check: %.1f minutes\n", s / 60 }'; exit $$status

spec: ## check SPEC.md: rules and their vectors, values, both readers, text forms; print the table of rules
	@tools/install-deps build test interop
	+@$(SUB) MODE=release quick-programs build/release/tests/fault/mutants build/release/tests/fault/crash \
	    build/release/tests/spec/make_later
	@tests/spec/run-rules.py --table > build/rules.md
	@tests/run vectors spec
	@cat build/rules.md

vectors-dist: ## pack all vectors, good and bad, with an index and a runner: build/datarep-vectors.tar.gz
	@tests/spec/vectors-dist.py build/datarep-vectors.tar.gz

python: ## install missing packages, build the package for Python into build/python, run all its tests
	@tools/install-deps build interop python
	+@$(SUB) MODE=release libs python-package
	@$(PYTHON) python/notebook.py TUTORIAL.md build/python/tutorial.ipynb
	@tests/python/run-pytest.py --full

fortran: ## install missing packages, build the module for Fortran, run all its tests
	@tools/install-deps build test mpi fortran
	+@$(SUB) MODE=release all fortran-package $(if $(PY_INCLUDE),python-package)
	+@$(SUB) MODE=asan fortran-package
	@tests/fortran/run-fortran.py --full

netcdf: ## install missing packages, build the library for netCDF programs, run programs and tests of others over it: 40 minutes
	@tools/install-deps build test interop netcdf
	+@$(SUB) MODE=release all netcdf-package build/release/tests/fault/mutants
	+@$(SUB) MODE=asan netcdf-package
	@tests/netcdf/all

web: ## install missing packages, build the core in WebAssembly, its package for npm and the page of `datarep view`
	@tools/install-deps build
	@for c in emcc clang dpkg-source chromium node npm; do command -v $$c > /dev/null || { tools/install-deps web || exit 1; break; }; done
	+@$(SUB) MODE=release web-page

web-test: web ## run all tests of datarep-wasm and of the page, in Node and in headless Chromium; print figures beside their bars
	+@$(SUB) MODE=release all build/release/tests/fault/mutants
	@for t in "run-node.sh --full" "run-server.py" "run-browser.sh --full"; do tests/web/$$t; done \
	    > build/web/test.log 2>&1; grep -E '^(not ok|1\.\.0|counted|# figure)' build/web/test.log; \
	    awk '/^ok/ { o++ } /^not ok/ { n++ } END { print o + 0 " passed, " n + 0 " failed"; exit n > 0 }' build/web/test.log

remote: ## install missing packages, read files by URL from nginx, a server that misbehaves and an S3 server
	@tools/install-deps build remote
	@command -v npm > /dev/null || tools/install-deps remote-s3
	+@$(SUB) MODE=release all
	@tests/remote/run-remote.py --full > build/remote.log; status=$$?; grep -A3 '^not ok' build/remote.log; \
	    awk '/^1\.\.0/ || /# SKIP/ { s++; print; next } /^ok/ { o++ } /^not ok/ { n++ } END { print o + 0 " passed, " n + 0 " failed, " s + 0 " skipped" }' build/remote.log; \
	    exit $$status

bench-remote: ## time reading by URL over a connection with delay against curl, zarr and h5py over fsspec: 4 GiB in /tmp
	@tools/install-deps build remote python remote-peers
	+@$(SUB) MODE=release all python-package
	@tests/bench/remote/run.py

bench-netcdf: ## time the library for netCDF programs against the same data as netCDF-4; sizes of both
	@tools/install-deps build interop netcdf
	+@$(SUB) MODE=release libs netcdf-package
	@tests/bench/netcdf/run.py

# Memory of Python's own is not checked for leaks, and its allocator is that of C.
python-asan: ## run the tests of the package for Python under ASan and -X dev
	@tools/install-deps build interop python
	+@$(SUB) MODE=release libs python-package
	+@$(SUB) MODE=asan libs python-package
	@LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:detect_stack_use_after_return=0 PYTHONMALLOC=malloc \
	    $(PYTHON) -X dev tests/python/run-pytest.py --package=build/python-asan

python-others: ## run the tests of other packages (h5py, xarray, anndata, ...) against the package for Python
	@tools/install-deps build interop python
	+@$(SUB) MODE=release libs python-package
	@tests/python/suites.py

python-typing: ## check the type hints of the package for Python, and what mypy infers for who uses it
	@tools/install-deps python
	@tools/lint python

python-doc: ## make the HTML pages about the package for Python in build/docs/python; each warning is an error
	@tools/install-deps build interop python doc
	+@$(SUB) MODE=release libs python-package
	@DATAREP_PACKAGE=$(CURDIR)/build/python PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m sphinx -q -W --keep-going -n -b html \
	    -d build/docs/python-doctrees python/doc build/docs/python
	@echo "python-doc: build/docs/python/index.html"

bench-python: ## time the package for Python against h5py and netCDF4
	@tools/install-deps build interop python
	+@$(SUB) MODE=release python-package
	@tests/bench/python.py

# The backend of `pip install .` makes both, and has `make wheel-files` build what it packs.
WHEEL := build/wheel
wheel: ## build the wheel for Python, and the archive of its sources, into build/wheel/dist
	@tools/install-deps build interop python
	@$(PYTHON) python/backend.py $(WHEEL)/dist

wheel-roots: ## try the wheel, and compile its sources, in bare bookworm and trixie (needs root)
	@tools/install-deps build interop python roots
	@tests/python/roots $(WHEEL)

mpi: ## install missing packages, build the library for MPI and test it under each MPI, with 1 to 4 ranks
	@tools/install-deps build test mpi
	+@$(SUB) MODE=release all mpi-programs
	@tests/mpi/run-mpi.py --full
	@tests/mpi/run-kill.py --full
	@tests/mpi/run-heat.py
	@tests/mpi/run-hashes.py --full

mpiio: ## install missing packages, build the library that programs under MPI preload, run such programs and tests of MPIs with it
	@tools/install-deps build test mpi mpiio
	+@$(SUB) MODE=release all
	@tests/mpiio/run-mpiio.py --full
	@tests/mpiio/suites.py
	@tests/mpiio/libraries.py

bench-mpi: ## time several ranks against parallel HDF5, PnetCDF and the disk, and preloaded views, under each MPI; count messages of 100,000 ranks
	@tools/install-deps build test mpi
	+@$(SUB) MODE=release all mpi-bench-programs build/release/tests/unit/test_team_scale
	@tests/bench/mpi/run.py
	@tests/mpiio/bench.py
	@RANKS=100000 build/release/tests/unit/test_team_scale

t: ## run the unit tests of one room or program of this MODE, with a tenth of the random cases: make t T=tree
	@test -n "$(T)" || { echo "t: which? make t T=tree" >&2; exit 1; }
	+@programs=$$(tests/run --list unit-$(MODE):$(T)) && $(SUB) -s MODE=$(MODE) $$programs $(PLUGINS)
	@tests/run --quick unit-$(MODE):$(T)

unit: unit-programs ## run the unit tests of this MODE only
	@tests/run unit-$(MODE)

reproducible: ## build in two directories and check that the installed files are identical
	@tools/install-deps build interop
	@tests/install/twice

requirements: ## list the tests of each rule of the standard; fail for a rule without one
	@tests/requirements.py

lint: ## check in half a minute: layout, includes, figures, symbols, licences, scripts
	+@tools/lint

lint-all: ## install missing packages; also warnings of gcc and clang, headers, interface, cppcheck, types
	@tools/install-deps build test interop lint python
	+@tools/lint all

figures: ## print the structure of the sources, room by room, beside its budgets
	+@$(SUB) MODE=release all
	@tools/figures build/release/obj

bench: ## install missing packages, build, run the benchmarks RUNS times; a table of how near the limits and the peers they come
	@tools/install-deps build interop bench
	+@$(SUB) MODE=release all bench-programs
	@rm -f build/release/bench.tsv
	@for run in $$(seq $(RUNS)); do for b in $(patsubst %,build/release/%,$(basename $(BENCH_SRC) $(if $(FC),$(BENCH_FORTRAN)))); do \
	    echo "== $${b##*/}"; BENCH_TIMES=build/release/bench.tsv $$b || exit 1; done; done
	@tests/bench/table.py build/release/bench.tsv

# Run and run in turn, so that a machine whose speed drifts treats both alike.
bench-second: ## run the programs of the table RUNS times, with their own figures and with others: does the gain hold there?
	@tools/install-deps build interop bench
	+@$(SUB) MODE=release all bench-programs bench-second-programs
	@rm -f build/release/bench.tsv build/release/second.tsv
	@for run in $$(seq $(RUNS)); do for b in $(notdir $(BENCH_SECOND)); do \
	    echo "== $$b"; BENCH_TIMES=build/release/bench.tsv build/release/tests/bench/$$b || exit 1; \
	    echo "== $$b, other figures"; BENCH_TIMES=build/release/second.tsv build/release/second/$$b || exit 1; done; done
	@tests/bench/table.py build/release/bench.tsv build/release/second.tsv

fuzz: ## run each fuzz target for FUZZ_TIME seconds
	@tools/install-deps build hardening
	+@$(SUB) MODE=fuzz CC=clang fuzz-programs
	@for f in $(patsubst tests/fuzz/%.c,%,$(FUZZ_SRC)); do \
	    echo "== $$f"; mkdir -p tests/fuzz/corpus/$$f build/fuzz/found/$$f; \
	    build/fuzz/$$f -max_total_time=$(FUZZ_TIME) -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
	        -artifact_prefix=build/fuzz/found/$$f/ build/fuzz/found/$$f tests/fuzz/corpus/$$f \
	        $$(case $$f in fuzz_open|fuzz_copy|fuzz_repair|fuzz_write) echo tests/vectors tests/vectors/bad;; esac) \
	        || exit 1; done

fuzz-afl: ## run each fuzz target under AFL++ for AFL_TIME seconds
	@tools/install-deps build hardening
	+@$(SUB) MODE=afl CC=afl-clang-fast CXX=afl-clang-fast++ fuzz-programs
	@for f in $(patsubst tests/fuzz/%.c,%,$(FUZZ_SRC)); do tests/fuzz/afl $$f $(AFL_TIME) || exit 1; done

property: $(BUILD)/tests/unit/test_property ## test random types under random representations for PROPERTY_TIME s
	@PROPERTY_TIME=$(PROPERTY_TIME) DREP_TEST_SEED=$${DREP_TEST_SEED:-$$(date +%s)00000} $<

crash: ## check CRASH_STATES simulated crash states, on all processors
	@tools/install-deps build
	+@$(SUB) MODE=release build/release/tests/fault/crash
	@n=$$(nproc); seed=$${CRASH_SEED:-$$(date +%s)}; jobs=; bad=0; echo "CRASH_SEED=$$seed"; \
	for i in $$(seq $$n); do \
	    build/release/tests/fault/crash $$((($(CRASH_STATES) + n - 1) / n)) $$((seed * 100000 + i * 10000000)) & \
	    jobs="$$jobs $$!"; done; \
	for j in $$jobs; do wait $$j || bad=1; done; exit $$bad

model: ## search the model of commits and readers with spin, let it follow TRACES recorded runs
	@tools/install-deps build test model
	+@$(SUB) MODE=release build/release/tests/model/record
	@tests/model/run-model.py --full

interop: ## convert HDF5 and netCDF-4 files both ways under every representation; print the table
	@tools/install-deps build interop
	+@$(SUB) MODE=release all test-programs
	@for t in hdf5 packages files; do \
	    DATAREP=build/release/datarep BUILDDIR=build tests/interop/run-$$t.py --full > build/$$t.log || \
	        { grep -A3 '^not ok' build/$$t.log; exit 1; }; done
	@sed -n 's/^# //p' build/hdf5.log; grep -c '^ok' build/packages.log | sed 's/$$/ trips of files of Debian packages/'
	@sed -n 's/^# //p' build/files.log

mutants: ## import MUTANTS damaged HDF5 files under strace, and open twice as many of ours; MUTANTS_SEED repeats a run
	@tools/install-deps build test interop
	+@$(SUB) MODE=release all test-programs
	+@$(SUB) MODE=asan build/asan/tests/fault/mutants
	@seed=$${MUTANTS_SEED:-$$(date +%s)}; bad=0; echo "MUTANTS_SEED=$$seed"; \
	BUILDDIR=build tests/fault/run-mutants.sh $$((2 * $(MUTANTS))) $$seed || bad=1; \
	DATAREP=build/release/datarep BUILDDIR=build tests/interop/run-mutants.py $(MUTANTS) $$seed > build/mutants.log || bad=1; \
	grep -v '^ok' build/mutants.log; exit $$bad

soak: ## kill a writer under four readers for SOAK_TIME s, then cut the power for a quarter of it
	@tools/install-deps build hardening
	+@$(SUB) MODE=release build/release/tests/fault/writer
	@dir=$$(mktemp -d $${TMPDIR:-/tmp}/datarep-soak-XXXXXX); seed=$${SOAK_SEED:-$$(date +%s)}; bad=0; \
	echo "SOAK_SEED=$$seed"; \
	python3 tests/fault/soak.py build/release/tests/fault/writer $$dir $(SOAK_TIME) $$seed || bad=1; \
	python3 tests/fault/powercut.py build/release/tests/fault/writer $$dir $$(($(SOAK_TIME) / 4)) $$seed || \
	    test $$? = 77 || bad=1; \
	rm -rf $$dir; exit $$bad

hetero: ## build and test for other machines under qemu-user, exchange files; print the table
	@tools/install-deps build test interop hetero
	+@$(SUB) MODE=release all test-programs
	@tests/hetero/hetero.py $(MACHINES)

hetero-short: ## like hetero, for s390x, i386 and m68k with some of the unit tests
	@tools/install-deps build test interop hetero-short
	+@$(SUB) MODE=release all test-programs
	@tests/hetero/run-short.py

musl: ## build the core with musl as a static library, run the vectors and unit tests
	@tools/install-deps build test
	@dir=$$(mktemp -d); SRCDIR="$(CURDIR)" BUILDDIR="$(CURDIR)/build" TMPDIR=$$dir tests/install/run-musl.sh --full; \
	    status=$$?; rm -rf $$dir; exit $$status

deb: ## build the Debian packages into build/deb, install them in a new Debian, build programs there
	@tools/install-deps build interop packaging
	@tests/install/deb build/deb

recipes: ## install missing packages, build and install by the recipes for Spack and conda, run their tests; VARIANTS=+mpi+fortran
	@tools/install-deps build test interop python remote
	@tests/install/run-recipes.py --build $(VARIANTS)

docs: ## check the man pages; format them and the library's reference into build/docs
	@tools/install-deps docs
	mandoc -T lint -W warning $(MAN)
	@tools/man/html build/docs/man
	@tools/reference build/docs

site: ## make one static site of all pages with a search in build/site; warnings and links that lead nowhere are errors
	@tools/install-deps build python doc
	+@$(SUB) MODE=release libs python-package
	@$(PYTHON) tools/site build/site

# Of the commit, whatever else is in the tree: equal commits make equal bytes.
dist: ## make the archive of the sources of this commit, with the page if it is built; it builds without git: build/dist
	@tools/dist $(if $(WEB_PAGE),--page $(WEB)/www) build/dist

deps-%: ## install the Debian packages of a group (tools/install-deps lists them)
	@tools/install-deps $*

# ------------------------------------------------------------------ install

MAN := $(wildcard tools/man/*.[157])
man_in = $(patsubst tools/man/%,$D$(mandir)/man$(1)/%,$(filter %.$(1),$(MAN)))
SCHEMAS := $(wildcard schema/*.yaml schema/examples/*.yaml)
D := $(DESTDIR)

# What the files for pkg-config and CMake say of this build.
fill_in = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(libdir)|' -e 's|@INCLUDEDIR@|$(includedir)|' \
    -e 's|@VERSION@|$(VERSION)|' -e 's|@SOMAJOR@|$(SOMAJOR)|' \
    -e 's|@LIB_TO_INCLUDE@|$(shell realpath -m --relative-to=$(libdir) $(includedir))|' \
    -e 's|@POINTER@|$(lastword $(shell echo __SIZEOF_POINTER__ | $(CC) -E -P -))|' \
    -e 's|@LIBS_PRIVATE@|$(strip -pthread $(LIB_LIBS))|'

# The package uses the library and the command that are installed; pip and entry points know it by
# its dist-info.
PY_INFO = $D$(pydir)/datarep-$(VERSION).dist-info
define install_python
	install -d $D$(pydir)/datarep/bin $D$(pydir)/datarep/h5 $(PY_INFO)
	install -m 644 $(PYDIR)/_core.abi3.so $(PY_FILES) $D$(pydir)/datarep/
	install -m 644 $(PY_H5_FILES) $D$(pydir)/datarep/h5/
	$(if $(PY_RPATH),ln -sfn $(shell realpath -m --relative-to=$(pydir)/datarep $(libdir))/libdatarep.so.$(SOMAJOR) \
	    $D$(pydir)/datarep/libdatarep.so.$(SOMAJOR))
	ln -sfn $(shell realpath -m --relative-to=$(pydir)/datarep/bin $(bindir))/datarep $D$(pydir)/datarep/bin/datarep
	install -m 644 python/entry_points.txt $(PY_INFO)/
	printf 'Metadata-Version: 2.1\nName: datarep\nVersion: %s\n' $(VERSION) > $(PY_INFO)/METADATA
	echo make > $(PY_INFO)/INSTALLER
endef

define install_mpi
install -m 644 $(BUILD)/$(2).so.$(VERSION) $D$(libdir)/
	ln -sf $(2).so.$(VERSION) $D$(libdir)/$(2).so.$(SOMAJOR)
	ln -sf $(2).so.$(SOMAJOR) $D$(libdir)/$(2).so
	$(fill_in) -e 's|@MPI@|$(1)|' -e 's|@MPI_PACKAGE@|$(MPI_PACKAGE_$(1))|' lib/mpi/datarep-mpi.pc.in \
	    > $D$(libdir)/pkgconfig/$(2).pc

endef
MPI_PACKAGE_mpich = mpich
MPI_PACKAGE_openmpi = ompi-c

# Modules stand where Debian has those of this compiler; what makes them goes along for other compilers.
MOD_VERSION = $(shell gunzip -c $(FORTRAN)/datarep.mod | sed -n "1s/.*version '\([0-9]*\)'.*/\1/p")
MOD_DIR = $(libdir)/fortran/gfortran-mod-$(MOD_VERSION)
define install_fortran
	install -m 644 $(FORTRAN_LIB) $D$(libdir)/
	ln -sf libdatarep-fortran.so.$(VERSION) $D$(libdir)/libdatarep-fortran.so.$(SOMAJOR)
	ln -sf libdatarep-fortran.so.$(SOMAJOR) $D$(libdir)/libdatarep-fortran.so
	install -D -m 644 -t $D$(MOD_DIR) $(FORTRAN)/datarep.mod
	install -D -m 644 -t $D$(datadir)/datarep-fortran fortran/kinds.f90 fortran/generate.py fortran/datarep.f90.in $(FORTRAN_SRC) \
	    $(wildcard fortran/*.h)
	install -D -m 644 -t $D$(datadir)/datarep-fortran/mpi fortran/mpi/datarep_mpi.f90 fortran/mpi/comm.c
	$(fill_in) -e 's|@MOD_VERSION@|$(MOD_VERSION)|' fortran/datarep-fortran.pc.in > $D$(libdir)/pkgconfig/datarep-fortran.pc
	$(foreach m,$(FORTRAN_MPIS),$(call install_fortran_mpi,$(m),libdatarep-fortran-$(m)))
endef
define install_fortran_mpi
install -m 644 $(BUILD)/$(2).so.$(VERSION) $D$(libdir)/
	ln -sf $(2).so.$(VERSION) $D$(libdir)/$(2).so.$(SOMAJOR)
	ln -sf $(2).so.$(SOMAJOR) $D$(libdir)/$(2).so
	install -D -m 644 -t $D$(MOD_DIR)/datarep-$(1) $(FORTRAN)/$(1)/datarep_mpi.mod
	$(fill_in) -e 's|@MPI@|$(1)|' -e 's|@MOD_VERSION@|$(MOD_VERSION)|' fortran/mpi/datarep-fortran-mpi.pc.in \
	    > $D$(libdir)/pkgconfig/datarep-fortran-$(1).pc

endef

install: all $(if $(PY_INCLUDE),python-package) $(if $(FC),fortran-package) netcdf-package ## install into DESTDIR and PREFIX (default /usr/local)
	install -d $D$(bindir) $D$(libdir)/pkgconfig $D$(includedir) $D$(mandir)/man1 $D$(mandir)/man5 \
	    $D$(mandir)/man7
	install -m 755 $(COMMAND) $D$(bindir)/datarep
	install -D -m 644 tools/completion/datarep.bash $D$(bashdir)/datarep
	install -D -m 644 tools/completion/_datarep $D$(zshdir)/_datarep
	install -D -m 644 tools/completion/datarep.fish $D$(fishdir)/datarep.fish
	install -D -m 644 tools/share/datarep.magic $D$(magicdir)/datarep
	install -D -m 644 tools/share/datarep.xml $D$(mimedir)/datarep.xml
	install -D -m 644 LICENSE $D$(docdir)/LICENSE
	sed '/\*\//q' $(BORROWED) > $D$(docdir)/xxhash.notice
	install -D -m 644 -t $D$(docdir)/examples $(wildcard tests/examples/*.c)
	$(foreach d,five fortran mpi,install -D -m 644 -t $D$(docdir)/examples/$(d) $(wildcard tests/examples/$(d)/*) && ) true
	install -m 644 $(SHARED) $D$(libdir)/
	ln -sf libdatarep.so.$(VERSION) $D$(libdir)/libdatarep.so.$(SOMAJOR)
	ln -sf libdatarep.so.$(SOMAJOR) $D$(libdir)/libdatarep.so
	install -m 644 $(STATIC) $D$(libdir)/
	install -m 644 lib/datarep.h lib/datarep-team.h lib/datarep.hpp $(if $(MPIS),lib/mpi/datarep-mpi.h) $D$(includedir)/
	$(foreach m,$(MPIS),$(call install_mpi,$(m),libdatarep-mpi-$(m)))
	install -m 644 $(filter %.1,$(MAN)) $D$(mandir)/man1/
	install -m 644 $(filter %.5,$(MAN)) $D$(mandir)/man5/
	install -m 644 $(filter %.7,$(MAN)) $D$(mandir)/man7/
	$(if $(strip $(MODULES) $(DOOR) $(MPIIO)),install -d $D$(libdir)/datarep && install -m 644 $(MODULES) $(DOOR) $(MPIIO) $D$(libdir)/datarep/)
	$(if $(SCHEMAS),install -d $D$(datadir)/datarep/schemas && \
	    install -m 644 $(SCHEMAS) $D$(datadir)/datarep/schemas/)
	$(if $(and $(VIEW_SRC),$(WEB_PAGE)),install -d $D$(datadir)/datarep/view/assets && install -m 644 $(WEB)/www/index.html \
	    $(WEB)/www/LICENSES.txt $D$(datadir)/datarep/view/ && install -m 644 $(WEB)/www/assets/* $D$(datadir)/datarep/view/assets/)
	install -m 644 -D -t $D$(datadir)/datarep tools/share/dump.schema.json tools/share/output.schema.json
	$(if $(PY_INCLUDE),$(install_python))
	$(if $(FC),$(install_fortran))
	$(fill_in) lib/datarep.pc.in > $D$(libdir)/pkgconfig/datarep.pc
	install -d $D$(libdir)/cmake/datarep
	for f in datarep-config datarep-config-version; do \
	    $(fill_in) lib/$$f.cmake.in > $D$(libdir)/cmake/datarep/$$f.cmake || exit 1; done
	$(if $D,,@tools/loader $(libdir))

# Strip debug information, keep the symbols that a linker needs.
install-strip: install ## install without debug information
	$(STRIP) $D$(bindir)/datarep
	$(STRIP) --strip-unneeded $D$(libdir)/libdatarep.so.$(VERSION) $(patsubst $(BUILD)/%,$D$(libdir)/%,$(MPI_SHARED)) \
	    $(if $(FC),$(patsubst $(BUILD)/%,$D$(libdir)/%,$(FORTRAN_LIB) $(FORTRAN_MPI))) \
	    $(patsubst $(BUILD)/%,$D$(libdir)/datarep/%,$(MODULES) $(DOOR) $(MPIIO)) $(if $(PY_INCLUDE),$D$(pydir)/datarep/_core.abi3.so)
	$(STRIP) --strip-debug --enable-deterministic-archives $D$(libdir)/libdatarep.a

uninstall: ## remove the installed files
	rm -f $D$(bindir)/datarep $D$(libdir)/libdatarep.so $D$(libdir)/libdatarep.so.$(SOMAJOR) \
	    $D$(libdir)/libdatarep.so.$(VERSION) $D$(libdir)/libdatarep.a $D$(includedir)/datarep.h \
	    $D$(includedir)/datarep-team.h $D$(includedir)/datarep.hpp \
	    $D$(includedir)/datarep-mpi.h $D$(libdir)/libdatarep-mpi-*.so* $D$(libdir)/pkgconfig/libdatarep-mpi-*.pc \
	    $D$(libdir)/pkgconfig/datarep.pc $(call man_in,1) $(call man_in,5) $(call man_in,7) \
	    $D$(bashdir)/datarep $D$(zshdir)/_datarep $D$(fishdir)/datarep.fish \
	    $D$(magicdir)/datarep $D$(mimedir)/datarep.xml
	$(if $(PY_INCLUDE),rm -rf $D$(pydir)/datarep $(PY_INFO))
	rm -rf $D$(libdir)/libdatarep-fortran* $D$(libdir)/pkgconfig/datarep-fortran*.pc $D$(libdir)/fortran/gfortran-mod-*/datarep* $D$(datadir)/datarep-fortran
	rm -rf $D$(libdir)/datarep $D$(libdir)/cmake/datarep $D$(datadir)/datarep $D$(docdir)
	$(if $D,,@tools/loader -q $(libdir))

clean: ## remove build/
	rm -rf build

# A colon at the end of MANPATH stands for the system's pages.
env: ## print the lines by which a shell uses this build without installing it: eval "$$(make -s env)"
	@printf 'export %s="%s$${%s:+:$$%s}"\n' \
	    PATH '$(IN_PLACE)' PATH PATH \
	    PKG_CONFIG_PATH '$(IN_PLACE)/pkgconfig' PKG_CONFIG_PATH PKG_CONFIG_PATH \
	    LD_LIBRARY_PATH '$(IN_PLACE)' LD_LIBRARY_PATH LD_LIBRARY_PATH \
	    PYTHONPATH '$(abspath $(dir $(PYDIR)))' PYTHONPATH PYTHONPATH
	@printf 'export MANPATH="%s:$${MANPATH-}"\n' '$(IN_PLACE)/man'

# For scripts: print the value of a variable.
print-%: ; @echo '$($*)'

help: ## print this list
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/  make \1~\2/p' Makefile | sed 's/%/GROUP/' | \
	    awk -F '~' '{ printf "%-20s %s\n", $$1, $$2 }'
	@echo "  MODE=release|debug|asan|tsan|cov, CC=gcc|clang, CROSS=triplet, DESTDIR, PREFIX, FUZZ_TIME, AFL_TIME, PROPERTY_TIME"
