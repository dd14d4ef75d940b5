! work.f90 - the calls of Fortran that bench_fortran.c times beside those of C.
! SPDX-License-Identifier: MIT
module work
  use, intrinsic :: iso_c_binding
  use datarep
  implicit none
  type(drep_file) :: f
  type(drep_dataset) :: d
  real(c_double), pointer :: a(:, :, :)
  real(c_double) :: small(8)

contains

  ! Opens or makes a file, and takes the memory at `p` as an array of lengths nx, ny, nz.
  subroutine fortran_begin(path, make, representation, p, nx, ny, nz) bind(C)
    character(kind=c_char), intent(in) :: path(*), representation(*)
    integer(c_int), value :: make
    type(c_ptr), value :: p
    integer(c_int64_t), value :: nx, ny, nz

    if (make /= 0) call f%create(text(path), datarep=text(representation))
    if (make == 0) call f%open(text(path), mode="rw")
    call c_f_pointer(p, a, [nx, ny, nz])
  end subroutine

  function text(p)
    character(kind=c_char), intent(in) :: p(*)
    character(:), allocatable :: text
    integer :: n

    text = ""
    n = 1
    do while (p(n) /= c_null_char)
      text = text//p(n)
      n = n + 1
    end do
  end function

  ! A contiguous dataset of these lengths.
  subroutine fortran_make(path, nx, ny, nz) bind(C)
    character(kind=c_char), intent(in) :: path(*)
    integer(c_int64_t), value :: nx, ny, nz

    call d%create(f, text(path), "REAL8", shape=[nx, ny, nz])
  end subroutine

  subroutine fortran_small(path, n) bind(C)
    character(kind=c_char), intent(in) :: path(*)
    integer(c_int64_t), value :: n

    call d%create(f, text(path), "REAL8", shape=[n])
  end subroutine

  subroutine fortran_end() bind(C)
    call d%close()
    call f%close()
  end subroutine

  ! ---- transfers of much: all planes but the last, every second row, every second element

  subroutine fortran_planes_write() bind(C)
    call d%write(a(:, :, :size(a, 3) - 1))
  end subroutine

  subroutine fortran_planes_read() bind(C)
    call d%read(a(:, :, :size(a, 3) - 1))
  end subroutine

  subroutine fortran_rows_write() bind(C)
    call d%write(a(:, ::2, :))
  end subroutine

  subroutine fortran_rows_read() bind(C)
    call d%read(a(:, ::2, :))
  end subroutine

  subroutine fortran_elements_write() bind(C)
    call d%write(a(::2, :, :))
  end subroutine

  subroutine fortran_elements_read() bind(C)
    call d%read(a(::2, :, :))
  end subroutine

  ! ---- calls that do little

  subroutine fortran_one_read(n) bind(C)
    integer(c_int64_t), value :: n
    integer(c_int64_t) :: i
    real(c_double) :: x

    do i = 1, n
      call d%read(x, start=[mod(i, 8_c_int64_t) + 1, 1_c_int64_t, 1_c_int64_t])
    end do
  end subroutine

  subroutine fortran_one_write(n) bind(C)
    integer(c_int64_t), value :: n
    integer(c_int64_t) :: i

    do i = 1, n
      call d%write(1.5_c_double, start=[mod(i, 8_c_int64_t) + 1, 1_c_int64_t, 1_c_int64_t])
    end do
  end subroutine

  subroutine fortran_all_read(n) bind(C)
    integer(c_int64_t), value :: n
    integer(c_int64_t) :: i

    do i = 1, n
      call d%read(small)
    end do
  end subroutine

  subroutine fortran_all_write(n) bind(C)
    integer(c_int64_t), value :: n
    integer(c_int64_t) :: i

    do i = 1, n
      call d%write(small)
    end do
  end subroutine

  subroutine fortran_path_read(n) bind(C)
    integer(c_int64_t), value :: n
    integer(c_int64_t) :: i

    do i = 1, n
      call f%read("/small", small)
    end do
  end subroutine

  subroutine fortran_attr_number(n) bind(C)
    integer(c_int64_t), value :: n
    integer(c_int64_t) :: i
    integer :: step

    do i = 1, n
      call f%attr_read("/small", "step", step)
    end do
  end subroutine

  subroutine fortran_attr_set(n) bind(C)
    integer(c_int64_t), value :: n
    integer(c_int64_t) :: i

    do i = 1, n
      call f%attr_write("/small", "step", int(i))
    end do
  end subroutine

  subroutine fortran_exists(n) bind(C)
    integer(c_int64_t), value :: n
    integer(c_int64_t) :: i
    logical :: there

    do i = 1, n
      there = f%exists("/small")
      if (.not. there) error stop "no /small"
    end do
  end subroutine
end module
