# SPDX-License-Identifier: MIT
"""program.py - a program of mpi4py that writes external32.  Usage: program.py DIRECTORY"""
import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
path = sys.argv[1] + "/python"
values = np.arange(6, dtype=np.int_) + 100 * rank - 3
column = MPI.LONG.Create_vector(6, 1, ranks).Commit()
f = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
f.Set_view(4 * rank, MPI.LONG, column, "external32")
assert f.Get_type_extent(MPI.LONG) == 4
f.Write_at_all(0, [values, MPI.LONG])
back = np.zeros_like(values)
f.Iread_at(0, [back, MPI.LONG]).Wait()
assert (back == values).all(), back
try:
    f.Set_view(0, MPI.LONG, MPI.LONG, "no such")
except MPI.Exception as e:
    assert e.Get_error_class() == MPI.ERR_UNSUPPORTED_DATAREP
else:
    raise AssertionError("no error")
f.Close()
comm.Barrier()
want = np.array([[i + 100 * r - 3 for r in range(ranks)] for i in range(6)], dtype=">i4")
assert open(path, "rb").read() == want.tobytes()
assert MPI.LONG.Pack_external_size("external32", 3) == 12
if rank == 0:
    print("python ends")
