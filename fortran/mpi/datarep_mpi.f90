! datarep_mpi.f90 - Datarep files that the ranks of a communicator share, for programs in Fortran.
!
!     use mpi_f08
!     use datarep_mpi
!     type(drep_file) :: f
!     type(drep_dataset) :: d
!
!     call drep_mpi_create(f, MPI_COMM_WORLD, "run.drep")
!     call d%create(f, "/u", "REAL8", shape=[nx, ny])
!     call d%write(mine, start=[x0, 1], collective=.true.)
!     call f%close()
!
! The module has all that the module datarep has.  Communicators are those of mpi_f08 or integers, as
! of the module mpi and mpif.h.  <datarep-mpi.h> says what is collective: create, open, commit, close,
! and transfers with collective=.true.  Files are closed before MPI_Finalize().
! SPDX-License-Identifier: MIT
module datarep_mpi
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char, c_ptr
  use mpi_f08, only: MPI_Comm
  use datarep
  implicit none
  ! All of the module datarep is public here, too.
  private :: c_char, c_int, c_null_char, c_ptr, MPI_Comm
  private :: open_f08, open_integer, create_f08, create_integer

  ! drep_mpi_open(file, comm, path [, mode, hints, stat, errmsg]), as file%open().
  interface drep_mpi_open
    module procedure open_f08, open_integer
  end interface
  ! drep_mpi_create(file, comm, path [, datarep, exclusive, hints, stat, errmsg]), as file%create().
  interface drep_mpi_create
    module procedure create_f08, create_integer
  end interface

contains

  subroutine open_integer(file, comm, path, mode, hints, stat, errmsg)
    type(drep_file), intent(inout) :: file
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    character(*), intent(in), optional :: mode, hints
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable, target :: a, b
    type(c_ptr) :: box, m, h
    integer(c_int) :: err
    interface
      integer(c_int) function drep_fortran_mpi_open(comm, path, mode, hints, box) bind(C)
        import :: c_int, c_char, c_ptr
        integer(c_int), value :: comm
        character(kind=c_char), intent(in) :: path(*)
        type(c_ptr), value :: mode, hints
        type(c_ptr), intent(inout) :: box
      end function
    end interface

    m = drep_c_text(mode, a)
    h = drep_c_text(hints, b)
    box = file%box_get()
    err = drep_fortran_mpi_open(comm, trim(path)//c_null_char, m, h, box)
    if (err == 0) call file%box_set(box)
    call drep_settle(err, stat, errmsg)
  end subroutine

  subroutine open_f08(file, comm, path, mode, hints, stat, errmsg)
    type(drep_file), intent(inout) :: file
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    character(*), intent(in), optional :: mode, hints
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call open_integer(file, comm%MPI_VAL, path, mode, hints, stat, errmsg)
  end subroutine

  subroutine create_integer(file, comm, path, datarep, exclusive, hints, stat, errmsg)
    type(drep_file), intent(inout) :: file
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    character(*), intent(in), optional :: datarep, hints
    logical, intent(in), optional :: exclusive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable, target :: a, b
    type(c_ptr) :: box, d, h
    integer(c_int) :: amode, err
    interface
      integer(c_int) function drep_fortran_mpi_create(comm, path, amode, datarep, hints, box) bind(C)
        import :: c_int, c_char, c_ptr
        integer(c_int), value :: comm
        character(kind=c_char), intent(in) :: path(*)
        integer(c_int), value :: amode
        type(c_ptr), value :: datarep, hints
        type(c_ptr), intent(inout) :: box
      end function
    end interface

    amode = DREP_RDWR
    if (present(exclusive)) amode = amode + merge(DREP_EXCL, 0, exclusive)
    d = drep_c_text(datarep, a)
    h = drep_c_text(hints, b)
    box = file%box_get()
    err = drep_fortran_mpi_create(comm, trim(path)//c_null_char, amode, d, h, box)
    if (err == 0) call file%box_set(box)
    call drep_settle(err, stat, errmsg)
  end subroutine

  subroutine create_f08(file, comm, path, datarep, exclusive, hints, stat, errmsg)
    type(drep_file), intent(inout) :: file
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    character(*), intent(in), optional :: datarep, hints
    logical, intent(in), optional :: exclusive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg

    call create_integer(file, comm%MPI_VAL, path, datarep, exclusive, hints, stat, errmsg)
  end subroutine
end module
