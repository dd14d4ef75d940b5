! grid-netcdf.f90 - grid.f90 by netCDF's module.
! SPDX-License-Identifier: MIT
program grid
  use netcdf
  implicit none
  character(200) :: path
  real :: sst(4, 3, 2)
  integer :: i, f, lon, lat, time, v, y, x

  call get_command_argument(1, path)
  sst = reshape([(280.0 + i, i = 0, 23)], shape(sst))
  call check(nf90_create(path, nf90_netcdf4, f))
  call check(nf90_def_dim(f, "lon", 4, lon))
  call check(nf90_def_dim(f, "lat", 3, lat))
  call check(nf90_def_dim(f, "time", nf90_unlimited, time))
  call check(nf90_def_var(f, "sst", nf90_float, [lon, lat, time], v, &
      shuffle=.true., deflate_level=6))
  call check(nf90_def_var(f, "lat", nf90_float, [lat], y))
  call check(nf90_def_var(f, "lon", nf90_float, [lon], x))
  call check(nf90_put_att(f, nf90_global, "title", &
      "sea surface temperature"))
  call check(nf90_put_att(f, nf90_global, "institution", "a weather service"))
  call check(nf90_put_att(f, nf90_global, "Conventions", "CF-1.10"))
  call check(nf90_put_att(f, v, "standard_name", "sea_surface_temperature"))
  call check(nf90_put_att(f, v, "units", "K"))
  call check(nf90_put_att(f, y, "units", "degrees_north"))
  call check(nf90_put_att(f, x, "units", "degrees_east"))
  call check(nf90_enddef(f))
  call check(nf90_put_var(f, v, sst))
  call check(nf90_put_var(f, y, [-30.0, 0.0, 30.0]))
  call check(nf90_put_var(f, x, [0.0, 90.0, 180.0, 270.0]))
  call check(nf90_close(f))
contains
  subroutine check(err)
    integer, intent(in) :: err

    if (err == nf90_noerr) return
    print "(a)", trim(nf90_strerror(err))
    error stop 1
  end subroutine
end program
