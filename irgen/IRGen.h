// SPDX-License-Identifier: Apache-2.0
/// \file
/// Syntax trees to the toy dialect. Functions are instantiated for the types of their arguments; every value's dtype,
/// rank and sizes are known.
#pragma once

#include "sema/CallGraph.h"
#include "support/CompileOptions.h"
#include "support/CsvOptions.h"
#include "support/DType.h"
#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <memory>
#include <set>

namespace toy {

/// The type of a value of the language: a leaf of the IR, or a tree over such, which the IR does not have: a tuple, a
/// struct, a list, or a function, whose type says what it calls and whose members are the values that it has captured.
/// The first element of a list is the type of its elements with a list in place of each leaf; one without leaves has a
/// list beside it that says how many there are, and a list that has got no element yet has no type of elements. A dtype
/// is a type without leaves.
struct ValueType {
  enum Kind : uint8_t { Nothing, Leaf, Tuple, Struct, List, Function, DTypeRef } kind = Nothing;
  mlir::Type leaf;
  std::string structName; ///< of a function: its name, or the place of a lambda or of a definition inside a block,
  const ast::Function *code = nullptr; ///< which this is
  DType dtype = DType::F64;
  std::vector<std::string> names;
  std::vector<ValueType> elements;

  /// `f64[2, 3]`, `(f64, str)`, `Pair{a: f64, b: f64}`, `fn @file.toy:6:36{w: f64}`
  std::string str(llvm::function_ref<std::string(llvm::StringRef)> shownSize = nullptr) const;
  /// Equal types have equal keys, and texts of the same name and place are told apart.
  std::string key() const;
  bool isCallable() const { return kind == Function || kind == DTypeRef; }
  /// A list that has got no element yet.
  bool isOpenList() const { return kind == List && elements.empty(); }
  /// The type of lists of these, whose sizes are free; and that of a list's elements.
  ValueType listOf(mlir::MLIRContext *context) const;
  ValueType elementOfList() const;
  void flatten(llvm::SmallVectorImpl<mlir::Type> &leaves) const;
  /// Gives the tensors in it other sizes.
  void mapSizes(llvm::function_ref<Dim(unsigned leaf, size_t axis, Dim size)> map);
};

/// A function compiled for argument types.
struct Instance {
  std::string symbol;
  std::vector<mlir::Type> arguments;
  ValueType result;
  std::shared_ptr<const struct Specialization> specialization; ///< of functions whose sizes are not declared
  bool neverReturns = false;
  bool recursive = false; ///< a call inside was made with the type of the first return
  /// The functions it was built from, by name. The types of top-level variables that it reads are part of its key.
  std::set<std::string> functions;
};

class InstanceTable;

/// What IR generation asks of its surroundings.
class IRGenHost {
public:
  virtual ~IRGenHost() = default;
  virtual const ValueType *global(const std::string &name) = 0;
  /// Where a top-level variable took its value, if that is known.
  virtual SourceRange placeOfGlobal(const std::string &name) { return {}; }
  /// The value of a top-level variable that is an i64 or bool scalar.
  virtual std::optional<int64_t> globalInteger(const std::string &name) = 0;
  virtual const sema::Definitions &definitions() = 0;
  /// What functions do, with everything they call, by the definitions that hold now.
  virtual sema::CallGraph &callGraph() = 0;
  /// A function or struct takes the place of an earlier one of its name.
  virtual void define(const ast::Stmt &declaration) = 0;
  virtual InstanceTable &instances() = 0;
  virtual const CompileOptions &compileOptions() = 0;
  /// A specialization was chosen several times: its guards may become machine code.
  virtual void isUsedAgain(struct Specialization &) {}
  /// Whether Ctrl-C was pressed: generation ends with an error.
  virtual bool isInterrupted() { return false; }
  /// Whether large tensors go to a device, where sizes with @buckets are padded.
  virtual bool usesDevice() = 0;
  /// Runs `load(path)` at the top level now; gives the name of a global that holds the value. `failed` is called with
  /// what is wrong with the file.
  virtual std::string loadNow(const ast::Expr &path, const ast::Expr *member, const CsvOptions &csv, ValueType &type,
                              llvm::function_ref<void(DiagId, std::vector<std::string>)> failed) = 0;
  /// What a file holds, from its header; false where it cannot be read.
  virtual bool typeOfFile(const std::string &path, const std::string &member, const CsvOptions &csv,
                          ValueType &type) = 0;
  /// Keeps what is known at a `breakpoint()` until it runs: names and types of the local variables. Gives its number.
  /// Without `isBreakpoint` it is a statement where the program stops if it was told to.
  virtual int64_t noteBreakpoint(bool isBreakpoint, std::vector<std::pair<std::string, ValueType>> locals) { return 0; }
  /// A text names a member of a struct, at a place.
  virtual void usesMember(const std::string &structure, const std::string &member, SourceRange range) {}
  /// Names for suggestions.
  virtual std::vector<std::string> names() = 0;
};

/// What a top-level input became.
struct TopLevel {
  std::string symbol;                        ///< the function `symbol()` runs it
  std::map<std::string, ValueType> stored;   ///< variables it gives values to, with their static types
  std::map<std::string, SourceRange> places; ///< where it gives those
};

/// Generates top-level statements (definitions among them take effect where they stand) as one function of `module`,
/// together with the instances it needs that do not exist yet. False after errors, which are reported with the chain of
/// calls that led to them; the module is then of no use.
bool generate(mlir::ModuleOp module, llvm::ArrayRef<const ast::Stmt *> statements, IRGenHost &host,
              DiagnosticEngine &diagnostics, TopLevel &out);

/// What is known of a function when it is defined. Wrong: what it takes to be equal does not follow from its signature,
/// which is reported. Generated: the instance for the declared types is there, which calls will use. Open: its first
/// call tells more.
enum class DefinitionCheck : uint8_t { Wrong, Generated, Open };
/// Checks a definition; `module` gets the instance, and is of no use where there is none.
DefinitionCheck checkDefinition(mlir::ModuleOp module, const ast::Function &decl, IRGenHost &host,
                                DiagnosticEngine &diagnostics);

/// Types the statements `all` in their order without keeping what comes out, and reports everything that is wrong with
/// them, then what sema::lint finds in `text`. What only running tells is taken to be right; files are read for what
/// they hold. `out` gets the variables whose types are known, also behind errors.
void check(mlir::ModuleOp module, llvm::ArrayRef<const ast::Stmt *> all, llvm::ArrayRef<const ast::Stmt *> text,
           IRGenHost &host, DiagnosticEngine &diagnostics, TopLevel &out);

/// Warns of functions in a text that draw random numbers with one key twice.
void warnOfText(llvm::ArrayRef<const ast::Stmt *> text, IRGenHost &host, DiagnosticEngine &diagnostics);

/// One function of the built-in library, for help and completion.
struct BuiltinInfo {
  std::string name, parameters, group, doc;
};
std::vector<BuiltinInfo> allBuiltins();

/// The library functions that are written in Toy itself.
const ast::Function *preludeFunction(const std::string &name, SourceManager &sources);
/// Drops the library that was parsed into `sources`, which are about to go: others may come to lie at their address.
void forgetPrelude(SourceManager &sources);

} // namespace toy
