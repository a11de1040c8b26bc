# SPDX-License-Identifier: BSD-3-Clause
# shipped.cmake - libnbc-colls.so: all of stdlib_algos, compiled ahead of time, for programs that take
# algorithms by name and for the drop-in. It finds a place beside libnbc-build.so.
#
# No templates are in it, as nobody knows for how many ranks: `build` makes them where they are used.
# The proofs are those of 1..32 ranks, which take 8 s of one core's time (1..16 take 4, 1..64 15);
# the tests prove more (test/stdlib_algos). What is not proven for lengths of their own blocks is
# there for equal ones alone, and says so.
file(GLOB algorithms CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/stdlib_algos
  ${PROJECT_SOURCE_DIR}/stdlib_algos/*/*.nbc)
list(TRANSFORM algorithms PREPEND ${PROJECT_SOURCE_DIR}/stdlib_algos/ OUTPUT_VARIABLE algorithm_files)
set(shipped ${PROJECT_BINARY_DIR}/libnbc-colls.so)
# By relative names: a library says where its algorithms stand, and is to be the same wherever it was made.
add_custom_command(OUTPUT ${shipped}
  COMMAND nbcc ${algorithms} --target=mpi,sci,shm,verbs,coredirect --lengths=equal,each --prove=1..32 --quiet -o ${shipped}
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/stdlib_algos
  DEPENDS nbcc ${algorithm_files}
  COMMENT "Proving and compiling libnbc-colls.so" VERBATIM)
add_custom_target(nbc-colls ALL DEPENDS ${shipped})
install(PROGRAMS ${shipped} DESTINATION ${CMAKE_INSTALL_LIBDIR})
