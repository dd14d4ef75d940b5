! unknown.f90 - lists the objects of any file with types, shapes and attributes.
! SPDX-License-Identifier: MIT
program unknown
  use datarep
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  type(drep_file) :: f
  type(drep_dataset) :: d
  character(200) :: path
  character(:), allocatable :: objects(:), names(:), text, type
  integer, allocatable :: kinds(:)
  integer(int64), allocatable :: shape(:)
  double precision :: number
  integer :: i, j, stat

  call get_command_argument(1, path)
  call f%open(path)
  call f%visit("/", objects, kinds)
  do i = 1, size(objects)
    if (kinds(i) == DREP_OBJ_DATASET) then
      call d%open(f, objects(i))
      call d%inquire(type=type, shape=shape)
      print "(3a, *(1x, i0))", trim(objects(i)), " ", type, shape
    end if
    call f%attr_list(objects(i), names)
    do j = 1, size(names)
      call f%attr_text(objects(i), names(j), text, stat=stat)
      if (stat == 0) then
        print "(5a)", trim(objects(i)), ": ", trim(names(j)), " = ", text
        cycle
      end if
      call f%attr_read(objects(i), names(j), number, stat=stat)
      if (stat == 0) print "(4a, g0)", trim(objects(i)), ": ", trim(names(j)), " = ", number
      if (stat /= 0) print "(3a)", trim(objects(i)), ": ", trim(names(j))
    end do
  end do
end program
