# SPDX-License-Identifier: BSD-3-Clause
# kernels.c once for each level of the processor, by LLVM whatever compiles the rest: into the runtime.

set(kernels_source ${CMAKE_CURRENT_LIST_DIR}/kernels.c)
find_program(NBCC_CLANG clang-19 REQUIRED)
# Debug information of version 5 is clang's own: valgrind of Debian 12 gives up on a program that has it.
set(flags -std=gnu11 -O2 -fPIC -g -gdwarf-4 -ffp-contract=off
  -Wall -Wextra -Wpedantic -Werror -Wno-pass-failed) # numbers of 80 bits have no vectors
if(NBCC_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "Clang")
  list(APPEND flags -fsanitize=${NBCC_SANITIZE} -fno-omit-frame-pointer)
endif()

# kernels(table flags...)
function(kernels table)
  set(object ${PROJECT_BINARY_DIR}/${table}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${NBCC_CLANG} ${flags} ${ARGN} -DKERNELS=${table}
      -I ${PROJECT_SOURCE_DIR} -I ${PROJECT_SOURCE_DIR}/runtime/include
      -MD -MF ${object}.d -c ${kernels_source} -o ${object}
    DEPENDS ${kernels_source} DEPFILE ${object}.d VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  list(APPEND kernel_objects ${object}) # $<TARGET_OBJECTS> leaves these out
  set(kernel_objects ${kernel_objects} PARENT_SCOPE)
endfunction()

kernels(kernels_any)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  kernels(kernels_v3 -march=x86-64-v3)
endif()
target_sources(nbc_runtime_src PRIVATE ${kernel_objects})
