! slice.f90 - reads two rows of one step as doubles, whatever is stored.
! SPDX-License-Identifier: MIT
program slice
  use datarep
  implicit none
  type(drep_file) :: f
  character(200) :: path
  double precision :: rows(4, 2)
  integer :: i

  call get_command_argument(1, path)
  call f%open(path)
  call f%read("/sst", rows, start=[1, 2, 2])
  call f%close()
  do i = 1, 2
    print "(*(g0, 1x))", nint(rows(:, i))
  end do
end program
