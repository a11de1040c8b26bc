// SPDX-License-Identifier: BSD-3-Clause
// compile_operator.h - a user's operator of a C or C++ file as a kernel, in LLVM bitcode.
//
//   double largest(double a, double b)   =>   void nbc_operator(ptr to, ptr left, ptr right, i64 n,
//                                               ptr): one loop, `largest` inlined in it
//
// An operator is a function of two elements: T name(T, T), or T name(const T &, const T &), of any
// type that may be copied byte by byte, nothing but a function of its operands. No header of clang
// or LLVM is needed to use this.
//
// These few files are a shared object, libnbc-operators.so, which nbcc loads when it is asked for
// an operator: clang's libraries take longer to load than nbcc to run.

#pragma once

#include <cstddef>
#include <string>

namespace nbcc {

/// The name of the kernel in the bitcode.
inline constexpr const char *kOperatorKernel = "nbc_operator";

struct OperatorKernel {
  std::string bitcode;
  std::string type;     // as the file has it: "double", "Point"
  std::string element;  // of a type of nbc.h its name, "f64"; else empty
  size_t elementBytes = 0;
};

/// False: `why` says what is wrong, a line each, "max.cpp:3:5: error: ..." or without a place.
/// `cpuLevel`: of x86-64; elsewhere not looked at.
using CompileOperator = bool(const std::string &file, const std::string &name, int cpuLevel,
                             OperatorKernel &, std::string &why);

}  // namespace nbcc

/// Of the shared object.
extern "C" nbcc::CompileOperator nbcc_compile_operator;
