! kinds.f90 - prints the kinds of this compiler's types, for generate.py.
! SPDX-License-Identifier: MIT
program kinds
  use, intrinsic :: iso_fortran_env, only: integer_kinds, logical_kinds, real_kinds
  implicit none

  print "(a, *(1x, i0))", "integer", integer_kinds
  print "(a, *(1x, i0))", "logical", logical_kinds
  print "(a, *(1x, i0))", "real", real_kinds
end program
