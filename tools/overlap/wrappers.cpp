// SPDX-License-Identifier: BSD-3-Clause
// wrappers.cpp - asks mpicc what it adds.

#include "tools/overlap/wrappers.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <memory>
#include <sstream>

namespace nbcc::overlap {
namespace {

using Words = std::vector<std::string>;

bool isWrapper(llvm::StringRef compiler) {
  const llvm::StringRef name = llvm::sys::path::filename(compiler);
  return name.starts_with("mpi") || name.starts_with("smpi");
}

/// What a wrapper prints for one option, as words; empty: it does not know it.
Words ask(const std::string &wrapper, llvm::StringRef option) {
  const llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(wrapper);
  llvm::SmallString<64> answer;
  if (!program || llvm::sys::fs::createTemporaryFile("nbc-overlap", "txt", answer)) return {};
  const std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(), answer.str(),
                                                      llvm::StringRef()};
  const int status =
      llvm::sys::ExecuteAndWait(*program, {*program, option}, std::nullopt, redirects);
  Words words;
  if (auto text = llvm::MemoryBuffer::getFile(answer); text && status == 0) {
    std::istringstream in((*text)->getBuffer().str());
    for (std::string word; in >> word;) words.push_back(word);
  }
  llvm::sys::fs::remove(answer);
  return words;
}

/// Those that say where headers are.
Words flagsOf(const std::string &wrapper) {
  Words flags;
  for (const char *option : {"-show", "-showme"}) {
    const Words words = ask(wrapper, option);
    for (size_t i = 0; i < words.size(); ++i) {
      llvm::StringRef word = words[i];
      if (word.starts_with("-D")) flags.push_back(words[i]);
      if (!word.consume_front("-isystem") && !word.consume_front("-I")) continue;
      if (word.empty() && i + 1 < words.size()) word = words[++i];
      flags.insert(flags.end(), {"-isystem", word.str()});  // what is in there is not the program's
    }
    if (!flags.empty()) break;
  }
  if (flags.empty())
    llvm::errs() << "nbc-overlap: warning: '" << wrapper
                 << "' does not say where its headers are, by -show or -showme\n";
  return flags;
}

}  // namespace

clang::tooling::ArgumentsAdjuster askWrappers() {
  auto answers = std::make_shared<std::map<std::string, Words>>();
  return [answers](const clang::tooling::CommandLineArguments &command, llvm::StringRef) {
    clang::tooling::CommandLineArguments result = command;
    if (command.empty() || !isWrapper(command[0])) return result;
    auto [at, fresh] = answers->try_emplace(command[0]);
    if (fresh) at->second = flagsOf(command[0]);
    result.insert(result.begin() + 1, at->second.begin(), at->second.end());
    return result;
  };
}

}  // namespace nbcc::overlap
