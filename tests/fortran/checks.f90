! checks.f90 - what the tests of the module for Fortran share: their report as TAP.
! SPDX-License-Identifier: MIT
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  implicit none
  private
  public :: ok, refused, done

  integer :: n = 0, failed = 0
  ! The file with whose name messages begin; "": any.
  character(300), public :: named = ""
contains
  subroutine ok(good, name)
    logical, intent(in) :: good
    character(*), intent(in) :: name

    n = n + 1
    if (.not. good) failed = failed + 1
    write (output_unit, "(a, i0, 2a)") merge("ok     ", "not ok ", good), n, " - ", name
  end subroutine

  ! Is `stat` an error whose message begins with the file and has all of `words`, which are joined by
  ! "|"?
  subroutine refused(stat, msg, words, name)
    integer, intent(in) :: stat
    character(*), intent(in) :: msg, words, name
    integer :: i, j
    logical :: good

    good = stat /= 0 .and. (named == "" .or. index(msg, trim(named)//": ") == 1)
    i = 1
    do while (i <= len(words))
      j = index(words(i:), "|")
      if (j == 0) j = len(words) - i + 2
      good = good .and. index(msg, words(i:i + j - 2)) > 0
      i = i + j
    end do
    call ok(good, name)
    if (.not. good) write (output_unit, "(a, i0, 2a)") "# stat ", stat, ", ", trim(msg)
  end subroutine

  subroutine done()
    write (output_unit, "(a, i0)") "1..", n
    if (failed > 0) error stop 1
  end subroutine
end module
