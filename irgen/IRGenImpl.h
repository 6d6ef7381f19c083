// SPDX-License-Identifier: Apache-2.0
/// \file
/// The state of IR generation, shared by the files that generate one kind of construct each.
#pragma once

#include "ir/ToyDialect.h"
#include "irgen/InstanceTable.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace toy {

/// Thrown after an error was reported.
struct IRAbort {};
/// Thrown when a parameter must be a constant to go on; instantiation catches it and tries again with the constant.
struct StaticParameterNeeded {
  const void *function;
  unsigned index;
};

/// A value while IR is generated.
struct Val {
  enum Kind : uint8_t { Nothing, Leaf, Tuple, Struct, DTypeRef } kind = Nothing;
  mlir::Value value;                  ///< Leaf: a tensor or string
  bool weak = false;                  ///< Leaf: made of literals only; takes the precision of what it meets
  const ast::Expr *literal = nullptr; ///< the literal itself, to be read again in another dtype
  std::string structName;
  std::vector<std::string> names;
  std::vector<Val> elements;
  DType dtype = DType::F64;

  static Val leaf(mlir::Value v) {
    Val val;
    val.kind = Leaf;
    val.value = v;
    return val;
  }
  bool isTensor() const { return kind == Leaf && llvm::isa<TensorType>(value.getType()); }
  bool isStr() const { return kind == Leaf && llvm::isa<StrType>(value.getType()); }
  TensorType tensor() const { return llvm::cast<TensorType>(value.getType()); }
  TypeDesc type() const;
  void flatten(llvm::SmallVectorImpl<mlir::Value> &leaves) const;
};

/// Rebuilds a value of a type from its leaves, consumed from the front.
Val unflatten(const TypeDesc &type, mlir::ValueRange &leaves);

/// What subscripts mean for one tensor. Positions along single axes come first, then the slice of every axis, then
/// either a mask or integer tensors.
struct IndexPlan {
  llvm::SmallVector<std::pair<int64_t, mlir::Value>>
      gathers;                                   ///< slices whose step only the run decides: axis and positions
  bool slices = false;                           ///< some axis is not taken whole
  llvm::SmallVector<mlir::Value> starts, counts; ///< of every axis
  llvm::SmallVector<int64_t> steps;
  llvm::SmallVector<int64_t> kept;      ///< axes of the slice that stay; -1: a new axis
  mlir::Value mask;                     ///< over the first axes that stay
  llvm::SmallVector<mlir::Value> takes; ///< integer tensors, which broadcast,
  llvm::SmallVector<int64_t> takeAxes;  ///< and their places in `kept`
  bool front = false;                   ///< something stands between them: what they give comes first, as in NumPy
};

/// A size as the run computes it: an expression of operands (see toy.size_value).
struct SizeTerm {
  Dim expression;
  llvm::SmallVector<mlir::Value, 2> operands;
};

struct Variable {
  Val value;
  bool isGlobal = false;
};

/// Values of variables where several paths meet.
struct Edge {
  mlir::Block *from;
  std::vector<Val> values;
};

struct LoopState {
  std::vector<std::string> names; ///< variables that the loop may change
  std::vector<Edge> breaks, continues;
};

/// Sizes that differ between the iterations of a loop: of variables by name, leaf and axis.
using VaryingSizes = std::set<std::tuple<std::string, unsigned, size_t>>;

/// One function while it is generated.
struct FunctionState {
  const ast::Function *decl = nullptr; ///< null: top level
  mlir::func::FuncOp op;
  std::vector<std::map<std::string, Variable>> scopes;
  std::vector<LoopState> loops;
  std::map<const ast::Block *, VaryingSizes> varyingSizes; ///< of loops, by their bodies
  std::vector<Edge> returns;
  std::vector<SourceRange> returnRanges;
  std::optional<TypeDesc> declaredResult;
  Instance *instance = nullptr;
  SourceRange callRange;
  std::string description;
  std::set<std::string> declaredSizes;           ///< names of sizes in the signature
  std::map<std::string, mlir::Value> sizeValues; ///< what they are, from the entry on
  std::set<std::string> reservedSizes;           ///< names that come in with the arguments
  std::set<std::string> assignedGlobals;
  std::map<std::string, Val>
      readGlobals; ///< top-level variables that a function has read: nobody changes them while it runs
  std::vector<std::pair<mlir::Value, unsigned>> parameterValues; ///< scalar parameters, to be made constants on demand
  unsigned freshNames = 0;
  ShapeFacts facts; ///< about declared sizes: of the signature, and of the branch that is generated
  std::shared_ptr<Specialization> sizes;      ///< names of sizes that come as they are, and what was decided about them
  std::shared_ptr<Specialization> generic;    ///< a form that decides while it runs; only what stretches is known
  llvm::DenseMap<mlir::Value, Dim> sizeNames; ///< names of sizes that are values of the program
  unsigned conditions = 0; ///< branches and loops around the code that is generated, those around the call included
  /// Whether the code that is generated may not run although the function (or statement) does.
  bool mayBeSkipped() const { return conditions > 0 || !returns.empty(); }
};

class SizeBinder;
/// Arguments of a built-in, by parameter.
class Bound;
class IRGen;
struct BuiltinRow {
  const char *name, *parameters, *group, *doc;
  Val (IRGen::*handler)(Bound &);
  const char *op;  ///< the operation behind simple rows
  char conversion; ///< how operands are converted: see Builtins.def
};

class Bound {
public:
  const BuiltinRow *row;
  const ast::Call *call;
  std::vector<std::pair<std::string, const ast::Expr *>> arguments; ///< in order of parameters; null: default
  std::vector<const ast::Expr *> rest;                              ///< of `*name`
  std::optional<Val> self;
  const ast::Expr *operator[](llvm::StringRef name) const;
  bool has(llvm::StringRef name) const { return (*this)[name] != nullptr; }
};

class IRGen {
public:
  IRGen(mlir::ModuleOp module, IRGenHost &host, DiagnosticEngine &diagnostics);
  DefinitionCheck checkDefinition(const ast::Function &decl);
  void generateTop(llvm::ArrayRef<const ast::Stmt *> statements, TopLevel &out);

  // Emit.cpp
  mlir::Location loc(SourceRange range);
  [[noreturn]] void fail(DiagId id, SourceRange range, std::vector<std::string> args = {}, std::string help = {});
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
  Dim freshSize();
  /// The name of a size that is a value of the program: one value, one name. The value is 0 or more.
  Dim nameOfSize(mlir::Value value);
  std::string sourceText(SourceRange range);

  // Literals.cpp
  mlir::Value integer(int64_t n, SourceRange range);
  mlir::Value boolean(bool v, SourceRange range);
  mlir::Value floating(double x, DType dtype, SourceRange range);
  mlir::Value string(llvm::StringRef text, SourceRange range);
  Val number(const ast::Number &n, bool negative = false);
  mlir::Value numberAs(const ast::Expr &literal, DType dtype);
  Val bracket(const ast::Bracket &bracket, std::optional<DType> dtype = std::nullopt);
  mlir::Value compactBracket(const ast::Bracket &bracket, DType dtype);
  /// The expressions of a compact bracket, where the program has given `nan`, `inf` or `complex` another meaning; else
  /// null.
  const ast::Bracket *expanded(const ast::Bracket &bracket);
  static bool isLiteral(const ast::Expr &e);

  // Operators.cpp
  mlir::Value cast(mlir::Value x, DType dtype, SourceRange range);
  mlir::Value castVal(const Val &x, DType dtype, SourceRange range);
  /// To a dtype, or to its real part's dtype when the value is real and the dtype complex.
  mlir::Value castOperand(const Val &x, DType dtype, SourceRange range);
  DType promoteAll(llvm::ArrayRef<Val> values);
  DType workingDType(DType dtype, llvm::ArrayRef<Val> values);
  Val binary(ast::BinaryOp op, const Val &lhs, const Val &rhs, SourceRange range, SourceRange opRange,
             SourceRange lhsRange, SourceRange rhsRange);
  Val elementwise(llvm::StringRef op, const Val &lhs, const Val &rhs, DType dtype, SourceRange range,
                  SourceRange lhsRange, SourceRange rhsRange);
  template <typename Op>
  Val elementwise(const Val &lhs, const Val &rhs, DType dtype, SourceRange range, SourceRange lhsRange,
                  SourceRange rhsRange) {
    return elementwise(mnemonicOf<Op>(), lhs, rhs, dtype, range, lhsRange, rhsRange);
  }
  Val matmul(const Val &lhs, const Val &rhs, SourceRange range, SourceRange lhsRange, SourceRange rhsRange);
  Val unary(ast::UnaryOp op, const Val &x, SourceRange range);
  Val adjoint(const Val &x, SourceRange range);
  Val transposeLast(const Val &x, SourceRange range);
  const Val &needTensor(const Val &x, llvm::StringRef what, SourceRange range);

  // Expressions.cpp
  Val expr(const ast::Expr &e);
  Val name(const ast::Name &n);
  Val member(const ast::Member &m);
  Val logical(const ast::Binary &e);
  Variable *lookup(llvm::StringRef name);
  Val globalValue(const std::string &name, const TypeDesc &type, SourceRange range);
  Val readVariable(const std::string &name, SourceRange range, bool &found);
  /// The type of a top-level variable here: as this statement has made it so far, else as the session has it. Sizes
  /// that only the run knows are `?`.
  std::optional<TypeDesc> globalType(const std::string &name);
  /// Stores what the statement has assigned and a callee, or what it calls, reads.
  void storeFor(const ast::Function &callee, SourceRange range);
  void storeGlobal(const std::string &name, const Val &value, SourceRange range);
  /// The types of the top-level variables that a function and what it calls read: part of the keys of its instances.
  std::string globalsKey(const ast::Function &decl);
  [[noreturn]] void unknownName(const std::string &name, SourceRange range, bool isFunction);
  /// A rank-0 bool as i1.
  mlir::Value condition(const ast::Expr &e);
  std::optional<int64_t> constantOf(mlir::Value value);
  /// The text of a string that is written in the program.
  static std::optional<llvm::StringRef> stringOf(const Val &value);
  /// The leaves of a value that is known while the program is compiled: integers and texts.
  std::optional<llvm::SmallVector<mlir::Attribute>> constantLeaves(const Val &value, SourceRange range);
  /// Such a value of a type in the function that is generated.
  Val constantOf(const TypeDesc &type, llvm::ArrayRef<mlir::Attribute> leaves, SourceRange range);
  /// A constant integer, bool, dtype or text argument.
  void needStatic(mlir::Value value);
  int64_t staticInteger(const ast::Expr &e, llvm::StringRef what);
  bool staticBool(const ast::Expr &e, llvm::StringRef what);
  std::string staticString(const ast::Expr &e, llvm::StringRef what);
  DType staticDType(const ast::Expr &e);
  /// An i64 scalar.
  mlir::Value indexValue(const ast::Expr &e, llvm::StringRef what);
  mlir::Value indexValue(const Val &v, SourceRange range, llvm::StringRef what);
  /// The items of `[a, b]`, a tuple, or a single value, as i64 scalars.
  llvm::SmallVector<mlir::Value> indexList(const ast::Expr &e, llvm::StringRef what);
  llvm::SmallVector<mlir::Value> indexList(Val v, SourceRange range, llvm::StringRef what);
  llvm::SmallVector<int64_t> staticList(const ast::Expr &e, llvm::StringRef what);
  llvm::SmallVector<int64_t> staticList(const Val &v, SourceRange range, llvm::StringRef what);
  llvm::SmallVector<int64_t> staticList(llvm::ArrayRef<mlir::Value> values, SourceRange range, llvm::StringRef what);
  mlir::Value sizeOf(mlir::Value x, int64_t axis, SourceRange range);
  llvm::SmallVector<mlir::Value> sizesOf(mlir::Value x, SourceRange range);

  // Sizes.cpp
  /// Arithmetic on sizes, positions and counts: one checked operation, however long the expression becomes.
  mlir::Value arith(llvm::StringRef op, mlir::Value a, mlir::Value b, SourceRange range);
  template <typename Op> mlir::Value arith(mlir::Value a, mlir::Value b, SourceRange range) {
    return arith(mnemonicOf<Op>(), a, b, range);
  }
  SizeTerm sizeTerm(mlir::Value value, SourceRange range, bool isSize = false);
  SizeTerm combine(llvm::StringRef op, const SizeTerm &a, const SizeTerm &b, SourceRange range);
  mlir::Value valueOf(const SizeTerm &term, SourceRange range);
  mlir::Value checkedSize(mlir::Value value, SourceRange range);
  /// An i64 value of a size; `valueOf` gives those of the names in it.
  mlir::Value sizeExpression(Dim dim, SourceRange range, llvm::function_ref<mlir::Value(llvm::StringRef)> valueOf);

  // Indexing.cpp
  Val index(const ast::Index &e);
  using Plan = IndexPlan;
  Plan planIndex(const Val &base, llvm::ArrayRef<ast::Subscript> subscripts, SourceRange range);
  Val applyPlan(mlir::Value x, const Plan &plan, SourceRange range);
  mlir::Value storePlan(mlir::Value x, const Plan &plan, const Val &value, SourceRange range, SourceRange valueRange);
  Val indexTuple(const Val &base, llvm::ArrayRef<ast::Subscript> subscripts, SourceRange range);
  Val indexStr(const Val &base, llvm::ArrayRef<ast::Subscript> subscripts, SourceRange range);
  Truth isAtLeastZero(mlir::Value value);
  void sliceBounds(const ast::Subscript &s, mlir::Value size, mlir::Value &start, mlir::Value &count,
                   mlir::Value &step);
  /// The axes that index tensors act on, moved to where they act; `undo` takes them back.
  mlir::Value gatherAxes(mlir::Value x, const Plan &plan, int64_t &first, llvm::SmallVectorImpl<int64_t> &undo,
                         SourceRange range);
  mlir::Value takeStore(mlir::Value x, llvm::ArrayRef<mlir::Value> indices, int64_t axis, mlir::Value value,
                        SourceRange range, SourceRange valueRange);
  mlir::Value take(mlir::Value x, llvm::ArrayRef<mlir::Value> indices, int64_t axis, SourceRange range);
  mlir::Value reshape(mlir::Value x, mlir::ValueRange sizes, SourceRange range);
  mlir::Value stretchable(mlir::Value x, mlir::ValueRange sizes, SourceRange range);
  mlir::Value broadcastTo(mlir::Value x, mlir::ValueRange sizes, SourceRange range);
  mlir::Value permute(mlir::Value x, llvm::ArrayRef<int64_t> permutation, SourceRange range);
  mlir::Value select(mlir::Value x, int64_t axis, mlir::Value index, SourceRange range);
  mlir::Value sliceAxis(mlir::Value x, int64_t axis, mlir::Value start, mlir::Value count, int64_t step,
                        SourceRange range);

  // Statements.cpp
  void statement(const ast::Stmt &s);
  void block(const ast::Block &b);
  void var(const ast::Var &s);
  void assign(const ast::Assign &s);
  void assignTo(const ast::Expr &target, Val value, SourceRange range);
  Val updated(const Val &base, llvm::ArrayRef<const ast::Expr *> path, const Val &value, SourceRange range,
              SourceRange valueRange);
  void define(const std::string &name, Val value, SourceRange range, bool declare);
  void print(llvm::ArrayRef<const ast::Expr *> values, SourceRange range, bool echo);
  void printVals(llvm::ArrayRef<Val> values, SourceRange range, bool echo);
  /// Widens a value to a declared type and checks it; errors show `signature` where the sizes of `type` are loosened.
  /// A value in the dtype of a declared type, whose kind and rank it has; sizes are not looked at.
  Val widened(Val value, const ast::TypeExpr &type, const std::string &name, SourceRange range);
  Val structValue(const ast::Struct &decl, const ast::Expr &value);
  Val makeStruct(const ast::Struct &decl, std::vector<Val> values, SourceRange range);
  /// Sizes under the names of the declaration, `?` where it has `_`.
  TypeDesc typeOf(const ast::TypeExpr &type);

  // ControlFlow.cpp
  void ifStatement(const ast::If &s);
  void whileStatement(const ast::While &s);
  void forStatement(const ast::For &s);
  /// The common form of loops. `test` gives the condition in the header; `element` the loop variable's value in the
  /// body (may be null).
  void loop(const ast::Block &body, SourceRange range, llvm::StringRef variable, bool counted,
            llvm::function_ref<mlir::Value(mlir::Value counter)> test,
            llvm::function_ref<Val(mlir::Value counter)> element);
  bool tryLoop(llvm::ArrayRef<TypeDesc> types, VaryingSizes &varying, llvm::ArrayRef<std::string> names,
               const ast::Block &body, SourceRange range, llvm::StringRef variable, bool counted,
               llvm::function_ref<mlir::Value(mlir::Value)> test, llvm::function_ref<Val(mlir::Value)> element);
  bool findVarying(llvm::ArrayRef<TypeDesc> types, llvm::ArrayRef<Val> back, VaryingSizes &varying,
                   llvm::ArrayRef<std::string> names, SourceRange range);
  std::vector<TypeDesc> loopTypes(llvm::ArrayRef<Val> values, const VaryingSizes &varying,
                                  llvm::ArrayRef<std::string> names);
  void leaveLoop(const ast::Stmt &s, bool isBreak);
  std::vector<std::string> assignedIn(const ast::Node &node);
  std::vector<Val> snapshot(llvm::ArrayRef<std::string> names);
  void restore(llvm::ArrayRef<std::string> names, llvm::ArrayRef<Val> values);
  /// A block where edges meet; its arguments are the values, which are returned.
  std::vector<Val> merge(llvm::ArrayRef<Edge> edges, llvm::ArrayRef<std::string> names, SourceRange range,
                         mlir::Block *into = nullptr);
  llvm::SmallVector<mlir::Value> relabelled(llvm::ArrayRef<Val> values, llvm::ArrayRef<TypeDesc> types,
                                            SourceRange range);
  mlir::Value relabel(mlir::Value v, mlir::Type type, SourceRange range);
  TypeDesc join(const TypeDesc &a, const TypeDesc &b, const std::string &name, SourceRange range);
  bool reachable() const { return current != nullptr; }
  void moveTo(mlir::Block *block);
  mlir::Block *newBlock();

  // Functions.cpp
  Val callUser(const ast::Function &decl, const ast::Call &call,
               std::vector<std::pair<std::string, const ast::Expr *>> arguments);
  std::string instanceKey(const ast::Function &decl, llvm::ArrayRef<Val> values, const std::set<unsigned> &statics,
                          llvm::ArrayRef<SourceRange> ranges);
  void dropUnread(const ast::Function &decl, std::vector<Val> &values);
  Val callWith(const ast::Function &decl, const ast::Call &call, std::vector<Val> values,
               std::vector<SourceRange> ranges);
  const Instance &instantiate(const ast::Function &decl, llvm::ArrayRef<Val> arguments, const std::string &key,
                              SourceRange callRange, const std::set<unsigned> &statics,
                              std::shared_ptr<Specialization> form = nullptr);
  void generateBody(const ast::Function &decl, llvm::ArrayRef<Val> arguments, Instance &instance, SourceRange callRange,
                    const std::set<unsigned> &statics, std::shared_ptr<Specialization> form);

  // SizeBinder.cpp: declared sizes
  void require(SizeFact fact, SourceRange range, llvm::function_ref<void()> refuse, llvm::function_ref<void()> check);
  Dim sizeDim(const ast::Expr &e);
  std::set<std::string> sizeNamesOf(const ast::Function &decl);
  std::optional<SizeFact> declaredFact(const ast::Expr &clause);
  void checkSignature(const ast::Function &decl);
  llvm::StringMap<Dim> declareArguments(const ast::Function &decl, std::vector<Val> &values,
                                        llvm::ArrayRef<SourceRange> ranges);
  void bindSizes(const ast::Function &decl, llvm::ArrayRef<Val> arguments);
  Val declaredAs(Val value, const ast::TypeExpr &type, const std::string &name, SourceRange range, SizeBinder &binder);
  Val declaredResult(Val value, SourceRange range);
  void knowVariables(SizeBinder &binder, const ast::TypeExpr &type);
  Val declaredLocal(Val value, const ast::TypeExpr &type, const std::string &name, SourceRange range);
  void checkMembers(const ast::Struct &decl, Val &value, SourceRange range);

  // SizeAttributes.cpp
  /// What the attributes of a function say about an axis: @dynamic with its bounds, @static, or nothing.
  struct SizeAttribute {
    enum Kind : uint8_t { None, Dynamic, Static } kind = None;
    int64_t lo = 0, hi = ShapeFacts::largest;
    SourceRange range;
  };
  SizeAttribute sizeAttribute(const ast::Function &decl, const std::string &parameter, int64_t rank, int64_t axis);
  /// The sizes of @buckets, by name; checked.
  mlir::DictionaryAttr bucketsOf(const ast::Function &decl);

  // Specialize.cpp
  /// The user's function or struct of a name, or null; the library sees none of them.
  const ast::Function *userFunction(const std::string &name) {
    return fn().decl && isLibrary(*fn().decl) ? nullptr : host.definitions().function(name);
  }
  const ast::Struct *userStruct(const std::string &name) {
    return fn().decl && isLibrary(*fn().decl) ? nullptr : host.definitions().structure(name);
  }
  bool isLibrary(const ast::Function &decl) const {
    return diagnostics.getSources().get(decl.range.buffer).getName() == "<library>";
  }
  std::shared_ptr<Specialization> specialize(const ast::Function &decl, const ast::Call &call, std::vector<Val> &values,
                                             const std::set<unsigned> &statics,
                                             llvm::function_ref<std::string(llvm::ArrayRef<Val>)> keyOf,
                                             llvm::ArrayRef<SourceRange> ranges);
  /// Whether a size is an expression of sizes that come as they are, about which this form may decide.
  bool isFree(Dim dim);
  int64_t hintOf(Dim dim);
  /// Whether a fact holds, with a guard (or check) where that does not follow from earlier ones. A check that fails is
  /// not noted.
  bool decideSize(SizeFact fact, SourceRange range, bool isCheck = false) {
    return decideSize(*fn().sizes, fact, range, isCheck);
  }
  bool decideSize(Specialization &form, SizeFact fact, SourceRange range, bool isCheck = false);
  /// The integer of a free size, with a guard; or nothing.
  std::optional<int64_t> decidedInteger(mlir::Value value, SourceRange range);
  /// What a condition says about sizes.
  std::vector<SizeFact> factsOf(const ast::Expr &condition);
  std::optional<SizeFact> comparison(ast::BinaryOp op, std::optional<Dim> a, std::optional<Dim> b);
  bool decidesConditions = false; ///< inside the condition of a branch
  std::optional<int64_t> knownCondition(mlir::Value condition, SourceRange range);
  std::optional<bool> decidedCondition(mlir::Value condition, SourceRange range);
  mlir::Value withSize(mlir::Value x, int64_t axis, Dim size, SourceRange range);
  bool unifySizes(llvm::MutableArrayRef<mlir::Value> operands, const SizeAssumption &a, SourceRange range);
  bool haveWanted(llvm::MutableArrayRef<mlir::Value> operands, llvm::ArrayRef<WantedSize> all, llvm::StringRef what,
                  SourceRange range);
  bool stretchInGeneric(llvm::MutableArrayRef<mlir::Value> operands, const SizeAssumption &a, SourceRange range);
  bool isWhole(const ast::TypeExpr &type);
  void externBody(const ast::Function &decl, llvm::ArrayRef<Val> arguments);
  void returnStatement(const ast::Return &s);
  void finishReturns(const ast::Function &decl, Instance &instance);
  std::string resultText();

  // Calls.cpp
  Val call(const ast::Call &c);
  Val convert(DType dtype, const ast::Call &c);
  Val callStruct(const ast::Struct &decl, const ast::Call &c);
  Val callBuiltin(const BuiltinRow &row, const ast::Call &c);
  [[noreturn]] void unknownArgument(const std::string &function, const ast::Argument &argument,
                                    llvm::ArrayRef<std::string> parameters);
  std::vector<std::pair<std::string, const ast::Expr *>> bindArguments(const ast::Call &c,
                                                                       llvm::ArrayRef<std::string> parameters,
                                                                       llvm::ArrayRef<bool> optional,
                                                                       const std::string &function);
  Val valueOf(Bound &args, llvm::StringRef name);
  Val tensorArgument(Bound &args, llvm::StringRef name);
  int64_t axisArgument(Bound &args, int64_t rank, int64_t defaultAxis, llvm::StringRef name = "axis");
  int64_t normalizeAxis(int64_t axis, mlir::Type type, SourceRange range);
  bool flagArgument(Bound &args, llvm::StringRef name, bool fallback);
  SourceRange rangeOf(Bound &args, llvm::StringRef name);
  Val convertFor(char conversion, const Val &x, SourceRange range);

  /// The axes of a reduction: one, several, or all of them ("all", and where none is given). Ascending, counted from
  /// the front.
  llvm::SmallVector<int64_t> axesArgument(Bound &args, mlir::Type type);
  Val reduceFrom(Bound &args, mlir::Value x, llvm::ArrayRef<mlir::NamedAttribute> attributes);
  Val zerosLike(const Val &x, SourceRange range);
  /// One axis with all elements.
  Val flattened(const Val &x, SourceRange range);
  int64_t chunkCount(mlir::Value x, int64_t axis, int64_t n, SourceRange range);
  /// Sizes from `f(2, 3)`, `f([2, 3])` or `f(x.shape)`.
  llvm::SmallVector<mlir::Value> sizeArguments(Bound &args);
  llvm::SmallVector<mlir::Value> checkedSizes(llvm::SmallVector<mlir::Value> sizes, SourceRange range);
  DType dtypeArgument(Bound &args, DType fallback);
  std::vector<Val> tensorList(Bound &args);
  mlir::Value broadcastBinary(llvm::StringRef op, mlir::Value a, mlir::Value b, SourceRange range) {
    return create(op, range, {a, b});
  }
  // Builtin*.cpp: handlers of rows of Builtins.def
#define TOY_HANDLER(NAME) Val NAME(Bound &args);
#include "irgen/Handlers.def"

  mlir::MLIRContext *context;
  mlir::ModuleOp module;
  mlir::OpBuilder b;
  mlir::Block *current = nullptr; ///< null: the code here is never reached
  IRGenHost &host;
  DiagnosticEngine &diagnostics;
  std::vector<std::unique_ptr<FunctionState>> stack;
  std::map<std::string, std::unique_ptr<Instance>> building;
  std::vector<std::unique_ptr<ast::Bracket>> expandedBrackets;
  std::map<const void *, std::set<unsigned>> staticParameters;
  std::vector<std::function<void()>> undoForms; ///< what to do when the statement fails, the last first
  FunctionState &fn() { return *stack.back(); }
};

/// Names of sizes in a type.
void collectNames(mlir::Type type, std::set<std::string> &names);
const BuiltinRow *findBuiltin(llvm::StringRef name);
llvm::ArrayRef<BuiltinRow> builtinRows();

} // namespace toy
