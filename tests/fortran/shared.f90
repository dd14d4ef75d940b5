! shared.f90 - what two ranks that share a file are refused: rank 0 tells.
! SPDX-License-Identifier: MIT
program shared
  use checks
  use mpi
  use datarep
  use datarep_mpi
  implicit none
  type(drep_file) :: f
  type(drep_dataset) :: d
  character(300) :: path, msg
  integer :: rank, stat, err, part(2, 1)

  call get_command_argument(1, path)
  call MPI_Init(err)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
  call drep_mpi_open(f, MPI_COMM_WORLD, path, mode="w", stat=stat, errmsg=msg)
  if (rank == 0) call refused(stat, msg, 'mode "w" is neither "r" nor "rw"', "a mode that is none")
  call drep_mpi_create(f, MPI_COMM_WORLD, path)
  named = path
  call d%create(f, "/d", "INTEGER4", shape=[4, 0], maxshape=[4, DREP_UNLIMITED])
  part = rank
  call d%append([1, 2, 3, 4], stat=stat, errmsg=msg)
  if (rank == 0) call refused(stat, msg, "/d|not on a file that 2 ranks share; all ranks resize it", "appending")
  call d%append(part, stat=stat, errmsg=msg)
  if (rank == 0) call refused(stat, msg, "/d|not on a file that 2 ranks share; all ranks resize it", "appending a part")
  call d%resize([4, 1])
  call d%write(part, start=[2*rank + 2, 1], collective=.true., stat=stat, errmsg=msg)
  if (rank == 0) call refused(stat, msg, "/d|dimension", "a part over the end, on one rank")
  call d%write(part, start=[2*rank + 1, 1], collective=.true., stat=stat, errmsg=msg)
  if (rank == 0) call ok(stat == 0, "a part of each")
  call f%close()
  call MPI_Finalize(err)
  if (rank == 0) call done()
end program
