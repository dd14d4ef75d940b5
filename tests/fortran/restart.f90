! restart.f90 - the state of a model as a user keeps it: scalars, structs, arrays; written and read back.
! SPDX-License-Identifier: MIT
program restart
  use checks
  use datarep
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_float
  implicit none
  type, bind(C) :: particle
    real(c_double) :: x(3)
    real(c_float) :: mass
    integer(c_int) :: id
  end type
  type :: state
    integer :: step = 0
    double precision :: t = 0
    logical :: warm = .false.
    character(20) :: scheme = "none"
    type(particle), allocatable :: p(:)
    double precision, allocatable :: u(:, :), v(:, :)
    integer, allocatable :: mask(:, :)
  end type
  character(*), parameter :: words = "struct{x: DOUBLE[3], mass: FLOAT, id: INT}"
  type(state) :: s, back
  character(300) :: path

  call get_command_argument(1, path)

  s%step = 1200
  s%t = 3.25d0
  s%warm = .true.
  s%scheme = "leapfrog"
  allocate (s%p(10), s%u(0:41, 0:31), s%v(0:41, 0:31), s%mask(40, 30))
  s%u = 1.5d0
  s%v = -s%u
  s%mask = 1
  call fill(s%p)
  call save(s, trim(path))
  call save(s, trim(path))
  call load(back, trim(path))
  call ok(back%step == s%step .and. back%t == s%t .and. (back%warm .eqv. s%warm) .and. back%scheme == s%scheme, &
      "restart: scalars of each type")
  call ok(all(back%u(1:40, 1:30) == s%u(1:40, 1:30)) .and. all(back%v(1:40, 1:30) == s%v(1:40, 1:30)) .and. &
      all(back%mask == s%mask), "restart: arrays inside their halos")
  call ok(all(back%p%id == s%p%id) .and. all(back%p%mass == s%p%mass) .and. all(back%p(7)%x == s%p(7)%x), &
      "restart: an array of structs")
  call done()

contains
  subroutine fill(p)
    type(particle), intent(out) :: p(:)
    integer :: i

    do i = 1, size(p)
      p(i) = particle([1d0*i, 2d0*i, 3d0*i], 0.5*i, i)
    end do
  end subroutine

  subroutine save(s, path)
    type(state), intent(in) :: s
    character(*), intent(in) :: path
    type(drep_file) :: f
    logical :: there

    inquire (file=path, exist=there)
    if (there) call f%open(path, mode="rw")
    if (.not. there) call f%create(path)
    call f%write("/model/step", s%step)
    call f%write("/model/time", s%t)
    call f%write("/model/warm", s%warm)
    call f%write("/model/scheme", s%scheme)
    call f%write("/model/particles", drep_datatype(words, c_sizeof(s%p(1))), s%p)
    call f%write("/model/u", s%u(1:40, 1:30))
    call f%write("/model/v", s%v(1:40, 1:30))
    call f%write("/model/mask", s%mask)
    call f%close()
  end subroutine

  subroutine load(s, path)
    type(state), intent(out) :: s
    character(*), intent(in) :: path
    type(drep_file) :: f
    type(drep_dataset) :: u, p

    call f%open(path)
    call f%read("/model/step", s%step)
    call f%read("/model/time", s%t)
    call f%read("/model/warm", s%warm)
    call f%read("/model/scheme", s%scheme)
    call p%open(f, "/model/particles")
    associate (n => p%shape())
      allocate (s%p(n(1)))
    end associate
    call p%read(drep_datatype(words, c_sizeof(s%p(1))), s%p)
    call u%open(f, "/model/u")
    associate (n => u%shape())
      allocate (s%u(0:n(1) + 1, 0:n(2) + 1), source=0d0)
      allocate (s%v(0:n(1) + 1, 0:n(2) + 1), source=0d0)
      allocate (s%mask(n(1), n(2)))
    end associate
    call u%read(s%u(1:40, 1:30))
    call f%read("/model/v", s%v(1:40, 1:30))
    call f%read("/model/mask", s%mask)
    call f%close()
  end subroutine
end program
