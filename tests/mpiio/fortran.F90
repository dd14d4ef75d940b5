! fortran.F90 - a program of Fortran that registers a representation, and writes it and external32.
!
! -DBY=1: mpif.h, 2: use mpi, 3: use mpi_f08.  Usage: fortran DIRECTORY
! SPDX-License-Identifier: MIT
#if BY == 3
#define FILE_T type(MPI_File)
#define TYPE_T type(MPI_Datatype)
#else
#define FILE_T integer
#define TYPE_T integer
#endif

module three
#if BY == 3
    use mpi_f08
#elif BY == 2
    use mpi
#endif
    use, intrinsic :: iso_c_binding
    implicit none
#if BY == 1
    include 'mpif.h'
#endif
    integer :: calls = 0

contains

    ! An INTEGER*8 has three bytes in the file, big-endian, with extra_state added to the last.
    subroutine to_file(user, datatype, n, file, position, extra, ierror)
        type(c_ptr), value :: user, file
        TYPE_T :: datatype
        integer :: n, ierror
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra
        integer(8), pointer :: v(:)
        integer(1), pointer :: b(:)
        integer :: i

        call c_f_pointer(user, v, [position + n])
        call c_f_pointer(file, b, [3 * n])
        do i = 1, n
            b(3 * i - 2) = int(ibits(v(position + i), 16, 7), 1)
            b(3 * i - 1) = int(ibits(v(position + i), 8, 7), 1)
            b(3 * i) = int(ibits(v(position + i) + extra, 0, 7), 1)
        end do
        calls = calls + 1
        ierror = MPI_SUCCESS
    end subroutine

    subroutine from_file(user, datatype, n, file, position, extra, ierror)
        type(c_ptr), value :: user, file
        TYPE_T :: datatype
        integer :: n, ierror
        integer(MPI_OFFSET_KIND) :: position
        integer(MPI_ADDRESS_KIND) :: extra
        integer(8), pointer :: v(:)
        integer(1), pointer :: b(:)
        integer :: i

        call c_f_pointer(user, v, [position + n])
        call c_f_pointer(file, b, [3 * n])
        do i = 1, n
            v(position + i) = b(3 * i - 2) * 65536_8 + b(3 * i - 1) * 256_8 + b(3 * i) - extra
        end do
        calls = calls + 1
        ierror = MPI_SUCCESS
    end subroutine

    subroutine extent_of(datatype, bytes, extra, ierror)
        TYPE_T :: datatype
        integer(MPI_ADDRESS_KIND) :: bytes, extra
        integer :: ierror

        bytes = 3
        if (datatype == MPI_BYTE) bytes = 1
        ierror = MPI_SUCCESS
    end subroutine
end module

program fortran
    use three
    implicit none
    FILE_T :: f
    TYPE_T :: column
    integer :: ierror, rank, ranks, i, n, sizes(1), parts(1), starts(1)
    integer(8) :: v(4), back(4)
    integer(MPI_ADDRESS_KIND) :: extent
    integer(MPI_OFFSET_KIND) :: zero = 0, at
    character(len=400) :: directory
    character(len=MPI_MAX_DATAREP_STRING) :: name
#if BY == 3
    type(MPI_Status) :: status
    TYPE_T :: etype, filetype
#else
    integer :: status(MPI_STATUS_SIZE), etype, filetype
#endif

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call get_command_argument(1, directory)
    call MPI_Register_datarep(' three ', from_file, to_file, extent_of, 1_MPI_ADDRESS_KIND, ierror)
    call expect(ierror == MPI_SUCCESS, 'the representation is registered')
    call MPI_Register_datarep('three', from_file, to_file, extent_of, 1_MPI_ADDRESS_KIND, ierror)
    call expect(ierror /= MPI_SUCCESS, 'its name is taken (U2)')
    do i = 1, 4
        v(i) = 65536 * (rank + 1) + 256 * i + 2 * i
    end do

    call MPI_File_open(MPI_COMM_WORLD, trim(directory)//'/fortran', MPI_MODE_CREATE + MPI_MODE_RDWR, &
                       MPI_INFO_NULL, f, ierror)
    call expect(ierror == MPI_SUCCESS, 'the file is open')
    call MPI_File_set_size(f, zero, ierror)
    sizes = ranks
    parts = 1
    starts = rank
    call MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INTEGER8, column, ierror)
    call MPI_Type_commit(column, ierror)

    call MPI_File_set_view(f, zero, MPI_INTEGER8, column, 'three', MPI_INFO_NULL, ierror)
    call expect(ierror == MPI_SUCCESS, 'a view with functions (U1)')
    call MPI_File_get_view(f, at, etype, filetype, name, ierror)
    call expect(name == 'three', 'it is told (V7)')
    call MPI_Type_free(filetype, ierror)
    call MPI_File_get_type_extent(f, MPI_INTEGER8, extent, ierror)
    call expect(extent == 3, 'so is the extent (X2)')
    call MPI_File_write_at_all(f, zero, v, 4, MPI_INTEGER8, status, ierror)
    call expect(ierror == MPI_SUCCESS, 'written')
    back = 0
    call MPI_File_read_at_all(f, zero, back, 4, MPI_INTEGER8, status, ierror)
    call expect(ierror == MPI_SUCCESS .and. all(back == v), 'read back (U5)')
    call MPI_Get_count(status, MPI_INTEGER8, n, ierror)
    call expect(n == 4 .and. calls == 2, 'the functions of Fortran were called')
    call MPI_File_sync(f, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror) ! the other ranks have written, too
    call MPI_File_get_size(f, at, ierror)
    call expect(at == 12 * ranks, 'three bytes each (U8)')

    call MPI_File_set_view(f, 1024_MPI_OFFSET_KIND, MPI_INTEGER8, column, 'external32', MPI_INFO_NULL, ierror)
    call MPI_File_write_all(f, v, 4, MPI_INTEGER8, status, ierror)
    call MPI_File_get_position(f, at, ierror)
    call expect(ierror == MPI_SUCCESS .and. at == 4, 'external32 is written')
    call MPI_File_close(f, ierror)
    call MPI_Type_free(column, ierror)
    if (rank == 0) print '(a)', 'fortran ends'
    call MPI_Finalize(ierror)

contains

    subroutine expect(is, what)
        logical, intent(in) :: is
        character(len=*), intent(in) :: what

        if (.not. is) print '(a, i0, 2a)', '# rank ', rank, ' fails: ', what
    end subroutine
end program
