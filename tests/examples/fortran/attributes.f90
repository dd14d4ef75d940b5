! attributes.f90 - reads texts and numbers that others wrote, and writes some.
! SPDX-License-Identifier: MIT
program attributes
  use datarep
  implicit none
  type(drep_file) :: f
  character(200) :: path
  character(:), allocatable :: title, units
  double precision :: factor
  integer :: version

  call get_command_argument(1, path)
  call f%open(path, mode="rw")
  call f%attr_text("/", "title", title)
  call f%attr_text("/sst", "units", units)
  call f%attr_write("/sst", "scale_factor", 0.01d0)
  call f%attr_write("/", "version", 3)
  call f%attr_read("/sst", "scale_factor", factor)
  call f%attr_read("/", "version", version)
  call f%close()
  print "(4a, f4.2, a, i0)", title, ", ", units, ", ", factor, ", ", version
end program
