! heat.f90 - heat spreads over a plate; ranks keep their parts of it in one file and go on from there.
!
! Usage: mpiexec -n RANKS heat FILE STEPS
!
! If FILE exists, the run goes on from its last checkpoint, with any number of ranks, whoever wrote
! it.  Every 25 steps are a checkpoint: a commit, which is in the file as a whole or not at all.
! SPDX-License-Identifier: MIT
program heat
  use mpi_f08
  use datarep
  use datarep_mpi
  implicit none
  integer, parameter :: width = 160, height = 120, every = 25
  type(drep_file) :: f
  type(drep_dataset) :: u
  type(MPI_Comm) :: grid
  type(MPI_Datatype) :: row
  character(200) :: path, steps
  integer :: ranks, rank, n, done, left, right, up, down
  integer :: dims(2), where(2), start(2), count(2)
  double precision, allocatable :: now(:, :), next(:, :)

  call get_command_argument(1, path)
  call get_command_argument(2, steps)
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., grid)
  call MPI_Comm_rank(grid, rank)
  call MPI_Cart_coords(grid, rank, 2, where)
  call MPI_Cart_shift(grid, 0, 1, left, right)
  call MPI_Cart_shift(grid, 1, 1, up, down)
  start = [width, height]*where/dims
  count = [width, height]*(where + 1)/dims - start
  allocate (now(0:count(1) + 1, 0:count(2) + 1), next(0:count(1) + 1, 0:count(2) + 1), source=0d0)
  call MPI_Type_vector(count(2) + 2, 1, count(1) + 2, MPI_DOUBLE_PRECISION, row)
  call MPI_Type_commit(row)

  call begin()
  read (steps, *) n
  do n = n, 1, -1
    call step()
    done = done + 1
    if (mod(done, every) == 0 .or. n == 1) call checkpoint()
  end do
  call f%close()
  call MPI_Type_free(row)
  call MPI_Comm_free(grid)
  call MPI_Finalize()

contains

  ! The part of this rank without its halo: a section, which is written where it lies.
  subroutine checkpoint()
    call u%write(now(1:count(1), 1:count(2)), start=start + 1, collective=.true.)
    call f%attr_write("/u", "step", done)
    call f%commit()
  end subroutine

  ! Opens the file and reads its last checkpoint, or creates it.
  subroutine begin()
    logical :: there
    integer :: i, j, x, y

    inquire (file=path, exist=there)
    call MPI_Bcast(there, 1, MPI_LOGICAL, 0, grid)
    if (there) then
      call drep_mpi_open(f, grid, path, mode="rw")
      call u%open(f, "/u")
      call f%attr_read("/u", "step", done)
      call u%read(now(1:count(1), 1:count(2)), start=start + 1, collective=.true.)
      return
    end if
    call drep_mpi_create(f, grid, path, datarep="external32")
    call u%create(f, "/u", "DOUBLE", shape=[width, height], dims=["x", "y"], chunk=[32, 32])
    call f%attr_write("/u", "units", "K")
    do j = 1, count(2)
      do i = 1, count(1)
        x = start(1) + i - 1 - width/4
        y = start(2) + j - 1 - height/3
        now(i, j) = merge(100, 0, x*x + y*y < 400)
      end do
    end do
    done = 0
    call checkpoint()
  end subroutine

  subroutine step()
    double precision, allocatable :: turn(:, :)
    integer :: i, j, w, h

    w = count(1)
    h = count(2)
    call MPI_Sendrecv(now(0, 1), w + 2, MPI_DOUBLE_PRECISION, up, 0, now(0, h + 1), w + 2, &
        MPI_DOUBLE_PRECISION, down, 0, grid, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(now(0, h), w + 2, MPI_DOUBLE_PRECISION, down, 0, now(0, 0), w + 2, &
        MPI_DOUBLE_PRECISION, up, 0, grid, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(now(1, 0), 1, row, left, 0, now(w + 1, 0), 1, row, right, 0, grid, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(now(w, 0), 1, row, right, 0, now(0, 0), 1, row, left, 0, grid, MPI_STATUS_IGNORE)
    do j = 1, h
      do i = 1, w
        next(i, j) = now(i, j) + 0.2d0*(now(i, j - 1) + now(i, j + 1) + now(i - 1, j) + now(i + 1, j) &
            - 4*now(i, j))
      end do
    end do
    call move_alloc(now, turn)
    call move_alloc(next, now)
    call move_alloc(turn, next)
  end subroutine
end program
