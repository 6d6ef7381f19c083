// SPDX-License-Identifier: Apache-2.0
/// \file
/// Branches and loops as a control-flow graph. Variables that a construct may change become block arguments where its
/// paths meet; sizes that differ between paths become names.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

Block *IRGen::newBlock() {
  Block *block = new Block;
  fn().op.getBody().push_back(block);
  return block;
}

void IRGen::moveTo(Block *block) {
  current = block;
  if (block)
    b.setInsertionPointToEnd(block);
}

/// Variables in view that assignments inside may change, in order of appearance.
std::vector<std::string> IRGen::assignedIn(const ast::Node &node) {
  std::vector<std::string> out = sema::assignedIn(node);
  // Only what exists before can come out changed; top-level variables are brought into view.
  std::erase_if(out, [&](const std::string &name) {
    if (lookup(name))
      return false;
    if (fn().decl || !host.global(name))
      return true;
    bool found;
    Val value = readVariable(name, {}, found);
    fn().scopes.front()[name] = {value, true};
    return false;
  });
  return out;
}

std::vector<Val> IRGen::snapshot(ArrayRef<std::string> names) {
  std::vector<Val> values;
  for (const std::string &name : names)
    values.push_back(lookup(name)->value);
  return values;
}

void IRGen::restore(ArrayRef<std::string> names, ArrayRef<Val> values) {
  for (auto [name, value] : llvm::zip_equal(names, values))
    lookup(name)->value = value;
}

/// One type for two paths: dtype and rank agree, sizes that differ become a new name.
TypeDesc IRGen::join(const TypeDesc &a, const TypeDesc &b, const std::string &name, SourceRange range) {
  auto refuse = [&] { fail(DiagId::BranchTypes, range, {name, a.str(), b.str()}); };
  if (a.kind != b.kind || a.elements.size() != b.elements.size() || a.structName != b.structName)
    refuse();
  TypeDesc out = a;
  for (size_t i = 0; i < a.elements.size(); ++i)
    out.elements[i] = join(a.elements[i], b.elements[i], name, range);
  if (a.kind != TypeDesc::Leaf || a.leaf == b.leaf)
    return out;
  auto x = dyn_cast<TensorType>(a.leaf), y = dyn_cast<TensorType>(b.leaf);
  if (!x || !y || x.getDtype() != y.getDtype() || x.getRank() != y.getRank())
    refuse();
  SmallVector<Dim> dims;
  for (auto [p, q] : llvm::zip_equal(x.getDims(), y.getDims()))
    dims.push_back(p == q ? p : freshSize());
  out.leaf = x.withDims(dims);
  return out;
}

Value IRGen::relabel(Value v, Type type, SourceRange range) {
  return v.getType() == type ? v : createOp<RelabelOp>(range, {v}, {}, {}, type)->getResult(0);
}

SmallVector<Value> IRGen::relabelled(ArrayRef<Val> values, ArrayRef<TypeDesc> types, SourceRange range) {
  SmallVector<Value> leaves;
  SmallVector<Type> leafTypes;
  for (auto [value, type] : llvm::zip_equal(values, types)) {
    value.flatten(leaves);
    type.flatten(leafTypes);
  }
  for (auto [leaf, type] : llvm::zip_equal(leaves, leafTypes))
    leaf = relabel(leaf, type, range);
  return leaves;
}

std::vector<Val> IRGen::merge(ArrayRef<Edge> edges, ArrayRef<std::string> names, SourceRange range, Block *into) {
  if (edges.empty()) {
    moveTo(nullptr);
    return {};
  }
  size_t n = edges[0].values.size();
  std::vector<TypeDesc> types;
  std::vector<bool> same(n, true);
  for (size_t i = 0; i < n; ++i) {
    TypeDesc type = edges[0].values[i].type();
    SmallVector<Value> first;
    edges[0].values[i].flatten(first);
    for (const Edge &edge : edges.drop_front()) {
      SmallVector<Value> other;
      edge.values[i].flatten(other);
      same[i] = same[i] && first == other;
      type = join(type, edge.values[i].type(), names.empty() ? "result" : names[i], range);
    }
    types.push_back(type);
  }
  Block *block = into ? into : newBlock();
  SmallVector<Type> leafTypes;
  for (size_t i = 0; i < n; ++i)
    if (!same[i])
      types[i].flatten(leafTypes);
  for (Type type : leafTypes)
    block->addArgument(type, loc(range));
  for (const Edge &edge : edges) {
    moveTo(edge.from);
    std::vector<Val> passed;
    std::vector<TypeDesc> passedTypes;
    for (size_t i = 0; i < n; ++i)
      if (!same[i]) {
        passed.push_back(edge.values[i]);
        passedTypes.push_back(types[i]);
      }
    cf::BranchOp::create(b, loc(range), block, relabelled(passed, passedTypes, range));
  }
  moveTo(block);
  ValueRange arguments = block->getArguments();
  std::vector<Val> values;
  for (size_t i = 0; i < n; ++i)
    values.push_back(same[i] ? edges[0].values[i] : unflatten(types[i], arguments));
  return values;
}

void IRGen::ifStatement(const ast::If &s) {
  bool outer = std::exchange(decidesConditions, true);
  Value c = condition(*s.condition);
  decidesConditions = outer;
  if (auto known = knownCondition(c, s.condition->range)) { // sizes and constants decide at once
    if (*known)
      block(*s.thenBlock);
    else if (s.elseBranch)
      statement(*s.elseBranch);
    return;
  }
  std::vector<std::string> names = assignedIn(*s.thenBlock);
  if (s.elseBranch)
    for (const std::string &name : assignedIn(*s.elseBranch))
      if (!llvm::is_contained(names, name))
        names.push_back(name);
  std::vector<SizeFact> facts = fn().sizes ? std::vector<SizeFact>() : factsOf(*s.condition);
  Block *thenBlock = newBlock(), *elseBlock = newBlock();
  cf::CondBranchOp::create(b, loc(s.condition->range), create<TruthOp>(s.condition->range, {c}), thenBlock, elseBlock);
  std::vector<Val> before = snapshot(names);
  std::vector<Edge> edges;
  ShapeFacts known = fn().facts, after = known; // after a branch that is left otherwise, what holds in the other one
  auto arm = [&](Block *start, ArrayRef<SizeFact> facts, llvm::function_ref<void()> generate) {
    moveTo(start);
    restore(names, before);
    fn().facts = known;
    for (const SizeFact &fact : facts)
      fn().facts.assume(fact);
    ++fn().conditions;
    generate();
    --fn().conditions;
    if (!reachable())
      return;
    after = edges.empty() ? fn().facts : known;
    edges.push_back({current, snapshot(names)});
  };
  arm(thenBlock, facts, [&] { block(*s.thenBlock); });
  std::vector<SizeFact> opposite;
  if (facts.size() == 1)
    opposite.push_back(facts[0].negated());
  arm(elseBlock, opposite, [&] {
    if (s.elseBranch)
      statement(*s.elseBranch);
  });
  fn().facts = after;
  std::vector<Val> merged = merge(edges, names, s.range);
  restore(names, edges.empty() ? before : merged);
}

/// Sizes that change from one iteration to the next vary; true if one was not known to.
bool IRGen::findVarying(ArrayRef<TypeDesc> types, ArrayRef<Val> back, VaryingSizes &varying,
                        ArrayRef<std::string> names, SourceRange range) {
  bool changed = false;
  unsigned leaf = 0;
  auto visit = [&](auto &self, const TypeDesc &header, const TypeDesc &end, const std::string &name) -> void {
    (void)join(header, end, name, range); // dtype and rank agree, or this fails
    for (auto [before, after] : llvm::zip_equal(header.elements, end.elements))
      self(self, before, after, name);
    if (header.kind != TypeDesc::Leaf)
      return;
    if (auto x = dyn_cast<TensorType>(header.leaf))
      for (auto [axis, before, after] : llvm::enumerate(x.getDims(), cast<TensorType>(end.leaf).getDims()))
        changed |= before != after && varying.emplace(name, leaf, axis).second;
    ++leaf;
  };
  for (auto [name, type, value] : llvm::zip_equal(names, types, back)) {
    leaf = 0;
    visit(visit, type, value.type(), name);
  }
  return changed;
}

/// The types of variables where a loop begins: names stand for the sizes that vary.
std::vector<TypeDesc> IRGen::loopTypes(ArrayRef<Val> values, const VaryingSizes &varying, ArrayRef<std::string> names) {
  std::vector<TypeDesc> types;
  for (auto [name, value] : llvm::zip_equal(names, values)) {
    unsigned leaf = 0;
    auto visit = [&](auto &self, TypeDesc &type) -> void {
      for (TypeDesc &element : type.elements)
        self(self, element);
      if (type.kind != TypeDesc::Leaf)
        return;
      if (auto tensor = dyn_cast<TensorType>(type.leaf)) {
        SmallVector<Dim> dims = tensor.getDims();
        for (auto [axis, dim] : llvm::enumerate(dims))
          if (varying.count({name, leaf, axis}))
            dim = freshSize();
        type.leaf = tensor.withDims(dims);
      }
      ++leaf;
    };
    types.push_back(value.type());
    visit(visit, types.back());
  }
  return types;
}

bool IRGen::tryLoop(ArrayRef<TypeDesc> types, VaryingSizes &varying, ArrayRef<std::string> names,
                    const ast::Block &body, SourceRange range, StringRef variable, bool counted,
                    llvm::function_ref<Value(Value)> test, llvm::function_ref<Val(Value)> element) {
  Location l = loc(range);
  Block *header = newBlock();
  SmallVector<Value> entry = relabelled(snapshot(names), types, range);
  if (counted)
    entry.push_back(integer(0, range));
  for (Value v : entry)
    header->addArgument(v.getType(), l);
  cf::BranchOp::create(b, l, header, entry);
  moveTo(header);
  ValueRange arguments = header->getArguments();
  std::vector<Val> values;
  for (const TypeDesc &type : types)
    values.push_back(unflatten(type, arguments));
  restore(names, values);
  Value counter = counted ? header->getArguments().back() : Value();
  fn().loops.push_back({std::vector<std::string>(names.begin(), names.end()),
                        {},
                        {}}); // the condition belongs to it: what it calls sees its variables
  Value condition = test(counter);
  if (constantOf(condition) == 0) { // no iteration: the body means nothing
    fn().loops.pop_back();
    return true;
  }
  Block *bodyBlock = newBlock();
  if (constantOf(condition) == 1) { // `while true` is left by break and return only
    cf::BranchOp::create(b, l, bodyBlock);
  } else {
    Block *exitBlock = newBlock();
    cf::CondBranchOp::create(b, l, create<TruthOp>(range, {condition}), bodyBlock, exitBlock);
    fn().loops.back().breaks.push_back({exitBlock, snapshot(names)});
  }
  moveTo(bodyBlock);
  fn().scopes.emplace_back();
  ++fn().conditions;
  if (element)
    fn().scopes.back()[variable.str()].value = element(counter);
  block(body);
  --fn().conditions;
  fn().scopes.pop_back();
  LoopState state = std::move(fn().loops.back());
  fn().loops.pop_back();
  if (reachable())
    state.continues.push_back({current, snapshot(names)});
  if (!state.continues.empty()) {
    std::vector<Val> back = merge(state.continues, names, range);
    if (findVarying(types, back, varying, names, range))
      return false;
    SmallVector<Value> again = relabelled(back, types, range);
    if (counted)
      again.push_back(create<AddOp>(range, {counter, integer(1, range)}));
    cf::BranchOp::create(b, l, header, again);
  }
  std::vector<Val> after = merge(state.breaks, names, range);
  restore(names, state.breaks.empty() ? values : after);
  return true;
}

void IRGen::loop(const ast::Block &body, SourceRange range, StringRef variable, bool counted,
                 llvm::function_ref<Value(Value)> test, llvm::function_ref<Val(Value)> element) {
  std::vector<std::string> names = assignedIn(body);
  std::vector<Val> before = snapshot(names);
  VaryingSizes &varying =
      fn().varyingSizes[&body]; // what an attempt finds holds in all later ones, those of the loop around it too
  Block *entry = current;
  Operation *lastBefore = entry->empty() ? nullptr : &entry->back();
  Block *lastBlock = &fn().op.getBody().back();
  unsigned conditions = fn().conditions;
  size_t returns = fn().returns.size(), loops = fn().loops.size(), scopes = fn().scopes.size();
  auto sizeNames = fn().sizeNames;
  auto readGlobals = fn().readGlobals;
  ShapeFacts facts = fn().facts; // what the body asserts holds in the body
  llvm::scope_exit forget([&] { fn().facts = facts; });
  while (!tryLoop(loopTypes(before, varying, names), varying, names, body, range, variable, counted, test, element)) {
    // Some size changes: forget this attempt.
    fn().returns.resize(returns);
    fn().returnRanges.resize(returns);
    fn().loops.resize(loops);
    fn().scopes.resize(scopes);
    fn().conditions = conditions;
    fn().facts = facts;
    fn().sizeNames = sizeNames; // they hold values that are erased below
    fn().readGlobals = readGlobals;
    for (LoopState &outer : fn().loops) {
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
    moveTo(entry);
    restore(names, before);
  }
}

void IRGen::whileStatement(const ast::While &s) {
  loop(*s.body, s.range, "", false, [&](Value) { return condition(*s.condition); }, nullptr);
}

void IRGen::forStatement(const ast::For &s) {
  auto *call = ast::dynCast<ast::Call>(s.iterable.get());
  SourceRange r = s.iterable->range;
  if (call && call->callee == "range" && !call->isMember && !userFunction("range")) {
    size_t n = call->arguments.size();
    if (n < 1 || n > 3)
      fail(DiagId::TooManyArguments, r, {"range", "1 to 3", std::to_string(n)});
    auto argument = [&](size_t i) { return indexValue(*call->arguments[i].value, "range"); };
    Value start = n > 1 ? argument(0) : integer(0, r), stop = argument(n > 1 ? 1 : 0),
          step = n > 2 ? argument(2) : integer(1, r);
    auto known = constantOf(step);
    if (known == 0)
      fail(DiagId::ZeroStep, call->arguments[2].value->range);
    // ceil((stop - start) / step) = -((start - stop) // step); a step of 0 that only the data shows is a division by
    // zero.
    Value distance = create<SubOp>(r, {start, stop}),
          back = known == 1 ? distance : create<FloorDivOp>(r, {distance, step});
    if (auto n = constantOf(back); n && *n >= 0) // no iteration: the body means nothing
      return;
    Value count = create<NegOp>(r, {back});
    loop(
        *s.body, s.range, s.name, true, [&](Value i) { return create<LtOp>(r, {i, count}); },
        [&](Value i) { return Val::leaf(create<AddOp>(r, {known == 1 ? i : create<MulOp>(r, {i, step}), start})); });
    return;
  }
  Val rows = expr(*s.iterable);
  if (rows.kind == Val::Tuple) { // unrolled: the elements may differ in type
    fail(DiagId::NotIterable, r, {rows.type().str()}, "tuples are taken apart: `var (a, b) = t;`");
  }
  if (!rows.isTensor() || rows.tensor().getRank() == 0)
    fail(DiagId::NotIterable, r, {rows.kind == Val::DTypeRef ? "a dtype" : rows.type().str()},
         rows.isTensor() && isInteger(rows.tensor().getDtype()) ? "`range(" + sourceText(r) + ")` counts" : "");
  Value size = sizeOf(rows.value, 0, r);
  if (constantOf(size) == 0)
    return;
  loop(
      *s.body, s.range, s.name, true, [&](Value i) { return create<LtOp>(r, {i, size}); },
      [&](Value i) { return Val::leaf(select(rows.value, 0, i, r)); });
}

void IRGen::leaveLoop(const ast::Stmt &s, bool isBreak) {
  if (fn().loops.empty())
    fail(DiagId::OutsideLoop, s.range, {isBreak ? "break" : "continue"});
  LoopState &state = fn().loops.back();
  (isBreak ? state.breaks : state.continues).push_back({current, snapshot(state.names)});
  moveTo(nullptr);
}

} // namespace toy
