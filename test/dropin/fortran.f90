! SPDX-License-Identifier: BSD-3-Clause
! fortran.f90 - the same promises from Fortran: constants, types, requests, an operator of its own.
program fortran
  use mpi
  implicit none
  integer :: ierr, me, ranks, i, request, both(2), failures, op, many
  integer :: status(MPI_STATUS_SIZE)
  integer, allocatable :: all(:)
  integer, parameter :: n = 5
  double precision :: x(n), y(n)
  complex :: c, csum
  logical :: flag, every
  integer :: pair(2), least(2), mine, product
  external :: last_digit

  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  allocate(all(ranks))
  failures = 0

  call MPI_ALLGATHER(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  do i = 1, ranks
    if (all(i) /= i - 1) failures = failures + 1
  end do

  ! In place, nonblocking, asked for until it is done.
  x = me + 1
  call MPI_IALLREDUCE(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, ierr)
  flag = .false.
  do while (.not. flag)
    call MPI_TEST(request, flag, status, ierr)
  end do
  if (any(x /= ranks * (ranks + 1) / 2)) failures = failures + 1
  if (request /= MPI_REQUEST_NULL) failures = failures + 1

  ! Two at once, one of them to nowhere.
  y = me
  call MPI_IBCAST(y, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, both(1), ierr)
  call MPI_IRECV(i, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, both(2), ierr)
  call MPI_WAITALL(2, both, MPI_STATUSES_IGNORE, ierr)
  if (any(y /= 0)) failures = failures + 1

  c = (1.0, 2.0)
  call MPI_ALLREDUCE(c, csum, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (csum /= ranks * (1.0, 2.0)) failures = failures + 1

  flag = me >= 0
  call MPI_ALLREDUCE(flag, every, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  if (.not. every) failures = failures + 1
  flag = me == 0
  call MPI_ALLREDUCE(flag, every, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  if (every .neqv. ranks == 1) failures = failures + 1

  pair = [ranks - me, me]
  call MPI_ALLREDUCE(pair, least, 1, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, ierr)
  if (least(1) /= 1 .or. least(2) /= ranks - 1) failures = failures + 1

  call MPI_OP_CREATE(last_digit, .true., op, ierr)
  mine = 7
  product = 0
  call MPI_ALLREDUCE(mine, product, 1, MPI_INTEGER, op, MPI_COMM_WORLD, ierr)
  mine = 1
  do i = 1, ranks
    mine = mod(mine * 7, 10)
  end do
  if (product /= mine) failures = failures + 1
  call MPI_OP_FREE(op, ierr)

  many = 0
  call MPI_REDUCE(failures, many, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (me == 0) print '(a,i0,a,i0,a)', 'fortran on ', ranks, ': ', many, ' failed'
  call MPI_FINALIZE(ierr)
end program

! A product of which the last digit counts.
subroutine last_digit(in, inout, length, type)
  implicit none
  integer :: length, type, in(length), inout(length)
  inout = mod(in * inout, 10)
end subroutine
