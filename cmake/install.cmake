# SPDX-License-Identifier: BSD-3-Clause
# install.cmake - what `cmake --install` puts where; everything finds the rest by its own place, so the
# tree may be moved.
#
#   bin/nbcc                     finds share/nbc/stdlib_algos beside it
#   bin/nbc-adapters             what the machine's adapters can, and which --device that is (tools/adapters)
#   bin/nbc-bench-openmpi, ...   measures libraries beside that MPI's own collectives (tools/bench)
#   bin/nbc-overlap              finds what a program can do during a collective (tools/overlap); needs libclang-cpp
#   bin/nbc-tune                 measures a table for the drop-in with them (tools/tune)
#   lib/libnbc.so, libnbc.a      the runtime: C, needs the C library alone
#   lib/libnbc-build.so          templates from a library, for any number of ranks; algorithms by name
#   lib/libnbc-colls.so          the algorithms, compiled: for the drop-in, and whoever has no compiler there
#   lib/libnbc-jit.so            the compiler, which libnbc-build.so loads for sources it does not know
#   lib/libnbc-operators.so      users' operators, for nbcc
#   lib/libnbc-soft.so           devices made of software (nbc/soft/hca.h, p2p.h, verbs.h)
#   lib/software/libsisci.so     SISCI in software, for programs that are told to take it (NBC_SISCI_..., devices/sisci)
#   include/sisci/               its headers
#   lib/software/libibverbs.so   verbs and the vendor's experimental ones on software HCAs, for programs that are linked
#                                with it (devices/verbs_exp)
#   include/verbs_exp/           its headers, beside rdma-core's
#   lib/libnbc-hca.so            ranks of one machine over software HCAs (nbc/hca.h)
#   lib/libnbc-devx.so           ranks anywhere over mlx5 adapters, by DevX (nbc/devx.h)
#   lib/libnbc-shm.so            ranks of one node over shared memory (nbc/shm.h)
#   lib/libnbc-sci.so            ranks anywhere over memory that they export, by SISCI (nbc/sci.h)
#   lib/libnbc-verbs.so          ranks anywhere over an RDMA adapter, by libibverbs (nbc/verbs.h)
#   lib/libnbc-openmpi.so, ...   communicators of an MPI library (nbc_mpi.h), for each that was found
#   include/nbc.h, include/nbc/
#   share/nbc/stdlib_algos/      the algorithms
#   share/nbc/table.json         which of them the drop-in takes for a call
#   share/man/, share/doc/nbcc/  pages of the headers, if they were made (target `docs`)
#   lib/pkgconfig/               nbc.pc, nbc-build.pc, nbc-jit.pc, nbc-soft.pc, nbc-hca.pc, nbc-devx.pc, nbc-sci.pc,
#                                nbc-shm.pc, nbc-verbs.pc, nbc-openmpi.pc, ...
#   lib/cmake/nbcc/              find_package(nbcc): nbcc::nbc, nbcc::build, nbcc::jit, nbcc::soft, nbcc::hca,
#                                nbcc::devx, nbcc::shm, nbcc::sci, nbcc::verbs, nbcc_add_library(), nbcc_ALGORITHMS
include(CMakePackageConfigHelpers)

# The runtime, as a program is linked with it: the objects are those of nbc_runtime_src.
add_library(nbc SHARED $<TARGET_OBJECTS:nbc_runtime_src> ${kernel_objects})
target_link_libraries(nbc PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(nbc PRIVATE ${nothing_undefined}
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/runtime/nbc.map)
set_target_properties(nbc PROPERTIES LINKER_LANGUAGE C VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/nbc.map)
add_library(nbc-static STATIC $<TARGET_OBJECTS:nbc_runtime_src> ${kernel_objects})
set_target_properties(nbc-static PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME nbc)

add_library(nbc-soft SHARED $<TARGET_OBJECTS:nbc_devices_hca> $<TARGET_OBJECTS:nbc_devices_p2p>
  $<TARGET_OBJECTS:nbc_devices_verbs>)
target_link_libraries(nbc-soft PRIVATE Threads::Threads)
target_link_options(nbc-soft PRIVATE ${nothing_undefined})

# Shows its face in C alone: programs and plugins load it, whatever C++ library they have.
add_library(nbc-hca SHARED $<TARGET_OBJECTS:nbc_devices_hca>)
target_link_libraries(nbc-hca PRIVATE Threads::Threads)
target_link_options(nbc-hca PRIVATE ${nothing_undefined}
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/runtime/nbc.map)
set_target_properties(nbc-hca PROPERTIES EXPORT_NAME hca
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/nbc.map)

add_library(nbc-devx SHARED $<TARGET_OBJECTS:nbc_runtime_devx>)
target_link_libraries(nbc-devx PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(nbc-devx PRIVATE ${nothing_undefined}
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/runtime/nbc.map)
set_target_properties(nbc-devx PROPERTIES LINKER_LANGUAGE C EXPORT_NAME devx
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/nbc.map)

add_library(nbc-shm SHARED $<TARGET_OBJECTS:nbc_runtime_shm>)
target_link_libraries(nbc-shm PRIVATE ${HWLOC_LIBRARY})
target_link_options(nbc-shm PRIVATE ${nothing_undefined}
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/runtime/nbc.map)
set_target_properties(nbc-shm PROPERTIES LINKER_LANGUAGE C
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/nbc.map)

add_library(nbc-sci SHARED $<TARGET_OBJECTS:nbc_runtime_sci>)
target_link_libraries(nbc-sci PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(nbc-sci PRIVATE ${nothing_undefined}
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/runtime/nbc.map)
set_target_properties(nbc-sci PROPERTIES LINKER_LANGUAGE C
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/nbc.map)

add_library(nbc-verbs SHARED $<TARGET_OBJECTS:nbc_runtime_verbs>)
target_link_libraries(nbc-verbs PRIVATE ${IBVERBS_LIBRARY})
target_link_options(nbc-verbs PRIVATE ${nothing_undefined}
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/runtime/nbc.map)
set_target_properties(nbc-verbs PROPERTIES LINKER_LANGUAGE C
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/nbc.map)

# Programs that use one are compiled by the MPI's own wrapper, which has the MPI's flags.
get_property(mpis GLOBAL PROPERTY NBC_MPIS)
set(mpi_libraries)
foreach(mpi ${mpis})
  add_library(nbc-${mpi} SHARED $<TARGET_OBJECTS:nbc_${mpi}>)
  target_link_libraries(nbc-${mpi} PUBLIC nbc nbc-shm PRIVATE mpi_${mpi})
  target_link_options(nbc-${mpi} PRIVATE ${nothing_undefined})
  # A program need not know of nbc-shm, so nothing of the program's leads there.
  set_target_properties(nbc-${mpi} PROPERTIES LINKER_LANGUAGE C EXPORT_NAME ${mpi}
    INSTALL_RPATH $ORIGIN)
  list(APPEND mpi_libraries nbc-${mpi})
endforeach()
if(mpis)
  install(FILES runtime/mpi/nbc_mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

set_target_properties(nbcc PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
foreach(library nbc nbc-static nbc-build nbc-jit nbc-soft nbc-hca nbc-devx nbc-sci nbc-shm nbc-verbs ${mpi_libraries})
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
set_target_properties(nbc-build PROPERTIES EXPORT_NAME build)
set_target_properties(nbc-jit PROPERTIES EXPORT_NAME jit)
set_target_properties(nbc-soft PROPERTIES EXPORT_NAME soft)
set_target_properties(nbc-sci PROPERTIES EXPORT_NAME sci)
set_target_properties(nbc-shm PROPERTIES EXPORT_NAME shm)
set_target_properties(nbc-verbs PROPERTIES EXPORT_NAME verbs)
set_target_properties(nbc-static PROPERTIES EXPORT_NAME nbc-static)

install(TARGETS nbcc nbc nbc-static nbc-build nbc-jit nbc-soft nbc-hca nbc-devx nbc-sci nbc-shm nbc-verbs ${mpi_libraries} EXPORT nbcc-targets)
install(TARGETS nbc-adapters nbc-operators)
install(TARGETS sisci ibverbs LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/software)
install(DIRECTORY runtime/include/sisci runtime/include/verbs_exp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES runtime/include/nbc.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY runtime/include/nbc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES devices/hca/hca.h devices/p2p/p2p.h devices/verbs/verbs.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nbc/soft)
install(DIRECTORY stdlib_algos DESTINATION ${CMAKE_INSTALL_DATADIR}/nbc)
install(FILES dropin/table.json DESTINATION ${CMAKE_INSTALL_DATADIR}/nbc)
install(PROGRAMS tools/tune/nbc-tune DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES tools/tune/tuning.py tools/tune/others.py tools/tune/plots.py
  DESTINATION ${CMAKE_INSTALL_DATADIR}/nbc/tune)
install(DIRECTORY ${PROJECT_BINARY_DIR}/pages/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
install(DIRECTORY ${PROJECT_BINARY_DIR}/pages/html DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

install(EXPORT nbcc-targets NAMESPACE nbcc:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nbcc)
set(NBCC_ALGORITHMS ${CMAKE_INSTALL_DATADIR}/nbc/stdlib_algos)
configure_package_config_file(cmake/nbccConfig.cmake.in ${PROJECT_BINARY_DIR}/nbccConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nbcc PATH_VARS NBCC_ALGORITHMS NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nbccConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nbccConfig.cmake ${PROJECT_BINARY_DIR}/nbccConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nbcc)

file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up "${up}")

# nbc_package(name description libraries...): name.pc, which links lib<name>.
function(nbc_package name description)
  list(JOIN ARGN " " requires)
  configure_file(cmake/package.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
nbc_package(nbc "Runs compiled collective algorithms")
nbc_package(nbc-build "Makes templates of compiled collective algorithms, for any number of ranks" nbc)
nbc_package(nbc-jit "Compiles collective algorithms while the program runs" nbc)
nbc_package(nbc-soft "Devices made of software, for collective algorithms" nbc)
nbc_package(nbc-hca "Collective algorithms over software HCAs of one machine" nbc)
nbc_package(nbc-devx "Collective algorithms over mlx5 adapters, by DevX" nbc)
nbc_package(nbc-sci "Collective algorithms over memory that nodes export, by SISCI" nbc)
nbc_package(nbc-shm "Collective algorithms over the shared memory of a node" nbc)
nbc_package(nbc-verbs "Collective algorithms over RDMA adapters" nbc)
foreach(mpi ${mpis})
  nbc_package(nbc-${mpi} "Collective algorithms over ${mpi}" nbc nbc-shm)
endforeach()
