// SPDX-License-Identifier: BSD-3-Clause
// compile_operator.cpp - clang twice: what type the operator has, then the kernel around it.
//
//   1. max.cpp                         the function that is named, and its T
//   2. #include "max.cpp"              the loop over T, compiled with all optimisation
//      void nbc_operator(...) { ... }
//
// A kernel that calls what is in neither is refused, as is one that keeps anything between calls: a
// library is one read-only object that needs no other (compiler/output). So are fused
// multiply-adds: see runtime/kernels.

#include "compiler/operators/compile_operator.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/QualTypeNames.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/Internalize.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "compiler/lower/emit_object.h"

namespace nbcc {
namespace {

struct Found {
  std::string type, element, why;
  size_t bytes = 0;
};

std::string wanted(const std::string &name) {
  return "an operator is T " + name + "(T, T) or T " + name + "(const T &, const T &)";
}

/// It becomes part of a program.
bool isIdentifier(const std::string &name) {
  const auto letter = [](char c) {
    return c == '_' || std::isalpha(static_cast<unsigned char>(c));
  };
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); });
}

/// The unqualified T of an operator's operands and result; null: it is none.
clang::QualType elementOf(const clang::FunctionDecl &f) {
  if (f.getNumParams() != 2 || f.isVariadic()) return {};
  const auto plain = [](clang::QualType t) { return t.getNonReferenceType().getUnqualifiedType(); };
  const clang::QualType result = f.getReturnType();
  if (result->isVoidType() || result->isReferenceType()) return {};
  for (const clang::ParmVarDecl *p : f.parameters()) {
    const clang::QualType t = p->getType();
    const bool readOnly = !t->isReferenceType() || t.getNonReferenceType().isConstQualified();
    if (!readOnly || plain(t).getCanonicalType() != plain(result).getCanonicalType()) return {};
  }
  return plain(result);
}

/// "f64"; empty: none of nbc.h.
std::string elementName(clang::QualType type, uint64_t bits) {
  const auto *builtin = type->getAs<clang::BuiltinType>();
  if (!builtin || type->isEnumeralType()) return "";
  if (type->isBooleanType()) return "bool";
  if (type->isSpecificBuiltinType(clang::BuiltinType::LongDouble)) return "f80";
  if (bits > 64) return "";
  if (type->isFloatingType()) return "f" + std::to_string(bits);
  return (type->isSignedIntegerType() ? "i" : "u") + std::to_string(bits);
}

class Search : public clang::ASTConsumer {
 public:
  Search(const std::string &name, Found &found) : name_(name), found_(found) {}

  void HandleTranslationUnit(clang::ASTContext &context) override {
    std::vector<clang::QualType> types;
    bool any = false;
    for (const clang::NamedDecl *d :
         context.getTranslationUnitDecl()->lookup(&context.Idents.get(name_))) {
      const auto *f = llvm::dyn_cast<clang::FunctionDecl>(d);
      any = any || f || llvm::isa<clang::FunctionTemplateDecl>(d);
      if (!f || !f->hasBody()) continue;
      if (const clang::QualType t = elementOf(*f); !t.isNull()) types.push_back(t);
    }
    if (types.size() > 1) found_.why = "there are several operators " + name_;
    if (!any) found_.why = "there is no function " + name_;
    if (any && types.empty()) found_.why = name_ + " is not one, or has no body: " + wanted(name_);
    if (types.size() != 1 || context.getDiagnostics().hasErrorOccurred()) return;
    take(types.front(), context);
  }

 private:
  void take(clang::QualType type, clang::ASTContext &context) {
    found_.type =
        clang::TypeName::getFullyQualifiedName(type, context, context.getPrintingPolicy());
    if (type->isPointerType() || !type.isTriviallyCopyableType(context)) {
      found_.why = name_ + " works on " + found_.type + ", which cannot be sent byte by byte";
      return;
    }
    found_.element = elementName(type, context.getTypeSize(type));
    found_.bytes = static_cast<size_t>(context.getTypeSizeInChars(type).getQuantity());
  }

  const std::string &name_;
  Found &found_;
};

class SearchAction : public clang::ASTFrontendAction {
 public:
  SearchAction(const std::string &name, Found &found) : name_(name), found_(found) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &,
                                                        llvm::StringRef) override {
    return std::make_unique<Search>(name_, found_);
  }

 private:
  const std::string &name_;
  Found &found_;
};

/// Runs clang over a file, or over `text`, which stands in for one beside it. False: `said` is why
/// not.
bool run(clang::FrontendAction &action, const std::string &file, const std::string &text,
         int cpuLevel, std::string &said) {
  const bool c = std::filesystem::path(file).extension() == ".c";
  const std::string name = text.empty() ? file : file + (c ? ".operator.c" : ".operator.cpp");
  const std::string march = "-march=x86-64-v" + std::to_string(cpuLevel);
  std::vector<const char *> arguments = {
      "clang", "-fsyntax-only",     "-resource-dir",   NBCC_CLANG_RESOURCES,  "-O2",
      "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing"};
  if (!c) arguments.insert(arguments.end(), {"-std=c++20", "-fno-exceptions", "-fno-rtti"});
  if (cpuLevel > 1) arguments.push_back(march.c_str());
  arguments.push_back(name.c_str());

  llvm::raw_string_ostream out(said);
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  options->ShowCarets = false;  // nor, with them, how many errors there were
  clang::TextDiagnosticPrinter printer(out, options.get());
  clang::CompilerInstance clang;
  clang::CreateInvocationOptions how;
  how.Diags = clang::CompilerInstance::createDiagnostics(options.get(), &printer, false);
  std::shared_ptr<clang::CompilerInvocation> invocation =
      clang::createInvocation(arguments, std::move(how));
  if (!invocation) return false;
  invocation->getDiagnosticOpts().ShowCarets = false;
  if (!text.empty())
    invocation->getPreprocessorOpts().addRemappedFile(
        name, llvm::MemoryBuffer::getMemBufferCopy(text, name).release());
  clang.setInvocation(std::move(invocation));
  clang.createDiagnostics(&printer, false);
  return clang.ExecuteAction(action) && !clang.getDiagnostics().hasErrorOccurred();
}

std::string quoted(const std::string &path) {
  std::string result = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

/// Elements are looked at where they lie in buffers of their own, since theirs may be anywhere. A
/// result that is an operand has a loop of its own: in another LLVM would take it for memory that
/// overlaps, and go one by one.
std::string kernelText(const std::string &file, const std::string &name, const std::string &type) {
  return "#include " + quoted(std::filesystem::absolute(file)) +
         "\nstatic inline __attribute__((always_inline))\n"
         "void nbc_loop(void *to, const void *left, const void *right, __SIZE_TYPE__ n) {\n"
         "  typedef " +
         type +
         " element;\n"
         "  for (__SIZE_TYPE__ i = 0; i < n; ++i) {\n"
         "    __attribute__((aligned(__alignof__(element)))) char a[sizeof(element)], "
         "b[sizeof(element)];\n"
         "    __builtin_memcpy(a, (const char *)left + i * sizeof(element), sizeof(element));\n"
         "    __builtin_memcpy(b, (const char *)right + i * sizeof(element), sizeof(element));\n"
         "    const element c = " +
         name +
         "(*(const element *)a, *(const element *)b);\n"
         "    __builtin_memcpy((char *)to + i * sizeof(element), &c, sizeof(element));\n"
         "  }\n"
         "}\n"
         "#ifdef __cplusplus\nextern \"C\"\n#endif\n"
         "void nbc_operator(void *to, const void *left, const void *right, __SIZE_TYPE__ n,\n"
         "                  void *context) {\n"
         "  (void)context;\n"
         "  if (to == left) nbc_loop(to, to, right, n);\n"
         "  else if (to == right) nbc_loop(to, left, to, n);\n"
         "  else nbc_loop(to, left, right, n);\n"
         "}\n";
}

/// What the kernel does not lead to goes.
void dropUnused(llvm::Module &module) {
  llvm::internalizeModule(
      module, [](const llvm::GlobalValue &v) { return v.getName() == kOperatorKernel; });
  llvm::ModuleAnalysisManager none;
  llvm::GlobalDCEPass().run(module, none);
}

/// What its machine code calls: also what is an intrinsic to LLVM and a function of the C library
/// to this processor.
std::vector<std::string> calledElsewhere(llvm::Module &module, int cpuLevel) {
  std::string ignored;  // clang has compiled for it
  const std::string bytes = emitObject(*llvm::CloneModule(module), {.cpuLevel = cpuLevel}, ignored);
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernel"));
  if (!object) {
    llvm::consumeError(object.takeError());
    return {};
  }
  std::vector<std::string> names;
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols())
    if (llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined)
      names.push_back(llvm::cantFail(symbol.getName()).str());
  std::erase(names, "");
  return names;
}

/// What a library cannot have; empty: nothing.
std::string unfit(llvm::Module &module, const std::string &name, int cpuLevel) {
  for (const llvm::GlobalVariable &g : module.globals())
    if (!g.isConstant() || g.isThreadLocal())
      return name + " depends on more than its operands: " + g.getName().str();
  const std::vector<std::string> names = calledElsewhere(module, cpuLevel);
  return names.empty() ? "" : name + " needs " + names.front() + ", which its file does not have";
}

}  // namespace
}  // namespace nbcc

bool nbcc_compile_operator(const std::string &file, const std::string &name, int cpuLevel,
                           nbcc::OperatorKernel &kernel, std::string &why) {
  using namespace nbcc;
  if (!isIdentifier(name)) why = "'" + name + "' cannot be the name of a function";
  if (why.empty() && !std::ifstream(file)) why = "cannot read " + file;
  if (!why.empty()) return false;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmParser();
  llvm::InitializeNativeTargetAsmPrinter();
  Found found;
  SearchAction search(name, found);
  if (!run(search, file, "", cpuLevel, why)) return false;
  why = found.why.empty() ? "" : file + ": " + found.why;
  if (!why.empty()) return false;

  llvm::LLVMContext context;
  clang::EmitLLVMOnlyAction emit(&context);
  if (!run(emit, file, kernelText(file, name, found.type), cpuLevel, why)) return false;
  const std::unique_ptr<llvm::Module> module = emit.takeModule();
  dropUnused(*module);
  why = unfit(*module, name, cpuLevel);
  if (!why.empty()) why = file + ": " + why;
  if (!why.empty()) return false;
  llvm::raw_string_ostream out(kernel.bitcode);
  llvm::WriteBitcodeToFile(*module, out);
  out.flush();
  kernel.type = found.type;
  kernel.element = found.element;
  kernel.elementBytes = found.bytes;
  return true;
}
