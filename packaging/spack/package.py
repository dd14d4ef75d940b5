# SPDX-FileCopyrightText: 2026 The Datarep authors
# SPDX-License-Identifier: MIT
"""Recipe for Spack 1.0 and later: repos/.../packages/datarep/package.py of a package repository."""
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Datarep(MakefilePackage):
    """Container for N-dimensional arrays, groups and attributes in one file. The header names the
    data representation of the elements, so that every machine reads them bit for bit."""

    # Placeholders until there is a release: `tests/install/run-recipes.py --final` refuses them.
    homepage = "https://datarep.invalid/"
    url = "https://datarep.invalid/datarep-1.0.0.tar.gz"

    license("MIT")

    version("1.0.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("hdf5", default=True, description="Import and export HDF5 and netCDF-4 files")
    variant("netcdf", default=True, description="Import and export netCDF files, serve programs for netCDF")
    variant("plot", default=True, description="Draw pictures")
    variant("remote", default=True, description="Read and write files by URL")
    variant("view", default=False, description="Serve the viewer in the browser")
    variant("python", default=True, description="Install the package for Python")
    variant("fortran", default=False, description="Install the module for Fortran")
    variant("mpi", default=False, description="Let the ranks of an MPI program share a file")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("pkgconfig", type="build")

    depends_on("xxhash")
    depends_on("libyaml")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("libdeflate")
    depends_on("liblzf")
    depends_on("c-blosc")
    depends_on("libzip")
    depends_on("hdf5~mpi", when="+hdf5~mpi")
    depends_on("hdf5+mpi", when="+hdf5+mpi")
    depends_on("netcdf-c@4.8.1:~mpi", when="+netcdf~mpi")
    depends_on("netcdf-c@4.8.1:+mpi", when="+netcdf+mpi")
    depends_on("cairo", when="+plot")
    depends_on("curl@7.85:", when="+remote")
    depends_on("libmicrohttpd", when="+view")
    depends_on("mpi", when="+mpi")

    extends("python", when="+python")
    depends_on("python@3.11:", type=("build", "run"), when="+python")
    depends_on("python@3:", type="build", when="+fortran")
    depends_on("py-numpy@1.23:", type="run", when="+python")

    requires("platform=linux", msg="Datarep runs on Linux alone")
    requires("%fortran=gcc", when="+fortran", msg="The module for Fortran is gfortran's")
    requires("^mpich", "^openmpi", policy="one_of", when="+mpi", msg="Datarep knows MPICH and Open MPI")

    sanity_check_is_file = ["bin/datarep", "lib/pkgconfig/datarep.pc"]

    # Each library is asked for or left out by name: a missing one fails, another one that pkg-config finds
    # is not taken. The compiler's wrapper adds the directories.
    @property
    def build_targets(self):
        spec = self.spec
        wanted = {
            "ZSTD": True,
            "LZ4": True,
            "DEFLATE": True,
            "LZF": True,
            "BLOSC": True,
            "YAML": True,
            "ZIP": True,
            "HDF5": spec.satisfies("+hdf5"),
            "NETCDF": spec.satisfies("+netcdf"),
            "CAIRO": spec.satisfies("+plot"),
            "CURL": spec.satisfies("+remote"),
            "MICROHTTPD": spec.satisfies("+view"),
            "MPICH": spec.satisfies("+mpi ^mpich"),
            "OPENMPI": spec.satisfies("+mpi ^openmpi"),
        }
        args = [f"PREFIX={self.prefix}", f"XXHASH={join_path(spec['xxhash'].prefix.include, 'xxhash.h')}"]
        args += [f"HAVE_{name}={'1' if on else ''}" for name, on in wanted.items()]
        if spec.satisfies("+hdf5"):
            args += ["HDF5_CFLAGS=", "HDF5_LIBS=-lhdf5"]
        if spec.satisfies("~netcdf"):
            args += ["HAVE_NETCDF_DISPATCH="]
        if spec.satisfies("+python") or spec.satisfies("+fortran"):
            args += [f"PYTHON={spec['python'].command.path}"]
        if spec.satisfies("+python"):
            python = spec["python"]
            args += [f"PY_INCLUDE={python.headers.directories[0]}"]
            args += [f"pydir={join_path(self.prefix, python.package.platlib)}"]
        else:
            args += ["PY_INCLUDE="]
        args += [f"FC={spack_fc if spec.satisfies('+fortran') else ''}"]
        if spec.satisfies("+fortran+mpi"):
            args += [f"MPIFORT_{name}={spec['mpi'].mpifc}" for name in ("mpich", "openmpi")]
        return args

    @property
    def install_targets(self):
        return ["install"] + self.build_targets

    def test_version(self):
        """the command tells its version"""
        datarep = which(self.prefix.bin.datarep)
        assert f"datarep {self.spec.version}," in datarep("--version", output=str.split, error=str.split)

    def test_import(self):
        """Python imports the package, and opens the library"""
        if self.spec.satisfies("~python"):
            raise SkipTest("the package for Python is not installed")
        python = self.spec["python"].command
        out = python("-c", "import datarep; print(datarep.__version__)", output=str.split, error=str.split)
        assert str(self.spec.version) in out
