! SPDX-License-Identifier: MIT
! series - makes a file by netCDF's library for Fortran, reopens it to append, reads it back: series FILE
program series
    use netcdf
    implicit none
    character(len=256) :: path
    character(len=40) :: text
    integer :: f, lon, lat, time, v, t, n, k, varid, dims(3), xtype
    real :: values(4, 3), back(4, 3), section(2, 2)
    double precision :: days(2)
    character(len=NF90_MAX_NAME) :: name

    call get_command_argument(1, path)
    call check(nf90_create(path, ior(NF90_CLOBBER, NF90_NETCDF4), f))
    call check(nf90_def_dim(f, "lon", 4, lon))
    call check(nf90_def_dim(f, "lat", 3, lat))
    call check(nf90_def_dim(f, "time", NF90_UNLIMITED, time))
    call check(nf90_def_var(f, "sst", NF90_FLOAT, [lon, lat, time], v, chunksizes=[4, 3, 1], deflate_level=4, shuffle=.true.))
    call check(nf90_def_var(f, "time", NF90_DOUBLE, [time], t))
    call check(nf90_put_att(f, v, "units", "K"))
    call check(nf90_put_att(f, v, "_FillValue", -1.0))
    call check(nf90_put_att(f, v, "range", [1.5, 2.5]))
    call check(nf90_put_att(f, NF90_GLOBAL, "title", "Fortran's series"))
    call check(nf90_enddef(f))
    do k = 1, 3
        values = reshape([(real(n + 100 * k), n = 1, 12)], [4, 3])
        call check(nf90_put_var(f, v, values, start=[1, 1, k]))
        call check(nf90_put_var(f, t, dble(k) / 2, start=[k]))
        call check(nf90_sync(f))
    end do
    call check(nf90_close(f))

    call check(nf90_open(path, NF90_WRITE, f))
    call check(nf90_inq_varid(f, "sst", v))
    call check(nf90_put_var(f, v, values * 2, start=[1, 1, 5]))
    call check(nf90_redef(f))
    call check(nf90_put_att(f, v, "long_name", "sea surface temperature"))
    call check(nf90_def_var(f, "area", NF90_INT, [2, 1], varid))
    call check(nf90_enddef(f))
    call check(nf90_put_var(f, varid, reshape([(n, n = 1, 12)], [3, 4])))
    call check(nf90_close(f))

    call check(nf90_open(path, NF90_NOWRITE, f))
    call check(nf90_inquire(f, k, n))
    print *, "dimensions", k, "variables", n
    call check(nf90_inq_varid(f, "sst", v))
    call check(nf90_inquire_variable(f, v, name, xtype, dimids=dims))
    do k = 1, 3
        call check(nf90_inquire_dimension(f, dims(k), name, n))
        print *, trim(name), n
    end do
    do k = 1, 5
        call check(nf90_get_var(f, v, back, start=[1, 1, k]))
        print "(12f8.1)", back
    end do
    call check(nf90_get_var(f, v, section, start=[1, 1, 2], stride=[2, 2, 1]))
    print "(4f8.1)", section
    call check(nf90_get_var(f, v, back, start=[1, 1, 1], count=[4, 3, 1], map=[3, 1, 12]))
    print "(12f8.1)", back
    call check(nf90_get_att(f, v, "units", text))
    print *, trim(text)
    call check(nf90_inq_varid(f, "time", t))
    call check(nf90_get_var(f, t, days, start=[1], count=[2], stride=[2]))
    print "(2f8.2)", days
    print *, trim(nf90_strerror(nf90_inq_varid(f, "none", t)))
    call check(nf90_close(f))
contains
    subroutine check(status)
        integer, intent(in) :: status

        if (status == NF90_NOERR) return
        print *, trim(nf90_strerror(status))
        error stop 1
    end subroutine
end program
