! grid.f90 - writes a field over longitude, latitude and time, with coordinates and units.
! SPDX-License-Identifier: MIT
program grid
  use datarep
  implicit none
  type(drep_file) :: f
  character(200) :: path
  real :: sst(4, 3, 2)
  integer :: i

  call get_command_argument(1, path)
  sst = reshape([(280.0 + i, i = 0, 23)], shape(sst))
  call f%create(path)
  call f%write("/sst", sst, dims=["lon ", "lat ", "time"], &
      maxshape=[4, 3, DREP_UNLIMITED], filters="shuffle,deflate")
  call f%write("/lat", [-30.0, 0.0, 30.0], dims=["lat"])
  call f%write("/lon", [0.0, 90.0, 180.0, 270.0], dims=["lon"])
  call f%attr_write("/", "title", "sea surface temperature")
  call f%attr_write("/", "institution", "a weather service")
  call f%attr_write("/", "Conventions", "CF-1.10")
  call f%attr_write("/sst", "standard_name", "sea_surface_temperature")
  call f%attr_write("/sst", "units", "K")
  call f%attr_write("/lat", "units", "degrees_north")
  call f%attr_write("/lon", "units", "degrees_east")
  call f%close()
end program
