// SPDX-License-Identifier: Apache-2.0
/// \file
/// The choice of a specialization by sizes, and new ones.
#include "irgen/Declarations.h"
#include "irgen/Functions.h"
#include "irgen/Operations.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace toy {

std::map<std::string, std::string> Specialization::shownNames(ArrayRef<DynamicDim> slots) const {
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

std::string Specialization::mismatch(ArrayRef<DynamicDim> slots, ArrayRef<int64_t> sizes) const {
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
static void reach(const RValue &value, const std::string &shown, llvm::function_ref<void(const std::string &)> visit) {
  for (auto [i, element] : llvm::enumerate(value.elements))
    reach(element,
          value.kind == RValue::Tuple  ? shown + "[" + std::to_string(i) + "]"
          : value.kind == RValue::List ? shown
                                       : shown + "." + value.names[i],
          visit);
  if (value.kind == RValue::Leaf)
    visit(shown);
}

namespace {

/// The choice, for one call.
struct Specializer {
  IRGen &g;
  const Callee &callee;
  const ast::Function &decl;
  const ast::Call &call;
  std::vector<RValue> &values;
  const StaticLeaves &statics;
  llvm::function_ref<std::string(ArrayRef<RValue>)> keyOf;
  ArrayRef<SourceRange> ranges;

  std::shared_ptr<Specialization> run() {
    std::vector<RValue> bare = collect();
    if (slots.empty())
      return nullptr;
    std::string key = keyOf(bare);
    set = &g.host.instances().specializations[key];
    set->function = decl.name;
    uint64_t digest = llvm::xxh3_64bits(ast::print(decl) + key.substr(key.find('(')));
    profile = &g.host.instances().sizeProfiles[llvm::utohexstr(digest) + "-" + decl.name];
    bool isNew = set->slots.empty();
    if (isNew) {
      set->slots = slots;
      for (unsigned slot : *profile)
        if (slot < slots.size())
          set->slots[slot].varies = true;
    }
    llvm::erase_if(set->entries, [&](const auto &entry) { return !g.host.instances().find(entry->key); });
    if (Specialization *found = set->find(sizes.data()))
      return choose(*llvm::find_if(set->entries, [&](const auto &entry) { return entry.get() == found; }));
    // A statement that fails leaves what is known of the function as it was.
    g.undoSpecializations.push_back([set = set, slots = isNew ? std::vector<DynamicDim>() : set->slots,
                                     entries = set->entries, profile = profile, varying = *profile] {
      set->slots = slots;
      set->entries = entries;
      *profile = varying;
    });
    std::shared_ptr<Specialization> specialization = generate(newSpecialization());
    minimize(*specialization);
    specialization->freeze();
    if (!set->entries.empty())
      remark(*specialization);
    set->entries.push_back(specialization);
    return choose(specialization);
  }

  using Attribute = SizeAttribute;

  /// Calls `visit` for the leaves of the arguments that are values, with the number of the leaf; gives the arguments
  /// with what it returns.
  std::vector<RValue>
  mapLeaves(llvm::function_ref<Value(unsigned argument, unsigned inArgument, unsigned leaf, Value v)> visit) {
    std::vector<RValue> out = values;
    unsigned leaf = 0;
    for (auto [i, value] : llvm::enumerate(out)) {
      SmallVector<Value> leaves;
      value.flatten(leaves);
      for (auto [j, v] : llvm::enumerate(leaves))
        if (!statics.count({i, j}))
          v = visit(i, j, leaf++, v);
      ValueRange rest(leaves);
      value = unflatten(value.type(), rest);
    }
    return out;
  }

  /// The sizes that are free, and the arguments without them, which all specializations of the function share.
  std::vector<RValue> collect() {
    std::vector<std::vector<std::string>> shown(values.size());
    for (auto [i, value] : llvm::enumerate(values))
      reach(value, callee.nameOf(i), [&, i = i](const std::string &text) { shown[i].push_back(text); });
    return mapLeaves([&](unsigned i, unsigned j, unsigned leaf, Value v) {
      static const ast::Parameter captured;
      const ast::Parameter &parameter = i < decl.parameters.size() ? decl.parameters[i] : captured;
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
            shown[i].size() == 1 ? sizeAttribute(g, decl, parameter.name, dims.size(), axis) : Attribute();
        slots.push_back({leaf, static_cast<unsigned>(axis), shown[i][j] + ".shape[" + std::to_string(axis) + "]",
                         dim.value(), false});
        sizes.push_back(dim.value());
        attributes.push_back(attribute);
        dim = Dim::symbol(g.context, "any$" + std::to_string(leaf) + "_" + std::to_string(axis));
      }
      return relabel(g, v, type.withDims(dims), ranges[i]);
    });
  }

  /// The arguments as a specialization takes them: static sizes, and names for the dynamic ones.
  std::vector<RValue> typed(const Specialization &specialization) {
    unsigned slot = 0;
    return mapLeaves([&](unsigned i, unsigned, unsigned leaf, Value v) {
      auto type = dyn_cast<TensorType>(v.getType());
      if (!type)
        return v;
      SmallVector<Dim> dims = type.getDims();
      for (; slot < slots.size() && slots[slot].leaf == leaf; ++slot)
        dims[slots[slot].axis] = specialization.fixed[slot] ? g.number(*specialization.fixed[slot])
                                                            : Dim::symbol(g.context, specialization.names[slot]);
      return relabel(g, v, type.withDims(dims), ranges[i]);
    });
  }

  /// The specialization for just the sizes at hand.
  std::shared_ptr<Specialization> staticSpecialization() {
    auto specialization = std::make_shared<Specialization>();
    specialization->fixed.assign(sizes.begin(), sizes.end());
    specialization->names.resize(sizes.size());
    return specialization;
  }

  std::shared_ptr<Specialization> choose(std::shared_ptr<Specialization> specialization) {
    llvm::StringMap<Dim> bound = specialization->bind(g.context, sizes);
    if (llvm::any_of(specialization->checks, [&](const SizeGuard &check) { return !check.fact.holds(bound); }))
      specialization = staticSpecialization(); // which says what is wrong with these sizes
    values = typed(*specialization);
    specialization->bound = std::move(bound);
    if (++specialization->calls == 3)
      g.host.isUsedAgain(*specialization);
    return specialization;
  }

  /// What changed since the first call is dynamic.
  std::shared_ptr<Specialization> newSpecialization() {
    std::string reason;
    constexpr size_t mostReasons = SpecializationSet::most;
    size_t first = set->entries.size() - std::min(set->entries.size(), mostReasons);
    for (const auto &entry : llvm::drop_begin(set->entries, first))
      reason += (reason.empty() ? "" : "; ") + entry->mismatch(set->slots, sizes);
    if (first > 0)
      reason += "; and " + std::to_string(first) + " specializations before";
    for (auto [i, slot] : llvm::enumerate(set->slots))
      if (slot.varies |= slot.first != sizes[i]; slot.varies)
        profile->insert(i);
    if (!reason.empty() && g.host.compileOptions().failOnRecompile)
      g.fail(DiagId::Recompiled, call.range, {decl.name, reason});
    auto specialization = std::make_shared<Specialization>();
    DynamicMode mode = g.host.compileOptions().dynamic;
    specialization->generic = set->entries.size() >= SpecializationSet::most && mode != DynamicMode::Off;
    specialization->reason = reason.empty() ? "first call with these types" : reason;
    if (specialization->generic)
      specialization->reason +=
          "; after " + std::to_string(SpecializationSet::most) + " specializations, one for all sizes";
    for (auto [i, slot] : llvm::enumerate(set->slots)) {
      const Attribute &attribute = attributes[i];
      bool isAsked = attribute.kind == Attribute::Dynamic && sizes[i] >= attribute.lo && sizes[i] <= attribute.hi;
      bool isFree = specialization->generic ? sizes[i] != 1
                                            : mode == DynamicMode::On || (mode == DynamicMode::Auto && slot.varies);
      if (!isAsked && (attribute.kind == Attribute::Static || !isFree)) {
        specialization->fixed.push_back(sizes[i]);
        specialization->names.push_back("");
        continue;
      }
      specialization->fixed.push_back(std::nullopt);
      specialization->names.push_back("d$" + std::to_string(g.host.instances().newNumber()));
      specialization->hints[specialization->names.back()] = g.number(sizes[i]);
      specialization->facts.bound(specialization->names.back(), 0);
      if (!isAsked)
        continue;
      required.emplace_back(specialization->names.back(), attribute);
      Dim name = Dim::symbol(g.context, specialization->names.back());
      if (attribute.lo > 0)
        demand(*specialization, SizeFact::atLeast(name, g.number(attribute.lo)), attribute.range);
      if (attribute.hi != ShapeFacts::largest)
        demand(*specialization, SizeFact::atLeast(g.number(attribute.hi), name), attribute.range);
    }
    return specialization;
  }
  static void demand(Specialization &specialization, SizeFact fact, SourceRange range) {
    specialization.decisions.push_back({fact, range});
    specialization.facts.assume(fact);
  }

  void generateBody(std::shared_ptr<Specialization> specialization) {
    values = typed(*specialization);
    specialization->key = keyOf(values);
    (void)instantiate(g, callee, values, specialization->key, call.range, statics, specialization);
  }

  /// The specialization, or, where it cannot be made for all sizes, the one for the sizes at hand, which may say what
  /// is wrong with them.
  std::shared_ptr<Specialization> generate(std::shared_ptr<Specialization> specialization) {
    size_t reported = g.diagnostics.diagnostics().size();
    size_t instances = g.host.instances().pendingCount();
    llvm::SmallPtrSet<Operation *, 8> before;
    for (Operation &op : g.module.getOps())
      before.insert(&op);
    try {
      generateBody(specialization);
    } catch (IRAbort &) {
      if (!specialization->isDynamic() || g.diagnostics.diagnostics().size() == reported)
        throw;
      std::string cause(infoOf(g.diagnostics.diagnostics()[reported].id).code);
      g.diagnostics.truncate(reported);
      g.host.instances().forgetPending(instances);
      for (Operation &op : llvm::make_early_inc_range(g.module.getOps()))
        if (!before.contains(&op))
          op.erase();
      auto fixed = staticSpecialization();
      fixed->reason = specialization->reason + "; other sizes are no option: " + cause;
      generateBody(fixed);
      for (auto &[name, attribute] : required)
        g.fail(DiagId::CannotBeDynamic, attribute.range,
               {g.sourceText(attribute.range), "the function compiles for single sizes only"});
      return fixed;
    }
    for (auto &[name, attribute] : required)
      if (ShapeFacts::Range range = specialization->facts.rangeOf(Dim::symbol(g.context, name)); range.lo == range.hi) {
        Diagnostic &d = g.report(DiagId::CannotBeDynamic, attribute.range,
                                 {g.sourceText(attribute.range), "only " + std::to_string(range.lo) + " is possible"});
        auto guard = llvm::find_if(specialization->decisions,
                                   [&](const SizeGuard &g) { return g.fact.relation == SizeFact::Zero; });
        if (guard != specialization->decisions.end())
          d.note(guard->range, "this needs " + guard->fact.str(specialization->shownNames(set->slots)));
        d.note(call.range, "in this call");
        throw IRAbort();
      }
    return specialization;
  }

  void remark(const Specialization &specialization) {
    if (!g.host.compileOptions().remarks)
      return;
    Diagnostic &d = g.report(DiagId::AnotherSpecialization, call.range, {decl.name, specialization.reason});
    for (const SizeGuard &guard : specialization.guards)
      d.note(guard.range, "it is for " + guard.fact.str(specialization.shownNames(set->slots)));
  }

  /// Guards that follow from the others are not asked for.
  static void minimize(Specialization &specialization) {
    ShapeFacts known;
    for (const std::string &name : specialization.names)
      if (!name.empty())
        known.bound(name, 0);
    std::vector<SizeFact> facts;
    for (const SizeGuard &decision : specialization.decisions)
      facts.push_back(decision.fact);
    for (size_t i : minimalFacts(known, facts))
      specialization.guards.push_back(specialization.decisions[i]);
  }

  std::vector<DynamicDim> slots = {};
  std::vector<int64_t> sizes = {};                              ///< by slot
  std::vector<Attribute> attributes = {};                       ///< by slot
  std::vector<std::pair<std::string, Attribute>> required = {}; ///< names that @dynamic asks for
  SpecializationSet *set = nullptr;
  std::set<unsigned> *profile = nullptr;
};

} // namespace

std::shared_ptr<Specialization> specialize(IRGen &g, const Callee &callee, const ast::Call &call,
                                           std::vector<RValue> &values, const StaticLeaves &statics,
                                           llvm::function_ref<std::string(ArrayRef<RValue>)> keyOf,
                                           ArrayRef<SourceRange> ranges) {
  const ast::Function &decl = callee.decl;
  if (g.fn().decl || isLibrary(g, decl) || !decl.body)
    return nullptr;
  return Specializer{g, callee, decl, call, values, statics, keyOf, ranges}.run();
}

} // namespace toy
