// SPDX-License-Identifier: BSD-3-Clause
// collect_program.cpp - one look through all sources, at what is asked of a program later.

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <utility>

#include "tools/overlap/bindings.h"
#include "tools/overlap/buffers.h"
#include "tools/overlap/changes.h"
#include "tools/overlap/collect_given.h"
#include "tools/overlap/collect_unseen.h"
#include "tools/overlap/collectives.h"
#include "tools/overlap/headers.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/messages.h"
#include "tools/overlap/points_to.h"
#include "tools/overlap/program.h"
#include "tools/overlap/site.h"
#include "tools/overlap/streams.h"

namespace nbcc::overlap {

using namespace clang;
using llvm::dyn_cast;

class Collector : public RecursiveASTVisitor<Collector> {
 public:
  Collector(Program &program, const ASTContext &context)
      : program_(program),
        values_(program),
        context_(context),
        files_(context.getSourceManager()) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(Decl *d) {
    auto *f = d ? d->getAsFunction() : nullptr;
    if (d && isOfSystem(*d) && !llvm::isa<TranslationUnitDecl>(d)) return traverseOwnOf(*d);
    if (const auto *names = d ? dyn_cast<NamespaceDecl>(d) : nullptr;
        names && names->getName() == "MPI" &&
        comesWithMpi(files_.getFileID(files_.getExpansionLoc(d->getLocation())), files_))
      return true;  // the C++ bindings that Open MPI still has, which call everything
    const FunctionDecl *outer = in_;
    if (f && f->doesThisDeclarationHaveABody()) {
      in_ = f;
      // An allocator of the program's own, which may do anything where a vector is made.
      if (f->getOverloadedOperator() == OO_New || f->getOverloadedOperator() == OO_Array_New ||
          f->getOverloadedOperator() == OO_Delete || f->getOverloadedOperator() == OO_Array_Delete)
        program_.ownsNew_ = true;
      if (files_.isInMainFile(files_.getExpansionLoc(f->getLocation())))
        program_.functions_.push_back(f);
      const auto [at, fresh] = program_.definitions_.emplace(nameInAll(*f), f);
      if (!fresh && at->second && !sameText(*at->second, *f)) at->second = nullptr;
      program_.bodies_.push_back(f);
    }
    const bool result = RecursiveASTVisitor::TraverseDecl(d);
    in_ = outer;
    return result;
  }

  bool VisitCallExpr(CallExpr *call) {
    const FunctionDecl *f = call->getDirectCallee();
    if (!f) return true;
    called_.insert(call->getCallee()->IgnoreParenImpCasts());
    program_.callers_[nameInAll(*f)].push_back({call, in_});
    if (makesIntercommunicator(*f)) {
      program_.hasSides_ = true;
      program_.joinsOthers_ = program_.joinsOthers_ || !f->getName().contains("Intercomm");
    }
    program_.lendsMemory_ = program_.lendsMemory_ || lendsMemory(*call, *f);
    if (in_) program_.calls_[in_].push_back({call, in_});
    if (isMpi(*f)) {
      toMpi_.insert(call->arg_begin(), call->arg_end());
      if (f->getName() == "MPI_Comm_free" && call->getNumArgs() == 1)
        freed_.insert(call->getArg(0)->IgnoreParenCasts());
      if (findCollective(f->getName().str())) program_.collectives_.push_back({call, in_});
      if (findMaker(f->getName().str())) program_.makers_.push_back({call, in_});
      program_.givesFunctionsToMpi_ = program_.givesFunctionsToMpi_ || givesFunction(*call, *f);
      program_.requests_.called(*call, *f);
      if (namesAnyByNumber(*call, *f)) program_.looks_.emplace_back("a rank below 0", in_);
      if (asksForThreads(*call, *f)) program_.looks_.emplace_back("threads that call MPI", in_);
    }
    const KnownCall *known = findKnownCall(*f);
    if (known && formatMayHold(*call, *known, 'm')) program_.asksForErrno_ = "%m";
    for (unsigned i = 0; known && changesNoHandle(*call, *known) && i < call->getNumArgs(); ++i)
      if (known->argument(i) == 'r' || known->argument(i) == 'f' || known->name == "memset")
        values_.understand(call->getArg(i));
    if (const CXXConstructExpr *made = madeBy(*f)) {
      written_.insert(made);
      const std::vector<const Expr *> values = handedOn(*call, *made);
      constructed(*made, *call, values);
      const CXXConstructorDecl &by = *made->getConstructor();
      for (unsigned i = 0; i < values.size() && i < by.getNumParams(); ++i)
        if (!by.getParamDecl(i)->getType()->isReferenceType())
          values_.understand(values[i]->IgnoreParenCasts());
    }
    if (!staysInside(*f)) program_.outside_.insert(f);
    return true;
  }

  bool VisitDecl(Decl *d) {
    if (const auto *named = dyn_cast<NamedDecl>(d);
        named && named->getIdentifier() && hasOtherName(*named))
      otherName(named->getName());  // in a source that does not say so, too
    if (const auto *alias = d->getAttr<AliasAttr>()) otherName(alias->getAliasee());
    if (const auto *label = d->getAttr<AsmLabelAttr>()) otherName(label->getLabel());
    if (const auto *chosen = d->getAttr<IFuncAttr>()) otherName(chosen->getResolver());
    if (const auto *weak = d->getAttr<WeakRefAttr>()) otherName(weak->getAliasee());
    if (d->hasAttr<DestructorAttr>()) program_.handles_.insert(Handles::exit);
    if (const auto *assembly = dyn_cast<FileScopeAsmDecl>(d))
      this->assembly(assembly->getAsmString()->getString());
    return true;
  }

  bool VisitGCCAsmStmt(GCCAsmStmt *s) {
    assembly(s->getAsmString()->getString());
    return true;
  }

  bool VisitParmVarDecl(ParmVarDecl *p) {
    if (p->hasDefaultArg() && !p->hasUnparsedDefaultArg() && !isOfSystem(*p))
      program_.standing_.push_back(
          p->hasUninstantiatedDefaultArg() ? p->getUninstantiatedDefaultArg() : p->getDefaultArg());
    return true;
  }
  bool VisitVarDecl(VarDecl *v) {
    program_.elements_.declared(*v);
    if (v->hasGlobalStorage() && !v->isStaticLocal() && !v->getType()->isDependentType()) {
      program_.globals_.push_back(v);
      program_.declarations_[program_.inAll(*v)].push_back(v);
    }
    const CXXRecordDecl *record =
        v->hasGlobalStorage() ? v->getType()->getAsCXXRecordDecl() : nullptr;
    if (record && record->hasDefinition() && !record->hasTrivialDestructor() &&
        !isOfSystem(*record))
      program_.handles_.insert(Handles::exit);
    if (const auto *attribute = v->getAttr<CleanupAttr>()) {  // called where the variable ends
      program_.addressTaken_.insert(nameInAll(*attribute->getFunctionDecl()));
      values_.givesAll(v->getType());
    }
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator *op) {
    if (op->isAssignmentOp()) values_.gives(op->getLHS(), op, in_);
    // It is the variable once more, which may be kept.
    if (op->isAssignmentOp() && op->isGLValue() &&
        (!in_ || !isReadAtMost(op, in_->getASTContext(), false)))
      values_.gives(op->getLHS(), op->getLHS(), in_);
    if (isDistance(*op)) program_.takesAddresses_ = true;
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator *op) {
    if (op->getOpcode() == UO_AddrOf && !freed_.contains(op))
      values_.gives(op->getSubExpr(), op, in_);
    if (freed_.contains(op)) values_.understand(op->getSubExpr()->IgnoreParenCasts());
    return true;
  }
  // What is neither read nor given a value is bound to a reference, or something else that may.
  bool VisitCastExpr(CastExpr *cast) {
    const bool reads = cast->getCastKind() == CK_LValueToRValue || cast->getCastKind() == CK_ToVoid;
    if (reads) values_.understand(cast->getSubExpr()->IgnoreParens());
    if (cast->getCastKind() == CK_PointerToIntegral) program_.takesAddresses_ = true;
    const bool asOther =
        cast->getCastKind() == CK_BitCast || cast->getCastKind() == CK_LValueBitCast ||
        cast->getCastKind() == CK_LValueToRValueBitCast ||
        cast->getCastKind() == CK_PointerToIntegral || cast->getCastKind() == CK_Dynamic;
    if (!asOther || values_.isUnderstood(cast)) return true;
    if (!allocates(*cast->getSubExpr())) values_.givesAll(cast->getType());
    values_.givesAll(cast->getSubExpr()->getType());
    if (!toMpi_.contains(cast)) values_.givesAll(wholeBehind(*cast->getSubExpr()));
    return true;
  }
  bool VisitInitListExpr(InitListExpr *list) {
    if (const InitListExpr *all = list->isSemanticForm() ? list : list->getSemanticForm())
      values_.givesFields(*all, in_);
    return true;
  }
  bool TraverseConstructorInitializer(CXXCtorInitializer *i) {
    if (i->isAnyMemberInitializer() && i->getInit())
      values_.givesUnless(*i->getAnyMember(), *i->getInit(), in_);
    return RecursiveASTVisitor::TraverseConstructorInitializer(i);
  }

  bool VisitCXXMethodDecl(CXXMethodDecl *m) {
    if (m->isUserProvided() && !m->isDeleted() && !m->isPureVirtual() && !m->hasBody() &&
        !m->isTemplated() && !m->isTemplateInstantiation())
      program_.declared_.push_back(m);
    return true;
  }

  // One with auto has a body for each kind of arguments, behind none of which its text stands.
  bool VisitLambdaExpr(LambdaExpr *e) {
    program_.lambdas_.push_back(e->getCallOperator());
    bool all = true;
    if (FunctionTemplateDecl *of = e->getDependentCallOperator())
      for (FunctionDecl *body : of->specializations())
        if (generic_.insert(body).second) all = all && TraverseDecl(body);
    return all;
  }
  bool VisitTypeLoc(TypeLoc at) {
    // One that C has among parameters is in no list of declarations, or in none that is visited.
    const auto tag = at.getAs<TagTypeLoc>();
    if (tag && tag.isDefinition() && !tag.getDecl()->getASTContext().getLangOpts().CPlusPlus) {
      if (!tag.getDecl()->getDeclContext()->containsDecl(tag.getDecl()))
        program_.namesInside_.insert(tag.getDecl()->getNameAsString());
      TraverseDecl(tag.getDecl());
    }
    if (const CXXRecordDecl *record = at.getType()->getAsCXXRecordDecl()) {
      values_.givesArguments(*record);
      program_.writesStreams_ = program_.writesStreams_ || writesFiles(*record);
    }
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *made) {
    written_.insert(made);
    values_.givesArguments(*made->getConstructor());
    constructed(*made, *made, {made->arg_begin(), made->arg_end()});
    calls(*made->getConstructor());
    program_.writesStreams_ =
        program_.writesStreams_ || writesFiles(*made->getConstructor()->getParent());
    return true;
  }

  bool VisitRecordDecl(RecordDecl *record) {
    if (!record->isThisDeclarationADefinition() || record->isInvalidDecl() ||
        record->isDependentType())
      return true;
    program_.records_.push_back(record);
    if (record->getIdentifier() && (record->getDeclContext()->isFunctionOrMethod() ||
                                    record->getLexicalDeclContext()->isFunctionOrMethod()))
      program_.namesInside_.insert(record->getName().str());
    std::string layout, members;
    for (const FieldDecl *f : record->fields()) {
      members += f->getNameAsString() + ' ';
      layout += f->getNameAsString() + ' ' + f->getType().getCanonicalType().getAsString() + ' ' +
                std::to_string(record->getASTContext().getFieldOffset(f)) + '\n';
    }
    if (!record->getIdentifier()) program_.membersOfUnnamed_[nameInAll(*record)] = members;
    // Of another layout in another source, a field lies there under others.
    if (program_.layouts_.try_emplace(nameInAll(*record), layout).first->second != layout)
      values_.underUnion(record);
    return true;
  }

  bool VisitFieldDecl(FieldDecl *f) {
    if (f->getInClassInitializer() && !isOfSystem(*f))
      program_.standing_.push_back(f->getInClassInitializer());
    if (f->getParent()->isUnion()) values_.underUnion(f->getParent());
    if (f->hasInClassInitializer() && f->getInClassInitializer())
      values_.givesUnless(*f, *f->getInClassInitializer(), nullptr);
    return true;
  }

  bool VisitExpr(Expr *e) {
    if (e->getType().isNull()) return true;  // in a template
    if (isa<UnaryOperator, IntegerLiteral>(e) && e->getBeginLoc().isMacroID() &&
        constantName(e, context_) == "MPI_ANY_SOURCE")
      program_.looks_.emplace_back("MPI_ANY_SOURCE", in_);
    const RecordDecl *record = e->getType()->getAsRecordDecl();
    if (record && record->isUnion()) values_.underUnion(record);  // of no declaration, maybe
    if (const auto *of = dyn_cast_or_null<CXXRecordDecl>(record)) values_.givesArguments(*of);
    return true;
  }
  // Who catches it may take it for what is behind any pointer.
  bool VisitCXXThrowExpr(CXXThrowExpr *e) {
    if (e->getSubExpr()) values_.givesAll(e->getSubExpr()->getType());
    return true;
  }
  bool VisitCXXParenListInitExpr(CXXParenListInitExpr *e) {
    values_.givesAll(e->getType());
    return true;
  }

  bool VisitStmt(Stmt *s) {
    program_.catches_ = program_.catches_ || isa<CXXTryStmt>(s);
    program_.hasDirectives_ = program_.hasDirectives_ || isa<OMPExecutableDirective>(s);
    if (changesStandardStream(s)) program_.redirects_ = program_.lendsMemory_ = true;
    program_.redirects_ = program_.redirects_ || closesStandardStream(s);
    const auto *member = dyn_cast<MemberExpr>(s);
    const auto *ref = dyn_cast<DeclRefExpr>(s);
    program_.changesStreams_ = program_.changesStreams_ ||
                               (member && mayChangeStreams(*member->getMemberDecl())) ||
                               (ref && mayChangeStreams(*ref->getDecl()));
    program_.elements_.visit(s);
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr *ref) {
    program_.uses_[program_.inAll(*ref->getDecl())].push_back({ref, in_});
    if (ref->getDecl()->getIdentifier() && ref->getDecl()->getName() == "ANY_SOURCE")
      program_.looks_.emplace_back("MPI::ANY_SOURCE", in_);
    if (isa<VarDecl, BindingDecl>(ref->getDecl()) && !values_.isUnderstood(ref))
      values_.gives(ref, ref, in_);
    const auto *f = dyn_cast<FunctionDecl>(ref->getDecl());
    if (f && !staysInside(*f)) program_.outside_.insert(f);
    if (isa<FunctionDecl, VarDecl>(ref->getDecl())) calls(*ref->getDecl());
    if (f) written_.insert(ref);
    if (f) values_.givesArguments(*f, called_.contains(ref));
    if (f && f->getIdentifier()) {
      // mmap64(), shmat(), memfd_create(), process_vm_writev() ... ibv_reg_mr(), fi_mr_reg() ...
      const llvm::StringRef name = f->getName();
      for (const char *part : {"mmap", "mremap", "syscall", "shm", "memfd_", "process_vm_",
                               "ibv_reg_", "fi_mr_", "ucp_mem_", "gaspi_", "xpmem_"})
        program_.sharesMemory_ = program_.sharesMemory_ || name.starts_with(part);
      for (const char *gives : {"freopen", "freopen64", "dup2", "dup3"})
        program_.redirects_ = program_.redirects_ || name == gives;
      program_.sharesMemory_ = program_.sharesMemory_ || (isMpi(*f) && name.contains("_Win_"));
      program_.handlesErrors_ =
          program_.handlesErrors_ || (isMpi(*f) && name.contains("rrhandler"));
      if (const std::optional<Handles> what = handled(*f)) program_.handles_.insert(*what);
      program_.lendsMemory_ =
          program_.lendsMemory_ || (!called_.contains(ref) && keepsMemory(name));
      // What it is given runs where memory runs out.
      program_.ownsNew_ = program_.ownsNew_ || (f->isInStdNamespace() && name == "set_new_handler");
      // It keeps what is thrown in it for whoever asks.
      program_.catches_ = program_.catches_ || (f->isInStdNamespace() && name == "async");
    }
    if (f && asksForErrno(*f))
      program_.asksForErrno_ = isErrno(*f) ? "the program" : f->getNameAsString() + "()";
    if (f && (symbolOf(*f).ends_with("context") || symbolOf(*f).contains("longjmp")))
      program_.goesBack_ = true;
    if (f && isMpi(*f) && f->getName().ends_with("ddress")) program_.takesAddresses_ = true;
    if (f && !called_.contains(ref)) program_.addressTaken_.insert(nameInAll(*f));
    if (f && isMpi(*f)) {
      if (seesEarlier(f->getName())) program_.looks_.emplace_back(f->getName().str() + "()", in_);
      if (!called_.contains(ref)) named(*f);
    }
    if (f && isCollectiveByOtherName(*f)) program_.hidden_ = f->getNameAsString() + "()";
    // What a name leads to is known when the program runs.
    if (f && f->getIdentifier() && (f->getName() == "dlsym" || f->getName() == "dlvsym"))
      program_.hidden_ = f->getName().str() + "()";
    if (f && f->getIdentifier() && f->getName().starts_with("dl") && f->getName() != "dlerror")
      program_.missing_ = "what " + f->getName().str() + "() opens";
    return true;
  }
  // Static members are variables and functions like any other, through an object too.
  bool VisitMemberExpr(MemberExpr *e) {
    const ValueDecl *d = e->getMemberDecl();
    if (d->getIdentifier() && d->getName() == "MPI_SOURCE")  // of an empty status that is any
      program_.looks_.emplace_back("MPI_SOURCE", in_);
    if (isa<VarDecl>(d)) program_.uses_[program_.inAll(*d)].push_back({e, in_});
    if (isa<VarDecl, FieldDecl>(d) && !values_.isUnderstood(e)) values_.gives(e, e, in_);
    const auto *m = dyn_cast<CXXMethodDecl>(d);
    calls(*d);
    if (m) written_.insert(e);
    if (m) values_.givesArguments(*m);
    if (m && !called_.contains(e)) program_.addressTaken_.insert(nameInAll(*m));
    return true;
  }
  // Of a template, or a lambda with auto.
  bool VisitUnresolvedLookupExpr(UnresolvedLookupExpr *e) {
    const std::string name = e->getName().getAsString();
    if (findCollective(name)) program_.hidden_ = name + "() in a template";
    return true;
  }
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *call) {
    const CXXMethodDecl *m = call->getMethodDecl();
    if (m && isCollectiveByOtherName(*m)) program_.hidden_ = "MPI's C++ bindings";
    return true;
  }

  /// What is called in another way, once all has been gone through.
  void addUnseen(ASTContext &context) {
    if (!context.getLangOpts().CPlusPlus) return;
    const std::set<const FunctionDecl *> lambdas(program_.lambdas_.begin(),
                                                 program_.lambdas_.end());
    collectUnseen(
        context, written_, lambdas,
        [&](const FunctionDecl &f) { program_.calledUnseen_.insert(nameInAll(f)); },
        [&](const char *what) { program_.missing_ = what; });
  }

 private:
  /// Forms of a library's templates that stand in the program.
  bool traverseOwnOf(const Decl &of) {
    const auto *context = dyn_cast<NamespaceDecl>(&of);
    if (!context) return true;
    for (Decl *own : ownOfLibrary(*context))
      if (!TraverseDecl(own)) return false;
    return true;
  }

  /// One of MPI that may be called by another name.
  void named(const FunctionDecl &f) {
    const llvm::StringRef name = f.getName();
    if (findOrdered(&f)) program_.hidden_ = name.str() + "()";
    program_.requests_.named(f);
    if (makesIntercommunicator(f)) program_.hasSides_ = program_.joinsOthers_ = true;
    if (name.contains("ecv") || name.contains("robe") || name.contains("Init_thread"))
      program_.looks_.emplace_back(name.str() + "() by another name", in_);
    for (const ParmVarDecl *p : f.parameters())
      program_.givesFunctionsToMpi_ =
          program_.givesFunctionsToMpi_ || p->getType()->isFunctionPointerType();
  }

  static bool writesFiles(const CXXRecordDecl &record) {
    const llvm::StringRef name = record.getIdentifier() ? record.getName() : "";
    return name == "basic_ofstream" || name == "basic_fstream" || name.contains("filebuf");
  }

  /// Of a header that two sources include.
  static bool sameText(const FunctionDecl &a, const FunctionDecl &b) {
    const auto place = [](const FunctionDecl &f) {
      const SourceManager &files = f.getASTContext().getSourceManager();
      const auto [file, offset] = files.getDecomposedLoc(files.getExpansionLoc(f.getLocation()));
      const OptionalFileEntryRef entry = files.getFileEntryRefForID(file);
      return std::pair(entry ? entry->getUniqueID() : llvm::sys::fs::UniqueID(), offset);
    };
    return place(a) == place(b);
  }

  /// Whether a function leaves nothing behind when the rank ends. Of libraries in the system's
  /// headers those do that open files, change folders, or start or reach other programs.
  bool staysInside(const FunctionDecl &f) const {
    if (isMpi(f))
      return !f.getName().contains("_File_") && !f.getName().contains("ublish_name") &&
             !f.getName().contains("Lookup_name");
    if (findKnownCall(f) || isMathematics(f) || isChoice(f) || program_.isLocal(f)) return true;
    if (!isOfSystem(f)) return f.hasBody();
    if (f.getQualifiedNameAsString().find("filesystem::") != std::string::npos) return false;
    // How the names of those begin that others may see the work of.
    static constexpr llvm::StringLiteral others[] = {
        "fopen",     "freopen",   "fdopen",         "open",          "creat",   "tmpfile",
        "mk",        "rmdir",     "rename",         "remove",        "unlink",  "link",
        "symlink",   "truncate",  "utime",          "futime",        "lutime",  "chmod",
        "fchmod",    "lchmod",    "chown",          "fchown",        "lchown",  "setxattr",
        "lsetxattr", "fsetxattr", "lremovexattr",   "fremovexattr",  "flock",   "lockf",
        "fcntl",     "ioctl",     "popen",          "system",        "fork",    "vfork",
        "clone",     "daemon",    "exec",           "posix_spawn",   "wordexp", "socket",
        "pipe",      "kill",      "raise",          "sigqueue",      "sem",     "msg",
        "mq_",       "syslog",    "vsyslog",        "setpriority",   "prlimit", "pidfd_",
        "ptrace",    "setpgid",   "sethostname",    "setdomainname", "mount",   "umount",
        "ftruncate", "fallocate", "posix_fallocate"};
    const bool isC = f.isExternC() || f.getDeclContext()->getRedeclContext()->isTranslationUnit();
    const llvm::StringRef name = f.getIdentifier() && isC ? f.getName() : "";
    return name == "mktime" || std::ranges::none_of(others, [&](llvm::StringRef begin) {
             return name.starts_with(begin);
           });
  }

  /// Whether what is behind its arguments is reached by them alone: memcpy() copies addresses,
  /// memset() returns one.
  static bool changesNoHandle(const CallExpr &call, const KnownCall &known) {
    if (known.name == "memset") {
      const Stmt *by = parentOf(&call, call.getDirectCallee()->getASTContext());
      return isa_and_nonnull<CompoundStmt, IfStmt, ForStmt>(by);
    }
    // strtol() leaves one in its second argument.
    return known.kind != CallKind::returns && !known.name.starts_with("strto") &&
           !formatMayHold(call, known, 'p');
  }

  /// &s.first is where all of s begins. Null: it is no such address.
  static QualType wholeBehind(const Expr &address) {
    const Expr *e = address.IgnoreParenCasts();
    const auto *op = dyn_cast<UnaryOperator>(e);
    if (op && op->getOpcode() == UO_AddrOf) e = op->getSubExpr()->IgnoreParens();
    if (!op && !e->getType()->isArrayType()) return {};
    QualType whole;
    for (const auto *m = dyn_cast<MemberExpr>(e); m; m = dyn_cast<MemberExpr>(m->getBase())) {
      const auto *field = dyn_cast<FieldDecl>(m->getMemberDecl());
      if (!field || field->getFieldIndex() > 0) break;
      whole = field->getASTContext().getRecordType(field->getParent());
    }
    return whole;
  }

  /// What it returns is memory that holds nothing yet.
  static bool allocates(const Expr &e) {
    const auto *call = dyn_cast<CallExpr>(e.IgnoreParenCasts());
    const FunctionDecl *f = call ? call->getDirectCallee() : nullptr;
    static constexpr std::string_view all[] = {"malloc", "calloc", "aligned_alloc",   "memalign",
                                               "valloc", "alloca", "__builtin_alloca"};
    return f && f->getIdentifier() && !f->hasBody() && f->isExternC() &&
           std::ranges::find(all, std::string_view(f->getName())) != std::end(all);
  }

  void constructed(const CXXConstructExpr &made, const Expr &at,
                   std::vector<const Expr *> arguments) {
    program_.constructions_[nameInAll(constructorOf(made))].push_back(
        {&at, std::move(arguments), in_, &made.getConstructor()->getASTContext()});
  }

  /// Whether MPI is given a function of the program's, or a pointer to one, that it calls when the
  /// program does not know; an operator is none that could do more than compute.
  bool givesFunction(const CallExpr &call, const FunctionDecl &f) const {
    if (f.getName().contains("Op_create")) return false;
    return std::ranges::any_of(call.arguments(), [&](const Expr *e) {
      if (!e->getType()->isFunctionPointerType()) return false;
      const auto *ref = dyn_cast<DeclRefExpr>(e->IgnoreParenCasts());
      const auto *given = ref ? dyn_cast<FunctionDecl>(ref->getDecl()) : nullptr;
      if (given)
        return !isOfSystem(*given) &&
               !comesWithMpi(files_.getFileID(files_.getExpansionLoc(given->getLocation())),
                             files_);
      return !e->IgnoreParenCasts()->isNullPointerConstant(f.getASTContext(),
                                                           Expr::NPC_ValueDependentIsNotNull);
    });
  }

  /// A function, or what may hold one.
  void calls(const ValueDecl &d) {
    const auto *f = dyn_cast<FunctionDecl>(&d);
    const QualType type(d.getType()->getPointeeOrArrayElementType(), 0);
    if (!f && !type->isFunctionType() && !type->isFunctionPointerType()) return;
    if (!program_.foreign_.empty() || (f && isMpi(*f)) || !isOfSystem(d) ||
        comesWithMpi(files_.getFileID(files_.getExpansionLoc(d.getLocation())), files_) ||
        isOfStandard(d))
      return;
    program_.foreign_ = d.getQualifiedNameAsString() + (f ? "()" : "");
  }

  /// What it names, or calls.
  void assembly(llvm::StringRef text) {
    otherName(text);
    if (!text.empty()) program_.missing_ = "what assembly does";
  }

  void otherName(llvm::StringRef of) { program_.otherNames_.push_back(of.str()); }

  Written written_;
  std::set<const FunctionDecl *> generic_;  // bodies of lambdas with auto
  Program &program_;
  GivenValues values_;
  const ASTContext &context_;
  const SourceManager &files_;
  const FunctionDecl *in_ = nullptr;
  std::set<const Expr *> freed_;   // &comm of MPI_Comm_free(&comm)
  std::set<const Expr *> toMpi_;   // arguments, which no handles are sent by
  std::set<const Expr *> called_;  // a call is visited before what it calls
};

Program::Program(std::vector<std::unique_ptr<ASTUnit>> sources, Promises promises)
    : sources_(std::move(sources)), promises_(std::move(promises)) {
  std::set<std::string> own;
  for (const auto &source : sources_) {
    leaveToMpi(source->getSourceManager());
    lookInto(source->getSourceManager());
    findOwn(*source->getASTContext().getTranslationUnitDecl(), own);
  }
  setOwnFunctions(std::move(own));
  for (const auto &source : sources_) {
    ASTContext &context = source->getASTContext();
    Collector collector(*this, context);
    collector.TraverseDecl(context.getTranslationUnitDecl());
    collector.addUnseen(context);
  }
  for (const auto &source : sources_) {
    const SourceManager &files = source->getSourceManager();
    for (unsigned i = 0; i < files.local_sloc_entry_size(); ++i) {
      const SrcMgr::SLocEntry &entry = files.getLocalSLocEntry(i);
      const auto of = entry.isFile() ? entry.getFile().getContentCache().OrigEntry : std::nullopt;
      const bool isMain =
          entry.getOffset() == files.getLocForStartOfFile(files.getMainFileID()).getRawEncoding();
      if (of && !isMain) included_.insert(of->getUniqueID());
    }
  }
  spreadSeenAsOther();
  for (const FunctionDecl *f : bodies_)
    if (hasNames(*f)) addressTaken_.insert(nameInAll(*f));
  findMissing();
  pointsTo_ = std::make_unique<PointsTo>(*this);
}

}  // namespace nbcc::overlap
