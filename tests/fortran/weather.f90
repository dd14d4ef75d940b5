! weather.f90 - a forecast as a user writes one: fields over longitude, latitude and time without end.
! SPDX-License-Identifier: MIT
program weather
  use checks
  use datarep
  implicit none
  integer, parameter :: nlon = 72, nlat = 37
  type(drep_file) :: f
  type(drep_dataset) :: time, t2m, rain
  real :: lon(nlon), lat(nlat), temperature(nlon, nlat), fall(0:nlon + 1, 0:nlat + 1)
  integer :: i, j, hour
  character(300) :: path

  call get_command_argument(1, path)
  lon = [(5.0*i, i = 0, nlon - 1)]
  lat = [(90.0 - 5.0*j, j = 0, nlat - 1)]
  fall = 0

  call f%create(path, datarep="external32")
  call f%dimension("/#lon", nlon)
  call f%dimension("/#lat", nlat)
  call f%dimension("/#time", DREP_UNLIMITED)
  call f%write("/lon", lon, dims=["lon"])
  call f%attr_write("/lon", "units", "degrees_east")
  call f%write("/lat", lat, dims=["lat"])
  call f%attr_write("/lat", "units", "degrees_north")
  call time%create(f, "/time", "INTEGER", dims=["time"])
  call f%attr_write("/time", "units", "hours since 2026-11-27 00:00")
  call t2m%create(f, "/surface/t2m", "REAL", dims=["lon ", "lat ", "time"], chunk=[nlon, nlat, 1], &
      filters="shuffle,deflate:4", fill=drep_value(-999.0))
  call f%attr_write("/surface/t2m", "units", "K")
  call f%attr_write("/surface/t2m", "valid_range", [180.0, 340.0])
  call rain%create(f, "/surface/rain", "REAL", dims=["lon ", "lat ", "time"], chunk=[nlon, nlat, 1])
  call f%attr_write("/", "title", "a forecast")

  do hour = 0, 18, 6
    do j = 1, nlat
      do i = 1, nlon
        temperature(i, j) = 288 - 40*abs(lat(j))/90 + hour
        fall(i, j) = i + 100*j + 10000*hour
      end do
    end do
    call time%append(hour)
    call t2m%append(temperature)
    call rain%append(fall(1:nlon, 1:nlat))
    call f%commit()
  end do
  call f%close()
  call look()

contains
  subroutine look()
    real, allocatable :: series(:)
    real :: row(nlon)
    character(:), allocatable :: units, dims(:)

    call f%open(path)
    call t2m%open(f, "/surface/t2m")
    call ok(all(t2m%shape() == [nlon, nlat, 4]), "weather: two fields of four steps")
    allocate (series(4))
    call t2m%read(series, start=[1, 19, 1], count=[1, 1, 4])
    call ok(all(series == [288, 294, 300, 306]), "weather: a series at the equator")
    call f%read("/surface/rain", row, start=[1, 2, 4])
    call ok(row(1) == 180201 .and. row(nlon) == 180272, "weather: one row of the last step")
    call f%attr_text("/surface/t2m", "units", units)
    call ok(units == "K", "weather: units")
    call t2m%inquire(dims=dims)
    call ok(all(dims == [character(4) :: "lon", "lat", "time"]), "weather: the names of dimensions")
    call f%close()
    call done()
  end subroutine
end program
