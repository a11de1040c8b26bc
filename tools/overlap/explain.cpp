// SPDX-License-Identifier: BSD-3-Clause
// explain.cpp - the rules, in words.

#include "tools/overlap/explain.h"

namespace nbcc::overlap {

const char *explanation() {
  return R"(A blocking collective becomes a nonblocking one and a wait only where all of this is shown:

The call
  - It is a statement of a block or the branch of an if, or the whole argument of a macro that does no more than
    look at what it returns and stop; where it keeps the code, whoever uses that variable otherwise comes behind the
    wait. Or what it returns goes to a local int: what stands next to it and does nothing but stop at an error, an
    if, a macro or a function of the program, is repeated behind the wait; whoever else looks at it comes behind
    the wait.
  - Or it is what an if asks about, whether it failed and nothing more: that is repeated with the wait. What stops
    says so, and returns, ends the rank, goes forwards to a label behind the call, or throws what the library has, made
    of numbers and texts; it has no else. A macro around the call may do so, too, where nothing else leads there.
    What a check that is repeated looks at or changes there, nothing else changes while the call is under way.
    Neither it nor the call says __COUNTER__.
  - Where the program sets error handlers, a start that fails leaves a null request, and a macro that keeps the code
    stops at an error.
  - It stands in no macro's body, template, header, lambda or directive of OpenMP, and no pragma stands before it,
    nor an #if around code of another configuration that does not end there, as `if (x)`. No other source includes
    its own.
  - It stands in no handler, and in a try only if who comes to its handlers ends there: an exception would lead past the
    wait. A try elsewhere does not matter.
  - Its operator is one of MPI's own: one of the program's runs at any time until the call is complete.
  - The other form of it is not one that the MPI at hand is known to have wrong: Open MPI 4's of MPI_Neighbor_alltoall,
    -v and -w, but where all communicators with neighbors are made in these sources, and no grid is periodic, and of
    MPI_Alltoallw, on one rank; persistent ones of MPI_Allgather, MPI_Gather and MPI_Scatter with MPICH 4.0.
  - No buffer is MPI_BOTTOM: then the datatype says which memory it is.

All ranks
  - MPI does not let a blocking collective meet a nonblocking one. So all ranks must reach the call alike: every
    condition on the way, back to main(), is one of constants, the command line (taken to be the same everywhere),
    what getopt() finds there, the size of MPI_COMM_WORLD or of the call's communicator, what a broadcast, allgather or
    allreduce over one of these left in a variable, and what is computed from such values.
  - Of a local number only that counts which reaches the place: what a for loop around it begins by setting it to, and
    does with it; or what it was just set to, or filled with by a broadcast, also at the end of each turn of a loop,
    in a call that is checked, and where it was changed alike since. A constant is one wherever it is named.
  - What some ranks leave in a variable or field does not matter where such a collective fills all of it behind that,
    in the block or one around it, before anybody looks, and nothing else leads to it: what rank 0 has read, and
    broadcasts. Each such collective has to be the same one for all ranks in their order, as the call itself.
  - A variable is followed by its name, by pointers to it in other variables, and into functions that are given its
    address; a field likewise, of a structure that has a name, or that a parameter only ever gets the address of.
    A text that a function of the library writes stays in the array that it is written to.
    What no source but those that are named can name is theirs: a variable that is no static counts as one if all
    that the program calls has a body in one of them, or is a library's, and main() is there.
    What a variadic function does no more with than to print it by its format, without %n and %p, it leaves alone.
    That a function is __attribute__((const)) says nothing here: what it returns may be the rank.
    An element is as its array where all that is written there is the same, at the same indices and displacements.
  - Memory of malloc() or new is followed by the variables that point at it, and through functions that return such,
    std::vector and std::array of numbers by their names, with their length, and references by what they are
    given. What is copied with a structure, or reached by iterators, is not. Whether there was memory each rank knows
    for itself.
  - Where all that is called has a body in these sources, or is one of C's, C++'s or POSIX's functions, only these
    sources communicate on the program's communicators; --whole promises it. Then each call is
    compared with the others of its kind, and if none may have the same communicator, root and operator, it can
    only meet itself, and ranks may come to it as they like.
  - Calls in the branches of an if, as many of the kind in each, each made once and on one communicator, meet each other
    one by one if all ranks reach the if alike, and none leaves it before. Two that meet are changed together, and
    not to persistent ones, or neither is.
  - No rank leaves earlier by return, break, continue, exit() or a goto forwards to what stands behind the call, unless
    it ends without a collective. A continue behind the call is none: the next turn comes to it all the same. That
    a call of MPI fails is no way to differ: nothing can be relied on then, unless it is one of files, infos, names,
    ports or memory, which may fail where nothing is broken.
    The same goes for what a function returns that is computed so, and for a local number that such a call has
    just filled. A communicator counts as MPI_COMM_WORLD where parameters, constructors' too, variables, results and
    fields, of all structures of their type, are given nothing but that and duplicates of it; as one that MPI has made
    once, likewise; or else as one where its variable is given one at a single place, and what was learned of it is not
    asked for in another turn or call, where the variable may be another one.
  - The communicator is one of MPI's own, was made once, at a place that all ranks come to as the same one in their
    order, or all ranks have chosen it alike.
  - Nor may some ranks have made more calls of the same kind before: of a condition that may differ both sides make as
    many, surely on the call's communicator or in one variable that does not change. What ends a loop is such a
    condition, too; --alike says of what it names that it is the same on all ranks.
  - No function that the language itself calls is followed: virtual ones, operators, destructors, coroutines; nor
    methods of classes that a template of a library was given, which may have a name that it calls. Around a call
    stands no try, unless its handlers end the rank; nor around a call of the same kind before, and no handler makes one.
  - Where such a function, or one whose address is taken, comes to a collective of the kind, a call that may be one of
    it counts as any number of them, and so does a row or a library's container of objects whose constructors do,
    an object of a library's that is given or may hold a function, a thread for one, a comparison by default of what is
    compared by such a function, and what raises a signal; and a rank that ends is one that is heard of once more.
  - No default argument, nor what a field is declared with, comes to a collective of the kind.
  - --library promises it for functions that no source here calls, not for what they are given; --alike names
    variables and fields that are the same on all ranks, and functions whose results are, or are null on all or none.

What stands between start and wait
  - It writes nothing that the call reads, arrays of counts and displacements included, and neither reads nor
    writes what the call writes. It may read what the call reads.
  - Memory is told apart by variable and by allocation. Pointers are followed through local variables; what is
    loaded from memory or comes out of a call may be anything whose address was given away. Parameters of a
    function may be the same memory, unless both are not and one says restrict. A constructor may give away where
    its object is, and an operator new of the program's own any memory.
  - A name of a structured binding is a part of what was bound. What a lambda captures was given away, and so was
    what one is given; one that has captures is not looked into where it is called. Not followed are a lambda with auto,
    or with copies in it, and a structured binding that leads to references or by a get() of the program's own: where a
    function has one, nothing in it is changed.
  - Where that is not enough, all sources together tell: what is stored in which field, what callers pass, which
    functions return memory of their own making. Fields of a structure are memory of their own where an access
    stays within them: a buffer has to be a constant number of a type that fits. What is seen as a larger type, as a
    vector, or from an offset in bytes is the whole. Pointers do not travel by MPI.
  - Elements of one array are told apart where both indices are sums and products of values that do not change in
    between, of counters of for loops, and of remainders by a constant, and one part then ends before the other
    begins: by counts of MPI's own types, of memcpy(), and the sizes of what is read or written. An array of pointers
    whose elements only ever get what was just allocated for them points at different memory with each. What is
    divided without a sign must be seen not to be negative, but for 2, 4, 8 and so on.
  - Functions have the effects of their bodies, in whatever source these are, or of a table: C's library,
    mathematics, calls of MPI that are local, std::fill() and such where the iterators stand in the call, qsort()
    with a function that is seen and only reads. One that calls itself must give each parameter a place in what it has
    been given, or memory of its own; what it does, it may do anywhere in that. Others could do anything, unless they
    are declared __attribute__((const)) or pure, or --local names them: these read and write all that their arguments,
    and the object of a method, lead to.
  - It does not leave the block: no return, goto, break or continue out of it, no label, no exception. Where no source
    has a try or an operator new, memory may be allocated by new for what has no constructor, and a std::vector of numbers
    may be made or resized, unless it is a buffer. So may vectors, strings, and structures of such, numbers and pointers
    be made, copied, assigned, returned and ended that leave it to the language how; but not moved.
  - Operators and functions of std::complex are mathematics. What a std::unique_ptr leads to is what is loaded from memory.
  - It touches nothing volatile or atomic, and asks for no time: the call would no longer be what is measured.
    --across-clocks says that this does not matter.
  - Where a branch of an if ends, it goes on behind the if, unless something that the call needs lives in the
    branch only. The request is null where the other branch was taken, and nothing waits: MPI may not be
    initialised there, or another thread's to call.
  - It may hold other blocking collectives, since all ranks start them in the same order as before, but no
    operator of the program's own.
  - It may hold MPI_Send, MPI_Ssend, MPI_Recv, MPI_Sendrecv, MPI_Isend and such, and waits for all of some. Receives that
    name who sends take messages in their order, and who waits for one that is sent behind the call comes to the call
    first, or would have waited for ever. So nowhere in the sources is MPI_ANY_SOURCE, the MPI_SOURCE of a status,
    MPI_Test(), MPI_Waitany(), MPI_Waitsome(), MPI_Iprobe() or their like; nor MPI_Bsend(), whose buffer may be full;
    MPI_Rsend(), whose receive has to be there; MPI_Cancel(); a window, a file of MPI's or a communicator with two sides;
    nor threads that call MPI; and all that receives is seen, or --whole promises it.
    What a message reads and writes is touched from its start on. MPI_BOTTOM may be any memory.
  - A rank that has completed the call may know of others that they have come to it, and let a rank know that does not
    know it by the call itself: by a message, where the program writes files or reaches other programs; by another
    collective there, or where ranks look for messages or memory in one of the ways above. Neither is held then, but
    behind MPI_Allreduce, MPI_Allgather, MPI_Allgatherv, MPI_Alltoall, MPI_Reduce_scatter_block, MPI_Bcast and
    MPI_Scatter of all ranks, of which all know as much; nor does a collective of all ranks that tells all of all, or
    one whose root is that of the call, tell more.
  - It holds no other call of MPI that is not local. A call that moves up passes no messages.
  - It asks for no errno, which the wait may set, by its name or by %m, nor sets it by malloc() or strtol() where a
    source asks for it, and declares nothing by a name that the call's check says, or that ## makes there.
  - #if and the like end it: other code may stand there in another configuration, an else for one, so that an if in
    front of one ends it, too. So do #define and #undef, since the call, or the check of it, may name a macro that is
    another one there, and a macro that stands for nothing here, drops what it is given, or does nothing, as assert()
    where NDEBUG is. So do pragmas of accelerators, those of STDC, which stand first in their block, and of OpenMP,
    where that is not asked for, with something to compute in a clause.
  - In front of the call nothing ends the program, by MPI_Abort(), abort() or assert(): that may be what its arguments
    are checked by. Nor does anything behind a barrier, nor behind any call where the program writes files or reaches
    other programs: other ranks may not have done yet what they did before. A loop without an end ends it, too.
  - No function that the library calls for the program runs in it: where one is given to signal(), by abort() or
    assert(); to atexit(), by MPI_Abort(); to MPI_Comm_create_errhandler() or MPI_Type_create_keyval(), by any call
    of MPI; to register_printf_function(), by printf().
  - Of a macro of several statements it holds all or none.
  - It writes to no file: the call may be what orders who writes there, and who reads. What goes to stdout or stderr
    is in no order among the ranks, unless the program redirects these. std::cout << of numbers, text and the
    library's manipulators is that, too, where no source names rdbuf(buffer), exceptions(), imbue() or tie().
  - Where ranks share memory (windows, mmap), and always for MPI_Barrier: nothing that another rank may see. Where the
    request of a message may be freed while that is under way: nothing but numbers and pointers whose address nobody
    has.

Before the call, as above, and: nothing that its arguments are computed from is changed or declared, and no
other collective is started.

Loops
  - A call may be under way into the next turn where nothing behind it in its turn, neither the loop's condition nor
    its step, and nothing at the beginning of the next turn is in its way, all as above. It is waited for in the
    next turn before the first statement that is, and behind the loop, where one was started. No buffer may end with
    the turn or the loop.
    The next turn may fill one of two buffers while the other is under way: by buffer[i % 2], by now = 1 - now, or by
    a row of its own for each turn.
  - --persistent makes a call persistent before the loop where its arguments can be had there, and nothing in the
    loop changes what they are computed from, arrays of counts, or any communicator; and where the loop is left at
    its end or by break, so that the request is freed. All that it is given is a constant or where a
    variable is, or the loop has a turn for sure: before one that has none the values may be no good ones, nor
    where turns may end before the call. Nor may MPI be up there, unless each main() initialises it on every way, and
    leads to the loop behind that alone, and in front of what finalises it, which stands in no loop. All ranks must
    reach it alike, whatever it may meet. Other calls of MPI may stand in the loop where all of it is constants and
    places.

What is written takes lines of its own, so __LINE__ and its like are others below.

At least --least operations must be there to run meanwhile; a loop counts as 100 turns.
)";
}

}  // namespace nbcc::overlap
