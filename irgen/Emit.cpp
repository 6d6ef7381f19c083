// SPDX-License-Identifier: Apache-2.0
/// \file
/// Creation of operations through their type rules, locations, and errors with the chain of calls that led to them.
#include "irgen/IRGenImpl.h"

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

Diagnostic &IRGen::report(DiagId id, SourceRange range, std::vector<std::string> args) {
  // Inside the library the user's own call is the place.
  std::vector<std::pair<SourceRange, std::string>> chain;
  for (size_t i = stack.size(); i-- > 0;)
    if (stack[i]->decl && stack[i]->callRange.valid())
      chain.emplace_back(stack[i]->callRange, stack[i]->description);
  auto isLibrary = [&](SourceRange r) {
    return r.valid() && diagnostics.getSources().get(r.buffer).getName() == "<library>";
  };
  size_t first = 0;
  while (isLibrary(range) && first < chain.size())
    range = chain[first++].first;
  Diagnostic &d = diagnostics.report(id, range, std::move(args));
  for (size_t i = first; i < chain.size(); ++i)
    if (!isLibrary(chain[i].first) && i < first + 10)
      d.note(chain[i].first, "in the call of " + chain[i].second);
  return d;
}

void IRGen::fail(DiagId id, SourceRange range, std::vector<std::string> args, std::string help) {
  Diagnostic &d = report(id, range, std::move(args));
  if (!help.empty())
    d.withHelp(std::move(help));
  throw IRAbort();
}

Dim IRGen::freshSize() {
  std::string name;
  do
    name = "s" + std::to_string(fn().freshNames++);
  while (fn().declaredSizes.count(name) || fn().reservedSizes.count(name));
  return Dim::symbol(context, name);
}

Dim IRGen::nameOfSize(Value value) {
  while (auto check = value.getDefiningOp<CheckSizeOp>())
    value = check.getSize();
  Dim &name = fn().sizeNames[value];
  if (!name)
    name = freshSize();
  return name;
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

/// Whether a size is made of names that a signature declares, and of nothing that only data decides, so that what is
/// taken to be equal has to be proven. Quotients are left to the run: too little is proven about the parity of sizes
/// (`x[:D//2] * x[D//2:]`).
static bool isDeclared(Dim dim, const std::set<std::string> &names) {
  bool all = !hasQuotient(dim);
  dim.collectSymbols([&](StringRef s) { all &= names.count(s.str()) > 0; });
  return all;
}

/// The first operand of an operation that is a size, a position or a count.
static unsigned firstSize(StringRef name) {
  return llvm::StringSwitch<unsigned>(name)
      .Cases({"iota", "random", "check_size"}, 0)
      .Cases({"full", "reshape", "broadcast", "slice"}, 1)
      .Cases({"read_binary", "slice_store"}, 2)
      .Default(~0u);
}

Operation *IRGen::createOp(StringRef name, SourceRange range, ValueRange given, ArrayRef<NamedAttribute> attributes,
                           ArrayRef<SourceRange> sources, TypeRange declared) {
  if (host.isInterrupted())
    fail(DiagId::Interrupted, range);
  SmallVector<Value> checked(given);
  for (size_t i = firstSize(name); i < checked.size(); ++i)
    checked[i] = checkedSize(checked[i], range);
  ValueRange operands(checked);
  OperationName opName(("toy." + name).str(), context);
  RuleContext ctx(context, name, operands, DictionaryAttr::get(context, attributes));
  SmallVector<Type> declaredTypes(declared.begin(), declared.end());
  ctx.declared = declaredTypes;
  auto symbolFor = [&](Value value) { return nameOfSize(value); };
  ctx.symbolFor = symbolFor;
  ctx.alwaysRuns = !fn().mayBeSkipped();
  auto *rule = opName.getRegisteredInfo()->getInterface<TypeRuleOpInterface>();
  auto labelOperands = [&](Diagnostic &d) {
    if (ctx.error && !ctx.error->labels.empty()) {
      for (auto &[operand, text] : ctx.error->labels)
        if (operand < sources.size())
          d.label(sources[operand], text);
      return;
    }
    for (auto [i, source] : llvm::enumerate(sources))
      if (i < operands.size() && sources.size() > 1 && source.valid() &&
          (source.begin != range.begin || source.end != range.end))
        d.label(source, typeText(operands[i].getType()));
  };
  bool refused = failed(rule->inferTypes(ctx));
  if (fn().sizes && !ctx.assumptions.empty()) { // sizes of which this form takes more to be known
    SmallVector<Value> same(operands);
    bool decided = false;
    for (const SizeAssumption &a : ctx.assumptions)
      decided |= unifySizes(same, a, range);
    if (decided)
      return createOp(name, range, same, attributes, sources, declared);
  } else if (fn().generic) {
    SmallVector<Value> same(operands);
    bool stretches = false;
    for (const SizeAssumption &a : ctx.assumptions)
      stretches |= stretchInGeneric(same, a, range);
    if (stretches)
      return createOp(name, range, same, attributes, sources, declared);
  }
  if (refused) {
    Diagnostic &d = report(ctx.error->id, range, ctx.error->args);
    labelOperands(d);
    if (std::string help = ctx.error->help; !help.empty()) {
      bool simple = true;
      for (size_t i = 0; i < sources.size(); ++i) {
        std::string text = sourceText(sources[i]);
        simple &= text.size() < 30 && text.find(' ') == std::string::npos && text.find('\n') == std::string::npos;
        for (size_t at; (at = help.find("{" + std::to_string(i) + "}")) != std::string::npos;)
          help.replace(at, 3, text);
      }
      if (simple && help.find('{') == std::string::npos)
        d.withHelp(help);
    }
    throw IRAbort();
  }
  if (opName.hasTrait<OpTrait::Computes>() && llvm::any_of(operands.getTypes(), isHalfTensor)) {
    SmallVector<Value> widened;
    for (Value operand : operands)
      widened.push_back(isHalfTensor(operand.getType()) ? cast(operand, DType::F32, range) : operand);
    return createOp(name, range, widened, attributes, sources, declared);
  }
  if (!ctx.wanted.empty()) {
    SmallVector<Value> same(operands);
    if (haveWanted(same, ctx.wanted, ctx.name, range))
      return createOp(name, range, same, attributes, sources, declared);
  }
  for (const SizeAssumption &a : ctx.assumptions)
    if (Dim lhs = ctx.dim(a.lhsOperand, a.lhsAxis), rhs = ctx.dim(a.rhsOperand, a.rhsAxis);
        fn().facts.equal(lhs, rhs) == Truth::Yes) {
      SmallVector<Value> same(operands);
      same[a.rhsOperand] = withSize(same[a.rhsOperand], a.rhsAxis, lhs, range);
      return createOp(name, range, same, attributes, sources, declared);
    }
  for (const SizeAssumption &a : ctx.assumptions) {
    Dim lhs = ctx.dim(a.lhsOperand, a.lhsAxis), rhs = ctx.dim(a.rhsOperand, a.rhsAxis);
    if (isDeclared(lhs, fn().declaredSizes) && isDeclared(rhs, fn().declaredSizes) && !fn().declaredSizes.empty()) {
      Diagnostic &d =
          report(DiagId::NotProvable, range, {"that the sizes " + lhs.str() + " and " + rhs.str() + " are equal"});
      labelOperands(d);
      bool names = !lhs.symbolName().empty() && !rhs.symbolName().empty();
      d.withHelp(names ? "give both the same name in the signature, or write `where " + lhs.str() + " == " + rhs.str() +
                             "` behind it"
                       : "write `where " + lhs.str() + " == " + rhs.str() + "` behind the signature");
      throw IRAbort();
    }
    create<CheckEqualOp>(
        range, {sizeOf(operands[a.lhsOperand], a.lhsAxis, range), sizeOf(operands[a.rhsOperand], a.rhsAxis, range)},
        {stringAttr("what", "sizes of axes " + std::to_string(a.lhsAxis) + " and " + std::to_string(a.rhsAxis))});
  }
  for (Type &type : ctx.results)
    if (auto tensor = dyn_cast<TensorType>(type)) {
      SmallVector<Dim> dims = tensor.getDims();
      for (Dim &dim : dims)
        if (dim.isUnknown())
          dim = freshSize();
      type = tensor.withDims(dims);
    }
  // The operator is the place of errors; the whole expression is what remarks speak of.
  SourceRange whole = range;
  for (SourceRange source : sources)
    if (source.valid() && range.valid() && source.buffer == range.buffer) {
      whole.begin = std::min(whole.begin, source.begin);
      whole.end = std::max(whole.end, source.end);
    }
  Location place = loc(range);
  if (whole.begin != range.begin || whole.end != range.end)
    place = FusedLoc::get(context, {place, loc(whole)});
  OperationState state(place, opName, operands, ctx.results, attributes);
  return b.create(state);
}

/// Sees to it that axes have the sizes that a rule wants: proven, decided by this form, or checked at run time. True
/// where an operand's type now says more.
bool IRGen::haveWanted(MutableArrayRef<Value> operands, ArrayRef<WantedSize> all, StringRef what, SourceRange range) {
  bool changed = false;
  for (const WantedSize &wanted : all) {
    Dim have = tensorTypeOf(operands[wanted.operand]).getDim(wanted.axis), size = Dim::number(context, wanted.size);
    SizeFact fact = wanted.orMore ? SizeFact::atLeast(have, size) : SizeFact::equal(have, size);
    bool isAnonymous = have.isUnknown(), isDecided = !isAnonymous && isFree(have);
    if (isDecided && !decideSize(fact, range, wanted.orMore))
      fail(DiagId::NotProvable, range,
           {"that the size " + have.str() + " is " + (wanted.orMore ? "at least " : "") + size.str()});
    Truth known = isDecided ? Truth::Yes : isAnonymous ? Truth::Unknown : fn().facts.decide(fact);
    if (wanted.orMore) {
      if (known != Truth::Yes)
        create<CheckSizeOp>(range, {sizeOf(operands[wanted.operand], wanted.axis, range)},
                            {stringAttr("reduced", what)});
      continue;
    }
    if (known != Truth::Yes)
      create<CheckEqualOp>(
          range, {sizeOf(operands[wanted.operand], wanted.axis, range), integer(wanted.size, range)},
          {stringAttr("what", ("size of axis " + std::to_string(wanted.axis) + " and what " + what + " needs").str())});
    operands[wanted.operand] = withSize(operands[wanted.operand], wanted.axis, size, range);
    changed = true;
  }
  return changed;
}

/// The results of an operation of bf16 or f16 operands, which computed in f32, rounded to the operands' dtype.
SmallVector<Value> IRGen::resultsOf(Operation *op, ValueRange operands, SourceRange range) {
  SmallVector<Value> results(op->getResults());
  auto half = llvm::find_if(operands, [](Value v) { return isHalfTensor(v.getType()); });
  if (op->hasTrait<OpTrait::Computes>() && half != operands.end())
    for (Value &result : results)
      if (tensorTypeOf(result).getDtype() == DType::F32)
        result = cast(result, tensorTypeOf(*half).getDtype(), range);
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
