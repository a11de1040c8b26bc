// SPDX-License-Identifier: BSD-3-Clause
// program.h - all sources together: who calls whom, and what is known of each function.

#pragma once

#include <clang/AST/DeclCXX.h>
#include <clang/Frontend/ASTUnit.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/overlap/elements.h"
#include "tools/overlap/known_calls.h"
#include "tools/overlap/memory.h"
#include "tools/overlap/parts.h"
#include "tools/overlap/requests.h"

namespace nbcc::overlap {

struct CallSite {
  const clang::CallExpr *call;
  const clang::FunctionDecl *in;
};

/// Every use of a variable or a function in one source.
struct Use {
  const clang::Expr *ref;         // by its name, or as a member of an object's class
  const clang::FunctionDecl *in;  // null: in no function
};

/// A constructor's call, or one by std::make_unique().
struct Construction {
  const clang::Expr *made;
  std::vector<const clang::Expr *> arguments;
  const clang::FunctionDecl *in;  // null: in no function
  const clang::ASTContext *source;
};

/// A place where a variable or a field may get a value.
struct Given {
  const clang::Stmt *at;  // null: by way of something that its structure is looked at as
  const clang::FunctionDecl *in;
  const clang::ASTContext *source = nullptr;  // of a value in a list, or a field's initialiser
};

/// The constructor that runs: an inherited one, where it is called by another class's name.
const clang::CXXConstructorDecl &constructorOf(const clang::CXXConstructExpr &);

/// Whether it is the address that a call of MPI's puts a new handle at.
bool isMadeByMpi(const Given &);

/// What the user says of code that is not seen.
struct Promises {
  std::set<std::string>
      local;  // functions that touch what their arguments point at, keep nothing, use no MPI
  bool library = false;  // whoever calls a function from elsewhere does so on all ranks alike
  std::set<std::string> alike;  // variables and fields that are the same on all ranks
  bool whole = false;           // there is no other code that communicates on its communicators
  bool acrossClocks = false;    // what the program measures of itself may become something else
};

class PointsTo;
class VariableChanges;

/// Functions that may come to a collective where no call is written: by what they call, or only by
/// what is called there as unseen.
struct UnseenCalls {
  std::vector<const clang::FunctionDecl *> directly, otherwise;
};

class Program {
 public:
  explicit Program(std::vector<std::unique_ptr<clang::ASTUnit>> sources, Promises = {});
  ~Program();

  const std::vector<std::unique_ptr<clang::ASTUnit>> &sources() const { return sources_; }

  /// Functions with a body in the main file of a source, in order.
  const std::vector<const clang::FunctionDecl *> &functions() const { return functions_; }

  /// Calls of a function, from all sources; addressTaken(): there may be others.
  const std::vector<CallSite> &callers(const clang::FunctionDecl &) const;
  bool addressTaken(const clang::FunctionDecl &) const;
  /// Of these, by a library, or where the language adds a call.
  bool calledUnseen(const clang::FunctionDecl &) const;
  /// Calls of a constructor that are written, those by an inherited name among them.
  const std::vector<Construction> &constructions(const clang::CXXConstructorDecl &) const;
  /// Whether objects of a class may be made where no call of a constructor is written, and not by
  /// the language without any argument.
  bool mayBeMadeUnseen(const clang::CXXRecordDecl &) const;

  /// Whether two declarations, maybe in two sources, are of one variable.
  bool areSame(const clang::VarDecl &a, const clang::VarDecl &b) const {
    return inAll(a) == inAll(b);
  }
  /// A variable as all sources declare it.
  std::vector<const clang::VarDecl *> declarations(const clang::VarDecl &) const;

  /// All calls of MPI's blocking collectives that stand in the sources.
  const std::vector<CallSite> &collectives() const { return collectives_; }
  /// What calls one in another way; empty: nothing does.
  const std::string &hidden() const { return hidden_; }

  /// Whether a variable or function is known by another name, too, as an attribute or assembly
  /// says.
  bool hasNames(const clang::NamedDecl &) const;

  /// Of what other sources can name: those in all of them.
  const std::vector<Use> &uses(const clang::ValueDecl &) const;
  /// Calls that make communicators, in all sources.
  const std::vector<CallSite> &makers() const { return makers_; }
  /// What a function calls, by whatever way (parts.h).
  const Calling &calling(const clang::FunctionDecl &withBody) const;
  const std::vector<CallSite> &callsIn(const clang::FunctionDecl &) const;

  /// The body that a call in the same source runs, if it is that one for sure; null: it is not
  /// seen.
  const clang::FunctionDecl *body(const clang::FunctionDecl &) const;
  /// Likewise, in whatever source.
  const clang::FunctionDecl *bodyAnywhere(const clang::FunctionDecl &) const;
  const Memory &memory(const clang::FunctionDecl &withBody);
  const VariableChanges &changes(const clang::FunctionDecl &withBody);

  /// Functions that are not gone through again: with what they call, they do too much.
  bool isLong(const clang::FunctionDecl &f) const { return long_.contains(&f); }
  void setLong(const clang::FunctionDecl &f) { long_.insert(&f); }

  /// What has been found of a collective, or of a call that makes a communicator: whether all ranks
  /// have it as the same one in their order.
  std::optional<bool> isKnownInOrder(const clang::CallExpr &call) const {
    const auto at = inOrder_.find(&call);
    return at == inOrder_.end() ? std::nullopt : std::optional(at->second);
  }
  void setInOrder(const clang::CallExpr &call, bool is) { inOrder_[&call] = is; }

  /// Whether a call of it may end the rank, in whatever it calls in turn; not whether it aborts
  /// them all.
  bool mayEndRank(const clang::FunctionDecl &);

  /// Ranks may share memory, by MPI's windows or the system's: then a collective may be what orders
  /// accesses.
  bool sharesMemory() const { return sharesMemory_; }
  /// Or what tells that a message is over: its request may be freed while it is under way.
  bool mayFreeMessages() const;

  /// A rank may leave something behind when it ends, in a file or with another program: then it
  /// matters what it has come to.
  bool actsOutside() const;

  /// Some memory was given to streams, or to what makes random numbers, which write there later.
  bool lendsMemory() const { return lendsMemory_; }

  /// Whether MPI is given functions that it calls: by keyvals, error handlers, requests.
  bool givesFunctionsToMpi() const { return givesFunctionsToMpi_; }
  /// Some function is called by the library where one of its calls ends, fails, or prints.
  bool handles(Handles what) const { return handles_.contains(what); }

  /// What it prints may go to a file, which another rank reads.
  bool redirects() const { return redirects_; }
  /// Whether streams of C++ may run code of the program's, throw, or use memory of its own.
  bool changesStreams() const { return changesStreams_; }

  /// What asks for that which a call before has left in errno, in words; empty: nothing does.
  const std::string &asksForErrno() const { return asksForErrno_; }

  /// It may go on where it has been, past what stands behind a call: longjmp(), setcontext().
  bool goesBack() const { return goesBack_; }
  /// It has directives of OpenMP: what stands beside each other may run at once.
  bool hasDirectives() const { return hasDirectives_; }

  /// What the program has that is in none of the sources, in words: code that can name its global
  /// variables. Empty: there is nothing.
  const std::string &missing() const { return missing_; }
  /// Whether a variable has external linkage, and some other code may change it.
  bool knownElsewhere(const clang::VarDecl &) const;
  /// Which function of a library may communicate as well, by its name: one that is none of C's,
  /// C++'s or POSIX's. Empty: none is called.
  const std::string &foreign() const { return foreign_; }

  /// Whether another source includes the main file of this one, and has its functions once more.
  bool isIncluded(const clang::ASTContext &) const;

  /// By what a message that is sent earlier may come to another receive, or be seen earlier, in
  /// words; empty: by nothing (messages.h).
  std::string seesMessagesEarlier() const;

  /// Datatypes may be made of addresses, and reach from the buffer to any memory that has one.
  bool takesAddresses() const { return takesAddresses_; }

  /// Some source has an operator new, or delete, of its own.
  bool ownsNew() const { return ownsNew_; }
  /// Whether memory is allocated as the library does, or the rank ends: nobody catches an
  /// exception, and operator new is nobody's own.
  bool allocatesPlainly() const { return !catches_ && newIsPlain(); }
  /// Of these the latter.
  bool newIsPlain() const { return !ownsNew_ && !promises_.library; }

  /// The body of a function wherever it is; null: it is in no source, or several sources have one
  /// each, and which one runs is decided elsewhere.
  const clang::FunctionDecl *definition(const clang::FunctionDecl &) const;
  bool definedOften(const clang::FunctionDecl &) const;
  /// Whether a name is that of a function with a body, or of a macro of a source.
  bool ownsName(const std::string &name, const clang::ASTContext &) const;
  const std::vector<const clang::FunctionDecl *> &bodies() const { return bodies_; }
  const std::vector<const clang::VarDecl *> &globals() const { return globals_; }
  /// Default arguments, and what fields are declared with.
  const std::vector<const clang::Expr *> &standing() const { return standing_; }
  /// Functions that may be called where no call is written, if one of them comes to a blocking
  /// collective; else none.
  const std::vector<const clang::FunctionDecl *> &unseenCollectives();
  /// Those of them that may come to one of this kind, for who has found them; null: nobody has.
  const UnseenCalls *knownUnseen(const Collective &kind) const;
  const UnseenCalls &setUnseen(const Collective &kind, UnseenCalls all) {
    return unseen_[&kind] = std::move(all);
  }
  /// The macros of a source, as they were all along.
  const clang::Preprocessor &macros(const clang::ASTContext &) const;
  /// Whether its body holds a macro of nothing: emptyMacro().
  bool holdsEmptyMacro(const clang::FunctionDecl &withBody);
  /// Whether a structure is a part of a union, or has another layout in another source: its fields
  /// may lie under others.
  bool inUnion(const clang::RecordDecl &) const;

  /// C takes structures without a tag that have the same members for one, from source to source.
  bool mayBeOtherElsewhere(const clang::RecordDecl &) const;

  /// Of a structure that is declared in a function, or its parameters, somewhere: C takes one of
  /// its name for it.
  bool hasNameInside(const clang::RecordDecl &) const;

  /// By the language, or by a library for which its class is a template's argument.
  bool mayBeCalledUnseen(const clang::FunctionDecl &) const;

  /// Whether a variable or field gets a value at one place at most, which is in no loop and in a
  /// function that is called once. MPI_Comm_free() takes it away. `ever`: in the whole program,
  /// where otherwise a parameter may have another one in each call, and a local in each turn.
  bool givenOnce(const clang::ValueDecl &, bool ever) const;

  /// All such places, but for its declaration.
  const std::vector<Given> &given(const clang::ValueDecl &) const;

  /// Whether a communicator's variable or field only ever gets one that MPI makes anew.
  bool madeByMpi(const clang::ValueDecl &) const;
  /// The one call of MPI's that ever gives it one; none: there may be several.
  std::optional<CallSite> madeAt(const clang::ValueDecl &) const;

  /// Some communicator may have two sides, whose ranks do not get the same out of a collective.
  bool hasSides() const { return hasSides_; }
  /// Some communicator may have ranks of another program.
  bool joinsOthers() const { return joinsOthers_; }

  /// A call that fails may return: the program, or what it is linked with, has to do with error
  /// handlers.
  bool handlesErrors() const { return handlesErrors_; }

  /// Whether all that it returns is memory that it has just allocated, and keeps no pointer to.
  bool makes(const clang::FunctionDecl &);

  /// Whether each element of an array of pointers, a variable or a field, only ever gets memory
  /// that was just allocated for it: two elements are never the same memory. `places`: where it is.
  bool elementsApart(const clang::ValueDecl &array, const Places &places);

  /// As far as all sources together tell.
  bool mayOverlap(const Places &, const Places &) const;
  /// False: there was too much to go through, and a pointer may point at anything.
  bool followsPointers() const;

  const Promises &promises() const { return promises_; }
  bool isLocal(const clang::FunctionDecl &f) const {
    return promises_.local.contains(f.getNameAsString());
  }

 private:
  friend class Collector;
  friend class GivenValues;

  void findMissing();
  void spreadSeenAsOther();
  bool isOtherElsewhere(const clang::FunctionDecl &withBody) const;
  /// The same one for all sources that mean the same variable or function by a name.
  const clang::Decl *inAll(const clang::ValueDecl &) const;
  bool keeps(const clang::FunctionDecl &, unsigned argument);
  bool once(const clang::Stmt *, const clang::FunctionDecl *in, int depth) const;

  std::vector<std::unique_ptr<clang::ASTUnit>> sources_;
  Promises promises_;
  std::vector<const clang::FunctionDecl *> functions_;
  std::map<std::string, std::vector<CallSite>> callers_;            // by USR
  std::map<std::string, std::vector<Construction>> constructions_;  // by USR
  std::set<std::string> addressTaken_, calledUnseen_;
  std::vector<std::string> otherNames_;  // texts that name what has one
  std::vector<CallSite> collectives_, makers_;
  std::string hidden_;
  std::map<const clang::Decl *, std::vector<Use>> uses_;  // by inAll()
  mutable std::map<const clang::Decl *, const clang::Decl *> inAll_;
  mutable std::map<std::string, const clang::Decl *> byName_;
  std::map<const clang::FunctionDecl *, std::vector<CallSite>> calls_;
  std::map<const clang::FunctionDecl *, std::unique_ptr<Memory>> memories_;
  std::map<const clang::FunctionDecl *, std::unique_ptr<VariableChanges>> changes_;
  std::map<std::string, const clang::FunctionDecl *> definitions_;  // by USR; null: of several
  mutable std::map<const clang::FunctionDecl *, Calling> calling_;
  std::map<const clang::FunctionDecl *, bool> mayEndRank_, makes_;  // by the body
  std::set<const clang::FunctionDecl *> long_;
  std::map<const clang::CallExpr *, bool> inOrder_;
  std::map<const clang::FunctionDecl *, bool> emptyMacros_;
  std::vector<const clang::FunctionDecl *>
      bodies_;  // a function of a header has one in each source
  std::vector<const clang::VarDecl *> globals_;
  std::vector<const clang::Expr *> standing_;
  std::map<const clang::Decl *, std::vector<const clang::VarDecl *>> declarations_;  // by inAll()
  std::set<std::string> inUnion_;
  std::set<std::string> seenAsOther_, namesInside_;  // structures
  std::vector<const clang::RecordDecl *> records_;
  std::map<std::string, std::string> layouts_;  // of structures, as the first source has them
  std::map<std::string, std::string> membersOfUnnamed_;  // their names
  std::vector<const clang::FunctionDecl *> lambdas_;
  std::set<const clang::CXXRecordDecl *> givenToLibrary_;  // as arguments of its templates
  std::optional<std::vector<const clang::FunctionDecl *>> unseenCollectives_;
  std::map<const Collective *, UnseenCalls> unseen_;
  std::set<const clang::FunctionDecl *> outside_;       // used, and maybe defined in another source
  std::vector<const clang::CXXMethodDecl *> declared_;  // of classes, maybe likewise
  std::string missing_, foreign_, asksForErrno_;
  std::vector<std::pair<std::string, const clang::FunctionDecl *>> looks_;  // and in what
  std::set<llvm::sys::fs::UniqueID> included_;
  std::map<std::string, std::vector<Given>> given_;  // by USR: variables and fields
  ElementUses elements_;
  std::unique_ptr<PointsTo> pointsTo_;
  bool sharesMemory_ = false, takesAddresses_ = false, catches_ = false, ownsNew_ = false,
       hasSides_ = false, joinsOthers_ = false, writesStreams_ = false, redirects_ = false,
       changesStreams_ = false, lendsMemory_ = false, goesBack_ = false, hasDirectives_ = false,
       handlesErrors_ = false, givesFunctionsToMpi_ = false;
  Requests requests_;
  std::set<Handles> handles_;
};

/// Whether the language itself calls a function, or the standard library by its name: for another
/// one that it overrides, as objects come and go, in a range-based for, in a coroutine, to swap
/// objects, before main().
bool calledByLanguage(const clang::FunctionDecl &);

/// Whether a function or variable of a library is one of C's, C++'s or POSIX's, which know no MPI.
bool isOfStandard(const clang::Decl &);

/// One name for a function, a type and so on in all sources; what is static in a source has one of
/// its own there.
std::string nameInAll(const clang::NamedDecl &);

/// What a source declares by a name in no namespace.
clang::DeclContextLookupResult declared(const char *name, const clang::ASTContext &);

/// Whether it repeats what is in it. A goto may, too.
bool isLoop(const clang::Stmt *);

}  // namespace nbcc::overlap
