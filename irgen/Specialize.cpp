// SPDX-License-Identifier: Apache-2.0
/// \file
/// The choice of a compiled form by sizes, new forms, and decisions about sizes while a form is generated.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace toy {

std::map<std::string, std::string> Specialization::shownNames(ArrayRef<SizeSlot> slots) const {
  std::map<std::string, std::string> out;
  for (auto [name, slot] : llvm::zip_equal(names, slots))
    if (!name.empty())
      out[name] = slot.shown;
  return out;
}

llvm::StringMap<Dim> Specialization::bind(MLIRContext *context, ArrayRef<int64_t> sizes) const {
  llvm::StringMap<Dim> out;
  for (auto [name, size] : llvm::zip_equal(names, sizes))
    if (!name.empty())
      out[name] = Dim::number(context, size);
  return out;
}

llvm::StringMap<unsigned> Specialization::places() const {
  llvm::StringMap<unsigned> out;
  for (auto [i, name] : llvm::enumerate(names))
    if (!name.empty())
      out[name] = i;
  return out;
}

void Specialization::freeze() {
  llvm::StringMap<unsigned> at = places();
  for (std::optional<int64_t> size : fixed)
    wanted.push_back(size.value_or(anySize));
  for (const SizeGuard &guard : guards)
    tests.emplace_back(guard.fact, at);
}

std::string Specialization::mismatch(ArrayRef<SizeSlot> slots, ArrayRef<int64_t> sizes) const {
  for (auto [slot, want, size] : llvm::zip_equal(slots, fixed, sizes)) {
    if (want && *want != size)
      return slot.shown + " is " + std::to_string(size) + ", not " + std::to_string(*want);
    if (generic && !want && size == 1)
      return slot.shown + " is 1";
  }
  if (guards.empty())
    return "";
  llvm::StringMap<Dim> values = bind(guards[0].fact.dim.getContext(), sizes);
  for (const SizeGuard &guard : guards)
    if (!guard.fact.holds(values))
      return "not " + guard.fact.str(shownNames(slots));
  return "";
}

/// The tensors of a value with how users reach them.
static void reach(const Val &value, const std::string &shown, llvm::function_ref<void(const std::string &)> visit) {
  for (auto [i, element] : llvm::enumerate(value.elements))
    reach(element, value.kind == Val::Struct ? shown + "." + value.names[i] : shown + "[" + std::to_string(i) + "]",
          visit);
  if (value.kind == Val::Leaf)
    visit(shown);
}

namespace {

/// The choice, for one call.
class Specializer {
public:
  Specializer(IRGen &gen, const ast::Function &decl, const ast::Call &call, std::vector<Val> &values,
              const std::set<unsigned> &statics, llvm::function_ref<std::string(ArrayRef<Val>)> keyOf,
              ArrayRef<SourceRange> ranges)
      : gen(gen), decl(decl), call(call), values(values), statics(statics), keyOf(keyOf), ranges(ranges) {}

  std::shared_ptr<Specialization> run() {
    std::vector<Val> bare = collect();
    if (slots.empty())
      return nullptr;
    std::string key = keyOf(bare);
    set = &gen.host.instances().specializations[key];
    set->function = decl.name;
    uint64_t digest = llvm::xxh3_64bits(gen.sourceText(decl.range) + key.substr(key.find('(')));
    profile = &gen.host.instances().sizeProfiles[llvm::utohexstr(digest) + "-" + decl.name];
    bool isNew = set->slots.empty();
    if (isNew) {
      set->slots = slots;
      for (unsigned slot : *profile)
        if (slot < slots.size())
          set->slots[slot].varies = true;
    }
    llvm::erase_if(set->entries, [&](const auto &entry) { return !gen.host.instances().find(entry->key); });
    if (Specialization *found = set->find(sizes.data()))
      return choose(*llvm::find_if(set->entries, [&](const auto &entry) { return entry.get() == found; }));
    // A statement that fails leaves what is known of the function as it was.
    gen.undoForms.push_back([set = set, slots = isNew ? std::vector<SizeSlot>() : set->slots, entries = set->entries,
                             profile = profile, varying = *profile] {
      set->slots = slots;
      set->entries = entries;
      *profile = varying;
    });
    std::shared_ptr<Specialization> form = generate(newForm());
    minimize(*form);
    form->freeze();
    if (!set->entries.empty())
      remark(*form);
    set->entries.push_back(form);
    return choose(form);
  }

private:
  using Attribute = IRGen::SizeAttribute;

  /// Calls `visit` for the leaves of the arguments that are values, with the number of the leaf; gives the arguments
  /// with what it returns.
  std::vector<Val>
  mapLeaves(llvm::function_ref<Value(unsigned argument, unsigned inArgument, unsigned leaf, Value v)> visit) {
    std::vector<Val> out = values;
    unsigned leaf = 0;
    for (auto [i, value] : llvm::enumerate(out)) {
      SmallVector<Value> leaves;
      if (value.kind != Val::DTypeRef && !statics.count(i))
        value.flatten(leaves);
      if (leaves.empty())
        continue;
      for (auto [j, v] : llvm::enumerate(leaves))
        v = visit(i, j, leaf++, v);
      ValueRange rest(leaves);
      value = unflatten(value.type(), rest);
    }
    return out;
  }

  /// The sizes that are free, and the arguments without them, which all specializations of the function share.
  std::vector<Val> collect() {
    std::vector<std::vector<std::string>> shown(values.size());
    for (auto [i, value] : llvm::enumerate(values))
      reach(value, decl.parameters[i].name, [&, i = i](const std::string &text) { shown[i].push_back(text); });
    return mapLeaves([&](unsigned i, unsigned j, unsigned leaf, Value v) {
      const ast::Parameter &parameter = decl.parameters[i];
      auto type = dyn_cast<TensorType>(v.getType());
      if (!type)
        return v;
      SmallVector<Dim> dims = type.getDims();
      for (auto [axis, dim] : llvm::enumerate(dims)) {
        bool isDeclared =
            parameter.type && parameter.type->form == ast::TypeExpr::Tensor && parameter.type->sizes[axis];
        if (isDeclared || !dim.isNumber())
          continue;
        Attribute attribute =
            shown[i].size() == 1 ? gen.sizeAttribute(decl, parameter.name, dims.size(), axis) : Attribute();
        slots.push_back({leaf, static_cast<unsigned>(axis), shown[i][j] + ".shape[" + std::to_string(axis) + "]",
                         dim.value(), false});
        sizes.push_back(dim.value());
        attributes.push_back(attribute);
        dim = Dim::symbol(gen.context, "any$" + std::to_string(leaf) + "_" + std::to_string(axis));
      }
      return gen.relabel(v, type.withDims(dims), ranges[i]);
    });
  }

  /// The arguments as a form takes them: fixed sizes, and names for the others.
  std::vector<Val> typed(const Specialization &form) {
    unsigned slot = 0;
    return mapLeaves([&](unsigned i, unsigned, unsigned leaf, Value v) {
      auto type = dyn_cast<TensorType>(v.getType());
      if (!type)
        return v;
      SmallVector<Dim> dims = type.getDims();
      for (; slot < slots.size() && slots[slot].leaf == leaf; ++slot)
        dims[slots[slot].axis] =
            form.fixed[slot] ? Dim::number(gen.context, *form.fixed[slot]) : Dim::symbol(gen.context, form.names[slot]);
      return gen.relabel(v, type.withDims(dims), ranges[i]);
    });
  }

  /// The form for just the sizes at hand.
  std::shared_ptr<Specialization> fixedForm() {
    auto form = std::make_shared<Specialization>();
    form->fixed.assign(sizes.begin(), sizes.end());
    form->names.resize(sizes.size());
    return form;
  }

  std::shared_ptr<Specialization> choose(std::shared_ptr<Specialization> form) {
    llvm::StringMap<Dim> bound = form->bind(gen.context, sizes);
    if (llvm::any_of(form->checks, [&](const SizeGuard &check) { return !check.fact.holds(bound); }))
      form = fixedForm(); // which says what is wrong with these sizes
    values = typed(*form);
    form->bound = std::move(bound);
    if (++form->calls == 3)
      gen.host.formIsUsedAgain(*form);
    return form;
  }

  /// What changed since the first call is as it comes.
  std::shared_ptr<Specialization> newForm() {
    std::string reason;
    constexpr size_t mostReasons = SpecializationSet::most;
    size_t first = set->entries.size() - std::min(set->entries.size(), mostReasons);
    for (const auto &entry : llvm::drop_begin(set->entries, first))
      reason += (reason.empty() ? "" : "; ") + entry->mismatch(set->slots, sizes);
    if (first > 0)
      reason += "; and " + std::to_string(first) + " forms before";
    for (auto [i, slot] : llvm::enumerate(set->slots))
      if (slot.varies |= slot.first != sizes[i]; slot.varies)
        profile->insert(i);
    if (!reason.empty() && gen.host.compileOptions().failOnRecompile)
      gen.fail(DiagId::Recompiled, call.range, {decl.name, reason});
    auto form = std::make_shared<Specialization>();
    DynamicMode mode = gen.host.compileOptions().dynamic;
    form->generic = set->entries.size() >= SpecializationSet::most && mode != DynamicMode::Off;
    form->reason = reason.empty() ? "first call with these types" : reason;
    if (form->generic)
      form->reason += "; after " + std::to_string(SpecializationSet::most) + " forms, one for all sizes";
    for (auto [i, slot] : llvm::enumerate(set->slots)) {
      const Attribute &attribute = attributes[i];
      bool isAsked = attribute.kind == Attribute::Dynamic && sizes[i] >= attribute.lo && sizes[i] <= attribute.hi;
      bool isFree =
          form->generic ? sizes[i] != 1 : mode == DynamicMode::On || (mode == DynamicMode::Auto && slot.varies);
      if (!isAsked && (attribute.kind == Attribute::Static || !isFree)) {
        form->fixed.push_back(sizes[i]);
        form->names.push_back("");
        continue;
      }
      form->fixed.push_back(std::nullopt);
      form->names.push_back("d$" + std::to_string(gen.host.instances().newNumber()));
      form->hints[form->names.back()] = Dim::number(gen.context, sizes[i]);
      form->facts.bound(form->names.back(), 0);
      if (!isAsked)
        continue;
      required.emplace_back(form->names.back(), attribute);
      Dim name = Dim::symbol(gen.context, form->names.back());
      if (attribute.lo > 0)
        demand(*form, SizeFact::atLeast(name, Dim::number(gen.context, attribute.lo)), attribute.range);
      if (attribute.hi != ShapeFacts::largest)
        demand(*form, SizeFact::atLeast(Dim::number(gen.context, attribute.hi), name), attribute.range);
    }
    return form;
  }
  static void demand(Specialization &form, SizeFact fact, SourceRange range) {
    form.decisions.push_back({fact, range});
    form.facts.assume(fact);
  }

  void instantiate(std::shared_ptr<Specialization> form) {
    values = typed(*form);
    form->key = keyOf(values);
    (void)gen.instantiate(decl, values, form->key, call.range, statics, form);
  }

  /// The form, or, where it cannot be made for all sizes, the one for the sizes at hand, which may say what is wrong
  /// with them.
  std::shared_ptr<Specialization> generate(std::shared_ptr<Specialization> form) {
    size_t reported = gen.diagnostics.diagnostics().size();
    size_t instances = gen.host.instances().pendingCount();
    llvm::SmallPtrSet<Operation *, 8> before;
    for (Operation &op : gen.module.getOps())
      before.insert(&op);
    try {
      instantiate(form);
    } catch (IRAbort &) {
      if (!form->isDynamic())
        throw;
      std::string cause(infoOf(gen.diagnostics.diagnostics()[reported].id).code);
      gen.diagnostics.truncate(reported);
      gen.host.instances().forgetPending(instances);
      for (Operation &op : llvm::make_early_inc_range(gen.module.getOps()))
        if (!before.contains(&op))
          op.erase();
      auto fixed = fixedForm();
      fixed->reason = form->reason + "; other sizes are no option: " + cause;
      instantiate(fixed);
      for (auto &[name, attribute] : required)
        gen.fail(DiagId::CannotBeDynamic, attribute.range,
                 {gen.sourceText(attribute.range), "the function compiles for single sizes only"});
      return fixed;
    }
    for (auto &[name, attribute] : required)
      if (ShapeFacts::Range range = form->facts.rangeOf(Dim::symbol(gen.context, name)); range.lo == range.hi) {
        Diagnostic &d =
            gen.report(DiagId::CannotBeDynamic, attribute.range,
                       {gen.sourceText(attribute.range), "only " + std::to_string(range.lo) + " is possible"});
        auto guard =
            llvm::find_if(form->decisions, [&](const SizeGuard &g) { return g.fact.relation == SizeFact::Zero; });
        if (guard != form->decisions.end())
          d.note(guard->range, "this needs " + guard->fact.str(form->shownNames(set->slots)));
        d.note(call.range, "in this call");
        throw IRAbort();
      }
    return form;
  }

  void remark(const Specialization &form) {
    if (!gen.host.compileOptions().remarks)
      return;
    Diagnostic &d = gen.report(DiagId::AnotherForm, call.range, {decl.name, form.reason});
    for (const SizeGuard &guard : form.guards)
      d.note(guard.range, "it is for " + guard.fact.str(form.shownNames(set->slots)));
  }

  /// Guards that follow from the others are not asked for.
  static void minimize(Specialization &form) {
    ShapeFacts known;
    for (const std::string &name : form.names)
      if (!name.empty())
        known.bound(name, 0);
    std::vector<SizeFact> facts;
    for (const SizeGuard &decision : form.decisions)
      facts.push_back(decision.fact);
    for (size_t i : minimalFacts(known, facts))
      form.guards.push_back(form.decisions[i]);
  }

  IRGen &gen;
  const ast::Function &decl;
  const ast::Call &call;
  std::vector<Val> &values;
  const std::set<unsigned> &statics;
  llvm::function_ref<std::string(ArrayRef<Val>)> keyOf;
  ArrayRef<SourceRange> ranges;
  std::vector<SizeSlot> slots;
  std::vector<int64_t> sizes;                              ///< by slot
  std::vector<Attribute> attributes;                       ///< by slot
  std::vector<std::pair<std::string, Attribute>> required; ///< names that @dynamic asks for
  SpecializationSet *set = nullptr;
  std::set<unsigned> *profile = nullptr;
};

} // namespace

/// Chooses or makes the form of a function for a call from the top level; `values` get its types. Null where every size
/// is declared, and for calls from other functions, which are generated for what they are given.
std::shared_ptr<Specialization> IRGen::specialize(const ast::Function &decl, const ast::Call &call,
                                                  std::vector<Val> &values, const std::set<unsigned> &statics,
                                                  llvm::function_ref<std::string(ArrayRef<Val>)> keyOf,
                                                  ArrayRef<SourceRange> ranges) {
  if (fn().decl || isLibrary(decl) || !decl.body)
    return nullptr;
  return Specializer(*this, decl, call, values, statics, keyOf, ranges).run();
}

bool IRGen::isFree(Dim dim) { return fn().sizes != nullptr && !dim.isNumber() && dim.evaluate(fn().sizes->hints); }

int64_t IRGen::hintOf(Dim dim) { return *dim.evaluate(fn().sizes->hints); }

bool IRGen::decideSize(Specialization &form, SizeFact fact, SourceRange range, bool isCheck) {
  if (Truth truth = form.facts.decide(fact); truth != Truth::Unknown)
    return truth == Truth::Yes;
  bool holds = fact.holds(form.hints);
  if (isCheck && !holds)
    return false;
  SizeFact taken = holds ? fact : fact.negated();
  (isCheck ? form.checks : form.decisions).push_back({taken, range});
  form.facts.assume(taken);
  return holds;
}

std::optional<int64_t> IRGen::decidedInteger(Value value, SourceRange range) {
  auto dim = sizeBehind(value);
  if (!dim || !isFree(*dim))
    return std::nullopt;
  int64_t n = hintOf(*dim);
  decideSize(SizeFact::equal(*dim, Dim::number(context, n)), range);
  return n;
}

/// Comparisons of sizes, and `not` of such.
std::optional<bool> IRGen::decidedCondition(Value condition, SourceRange range) {
  Operation *op = condition.getDefiningOp();
  if (!op || !fn().sizes)
    return std::nullopt;
  if (isa<NotOp>(op)) {
    auto inner = decidedCondition(op->getOperand(0), range);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  if (!isa<EqOp, NeOp, LtOp, LeOp, GtOp, GeOp>(op))
    return std::nullopt;
  auto a = sizeBehind(op->getOperand(0)), b = sizeBehind(op->getOperand(1));
  if (!a || !b || (!isFree(*a) && !a->isNumber()) || (!isFree(*b) && !b->isNumber()) ||
      (a->isNumber() && b->isNumber()))
    return std::nullopt;
  ast::BinaryOp comparator = isa<EqOp>(op)   ? ast::BinaryOp::Eq
                             : isa<NeOp>(op) ? ast::BinaryOp::Ne
                             : isa<LtOp>(op) ? ast::BinaryOp::Lt
                             : isa<LeOp>(op) ? ast::BinaryOp::Le
                             : isa<GtOp>(op) ? ast::BinaryOp::Gt
                                             : ast::BinaryOp::Ge;
  SizeFact fact = *comparison(comparator, a, b);
  return fact.dim.evaluate(fn().sizes->hints) ? std::optional(decideSize(fact, range)) : std::nullopt;
}

/// The operand with another size on an axis, which is known to be equal.
Value IRGen::withSize(Value x, int64_t axis, Dim size, SourceRange range) {
  SmallVector<Dim> dims = tensorTypeOf(x).getDims();
  dims[axis] = size;
  return relabel(x, tensorTypeOf(x).withDims(dims), range);
}

/// Makes two axes of operands the same size in their types, or one of them 1 where that is allowed. False where nothing
/// can be decided here. Sizes that the call at hand does not allow end the form; with just these sizes the error says
/// why.
bool IRGen::unifySizes(MutableArrayRef<Value> operands, const SizeAssumption &a, SourceRange range) {
  Dim lhs = tensorTypeOf(operands[a.lhsOperand]).getDim(a.lhsAxis),
      rhs = tensorTypeOf(operands[a.rhsOperand]).getDim(a.rhsAxis);
  if ((!isFree(lhs) && !lhs.isNumber()) || (!isFree(rhs) && !rhs.isNumber()))
    return false;
  SizeFact equal = SizeFact::equal(lhs, rhs);
  if (!equal.dim.evaluate(fn().sizes->hints))
    return false;
  if (equal.holds(fn().sizes->hints)) {
    decideSize(equal, range, !a.mayBroadcast);
    if (lhs.isNumber())
      operands[a.rhsOperand] = withSize(operands[a.rhsOperand], a.rhsAxis, lhs, range);
    else if (rhs.isNumber())
      operands[a.lhsOperand] = withSize(operands[a.lhsOperand], a.lhsAxis, rhs, range);
    else
      operands[a.rhsOperand] = withSize(operands[a.rhsOperand], a.rhsAxis, lhs, range);
    return true;
  }
  Dim one = Dim::number(context, 1);
  if (a.mayBroadcast)
    for (auto [dim, operand, axis] :
         {std::tuple(lhs, a.lhsOperand, a.lhsAxis), std::tuple(rhs, a.rhsOperand, a.rhsAxis)})
      if (isFree(dim) && hintOf(dim) == 1) {
        decideSize(SizeFact::equal(dim, one), range);
        operands[operand] = withSize(operands[operand], axis, one, range);
        return true;
      }
  fail(DiagId::NotProvable, range, {"that the sizes " + lhs.str() + " and " + rhs.str() + " are equal"});
}

/// In a form that decides while it runs: computed sizes (`(n + 1) // 2`) that are 1 stretch, so that which of them are
/// is told apart, as it is for the sizes of arguments. True where an operand became one that stretches.
bool IRGen::stretchInGeneric(MutableArrayRef<Value> operands, const SizeAssumption &a, SourceRange range) {
  Specialization &form = *fn().generic;
  Dim one = Dim::number(context, 1);
  if (!a.mayBroadcast)
    return false;
  for (auto [operand, axis] : {std::pair(a.lhsOperand, a.lhsAxis), std::pair(a.rhsOperand, a.rhsAxis)}) {
    Dim dim = tensorTypeOf(operands[operand]).getDim(axis);
    if (dim.isNumber() || !dim.symbolName().empty() || !dim.evaluate(form.hints))
      continue;
    if (decideSize(form, SizeFact::equal(dim, one), range)) {
      operands[operand] = withSize(operands[operand], axis, one, range);
      return true;
    }
  }
  return false;
}

} // namespace toy
