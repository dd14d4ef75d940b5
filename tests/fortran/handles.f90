! handles.f90 - files, handles and their copies, names, the end of a program.
!
! handles DIRECTORY        the tests
! handles DIRECTORY HOW    makes DIRECTORY/HOW.drep and ends: "end", "stop", "fail"
! SPDX-License-Identifier: MIT
program handles
  use checks
  use datarep
  use, intrinsic :: iso_c_binding, only: c_char
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  type, bind(C) :: fixed
    character(c_char) :: text(13)
  end type
  type(fixed) :: units
  type(drep_file) :: f, copy, unused
  type(drep_dataset) :: d, e
  character(200) :: dir, how
  character(300) :: msg
  integer :: stat, n

  call get_command_argument(1, dir)
  call get_command_argument(2, how)
  if (how /= "") then
    call f%create(trim(dir)//"/"//trim(how)//".drep")
    call f%write("/committed", 1)
    call f%commit()
    call f%write("/later", 2)
    if (how == "fail") error stop 3
    if (how == "stop") stop
  else
    call tests()
    call done()
  end if

contains

  subroutine scope()
    type(drep_file) :: local
    type(drep_dataset) :: set

    call local%create(trim(dir)//"/scope.drep")
    call local%write("/x", [1, 2, 3])
    call set%open(local, "/x")
    copy = local
    e = set
  end subroutine

  subroutine tests()
    character(:), allocatable :: names(:), text
    integer, allocatable :: kinds(:)
    integer(int64) :: sequence
    integer(int64), allocatable :: shape(:)

    call scope()
    call ok(copy%is_open(), "a copy keeps a file open whose variable is gone")
    call e%read(n, start=[2])
    call ok(n == 2, "a copy of a dataset too")
    f = copy
    call f%close()
    call ok(.not. copy%is_open(), "closing one copy closes all")
    call e%read(n, start=[2], stat=stat, errmsg=msg)
    call refused(stat, msg, "closed", "a dataset of a closed file")
    call copy%close(stat=stat)
    call ok(stat == 0, "closing twice is no error")
    call unused%close(stat=stat, errmsg=msg)
    call refused(stat, msg, "not open", "closing what was never open")
    call d%read(n, stat=stat, errmsg=msg)
    call refused(stat, msg, "not open", "reading what was never open")

    call f%open(trim(dir)//"/scope.drep")
    call ok(f%exists("/x") .and. .not. f%exists("/y"), "exists()")
    call f%write("/y", 1, stat=stat, errmsg=msg)
    call refused(stat, msg, 'scope.drep: "/y": opened read-only', "writing to a file that is open for reading")
    call d%open(f, "/x")
    call d%append([1, 2], stat=stat, errmsg=msg)
    call refused(stat, msg, 'scope.drep: "/x": opened read-only', "appending to one")
    call d%append(reshape([1, 2], [1, 2]), stat=stat, errmsg=msg)
    call refused(stat, msg, 'scope.drep: "/x": opened read-only', "appending what has another shape")
    call f%open(trim(dir)//"/scope.drep", mode="w", stat=stat, errmsg=msg)
    call refused(stat, msg, 'scope.drep: mode "w" is neither "r" nor "rw"', "a mode that is none")
    call f%open(trim(dir)//"/absent.drep", stat=stat, errmsg=msg)
    call refused(stat, msg, "absent.drep", "a file that is not there")
    call f%open(trim(dir)//"/scope.drep", hints="drep_threads=many", stat=stat, errmsg=msg)
    call refused(stat, msg, "scope.drep: |drep_threads", "a hint that is wrong")
    call f%create(trim(dir)//"/scope.drep", exclusive=.true., stat=stat, errmsg=msg)
    call refused(stat, msg, "scope.drep", "a file that is there, exclusively")

    call f%create(trim(dir)//"/names.drep", datarep="external32", hints="drep_keep=5 drep_sync=none")
    call f%group("/a/b")
    call f%write("/a/one", 1)
    call f%write("/a/b/longer name", [1.5, 2.5])
    units%text = transfer("degrees_north", units%text)
    call f%attr_write("/a/one", "units", drep_datatype("string(13,nul)", c_sizeof(units)), units)
    call f%attr_inquire("/a/one", "units", type=text, shape=shape)
    call ok(text == "string(13)" .and. size(shape) == 0, "an attribute as netCDF's NC_CHAR")
    call f%attr_text("/a/one", "units", text)
    call ok(text == "degrees_north", "and its text")
    call f%dimension("/a#time", DREP_UNLIMITED)
    call f%link_soft("/a/one", "/soft")
    call f%link_hard("/a/one", "/hard")
    call f%list("/", names, kinds)
    call ok(size(names) == 3 .and. all(names == [character(4) :: "a", "soft", "hard"]) .and. &
        all(kinds == [DREP_OBJ_GROUP, 0, DREP_OBJ_DATASET]), "members in the order of their making")
    call f%visit("/a", names, kinds)
    call ok(any(names == "/a/b/longer name") .and. any(names == "/a#time"), "visit() goes all the way down")
    call f%dimension_list("/a", names)
    call ok(size(names) == 1 .and. names(1) == "time", "dimensions of a group")
    call f%list("/a/b/longer name", names, stat=stat, errmsg=msg)
    call refused(stat, msg, "longer name", "a list of what is no group")
    call f%move("/hard", "/moved")
    call f%remove("/soft")
    call ok(f%kind("/moved") == DREP_OBJ_DATASET .and. f%kind("/hard") == 0, "links move and go")
    call f%commit()
    call f%inquire(datarep=text, sequence=sequence)
    call ok(text == "external32" .and. sequence == 1, "the header")
    call f%write("/dropped", 1)
    call f%open(trim(dir)//"/scope.drep", stat=stat, errmsg=msg)
    call refused(stat, msg, 'scope.drep: the handle writes "|names.drep": close that first', &
        "opening a handle that writes another file")
    call f%create(trim(dir)//"/other.drep", stat=stat, errmsg=msg)
    call refused(stat, msg, 'other.drep: the handle writes "|names.drep": close that first', "creating by one")
    call ok(f%exists("/dropped"), "it still has that file")
    copy = f
    call f%open(trim(dir)//"/scope.drep")
    call ok(f%exists("/x") .and. copy%exists("/dropped"), "one of two handles may be opened again")
    f = copy
    call f%abandon()
    call f%open(trim(dir)//"/names.drep")
    call ok(.not. f%exists("/dropped") .and. f%exists("/moved"), "abandon() keeps the last commit")
    call f%close()
    call ok(len(drep_version()) > 0 .and. len(drep_message()) > 0, "version and message")
  end subroutine
end program
