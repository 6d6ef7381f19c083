// SPDX-License-Identifier: Apache-2.0
/// \file
/// Blocks whose errors are caught. A block is generated where it stands, and what it became is moved into a function of
/// its own: its arguments are the values from outside that it uses, its results say how it was left, with the values
/// that go on from there. Code that is never reached, and what is certain to fail.
#include "irgen/Statements.h"

#include "irgen/Expressions.h"
#include "irgen/Operations.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace toy {

void raise(IRGen &g, DiagId id, ArrayRef<std::string> args, SourceRange range) {
  SmallVector<Value> operands = {g.string(std::string(infoOf(id).code), range)};
  for (const std::string &text : args)
    operands.push_back(g.string(text, range));
  g.createOp<SystemOp>(range, operands, {g.stringAttr("function", "raise")});
}

static void leaveDead(IRGen &g) {
  if (!g.current)
    return;
  g.fn().dead.push_back(g.current);
  moveTo(g, nullptr);
}

void neverReturns(IRGen &g) {
  leaveDead(g);
  throw NotReached();
}

static Value absent(IRGen &g, Type type, SourceRange range) {
  return g.createOp<AbsentOp>(range, {}, {}, {}, type)->getResult(0);
}

void endDead(IRGen &g, TypeRange results, SourceRange range) {
  Block *before = g.current;
  for (Block *block : std::exchange(g.fn().dead, {})) {
    moveTo(g, block);
    SmallVector<Value> values = llvm::map_to_vector(results, [&](Type type) { return absent(g, type, range); });
    func::ReturnOp::create(g.b, g.loc(range), values);
  }
  moveTo(g, before);
}

/// Whether an error that is certain where the current code runs is as certain for the whole function, whose caller then
/// says so.
static bool isCertainForCaller(IRGen &g) {
  const FunctionState &state = g.fn();
  return state.decl && state.tries == 0 && state.loops.empty() && state.returns.empty() &&
         state.conditions == state.conditionsOfCall;
}

void genGuarded(IRGen &g, llvm::function_ref<void()> generate) {
  FunctionState &state = g.fn();
  size_t scopes = state.scopes.size(), loops = state.loops.size();
  unsigned conditions = state.conditions;
  bool decides = g.decidesConditions;
  Block *start = g.current, *last = &state.op.getBody().back();
  auto recover = [&] {
    state.scopes.resize(scopes);
    state.loops.resize(loops);
    state.conditions = conditions;
    g.decidesConditions = decides;
    leaveDead(g);
    // Blocks that the statement began and did not end.
    llvm::DenseSet<Block *> left(state.dead.begin(), state.dead.end());
    auto add = [&](ArrayRef<Edge> edges) {
      for (const Edge &edge : edges)
        left.insert(edge.from);
    };
    add(state.returns);
    for (const LoopState &loop : state.loops)
      add(loop.breaks), add(loop.continues);
    auto end = [&](Block *block) {
      if (!left.contains(block) && (block->empty() || !block->back().hasTrait<mlir::OpTrait::IsTerminator>()))
        state.dead.push_back(block);
    };
    end(start);
    for (Block *block = last->getNextNode(); block; block = block->getNextNode())
      end(block);
  };
  try {
    generate();
  } catch (NotReached) {
    recover();
  } catch (CertainFailure &failure) {
    if (!g.current || isCertainForCaller(g))
      throw;
    raise(g, failure.id, failure.args, failure.range);
    recover();
  }
}

namespace {

/// A way out of a block: where its values go, and that they come from there.
struct Exit {
  std::vector<Edge> *target; ///< null: the block's end
  Edge edge;
  SourceRange range = {}; ///< of a `return`
};

/// A block while it becomes a function.
class Attempt {
public:
  Attempt(IRGen &g, SourceRange range) : g(g), state(g.fn()), range(range) {}

  /// Generates a block, which gives the values that it has at its end.
  void generate(llvm::function_ref<std::vector<RValue>()> body) {
    outside = g.current;
    last = &state.op.getBody().back();
    std::vector<size_t> before;
    for (std::vector<Edge> *edges : targets())
      before.push_back(edges->size());
    auto sizeNames = state.sizeNames;
    auto sizeValues = state.sizeValues;
    ShapeFacts facts = state.facts;
    std::vector<Block *> dead = std::exchange(state.dead, {});
    moveTo(g, newBlock(g));
    SourceRange around = std::exchange(state.innermostTry, range);
    ++state.tries;
    ++state.conditions;
    std::vector<RValue> values;
    genGuarded(g, [&] { values = body(); });
    --state.conditions;
    --state.tries;
    state.innermostTry = around;
    if (reachable(g))
      exits.push_back({nullptr, {g.current, std::move(values)}});
    for (auto [edges, count] : llvm::zip_equal(targets(), before))
      takeExits(*edges, count);
    state.sizeNames = std::move(sizeNames); // they hold values that are elsewhere now
    state.sizeValues = std::move(sizeValues);
    state.facts = std::move(facts);
    outline();
    state.dead = std::move(dead);
  }

  /// Calls the function, and goes on at the block's end, whose values this gives; none where that is never reached.
  /// `failed` is where the block has failed.
  std::optional<std::vector<RValue>> finish(Block *&failed) {
    moveTo(g, outside);
    auto call = func::CallOp::create(g.b, g.loc(range), function, captured);
    call->setAttr(triedCall, g.b.getUnitAttr());
    Value code = call.getResult(0);
    Block *error = newBlock(g), *ended = nullptr;
    std::vector<RValue> values;
    branch<LtOp>(code, 0, error);
    size_t column = 1;
    for (auto [i, exit] : llvm::enumerate(exits)) {
      Block *here = newBlock(g);
      if (i + 1 == exits.size()) {
        cf::BranchOp::create(g.b, g.loc(range), here);
        moveTo(g, nullptr);
      } else
        branch<EqOp>(code, static_cast<int64_t>(i), here);
      Edge edge{here, resultsOf(exit, call, column)};
      if (exit.target) {
        exit.target->push_back(std::move(edge));
        if (exit.target == &state.returns)
          state.returnRanges.push_back(exit.range);
        continue;
      }
      ended = here;
      values = std::move(edge.values);
    }
    if (exits.empty())
      leaveDead(g);
    failed = error;
    moveTo(g, ended);
    return ended ? std::optional(std::move(values)) : std::nullopt;
  }

private:
  std::vector<std::vector<Edge> *> targets() {
    std::vector<std::vector<Edge> *> all = {&state.returns};
    for (LoopState &loop : state.loops) {
      all.push_back(&loop.breaks);
      all.push_back(&loop.continues);
    }
    return all;
  }

  /// Edges that the block has added leave it.
  void takeExits(std::vector<Edge> &edges, size_t before) {
    bool returns = &edges == &state.returns;
    for (size_t i = before; i < edges.size(); ++i)
      exits.push_back({&edges, std::move(edges[i]), returns ? state.returnRanges[i] : SourceRange()});
    edges.resize(before);
    if (returns)
      state.returnRanges.resize(before);
  }

  bool isInside(Value v) { return v.getParentRegion() == &function.getBody(); }

  /// Branches to `there` where a comparison holds, and goes on in a new block.
  template <typename Op> void branch(Value code, int64_t n, Block *there) {
    Value holds = g.create<TruthOp>(range, {g.create<Op>(range, {code, g.integer(n, range)})});
    Block *on = newBlock(g);
    cf::CondBranchOp::create(g.b, g.loc(range), holds, there, on);
    moveTo(g, on);
  }

  /// Leaves that only the block has, of all exits: the results behind the code.
  SmallVector<Value> ownLeaves(const Exit &exit) {
    SmallVector<Value> leaves;
    for (const RValue &value : exit.edge.values)
      value.flatten(leaves);
    llvm::erase_if(leaves, [&](Value v) { return !isInside(v); });
    return leaves;
  }

  /// Moves the blocks into a function, which ends with each exit's number and values.
  void outline() {
    OpBuilder at(g.module.getBodyRegion());
    at.setInsertionPointToEnd(g.module.getBody());
    function = func::FuncOp::create(at, g.loc(range), g.host.instances().newSymbol("try"), at.getFunctionType({}, {}));
    function.setPrivate();
    function->setAttr(triedCall, at.getUnitAttr());
    if (Attribute name = state.op->getAttr("toy.name"))
      function->setAttr("toy.name", name);
    auto &blocks = state.op.getBody().getBlocks();
    function.getBody().getBlocks().splice(function.end(), blocks, std::next(last->getIterator()), blocks.end());
    SmallVector<Type> results = {TensorType::scalar(g.context, DType::I64)};
    std::vector<SmallVector<Value>> leaves;
    for (const Exit &exit : exits) {
      leaves.push_back(ownLeaves(exit));
      llvm::append_range(results, ValueRange(leaves.back()).getTypes());
    }
    for (auto [i, exit] : llvm::enumerate(exits)) {
      moveTo(g, exit.edge.from);
      SmallVector<Value> values = {g.integer(static_cast<int64_t>(i), range)};
      for (auto [j, own] : llvm::enumerate(leaves))
        for (Value leaf : own)
          values.push_back(i == j ? leaf : absent(g, leaf.getType(), range));
      func::ReturnOp::create(g.b, g.loc(range), values);
    }
    returnFailures(results);
    endDead(g, results, range);
    capture();
    function.setFunctionType(at.getFunctionType(function.getBody().front().getArgumentTypes(), results));
    state.attempts.push_back(function);
  }

  /// What the block itself fails with need not be thrown: compiled code notes it, and returns -1.
  void returnFailures(TypeRange results) {
    auto failureIn = [](Block *block) {
      auto last = block->empty() ? SystemOp() : dyn_cast<SystemOp>(block->back());
      return last && (last.getFunction() == "fail" || last.getFunction() == "raise") ? last : SystemOp();
    };
    for (Block *block : state.dead)
      if (SystemOp last = failureIn(block)) {
        last->setAttr("toy.noted", g.b.getUnitAttr());
        moveTo(g, block);
        SmallVector<Value> values = {g.integer(-1, range)};
        for (Type type : results.drop_front())
          values.push_back(absent(g, type, range));
        func::ReturnOp::create(g.b, g.loc(range), values);
      }
    llvm::erase_if(state.dead, [](Block *block) { return block->mightHaveTerminator(); });
  }

  /// Values from outside become arguments; constants, and sizes of what is there anyway, are computed again.
  void capture() {
    Block &entry = function.getBody().front();
    llvm::DenseMap<Value, Value> inside;
    OpBuilder builder(&entry, entry.begin());
    auto bring = [&](auto &self, Value v) -> Value {
      if (auto known = inside.find(v); known != inside.end())
        return known->second;
      Operation *op = v.getDefiningOp();
      bool isSize = op && isMemoryEffectFree(op) && op->getNumResults() == 1 && sizeBehind(v);
      if (!isSize && !(op && op->hasTrait<mlir::OpTrait::ConstantLike>()) && !isa_and_present<StrConstantOp>(op)) {
        captured.push_back(v);
        return inside[v] = entry.addArgument(v.getType(), v.getLoc());
      }
      SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value x) { return self(self, x); });
      Operation *copy = builder.clone(*op);
      copy->setOperands(operands);
      return inside[v] = copy->getResult(0);
    };
    SmallVector<OpOperand *> uses;
    function.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (!isInside(operand.get()))
          uses.push_back(&operand);
    });
    for (OpOperand *use : uses)
      use->set(bring(bring, use->get()));
  }

  /// An exit's values outside: its own leaves are results of the call.
  std::vector<RValue> resultsOf(const Exit &exit, func::CallOp call, size_t &column) {
    std::vector<RValue> values;
    for (const RValue &value : exit.edge.values) {
      SmallVector<Value> leaves;
      value.flatten(leaves);
      for (Value &leaf : leaves)
        if (isInside(leaf))
          leaf = call.getResult(column++);
      ValueRange rest(leaves);
      values.push_back(unflatten(value.type(), rest));
    }
    return values;
  }

  IRGen &g;
  FunctionState &state;
  SourceRange range;
  Block *outside = nullptr, *last = nullptr;
  func::FuncOp function;
  SmallVector<Value> captured;
  std::vector<Exit> exits;
};

/// `Error{code, text, place}` of what was caught.
RValue caughtError(IRGen &g, SourceRange range) {
  RValue error;
  error.kind = RValue::Struct;
  error.structName = "Error";
  error.names = {"code", "text", "place"};
  for (int64_t i = 0; i < 3; ++i)
    error.elements.push_back(
        g.createOp<SystemOp>(range, {g.integer(i, range)}, {g.stringAttr("function", "caught")})->getResult(0));
  return error;
}

} // namespace

/// Where the block failed: variables have their values from before.
static void genHandler(IRGen &g, const ast::Try &s, Block *failed) {
  moveTo(g, failed);
  g.fn().scopes.emplace_back();
  ++g.fn().conditions;
  if (!s.name.empty())
    defineVariable(g, s.name, caughtError(g, s.nameRange), s.nameRange, true);
  genBlock(g, *s.handler);
  --g.fn().conditions;
  g.fn().scopes.pop_back();
}

void genTry(IRGen &g, const ast::Try &s) {
  std::vector<std::string> names = assignedIn(g, *s.body);
  for (const std::string &name : assignedIn(g, *s.handler))
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  std::vector<RValue> before = snapshot(g, names);
  Attempt attempt(g, s.range);
  attempt.generate([&] {
    genBlock(g, *s.body);
    return reachable(g) ? snapshot(g, names) : std::vector<RValue>();
  });
  Block *failed = nullptr;
  std::vector<Edge> edges;
  if (auto values = attempt.finish(failed))
    edges.push_back({g.current, std::move(*values)});
  restore(g, names, before);
  genHandler(g, s, failed);
  if (reachable(g))
    edges.push_back({g.current, snapshot(g, names)});
  std::vector<RValue> merged = mergeEdges(g, edges, names, s.range);
  restore(g, names, edges.empty() ? before : merged);
}

/// A literal takes the dtype of the other value, if that is of its kind or a higher one.
static void adapt(IRGen &g, RValue &value, const RValue &other, SourceRange range) {
  if (!value.weak || !value.isTensor() || !other.isTensor() || value.rank() != other.rank())
    return;
  DType from = value.tensor().getDtype(), to = other.tensor().getDtype();
  if (kindOf(from) <= kindOf(to))
    value = castTo(g, value.value, to, range);
}

static RValue valueOf(IRGen &g, const ast::Expr &e) {
  RValue value = genExpr(g, e);
  if (value.kind == RValue::Nothing)
    g.fail(DiagId::NoValue, e.range, {g.sourceText(e.range)});
  return value;
}

RValue genTryElse(IRGen &g, const ast::TryElse &e) {
  Attempt attempt(g, e.range);
  bool weak = false;
  attempt.generate([&] {
    RValue value = valueOf(g, *e.value);
    weak = value.weak;
    return std::vector<RValue>{value};
  });
  Block *failed = nullptr;
  auto values = attempt.finish(failed);
  Block *ended = g.current;
  RValue otherwise;
  moveTo(g, failed);
  ++g.fn().conditions;
  genGuarded(g, [&] { otherwise = valueOf(g, *e.otherwise); });
  --g.fn().conditions;
  failed = g.current;
  moveTo(g, values ? ended : failed);
  if (!reachable(g))
    throw NotReached();
  if (!values || !failed)
    return values ? values->front() : otherwise;
  RValue value = values->front();
  value.weak = weak;
  adapt(g, value, otherwise, e.value->range);
  ended = g.current;
  moveTo(g, failed);
  adapt(g, otherwise, value, e.otherwise->range);
  Edge edges[] = {{ended, {value}}, {g.current, {otherwise}}};
  return mergeEdges(g, edges, {"try"}, e.range)[0];
}

} // namespace toy
