// SPDX-License-Identifier: Apache-2.0
/// \file
/// Creation of operations through their type rules, locations, and errors with the chain of calls that led to them.
#include "irgen/Context.h"

#include "irgen/Decisions.h"
#include "irgen/Operations.h"
#include "irgen/Statements.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {

IRGen::IRGen(ModuleOp module, IRGenHost &host, DiagnosticEngine &diagnostics)
    : context(module.getContext()), module(module), b(module.getContext()), host(host), diagnostics(diagnostics) {}

Location IRGen::loc(SourceRange range) {
  if (!range.valid())
    return b.getUnknownLoc();
  const SourceBuffer &buffer = diagnostics.getSources().get(range.buffer);
  uint32_t line = buffer.lineOf(range.begin), endLine = buffer.lineOf(range.end);
  return FileLineColRange::get(b.getStringAttr(buffer.getName()), line, range.begin - buffer.lineBegin(line) + 1,
                               endLine, range.end - buffer.lineBegin(endLine) + 1);
}

std::string IRGen::sourceText(SourceRange range) { return std::string(diagnostics.getSources().text(range)); }

/// Whether the first argument of a message is the function that is given something that it cannot take.
static bool namesFunction(DiagId id) {
  switch (id) {
  case DiagId::ComplexNotOrdered:
  case DiagId::NeedsFloating:
  case DiagId::NeedsRealFloating:
  case DiagId::NeedsNumber:
  case DiagId::NeedsBool:
  case DiagId::NeedsComplex:
  case DiagId::NotANumber:
  case DiagId::NeedsMatrix:
  case DiagId::NeedsShape:
  case DiagId::EmptyReduction:
    return true;
  default:
    return false;
  }
}

static bool isInLibrary(IRGen &g, SourceRange range) { return g.diagnostics.getSources().isLibrary(range); }

Diagnostic &IRGen::report(DiagId id, SourceRange range, std::vector<std::string> args) {
  // Inside the library the user's own call is the place.
  std::vector<std::pair<SourceRange, std::string>> chain;
  std::vector<std::string> names;
  for (size_t i = stack.size(); i-- > 0;)
    if (stack[i]->decl && stack[i]->callRange.valid()) {
      chain.emplace_back(stack[i]->callRange, stack[i]->description);
      names.push_back(stack[i]->decl->name);
    }
  size_t first = 0;
  while (isInLibrary(*this, range) && first < chain.size())
    range = chain[first++].first;
  if (first > 0 && namesFunction(id) && !names[first - 1].starts_with("_")) // not what that calls
    args[0] = names[first - 1];
  bool isUnnamed = first > 0 && (args.empty() || args[0] != names[first - 1]);
  Diagnostic &d = diagnostics.report(id, range, std::move(args));
  if (isUnnamed) // what the error speaks of is inside the function
    d.note({}, "inside " + chain[first - 1].second);
  for (size_t i = first; i < chain.size(); ++i)
    if (!isInLibrary(*this, chain[i].first) && i < first + 10)
      d.note(chain[i].first, "in the call of " + chain[i].second);
  if (infoOf(id).code.front() == 'T' && !stack.empty() && fn().innermostTry.valid())
    d.note(fn().innermostTry, "`try` catches errors of data and files, not of types");
  return d;
}

/// The error at run time that says the same.
static std::optional<DiagId> atRunTime(DiagId id) {
  switch (id) {
  case DiagId::IndexOutOfRange:
    return DiagId::IndexRange;
  case DiagId::EmptyReduction:
    return DiagId::EmptyReductionRun;
  case DiagId::NegativeSize:
    return DiagId::NegativeSizeRun;
  case DiagId::TransformPoints:
    return DiagId::TransformPointsRun;
  default:
    return std::nullopt;
  }
}

void IRGen::fail(DiagId id, SourceRange range, std::vector<std::string> args, std::string help, std::string instead) {
  if (goesOn && !fn().decl && id == DiagId::StaticNeeded)
    throw IRAbort(); // the values of the top level are there when it runs
  if (auto later = !stack.empty() && isTried(*this) ? atRunTime(id) : std::nullopt)
    throw CertainFailure{*later, std::move(args), range};
  bool isUsers = !isInLibrary(*this, range) || namesFunction(id); // helps speak of what stands at the place
  Diagnostic &d = report(id, range, std::move(args));
  if (!help.empty() && isUsers)
    d.withHelp(std::move(help));
  if (!instead.empty() && isUsers)
    d.withFix(range, std::move(instead));
  throw IRAbort();
}

void IRGen::failNear(DiagId id, SourceRange range, std::vector<std::string> args, const std::string &name,
                     const std::vector<std::string> &others, const std::string &prefix) {
  auto near = suggest(name, others);
  bool isWhole = range.valid() && diagnostics.getSources().text(range) == name;
  fail(id, range, std::move(args), near ? "did you mean `" + prefix + *near + "`?" : "", near && isWhole ? *near : "");
}

Dim IRGen::freshSize() {
  std::string name;
  do
    name = "s" + std::to_string(fn().freshNames++);
  while (fn().declaredSizes.count(name) || fn().reservedSizes.count(name));
  return Dim::symbol(context, name);
}

static DenseElementsAttr scalarAttr(Type element, Attribute value) {
  return DenseElementsAttr::get(RankedTensorType::get({}, element), value);
}

Value IRGen::integer(int64_t n, SourceRange range) {
  return create<ConstantOp>(range, {}, {attr("value", scalarAttr(b.getI64Type(), b.getI64IntegerAttr(n)))});
}
Value IRGen::boolean(bool v, SourceRange range) {
  return create<ConstantOp>(range, {}, {attr("value", scalarAttr(b.getI1Type(), b.getBoolAttr(v)))});
}
Value IRGen::floating(double x, DType dtype, SourceRange range) {
  Value v = create<ConstantOp>(range, {}, {attr("value", scalarAttr(b.getF64Type(), b.getF64FloatAttr(x)))});
  return castTo(*this, v, dtype, range);
}
Value IRGen::string(StringRef text, SourceRange range) {
  return create<StrConstantOp>(range, {}, {stringAttr("value", text)});
}

static bool hasQuotient(Dim size) {
  bool found = size.kind() == Dim::Kind::FloorDiv;
  auto atom = [&](int64_t, Dim atom) {
    found |= atom.kind() == Dim::Kind::FloorDiv || llvm::any_of(atom.operands(), hasQuotient);
  };
  if (!size.isNumber() && !size.isUnknown())
    size.forEachTerm([&](int64_t, Dim monomial) { monomial.forEachAtom(atom); });
  return found;
}

bool isDeclared(Dim dim, const std::set<std::string> &names) {
  bool all = !hasQuotient(dim);
  dim.collectSymbols([&](StringRef s) { all &= names.count(s.str()) > 0; });
  return all;
}

/// The first operand of an operation that is a size, a position or a count.
static unsigned firstSize(StringRef name) {
  return llvm::StringSwitch<unsigned>(name)
      .Cases({"iota", "check_size"}, 0)
      .Cases({"full", "reshape", "broadcast", "slice"}, 1)
      .Cases({"read_binary", "slice_store", "permutation"}, 2)
      .Case("sample", 3)
      .Default(~0u);
}

/// Shows the operands of an operation that is refused: those that its rule speaks of, or all.
static void labelOperands(Diagnostic &d, const RuleContext &ctx, SourceRange range, ArrayRef<SourceRange> sources) {
  if (ctx.error && !ctx.error->labels.empty()) {
    for (auto &[operand, text] : ctx.error->labels)
      if (operand < sources.size())
        d.label(sources[operand], text);
    return;
  }
  for (auto [i, source] : llvm::enumerate(sources))
    if (i < ctx.operands.size() && sources.size() > 1 && source.valid() &&
        (source.begin != range.begin || source.end != range.end))
      d.label(source, typeText(ctx.operands[i].getType()));
}

/// Whether a tensor's sizes may come from what the program is given: from variables, arguments and files, not from its
/// text alone.
static bool dependsOnData(Value value) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value v = open.pop_back_val();
    Operation *op = v.getDefiningOp();
    if (!op || (!isMemoryEffectFree(op) && !isa<NextKeyOp, DrawOp, CheckSizeOp, CheckIndexOp>(op)))
      return true;
    for (Value operand : op->getOperands())
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  return false;
}

void failLater(IRGen &g, Value value, const CertainFailure &failure) {
  if (isTried(g) && dependsOnData(value))
    throw failure;
}

/// Inside of `try`, what other data would allow fails when it runs.
static void refuseLater(IRGen &g, const RuleContext &ctx, SourceRange range) {
  if (const auto &mismatch = ctx.mismatch)
    for (unsigned i : mismatch->operands)
      failLater(g, ctx.operands[i],
                {DiagId::SizesDiffer, {mismatch->what, mismatch->left.str(), mismatch->right.str()}, range});
  if (ctx.error->id == DiagId::ConvolutionShapes)
    for (Value operand : ctx.operands.take_front(2))
      failLater(g, operand, {DiagId::ValueNotTaken, {formatDiagnostic(ctx.error->id, ctx.error->args)}, range});
  if (auto later = atRunTime(ctx.error->id))
    throw CertainFailure{*later, ctx.error->args, range};
}

[[noreturn]] static void refuse(IRGen &g, const RuleContext &ctx, SourceRange range, ArrayRef<SourceRange> sources) {
  if (isTried(g))
    refuseLater(g, ctx, range);
  Diagnostic &d = g.report(ctx.error->id, range, ctx.error->args);
  labelOperands(d, ctx, range, sources);
  if (std::string help = ctx.error->help; !help.empty()) {
    bool simple = true;
    for (size_t i = 0; i < sources.size(); ++i) {
      std::string hole = "{" + std::to_string(i) + "}", inParentheses = "(" + hole + ")";
      StringRef pattern = help;
      bool isArgument = pattern.count(hole) == pattern.count(inParentheses);
      std::string text = isInLibrary(g, sources[i]) ? "…" : g.sourceText(sources[i]);
      bool isWord = text != "…" && text.find(' ') == std::string::npos;
      simple &= text.size() < 30 && text.find('\n') == std::string::npos && (isArgument || isWord);
      for (size_t at; (at = help.find(hole)) != std::string::npos;)
        help.replace(at, 3, text);
    }
    if (simple && help.find('{') == std::string::npos)
      d.withHelp(help);
  }
  throw IRAbort();
}

/// Operands of bf16 and f16 are computed with in f32.
static bool widenHalves(IRGen &g, MutableArrayRef<Value> operands, SourceRange range) {
  bool any = llvm::any_of(operands, [](Value v) { return isHalfTensor(v.getType()); });
  for (Value &operand : operands)
    if (isHalfTensor(operand.getType()))
      operand = castTo(g, operand, DType::F32, range);
  return any;
}

/// The first two sizes that a rule takes to be equal and that are known to be get the same name.
static bool nameEqualSizes(IRGen &g, const RuleContext &ctx, MutableArrayRef<Value> operands, SourceRange range) {
  for (const SizeAssumption &a : ctx.assumptions)
    if (Dim lhs = ctx.dim(a.lhsOperand, a.lhsAxis), rhs = ctx.dim(a.rhsOperand, a.rhsAxis);
        g.fn().facts.equal(lhs, rhs) == Truth::Yes) {
      operands[a.rhsOperand] = withSize(g, operands[a.rhsOperand], a.rhsAxis, lhs, range);
      return true;
    }
  return false;
}

/// Sizes that a rule takes to be equal: an error where the signature should say so, else checked at run time.
static void checkEqualSizes(IRGen &g, const RuleContext &ctx, SourceRange range, ArrayRef<SourceRange> sources) {
  for (const SizeAssumption &a : ctx.assumptions) {
    Dim lhs = ctx.dim(a.lhsOperand, a.lhsAxis), rhs = ctx.dim(a.rhsOperand, a.rhsAxis);
    const std::set<std::string> &declared = g.fn().declaredSizes;
    if (isDeclared(lhs, declared) && isDeclared(rhs, declared) && !declared.empty()) {
      std::string equation = "`where " + lhs.str() + " == " + rhs.str() + "` behind ";
      Diagnostic &d =
          g.report(DiagId::NotProvable, range, {"that the sizes " + lhs.str() + " and " + rhs.str() + " are equal"});
      labelOperands(d, ctx, range, sources);
      bool names = !lhs.symbolName().empty() && !rhs.symbolName().empty();
      if (g.fn().facts.isExhausted())
        d.withHelp("the function asks more about sizes than is proven for one function: divide it");
      d.withHelp(names ? "give both the same name in the signature, or write " + equation + "it"
                       : "write " + equation + "the signature");
      throw IRAbort();
    }
    g.create<CheckEqualOp>(range,
                           {sizeOf(g, ctx.operands[a.lhsOperand], a.lhsAxis, range),
                            sizeOf(g, ctx.operands[a.rhsOperand], a.rhsAxis, range)},
                           {g.stringAttr("what", whatDiffers(a.lhsAxis, a.rhsAxis))});
  }
}

/// The operator is the place of errors; the whole expression is what remarks speak of.
static Location placeOf(IRGen &g, SourceRange range, ArrayRef<SourceRange> sources) {
  SourceRange whole = range;
  for (SourceRange source : sources)
    if (source.valid() && range.valid() && source.buffer == range.buffer) {
      whole.begin = std::min(whole.begin, source.begin);
      whole.end = std::max(whole.end, source.end);
    }
  if (whole.begin == range.begin && whole.end == range.end)
    return g.loc(range);
  return FusedLoc::get(g.context, {g.loc(range), g.loc(whole)});
}

Operation *IRGen::createOp(StringRef name, SourceRange range, ValueRange given, ArrayRef<NamedAttribute> attributes,
                           ArrayRef<SourceRange> sources, TypeRange declared) {
  if (host.isInterrupted())
    fail(DiagId::Interrupted, range);
  SmallVector<Value> checked(given);
  for (size_t i = firstSize(name); i < checked.size(); ++i)
    checked[i] = checkedSize(*this, checked[i], range);
  OperationName opName(("toy." + name).str(), context);
  RuleContext ctx(context, name, checked, DictionaryAttr::get(context, attributes));
  SmallVector<Type> declaredTypes(declared.begin(), declared.end());
  ctx.declared = declaredTypes;
  auto symbolFor = [&](Value value) { return nameOfSize(*this, value); };
  ctx.symbolFor = symbolFor;
  ctx.alwaysRuns = !fn().mayBeSkipped();
  bool refused = failed(opName.getRegisteredInfo()->getInterface<TypeRuleOpInterface>()->inferTypes(ctx));
  // Operands of which more is known are asked about once more.
  SmallVector<Value> better(checked);
  bool isBetter = decideSizes(*this, better, ctx.assumptions, range);
  if (!isBetter && refused)
    refuse(*this, ctx, range, sources);
  isBetter = isBetter || (opName.hasTrait<OpTrait::Computes>() && widenHalves(*this, better, range)) ||
             haveWanted(*this, better, ctx.wanted, ctx.name, range) || nameEqualSizes(*this, ctx, better, range);
  if (isBetter)
    return createOp(name, range, better, attributes, sources, declared);
  checkEqualSizes(*this, ctx, range, sources);
  for (Type &type : ctx.results)
    if (auto tensor = dyn_cast<TensorType>(type)) {
      SmallVector<Dim> dims = tensor.getDims();
      for (Dim &dim : dims)
        if (dim.isUnknown())
          dim = freshSize();
      type = tensor.withDims(dims);
    }
  OperationState state(placeOf(*this, range, sources), opName, checked, ctx.results, attributes);
  return b.create(state);
}

/// The results of an operation of bf16 or f16 operands, which computed in f32, rounded to the operands' dtype.
SmallVector<Value> IRGen::resultsOf(Operation *op, ValueRange operands, SourceRange range) {
  SmallVector<Value> results(op->getResults());
  auto half = llvm::find_if(operands, [](Value v) { return isHalfTensor(v.getType()); });
  if (op->hasTrait<OpTrait::Computes>() && half != operands.end())
    for (Value &result : results)
      if (tensorTypeOf(result).getDtype() == DType::F32)
        result = castTo(*this, result, tensorTypeOf(*half).getDtype(), range);
  return results;
}

/// As createOp, for operations with at most one result; constants are folded at once, so that sizes are known.
Value IRGen::create(StringRef name, SourceRange range, ValueRange operands, ArrayRef<NamedAttribute> attributes,
                    ArrayRef<SourceRange> sources) {
  Operation *op = createOp(name, range, operands, attributes, sources);
  if (op->getNumResults() == 0)
    return {};
  SmallVector<Value> folded;
  if (op->hasTrait<mlir::OpTrait::ConstantLike>() || failed(b.tryFold(op, folded)) || folded.empty())
    return resultsOf(op, operands, range)[0];
  op->erase();
  return folded[0];
}

} // namespace toy
