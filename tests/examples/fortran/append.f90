! append.f90 - adds a step along the dimension that may grow.
! SPDX-License-Identifier: MIT
program append
  use datarep
  implicit none
  type(drep_file) :: f
  type(drep_dataset) :: v
  character(200) :: path
  real :: step(4, 3)

  call get_command_argument(1, path)
  step = 300
  call f%open(path, mode="rw")
  call v%open(f, "/sst")
  call v%append(step)
  call f%close()
end program
