! arrays.f90 - arrays of any rank and section, and the datasets that they are written to.
! SPDX-License-Identifier: MIT
program arrays
  use checks
  use datarep
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  implicit none
  integer :: stat
  character(300) :: msg

  call tests()
  call done()

contains

  subroutine tests()
    type, bind(C) :: particle
      real(c_double) :: x(3)
      integer(c_int) :: id
      real(c_float) :: weight
    end type
    type(drep_file) :: f
    type(drep_dataset) :: d, grow
    character(300) :: path
    character(:), allocatable :: type, class, dims(:)
    real(real64) :: a(4, 6, 3), b(4, 6, 3), s(4, 3, 3), plane(4, 6), x
    real(real64), allocatable :: none(:, :), empty(:, :)
    integer(int64), allocatable :: shape3(:), most(:), chunk(:)
    type(particle) :: p(5), q(5)
    character(7) :: names(3), again(3)
    character(3) :: short(3)
    character(12) :: long(3)
    character(1) :: letters(7, 3)
    integer :: i, j, k, layout, ints(4, 6, 3)
    type(drep_report) :: report

    call get_command_argument(1, path)
    a = reshape([(real(i, real64), i = 1, size(a))], shape(a))
    call f%create(path)
    call f%write("/a", a, dims=["x", "y", "t"])
    call d%open(f, "/a")
    call ok(all(d%shape() == [4, 6, 3]) .and. d%rank() == 3, "a dataset has the shape of the array")

    b = 0
    call d%read(b)
    call ok(all(b == a), "an array is read as it was written")
    b = 0
    call d%read(b(4:1:-1, 6:1:-1, :))
    call ok(all(b == a(4:1:-1, 6:1:-1, :)), "read into a section with negative strides")
    s = 0
    call d%read(s(:, :, 2), start=[1, 2, 3], count=[4, 3, 1], stride=[1, 2, 1])
    call ok(all(s(:, :, 2) == a(:, 2::2, 3)) .and. all(s(:, :, 1) == 0) .and. all(s(:, :, 3) == 0), &
        "a strided selection goes into a plane, and nothing beside it changes")
    call d%read(x, start=[2, 3, 1])
    call ok(x == a(2, 3, 1), "one element, by its indices")
    call d%read(ints)
    call ok(all(ints == nint(a)), "reals that are whole numbers are read as integers")
    call d%read(plane, start=[1_int8, 1_int8, 2_int8])
    call ok(all(plane == a(:, :, 2)), "the counts that are not given are the array's")

    ! Sections are written where they lie.
    call f%write("/section", a(::2, 6:1:-2, :))
    b = 0
    call f%read("/section", b(1:2, 1:3, :))
    call ok(all(b(1:2, 1:3, :) == a(::2, 6:1:-2, :)), "a section is written without its gaps")
    call d%write(-a(:, ::2, :), start=[1, 1, 1], stride=[1, 2, 1], count=[4, 3, 3])
    call d%read(b)
    call ok(all(b(:, ::2, :) == -a(:, ::2, :)) .and. all(b(:, 2::2, :) == a(:, 2::2, :)), &
        "every second column is written, the others stay")

    ! Growth.
    call grow%create(f, "/grow", "REAL4", shape=[4, 6, 0], maxshape=[4, 6, DREP_UNLIMITED], &
        chunk=[4, 6, 2], filters="shuffle,zstd:3", fill=drep_value(-1.5))
    do k = 1, 3
      call grow%append(a(:, :, k))
    end do
    call grow%append(a(:, :, 2:3))
    call grow%read(b, start=[1, 1, 3])
    call ok(all(grow%shape() == [4, 6, 5]) .and. all(b(:, :, 1) == a(:, :, 3)) .and. &
        all(b(:, :, 2:3) == a(:, :, 2:3)), "steps are appended one by one and together")
    call grow%resize([4, 6, 7])
    call grow%read(x, start=[4, 6, 7])
    call ok(x == -1.5, "elements that nobody wrote are the fill value")
    call grow%inquire(type=type, maxshape=most, chunk=chunk, layout=layout)
    call ok(type == "REAL4" .and. all(most == [4, 6, DREP_UNLIMITED]) .and. &
        all(chunk == [4, 6, 2]) .and. layout == DREP_CHUNKED, "a dataset tells how it is stored")

    ! Structs: members go by name.
    p%id = [(i, i = 1, 5)]
    p%weight = [(0.5*i, i = 1, 5)]
    do i = 1, 5
      p(i)%x = [i, 2*i, 3*i]
    end do
    call f%write("/p", drep_datatype("struct{x: DOUBLE[3], id: INT, weight: FLOAT}", c_sizeof(p(1))), p)
    call f%read("/p", drep_datatype("struct{x: DOUBLE[3], id: INT, weight: FLOAT}", c_sizeof(p(1))), q(5:1:-1))
    call ok(all(q(5:1:-1)%id == p%id) .and. all(q(5:1:-1)%weight == p%weight) .and. all(q(1)%x == p(5)%x), &
        "an array of a derived type, also backwards")
    call f%read("/p", drep_datatype("struct{x: DOUBLE[3], id: INT}", c_sizeof(p(1))), q, stat=stat, errmsg=msg)
    call ok(stat == 0, "a datatype with fewer members, of the same size")
    call f%read("/p", drep_datatype("struct{x: DOUBLE[2], id: INT}", c_sizeof(p(1))), q, stat=stat, errmsg=msg)
    call refused(stat, msg, "/p|24 bytes|32", "a datatype that is not as long as the elements")

    ! Texts.
    names = [character(7) :: "alpha", "be", "gamma d"]
    call f%write("/names", names)
    call f%read("/names", again)
    call ok(all(again == names), "an array of texts")
    call f%read("/names", short, stat=stat, errmsg=msg)
    call refused(stat, msg, "/names", "texts that are too short for what is stored")
    call d%create(f, "/letters", "CHARACTER", shape=[7, 3])
    call d%write(names)
    call d%read(letters)
    call ok(all(letters(:, 3) == ["g", "a", "m", "m", "a", " ", "d"]), "texts as single characters, and back")
    call d%read(again)
    call ok(all(again == names), "single characters as texts")

    ! Texts of other lengths, and padded by NULs as those of C and Python are.
    call f%read("/names", long)
    call ok(all(long == names), "texts of a file in longer ones")
    call d%create(f, "/c/texts", "string(5)", shape=[3])
    call d%write([character(9) :: "a", "bcde", "fghij"])
    long = "?"
    call d%read(long(3:1:-1))
    call ok(all(long == [character(12) :: "fghij", "bcde", "a"]), "texts padded by NULs, and a group made for them")
    call d%write([character(9) :: "a", "bcdefg", "h"], stat=stat, errmsg=msg)
    call refused(stat, msg, "/c/texts|6 bytes|5", "a text that is longer than those of the dataset")
    call f%attr_write("/names", "list", names)
    call f%attr_read("/names", "list", long)
    call ok(all(long == names), "an attribute of texts in longer ones")
    call d%inquire(type=type, class=class)
    call ok(type == "string(5)" .and. class == "character", "texts are read by characters")

    ! Shapes of dimensions.
    call f%dimension("/g#x", 4, stat=stat)
    call f%group("/g")
    call f%dimension("/g#x", 4)
    call f%dimension("/g#t", DREP_UNLIMITED)
    call d%create(f, "/g/b/of names", "REAL4", dims=["x", "t"], fill=drep_value(0.5))
    call d%append([1, 2, 3, 4])
    call d%inquire(shape=shape3, maxshape=most, dims=dims, class=class)
    call ok(all(shape3 == [4, 1]) .and. all(most == [4, DREP_UNLIMITED]) .and. all(dims == ["x", "t"]) .and. &
        class == "real", "a dataset has the shape of its dimensions")
    call d%create(f, "/g/c", "REAL4", dims=["x ", "zz"], stat=stat, errmsg=msg)
    call refused(stat, msg, "/g/c|zz", "no shape, and no dimension of that name")
    call d%create(f, "/none/of/these", "REAL4", shape=[2, 3], chunk=[0, 0], stat=stat, errmsg=msg)
    call ok(stat /= 0 .and. .not. f%exists("/none"), "a dataset that cannot be made leaves no groups")

    ! What is wrong is told with the dataset's name.
    call d%open(f, "/a")
    call d%read(plane, stat=stat, errmsg=msg)
    call refused(stat, msg, "/a|(4, 6)|(4, 6, 3)", "an array of another shape")
    call d%read(a(:, :, 1:2), stat=stat, errmsg=msg)
    call refused(stat, msg, "/a|(4, 6, 2)", "an array of another length")
    call d%read(x, start=[0, 1, 1], stat=stat, errmsg=msg)
    call refused(stat, msg, "/a|start(1) is 0", "an index before the first")
    call d%read(x, start=[1, 1, 4], stat=stat, errmsg=msg)
    call refused(stat, msg, "/a", "an index behind the last")
    call d%read(x, start=[1, 1], stat=stat, errmsg=msg)
    call refused(stat, msg, "/a|2 numbers|3 dimensions", "too few indices")
    call d%read(x, start=[1.0, 1.0, 1.0], stat=stat, errmsg=msg)
    call refused(stat, msg, "start|integers", "indices that are no integers")
    call d%read(plane, start=[1, 1, 1], count=[4, 5, 1], stat=stat, errmsg=msg)
    call refused(stat, msg, "/a|(4, 6)|(4, 5, 1)", "counts that are not those of the array")
    call d%read(none, stat=stat, errmsg=msg)
    call refused(stat, msg, "/a|not allocated", "an array that is not allocated")
    allocate (empty(4, 0))
    call d%read(empty, start=[1, 1, 1], stat=stat, errmsg=msg)
    call ok(stat == 0, "an array without elements reads nothing")
    call reallocated(d, 3)
    call d%write(1d300, start=[1, 1, 1])
    call f%read("/a", plane, start=[1, 1, 1])
    call ok(plane(1, 1) == 1d300, "one element is written, by its indices")
    call d%read(ints, stat=stat, errmsg=msg)
    call refused(stat, msg, "/a", "a number that an integer does not hold")
    call d%read(ints, range=DREP_RANGE_CLAMP, report=report)
    call ok(ints(1, 1, 1) == huge(1) .and. report%overflow == 1 .and. report%items == size(ints), &
        "clamped where asked for, and counted")
    call d%write(a, stat=stat)
    call ok(stat == 0, "a call that goes well sets stat to 0")

    ! Attributes.
    call f%attr_write("/a", "units", "degrees_north  ")
    call f%attr_text("/a", "units", type)
    call ok(type == "degrees_north" .and. len(type) == 13, "a text has no spaces at its end")
    call f%attr_write("/a", "matrix", a(::3, ::5, 1))
    b = 0
    call f%attr_read("/a", "matrix", b(1:2, 1:2, 2))
    call ok(all(b(1:2, 1:2, 2) == a(::3, ::5, 1)), "an attribute of rank 2, from and to sections")
    call f%attr_inquire("/a", "matrix", type=type, shape=shape3)
    call ok(type == "REAL8" .and. all(shape3 == [2, 2]), "it tells its type and shape")
    call f%attr_read("/a", "matrix", x, stat=stat, errmsg=msg)
    call refused(stat, msg, "/a|matrix|(2, 2)", "an attribute of another shape")
    call f%attr_read("/a", "nothing", x, stat=stat, errmsg=msg)
    call refused(stat, msg, "/a|nothing", "an attribute that is not there")
    call ok(f%attr_exists("/a", "units") .and. .not. f%attr_exists("/a", "nothing"), "attr_exists()")
    call f%attr_rename("/a", "units", "unit")
    call ok(f%attr_exists("/a", "unit") .and. .not. f%attr_exists("/a", "units"), "attr_rename()")
    call f%attr_rename("/a", "unit", "units")
    call f%close()
    do j = 1, 1
      call d%read(b, stat=stat, errmsg=msg)
    end do
    call refused(stat, msg, "/a|closed", "a dataset whose file is closed")
  end subroutine

  ! Lists that are allocated by being assigned to.
  subroutine reallocated(d, rank)
    type(drep_dataset), intent(in) :: d
    integer, intent(in) :: rank
    integer, allocatable :: first(:)
    integer(int64), allocatable :: count(:)
    real(real64), allocatable :: all(:)
    real(real64) :: whole(4, 6, 3)

    first = spread(1, 1, rank)
    count = d%shape()
    all = spread(0d0, 1, int(product(count)))
    call d%read(whole)
    call d%read(all, start=first, count=count)
    call ok(all(1) == whole(1, 1, 1) .and. all(size(all)) == whole(4, 6, 3) .and. all(2) == whole(2, 1, 1), &
        "a box of rank 3 in an array of rank 1, if its lengths are given")
    call d%read(all(:71), start=first, count=count, stat=stat, errmsg=msg)
    call refused(stat, msg, "/a|(71)|(4, 6, 3)", "one that is too short")
  end subroutine
end program
