! representation.f90 - a data representation whose functions are written in Fortran.
!
! Integers and reals of 4 bytes are stored with all bits inverted.
! SPDX-License-Identifier: MIT
module inverted
  use datarep
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: calls = 0
contains
  ! Items lie packed in filebuf, and in userbuf as the typemap says.
  integer(c_int) function move(userbuf, datatype, count, filebuf, position, writes) result(err)
    type(c_ptr), value :: userbuf, datatype, filebuf
    integer(c_int64_t), value :: count, position
    logical, intent(in) :: writes
    type(drep_cursor) :: cursor
    type(drep_run) :: run
    integer(c_int32_t), pointer :: memory(:)
    integer(c_int8_t), pointer :: file(:)  ! 4 bytes for each item, at any address
    integer(c_int64_t) :: done, k, at

    calls = calls + 1
    call c_f_pointer(filebuf, file, [4*count])
    err = drep_cursor_init(cursor, datatype, position)
    done = 0
    do while (err == 0 .and. done < count)
      if (drep_cursor_next(cursor, count - done, run) /= 1) exit
      if (drep_type_size(run%type) /= 4) err = 1
      ! Runs of this test are dense in memory.
      if (run%count > 1 .and. run%stride /= 4) err = 1
      if (err /= 0) return
      call c_f_pointer(shifted(userbuf, run%offset), memory, [run%count])
      do k = 1, run%count
        at = 4*(done + k) - 3
        if (writes) file(at:at + 3) = transfer(not(memory(k)), file, 4)
        if (.not. writes) memory(k) = not(transfer(file(at:at + 3), memory(k)))
      end do
      done = done + run%count
    end do
  end function

  type(c_ptr) function shifted(p, bytes)
    type(c_ptr), intent(in) :: p
    integer(c_int64_t), intent(in) :: bytes
    integer(c_intptr_t) :: address

    address = transfer(p, address) + int(bytes, c_intptr_t)
    shifted = transfer(address, shifted)
  end function

  integer(c_int) function inverted_read(userbuf, datatype, count, filebuf, position, extra_state) bind(C)
    type(c_ptr), value :: userbuf, datatype, filebuf, extra_state
    integer(c_int64_t), value :: count, position

    if (c_associated(extra_state)) calls = -1000
    inverted_read = move(userbuf, datatype, count, filebuf, position, .false.)
  end function

  integer(c_int) function inverted_write(userbuf, datatype, count, filebuf, position, extra_state) bind(C)
    type(c_ptr), value :: userbuf, datatype, filebuf, extra_state
    integer(c_int64_t), value :: count, position

    if (c_associated(extra_state)) calls = -1000
    inverted_write = move(userbuf, datatype, count, filebuf, position, .true.)
  end function

  integer(c_int) function inverted_extent(datatype, file_extent, extra_state) bind(C)
    type(c_ptr), value :: datatype, extra_state
    integer(c_int64_t), intent(out) :: file_extent

    file_extent = merge(4_c_int64_t, DREP_UNDEFINED, drep_type_size(datatype) == 4)
    if (c_associated(extra_state)) calls = -1000
    inverted_extent = 0
  end function
end module

program representation
  use checks
  use datarep
  use inverted
  implicit none
  type(drep_file) :: f
  character(300) :: path, msg
  real :: a(5, 3), b(5, 3)
  integer :: i, stat

  call get_command_argument(1, path)
  call drep_register_datarep("inverted", inverted_extent, inverted_read, inverted_write)
  call drep_register_datarep("inverted", inverted_extent, stat=stat, errmsg=msg)
  call refused(stat, msg, "inverted", "a name that is registered")
  a = reshape([(sqrt(real(i)), i = 1, 15)], [5, 3])
  call f%create(path, datarep="inverted")
  call f%write("/a", a)
  call f%close()
  call f%open(path)
  call f%read("/a", b)
  call ok(all(a == b) .and. calls >= 2, "functions in Fortran write and read")
  call f%write("/d", [1d0], stat=stat)
  call ok(stat /= 0, "a type that the representation does not have")
  call f%close()
  call done()
end program
