// SPDX-License-Identifier: Apache-2.0
/// \file
/// The state of IR generation, and the creation of operations. What generates IR for a kind of construct is a free
/// function that takes the state first.
#pragma once

#include "irgen/InstanceTable.h"
#include "irgen/RValue.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace toy {

/// Operands of an operation: one and others.
inline llvm::SmallVector<mlir::Value> join(mlir::Value first, mlir::ValueRange others) {
  llvm::SmallVector<mlir::Value> all = {first};
  llvm::append_range(all, others);
  return all;
}

/// Thrown after an error was reported.
struct IRAbort {};
/// A leaf of an argument, both by number, that is a constant in an instance and not passed.
using StaticLeaf = std::pair<unsigned, unsigned>;
using StaticLeaves = std::set<StaticLeaf>;
/// Thrown where code cannot go on: behind what never returns.
struct NotReached {};
/// Thrown for what is certain to fail when it runs, inside of `try`: the statement becomes that error.
struct CertainFailure {
  DiagId id;
  std::vector<std::string> args;
  SourceRange range;
};
/// Thrown when a parameter must be a constant to go on; instantiation catches it and tries again with the constant.
struct StaticParameterNeeded {
  const void *function;
  StaticLeaf leaf;
};

/// Thrown where a loop asks for an element of a list that has no type yet: what comes behind may give it one.
struct ListTypeNeeded {
  std::string what; ///< is asked
  SourceRange range;
};

struct Variable {
  RValue value;
  bool isGlobal = false;
  bool isCopy = false;    ///< captured: the variable itself is outside
  SourceRange place = {}; ///< where it was declared or assigned last
  bool isUnknown = false; ///< the statement that gives it its value was wrong, see IRGen::goesOn
};

/// Values of variables where several paths meet.
struct Edge {
  mlir::Block *from;
  std::vector<RValue> values;
};

struct LoopState {
  std::vector<std::string> names; ///< variables that the loop may change
  std::vector<Edge> breaks, continues;
};

/// Sizes that differ between the iterations of a loop: of variables by name, leaf and axis.
using VaryingSizes = std::set<std::tuple<std::string, unsigned, size_t>>;
/// What attempts to generate a loop have found about the variables that it changes.
struct LoopTypes {
  VaryingSizes sizes;
  std::map<std::string, ValueType> lists; ///< types of variables with lists that had none before the loop
};

/// One function while it is generated.
struct FunctionState {
  const ast::Function *decl = nullptr; ///< null: top level
  mlir::func::FuncOp op;
  std::vector<std::map<std::string, Variable>> scopes;
  std::vector<LoopState> loops;
  std::map<const void *, LoopTypes> loopTypes; ///< of loops, by their bodies
  std::optional<ListTypeNeeded> skipped;       ///< the first statement that the attempt to generate a loop left out
  unsigned mayLeaveOut = 0;                    ///< statements of loops around the code that is generated
  std::vector<Edge> returns;
  std::vector<SourceRange> returnRanges;
  std::vector<mlir::Block *> dead;          ///< blocks whose end is never reached
  std::vector<mlir::func::FuncOp> attempts; ///< functions of blocks whose errors are caught
  unsigned tries = 0;                       ///< `try` blocks around the code that is generated, in this function
  bool isTried = false;                     ///< the call stands in one
  SourceRange innermostTry;                 ///< around the code, or around the call
  std::optional<ValueType> declaredResult;  ///< or found, for recursive calls
  bool isCalledByCallees = false;           ///< they know the type of the first return
  Instance *instance = nullptr;
  SourceRange callRange;
  std::string description;
  std::set<std::string> declaredSizes;           ///< names of sizes in the signature
  std::map<std::string, mlir::Value> sizeValues; ///< what they are, from the entry on
  std::set<std::string> reservedSizes;           ///< names that come in with the arguments
  std::set<std::string> assignedGlobals;
  std::map<std::string, RValue>
      readGlobals; ///< top-level variables that a function has read: nobody changes them while it runs
  std::vector<std::pair<mlir::Value, StaticLeaf>> parameterValues; ///< scalars, to be made constants on demand
  std::vector<const ast::Expr *> arguments;                        ///< as the call writes them; null: default
  unsigned freshNames = 0;
  ShapeFacts facts; ///< about declared sizes: of the signature, and of the branch that is generated
  std::shared_ptr<Specialization> sizes;      ///< names of dynamic sizes, and what was decided about them
  std::shared_ptr<Specialization> generic;    ///< decides while it runs; only what stretches is known
  llvm::DenseMap<mlir::Value, Dim> sizeNames; ///< names of sizes that are values of the program
  bool isWrong = false;                       ///< a statement was, see IRGen::goesOn
  unsigned conditionsOfCall = 0;
  unsigned conditions = 0; ///< branches and loops around the code that is generated, those around the call included
  /// Whether the code that is generated may not run although the function (or statement) does.
  bool mayBeSkipped() const { return conditions > 0 || !returns.empty(); }
};

class IRGen {
public:
  IRGen(mlir::ModuleOp module, IRGenHost &host, DiagnosticEngine &diagnostics);

  mlir::Location loc(SourceRange range);
  std::string sourceText(SourceRange range);
  /// `instead` in place of the range takes the cause away.
  [[noreturn]] void fail(DiagId id, SourceRange range, std::vector<std::string> args = {}, std::string help = {},
                         std::string instead = {});
  /// An error about a name, which may be meant for one of some others.
  [[noreturn]] void failNear(DiagId id, SourceRange range, std::vector<std::string> args, const std::string &name,
                             const std::vector<std::string> &others, const std::string &prefix = "");
  Diagnostic &report(DiagId id, SourceRange range, std::vector<std::string> args = {});
  /// Creates an operation after asking its type rule; `sources` are the operands' ranges for the error.
  mlir::Operation *createOp(llvm::StringRef name, SourceRange range, mlir::ValueRange operands,
                            llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                            llvm::ArrayRef<SourceRange> sources = {}, mlir::TypeRange declared = {});
  llvm::SmallVector<mlir::Value> resultsOf(mlir::Operation *op, mlir::ValueRange operands, SourceRange range);
  mlir::Value create(llvm::StringRef name, SourceRange range, mlir::ValueRange operands,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {}, llvm::ArrayRef<SourceRange> sources = {});
  /// The same for an operation that is known here; `create` gives its result, folded where it can be.
  template <typename Op>
  Op createOp(SourceRange range, mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
              llvm::ArrayRef<SourceRange> sources = {}, mlir::TypeRange declared = {}) {
    return llvm::cast<Op>(createOp(mnemonicOf<Op>(), range, operands, attributes, sources, declared));
  }
  template <typename Op>
  mlir::Value create(SourceRange range, mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                     llvm::ArrayRef<SourceRange> sources = {}) {
    return create(mnemonicOf<Op>(), range, operands, attributes, sources);
  }
  /// `add` for AddOp.
  template <typename Op> static llvm::StringRef mnemonicOf() {
    return Op::getOperationName().drop_front(llvm::StringRef("toy.").size());
  }
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value) { return b.getNamedAttr(name, value); }
  mlir::NamedAttribute integerAttr(llvm::StringRef name, int64_t n) { return attr(name, b.getI64IntegerAttr(n)); }
  mlir::NamedAttribute integersAttr(llvm::StringRef name, llvm::ArrayRef<int64_t> n) {
    return attr(name, b.getDenseI64ArrayAttr(n));
  }
  mlir::NamedAttribute boolAttr(llvm::StringRef name, bool v) { return attr(name, b.getBoolAttr(v)); }
  mlir::NamedAttribute stringAttr(llvm::StringRef name, llvm::StringRef s) { return attr(name, b.getStringAttr(s)); }
  mlir::NamedAttribute dtypeAttr(DType d) { return stringAttr("dtype", std::string(nameOf(d))); }
  Dim number(int64_t n) { return Dim::number(context, n); }
  Dim freshSize();
  // Constants.
  mlir::Value integer(int64_t n, SourceRange range);
  mlir::Value boolean(bool v, SourceRange range);
  mlir::Value floating(double x, DType dtype, SourceRange range);
  mlir::Value string(llvm::StringRef text, SourceRange range);

  mlir::MLIRContext *context;
  mlir::ModuleOp module;
  mlir::OpBuilder b;
  mlir::Block *current = nullptr; ///< null: the code here is never reached
  IRGenHost &host;
  DiagnosticEngine &diagnostics;
  std::vector<std::unique_ptr<FunctionState>> stack;
  std::map<std::string, std::unique_ptr<Instance>> building;
  std::vector<std::unique_ptr<ast::Bracket>> expandedBrackets;
  /// By function, and by the functions in its arguments, whose captured values are leaves, too.
  std::map<std::pair<const void *, std::string>, StaticLeaves> staticParameters;
  std::vector<const ast::Expr *> pendingArguments;      ///< of the call that is generated
  std::map<const ast::Expr *, RValue> given;            ///< values of expressions that were evaluated ahead
  std::vector<std::unique_ptr<ast::Call>> writtenCalls; ///< calls that no source text holds
  bool decidesConditions = false;                       ///< inside the condition of a branch
  /// The program is only looked at: statements behind a wrong one are generated, too, and what follows from an error is
  /// not told. What only values decide that are not there is taken to be right.
  bool goesOn = false;
  std::vector<std::function<void()>> undoSpecializations; ///< what to do when the statement fails, the last first
  FunctionState &fn() { return *stack.back(); }
};

} // namespace toy
