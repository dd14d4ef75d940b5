! unknown.f90 - what is in any file: its objects, their attributes, and the first elements by their type.
! SPDX-License-Identifier: MIT
program unknown
  use datarep
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  type(drep_file) :: f
  character(200) :: path
  character(:), allocatable :: objects(:), names(:), text, class
  integer, allocatable :: kinds(:)
  double precision :: number
  integer :: i, j, stat

  call get_command_argument(1, path)
  call f%open(path)
  call f%visit("/", objects, kinds)
  do i = 1, size(objects)
    if (kinds(i) == DREP_OBJ_DATASET) call show(trim(objects(i)))
    call f%attr_list(objects(i), names, stat=stat)
    do j = 1, size(names)
      call f%attr_inquire(objects(i), names(j), type=text, class=class, stat=stat)
      if (stat /= 0) text = "?"
      if (stat == 0 .and. class == "character") call f%attr_text(objects(i), names(j), text, stat=stat)
      print "(5a)", trim(objects(i)), ": ", trim(names(j)), " = ", text
      if (stat /= 0 .or. class == "character") cycle
      call f%attr_read(objects(i), names(j), number, stat=stat)
      if (stat == 0) print "(a, g0)", "  ", number
    end do
  end do

contains

  subroutine show(path)
    character(*), intent(in) :: path
    type(drep_dataset) :: d
    character(:), allocatable :: type, class, dims(:), msg
    integer(int64), allocatable :: shape(:), w(:)
    integer, allocatable :: first(:)
    double precision, allocatable :: r(:)
    complex(kind(0d0)), allocatable :: z(:)
    logical, allocatable :: l(:)
    character(80), allocatable :: t(:)
    integer :: n, stat

    call d%open(f, path, stat=stat)
    if (stat == 0) call d%inquire(type=type, shape=shape, class=class, dims=dims, stat=stat)
    if (stat /= 0) then
      print "(2a)", path, " cannot be opened"
      return
    end if
    print "(3a, *(1x, i0))", path, " ", type, shape
    if (d%rank() < 0) return
    n = int(product(shape))
    first = spread(1, 1, d%rank())
    select case (class)
    case ("integer")
      allocate (w(n))
      call d%read(w, start=first, count=shape, stat=stat)
      if (stat == 0) print "(a, *(1x, i0))", " ", w(:min(n, 5))
    case ("real")
      allocate (r(n))
      call d%read(r, start=first, count=shape, range=DREP_RANGE_ROUND, stat=stat)
      if (stat == 0) print "(a, *(1x, g0))", " ", r(:min(n, 5))
    case ("complex")
      allocate (z(n))
      call d%read(z, start=first, count=shape, range=DREP_RANGE_ROUND, stat=stat)
      if (stat == 0) print "(a, *(1x, g0))", " ", z(:min(n, 5))
    case ("logical")
      allocate (l(n))
      call d%read(l, start=first, count=shape, stat=stat)
      if (stat == 0) print "(a, *(1x, l1))", " ", l(:min(n, 5))
    case ("character")
      allocate (t(n))
      call d%read(t, start=first, count=shape, stat=stat)
      if (stat == 0) print "(a, *(1x, 3a))", " ", ('"', trim(t(j)), '"', j = 1, min(n, 5))
    end select
    msg = drep_message()
    if (stat /= 0) print "(2a)", "  not read: ", msg
  end subroutine
end program
