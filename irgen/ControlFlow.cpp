// SPDX-License-Identifier: Apache-2.0
/// \file
/// Branches and loops as a control-flow graph. Variables that a construct may change become block arguments where its
/// paths meet; sizes that differ between paths become names.
#include "irgen/Statements.h"

#include "irgen/Decisions.h"
#include "irgen/Expressions.h"
#include "irgen/Functions.h"
#include "irgen/Lists.h"
#include "irgen/Operations.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

Block *newBlock(IRGen &g) {
  Block *block = new Block;
  g.fn().op.getBody().push_back(block);
  return block;
}

void moveTo(IRGen &g, Block *block) {
  g.current = block;
  if (block)
    g.b.setInsertionPointToEnd(block);
}

std::vector<std::string> assignedIn(IRGen &g, const ast::Node &node) {
  std::vector<std::string> out = sema::assignedIn(node);
  // Only what exists before can come out changed; top-level variables are brought into view.
  std::erase_if(out, [&](const std::string &name) {
    if (Variable *variable = lookup(g, name))
      return variable->isUnknown;
    if (g.fn().decl || !g.host.global(name))
      return true;
    RValue value = readVariable(g, name, {}).value_or(RValue());
    g.fn().scopes.front()[name] = {value, true, false, g.host.placeOfGlobal(name)};
    return false;
  });
  return out;
}

std::vector<RValue> snapshot(IRGen &g, ArrayRef<std::string> names) {
  std::vector<RValue> values;
  for (const std::string &name : names)
    values.push_back(lookup(g, name)->value);
  return values;
}

void restore(IRGen &g, ArrayRef<std::string> names, ArrayRef<RValue> values) {
  for (auto [name, value] : llvm::zip_equal(names, values))
    lookup(g, name)->value = value;
}

/// One type for two paths: dtype and rank agree, sizes that differ become a new name.
static ValueType joinTypes(IRGen &g, const ValueType &a, const ValueType &b, const std::string &name,
                           SourceRange range) {
  if (a.kind == ValueType::List && b.kind == ValueType::List && (a.isOpenList() || b.isOpenList()))
    return a.isOpenList() ? b : a;
  auto refuse = [&] {
    bool isChoice = a.kind == ValueType::Function && b.kind == ValueType::Function;
    g.fail(DiagId::BranchTypes, range, {name, a.str(), b.str()},
           isChoice ? "choose inside: `x => { if c { … } … }`" : "");
  };
  if (a.kind != b.kind || a.elements.size() != b.elements.size() || a.structName != b.structName || a.code != b.code ||
      a.names != b.names || (a.kind == ValueType::DTypeRef && a.dtype != b.dtype))
    refuse();
  ValueType out = a;
  for (size_t i = 0; i < a.elements.size(); ++i)
    out.elements[i] = joinTypes(g, a.elements[i], b.elements[i], name, range);
  if (a.kind != ValueType::Leaf || a.leaf == b.leaf)
    return out;
  auto x = dyn_cast<TensorType>(a.leaf), y = dyn_cast<TensorType>(b.leaf);
  if (!x || !y || x.getDtype() != y.getDtype() || x.getRank() != y.getRank())
    refuse();
  SmallVector<Dim> dims;
  for (auto [p, q] : llvm::zip_equal(x.getDims(), y.getDims()))
    dims.push_back(p == q ? p : g.freshSize());
  out.leaf = x.withDims(dims);
  return out;
}

SmallVector<Value> relabelled(IRGen &g, ArrayRef<RValue> values, ArrayRef<ValueType> types, SourceRange range) {
  SmallVector<Value> leaves;
  SmallVector<Type> leafTypes;
  for (auto [value, type] : llvm::zip_equal(values, types)) {
    adapted(g, value, type, range).flatten(leaves);
    type.flatten(leafTypes);
  }
  for (auto [leaf, type] : llvm::zip_equal(leaves, leafTypes))
    leaf = relabel(g, leaf, type, range);
  return leaves;
}

std::vector<RValue> mergeEdges(IRGen &g, ArrayRef<Edge> edges, ArrayRef<std::string> names, SourceRange range) {
  if (edges.empty()) {
    moveTo(g, nullptr);
    return {};
  }
  size_t n = edges[0].values.size();
  std::vector<ValueType> types;
  std::vector<bool> same(n, true);
  for (size_t i = 0; i < n; ++i) {
    ValueType type = edges[0].values[i].type();
    SmallVector<Value> first;
    edges[0].values[i].flatten(first);
    for (const Edge &edge : edges.drop_front()) {
      SmallVector<Value> other;
      edge.values[i].flatten(other);
      same[i] = same[i] && first == other;
      type = joinTypes(g, type, edge.values[i].type(), names.empty() ? "result" : names[i], range);
    }
    types.push_back(type);
  }
  Block *block = newBlock(g);
  SmallVector<Type> leafTypes;
  for (size_t i = 0; i < n; ++i)
    if (!same[i])
      types[i].flatten(leafTypes);
  for (Type type : leafTypes)
    block->addArgument(type, g.loc(range));
  for (const Edge &edge : edges) {
    moveTo(g, edge.from);
    std::vector<RValue> passed;
    std::vector<ValueType> passedTypes;
    for (size_t i = 0; i < n; ++i)
      if (!same[i]) {
        passed.push_back(edge.values[i]);
        passedTypes.push_back(types[i]);
      }
    cf::BranchOp::create(g.b, g.loc(range), block, relabelled(g, passed, passedTypes, range));
  }
  moveTo(g, block);
  ValueRange arguments = block->getArguments();
  std::vector<RValue> values;
  for (size_t i = 0; i < n; ++i)
    values.push_back(same[i] ? edges[0].values[i] : unflatten(types[i], arguments));
  return values;
}

static bool haveOneType(const ValueType &a, const ValueType &b) {
  if (a.kind == ValueType::List)
    return a.isOpenList() || b.isOpenList() || a.key() == b.key();
  auto x = dyn_cast_if_present<TensorType>(a.leaf), y = dyn_cast_if_present<TensorType>(b.leaf);
  return a.leaf == b.leaf || (x && y && x.getDtype() == y.getDtype() && x.getRank() == y.getRank());
}

/// A variable that has another type at the end of an iteration or branch; `start` is where it got the first one, `end`
/// where it got the other one.
static void needOneType(IRGen &g, const std::string &name, const RValue &before, const RValue &after, SourceRange start,
                        SourceRange end, SourceRange range) {
  if ((before.kind != RValue::Leaf && !before.isList()) || after.kind != before.kind ||
      haveOneType(before.type(), after.type()))
    return;
  std::string shown = name.starts_with('$') ? StringRef(name).drop_front().rtrim("0123456789").str() : name;
  Diagnostic &d =
      g.report(DiagId::ChangesType, end.valid() ? end : range, {shown, before.type().str(), after.type().str()});
  if (start.valid() && end.valid() && start.buffer == end.buffer)
    d.label(start, before.type().str());
  else if (start.valid())
    d.note(start, "it is " + before.type().str() + " here");
  auto literal = before.isTensor() && before.rank() == 0 ? constantOf(before.value) : std::nullopt;
  if (literal && after.isTensor() && after.rank() == 0 && after.tensor().getDtype() == DType::F64 && shown == name)
    d.withHelp("`var " + name + " = " + std::to_string(*literal) + ".0;`");
  throw IRAbort();
}

void genIf(IRGen &g, const ast::If &s) {
  bool outer = std::exchange(g.decidesConditions, true);
  Value c = genCondition(g, *s.condition);
  g.decidesConditions = outer;
  if (auto known = knownCondition(g, c, s.condition->range)) { // sizes and constants decide at once
    if (*known)
      genBlock(g, *s.thenBlock);
    else if (s.elseBranch)
      genStatement(g, *s.elseBranch);
    return;
  }
  std::vector<std::string> names = assignedIn(g, *s.thenBlock);
  if (s.elseBranch)
    for (const std::string &name : assignedIn(g, *s.elseBranch))
      if (!llvm::is_contained(names, name))
        names.push_back(name);
  std::vector<SizeFact> facts = g.fn().sizes ? std::vector<SizeFact>() : factsOf(g, *s.condition);
  Block *thenBlock = newBlock(g), *elseBlock = newBlock(g);
  cf::CondBranchOp::create(g.b, g.loc(s.condition->range), g.create<TruthOp>(s.condition->range, {c}), thenBlock,
                           elseBlock);
  std::vector<RValue> before = snapshot(g, names);
  auto places = [&] {
    return llvm::map_to_vector(names, [&](const std::string &name) { return lookup(g, name)->place; });
  };
  SmallVector<SourceRange> starts = places();
  std::vector<SmallVector<SourceRange>> ends;
  std::vector<Edge> edges;
  ShapeFacts known = g.fn().facts, after = known; // after a branch that is left otherwise, what holds in the other one
  auto arm = [&](Block *start, ArrayRef<SizeFact> facts, llvm::function_ref<void()> generate) {
    moveTo(g, start);
    restore(g, names, before);
    g.fn().facts = known;
    for (const SizeFact &fact : facts)
      g.fn().facts.assume(fact);
    ++g.fn().conditions;
    generate();
    --g.fn().conditions;
    if (!reachable(g))
      return;
    after = edges.empty() ? g.fn().facts : known;
    edges.push_back({g.current, snapshot(g, names)});
    ends.push_back(places());
  };
  arm(thenBlock, facts, [&] { genBlock(g, *s.thenBlock); });
  std::vector<SizeFact> opposite;
  if (facts.size() == 1)
    opposite.push_back(facts[0].negated());
  arm(elseBlock, opposite, [&] {
    if (s.elseBranch)
      genStatement(g, *s.elseBranch);
  });
  g.fn().facts = after;
  for (size_t i = 0; edges.size() == 2 && i < names.size(); ++i) // where one branch has left it as it was
    for (unsigned changing : {0, 1})
      if (haveOneType(edges[1 - changing].values[i].type(), before[i].type()))
        needOneType(g, names[i], before[i], edges[changing].values[i], starts[i], ends[changing][i], s.range);
  std::vector<RValue> merged = mergeEdges(g, edges, names, s.range);
  restore(g, names, edges.empty() ? before : merged);
}

/// Sizes that change from one iteration to the next vary, and lists get the type that the body gives them; true if
/// something was not known before.
static bool findVarying(IRGen &g, ArrayRef<ValueType> types, ArrayRef<RValue> back, LoopTypes &found,
                        ArrayRef<std::string> names, SourceRange range) {
  VaryingSizes &varying = found.sizes;
  bool changed = false;
  for (auto [name, type, value] : llvm::zip_equal(names, types, back))
    if (ValueType whole = completed(type, value.type()); whole.key() != type.key()) {
      found.lists[name] = whole;
      changed = true;
    }
  if (changed)
    return true;
  unsigned leaf = 0;
  auto visit = [&](auto &self, const ValueType &header, const ValueType &end, const std::string &name) -> void {
    (void)joinTypes(g, header, end, name, range); // dtype and rank agree, or this fails
    for (auto [before, after] : llvm::zip_equal(header.elements, end.elements))
      self(self, before, after, name);
    if (header.kind != ValueType::Leaf)
      return;
    if (auto x = dyn_cast<TensorType>(header.leaf))
      for (auto [axis, before, after] : llvm::enumerate(x.getDims(), cast<TensorType>(end.leaf).getDims()))
        changed |= before != after && varying.emplace(name, leaf, axis).second;
    ++leaf;
  };
  for (auto [name, type, value] : llvm::zip_equal(names, types, back)) {
    leaf = 0;
    visit(visit, type, completed(value.type(), type), name); // what ends as `list()` is of the type it began with
  }
  return changed;
}

/// The types of variables where a loop begins: names stand for the sizes that vary.
static std::vector<ValueType> loopTypes(IRGen &g, ArrayRef<RValue> values, const LoopTypes &found,
                                        ArrayRef<std::string> names) {
  const VaryingSizes &varying = found.sizes;
  std::vector<ValueType> types;
  for (auto [name, value] : llvm::zip_equal(names, values)) {
    auto known = found.lists.find(name);
    types.push_back(known == found.lists.end() ? value.type() : completed(value.type(), known->second));
    types.back().mapSizes([&, name = name](unsigned leaf, size_t axis, Dim dim) {
      return varying.count({name, leaf, axis}) ? g.freshSize() : dim;
    });
  }
  return types;
}

static bool tryLoop(IRGen &g, const Loop &loop, ArrayRef<RValue> starts, ArrayRef<ValueType> types, LoopTypes &found) {
  SourceRange range = loop.range;
  ArrayRef<std::string> names = loop.names;
  Location l = g.loc(range);
  Block *header = newBlock(g);
  SmallVector<Value> entry = relabelled(g, snapshot(g, names), types, range);
  if (loop.counted)
    entry.push_back(loop.from ? loop.from : g.integer(0, range));
  for (Value v : entry)
    header->addArgument(v.getType(), l);
  cf::BranchOp::create(g.b, l, header, entry);
  moveTo(g, header);
  ValueRange arguments = header->getArguments();
  std::vector<RValue> values;
  for (const ValueType &type : types)
    values.push_back(unflatten(type, arguments));
  restore(g, names, values);
  Value counter = loop.counted ? header->getArguments().back() : Value();
  std::vector<Variable> before;
  for (auto [name, start] : llvm::zip_equal(names, starts))
    before.push_back({start, false, false, lookup(g, name)->place});
  // The condition belongs to the loop: what it calls sees its variables.
  g.fn().loops.push_back({loop.names, {}, {}});
  Value condition = loop.test(counter);
  if (constantOf(condition) == 0) { // no iteration: the body means nothing
    g.fn().loops.pop_back();
    return true;
  }
  Block *bodyBlock = newBlock(g);
  if (constantOf(condition) == 1) { // `while true` is left by break and return only
    cf::BranchOp::create(g.b, l, bodyBlock);
  } else {
    Block *exitBlock = newBlock(g);
    cf::CondBranchOp::create(g.b, l, g.create<TruthOp>(range, {condition}), bodyBlock, exitBlock);
    g.fn().loops.back().breaks.push_back({exitBlock, snapshot(g, names)});
  }
  moveTo(g, bodyBlock);
  g.fn().scopes.emplace_back();
  ++g.fn().conditions;
  loop.body(counter);
  --g.fn().conditions;
  g.fn().scopes.pop_back();
  LoopState state = std::move(g.fn().loops.back());
  g.fn().loops.pop_back();
  if (reachable(g))
    state.continues.push_back({g.current, snapshot(g, names)});
  if (!state.continues.empty()) {
    std::vector<RValue> back = mergeEdges(g, state.continues, names, range);
    for (auto [name, start, end] : llvm::zip_equal(names, before, back))
      needOneType(g, name, start.value, end, start.place, lookup(g, name)->place, range);
    if (findVarying(g, types, back, found, names, range))
      return false;
    SmallVector<Value> again = relabelled(g, back, types, range);
    if (loop.counted)
      again.push_back(g.create<AddOp>(range, {counter, g.integer(loop.step, range)}));
    cf::BranchOp::create(g.b, l, header, again);
  }
  std::vector<RValue> after = mergeEdges(g, state.breaks, names, range);
  restore(g, names, state.breaks.empty() ? values : after);
  return true;
}

/// Functions of blocks in code that is forgotten.
static void forgetAttempts(IRGen &g, size_t kept) {
  for (func::FuncOp function : ArrayRef(g.fn().attempts).drop_front(kept))
    function.erase();
  g.fn().attempts.resize(kept);
}

void genLoop(IRGen &g, const Loop &loop) {
  ArrayRef<std::string> names = loop.names;
  std::vector<RValue> before = snapshot(g, names);
  LoopTypes &found = g.fn().loopTypes[loop.key]; // what an attempt finds holds in all later ones, those of the loop
                                                 // around it too
  Block *entry = g.current;
  Operation *lastBefore = entry->empty() ? nullptr : &entry->back();
  Block *lastBlock = &g.fn().op.getBody().back();
  unsigned conditions = g.fn().conditions;
  size_t attempts = g.fn().attempts.size(), dead = g.fn().dead.size();
  size_t returns = g.fn().returns.size(), loops = g.fn().loops.size(), scopes = g.fn().scopes.size();
  auto sizeNames = g.fn().sizeNames;
  auto readGlobals = g.fn().readGlobals;
  ShapeFacts facts = g.fn().facts; // what the body asserts holds in the body
  llvm::scope_exit forget([&] { g.fn().facts = facts; });
  std::optional<ListTypeNeeded> skippedAround = std::exchange(g.fn().skipped, std::nullopt);
  while (!tryLoop(g, loop, before, loopTypes(g, before, found, names), found)) {
    g.fn().skipped.reset();
    // Some size or list changes: forget this attempt.
    g.fn().returns.resize(returns);
    g.fn().returnRanges.resize(returns);
    g.fn().dead.resize(dead);
    forgetAttempts(g, attempts);
    g.fn().loops.resize(loops);
    g.fn().scopes.resize(scopes);
    g.fn().conditions = conditions;
    g.fn().facts = facts;
    g.fn().sizeNames = sizeNames; // they hold values that are erased below
    g.fn().readGlobals = readGlobals;
    for (LoopState &outer : g.fn().loops) {
      auto isNew = [&](const Edge &e) {
        for (Block *block = lastBlock->getNextNode(); block; block = block->getNextNode())
          if (block == e.from)
            return true;
        return false;
      };
      std::erase_if(outer.breaks, isNew);
      std::erase_if(outer.continues, isNew);
    }
    for (Block *block = lastBlock->getNextNode(); block; block = block->getNextNode())
      block->dropAllDefinedValueUses(), block->dropAllReferences();
    while (lastBlock->getNextNode())
      lastBlock->getNextNode()->erase();
    while (!entry->empty() && &entry->back() != lastBefore)
      entry->back().erase();
    moveTo(g, entry);
    restore(g, names, before);
  }
  if (g.fn().skipped && g.fn().loops.empty())
    refuse(g, *g.fn().skipped);
  if (skippedAround)
    g.fn().skipped = skippedAround;
}

void genWhile(IRGen &g, const ast::While &s) {
  auto test = [&](Value) {
    if (g.host.compileOptions().stops) // what the condition reads has changed
      genStep(g, s);
    return genCondition(g, *s.condition);
  };
  genLoop(g, {s.body.get(), s.range, assignedIn(g, *s.body), false, test, [&](Value) { genBlock(g, *s.body); }});
}

void leaveLoop(IRGen &g, const ast::Stmt &s, bool isBreak) {
  if (g.fn().loops.empty())
    g.fail(DiagId::OutsideLoop, s.range, {isBreak ? "break" : "continue"});
  LoopState &state = g.fn().loops.back();
  (isBreak ? state.breaks : state.continues).push_back({g.current, snapshot(g, state.names)});
  moveTo(g, nullptr);
}

} // namespace toy
