! ranks.f90 - the ranks of a communicator write a field together, step by step.
!
! Usage: mpiexec -n RANKS ranks FILE
! SPDX-License-Identifier: MIT
program ranks
  use mpi_f08
  use datarep_mpi
  implicit none
  integer, parameter :: nx = 8, ny = 6
  type(drep_file) :: f
  type(drep_dataset) :: t
  character(200) :: path
  integer :: rank, n, first, last, step
  real, allocatable :: mine(:, :)

  call get_command_argument(1, path)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  first = ny*rank/n + 1
  last = ny*(rank + 1)/n
  allocate (mine(nx, first:last))

  call drep_mpi_create(f, MPI_COMM_WORLD, path, datarep="external32")
  call t%create(f, "/t", "REAL4", shape=[nx, ny, 0], maxshape=[nx, ny, DREP_UNLIMITED], &
      dims=[character(4) :: "x", "y", "time"], chunk=[nx, ny, 1])
  do step = 1, 3
    mine = 100*step + rank
    call t%resize([nx, ny, step])
    call t%write(mine, start=[1, first, step], collective=.true.)
    call f%commit()
  end do
  call f%close()
  call MPI_Finalize()
end program
