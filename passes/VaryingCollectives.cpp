// SPDX-License-Identifier: Apache-2.0
/// \file
/// A data-flow analysis over functions. A branch on a value that differs is taken by some ranks only: what lies between
/// it and the first block that all paths from it come to is not reached by all.
#include "passes/VaryingCollectives.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;

namespace toy {
namespace {

bool isCollective(Operation *op) {
  if (auto text = dyn_cast<TextOp>(op))
    return text.getFunction() == "write_text" || text.getFunction() == "picture_saved";
  if (auto system = dyn_cast<SystemOp>(op))
    return system.getFunction() == "read_line";
  return isa<AllReduceOp, ReduceScatterOp, AllGatherOp, AllToAllOp, BroadcastRanksOp, ShiftOp, BarrierOp, SaveOp>(op);
}

/// What gives other values on other ranks by itself.
bool isSource(Operation *op) {
  if (auto system = dyn_cast<SystemOp>(op))
    return system.getFunction() == "time";
  return isa<RankOp, RecvOp, ReduceScatterOp, AllToAllOp, ShiftOp, ClockOp>(op);
}

bool isFailure(Operation *op) {
  auto system = dyn_cast<SystemOp>(op);
  return system && llvm::is_contained({"fail", "raise"}, system.getFunction());
}

/// Whether a program does not go on behind an operation. What fails in a `try` goes on behind that.
bool endsProgram(Operation *op) {
  if (isFailure(op))
    return !op->getParentOfType<func::FuncOp>()->hasAttr("toy.try");
  auto system = dyn_cast<SystemOp>(op);
  return system && system.getFunction() == "exit";
}

/// The operands that say how large a result is, by axis; none where they do not.
ValueRange sizesGiven(Operation *op) {
  if (auto slice = dyn_cast<SliceOp>(op))
    return slice.getCounts();
  if (auto part = dyn_cast<ReadPartOp>(op))
    return part.getCounts();
  if (auto full = dyn_cast<FullOp>(op))
    return full.getSizes();
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return reshape.getSizes();
  if (auto stretched = dyn_cast<BroadcastOp>(op))
    return stretched.getSizes();
  if (auto sample = dyn_cast<SampleOp>(op))
    return sample.getSizes();
  if (auto read = dyn_cast<ReadBinaryOp>(op))
    return read.getSizes();
  return {};
}

bool has(Dim dim, StringRef symbol) {
  bool found = false;
  dim.collectSymbols([&](StringRef name) { found |= name == symbol; });
  return found;
}

/// Values that differ between ranks, and axes of which the sizes do.
struct Varying {
  DenseSet<Value> values;
  DenseSet<std::pair<Value, int64_t>> sizes;

  static SmallVector<Dim> dimsOf(Value v) {
    auto tensor = dyn_cast<TensorType>(v.getType());
    return tensor ? SmallVector<Dim>(tensor.getDims()) : SmallVector<Dim>();
  }
  size_t count() const { return values.size() + sizes.size(); }

  /// A bit for each value, and behind it one for each axis.
  llvm::BitVector bitsOf(ValueRange all) const {
    llvm::BitVector bits;
    for (Value v : all) {
      bits.push_back(values.contains(v));
      for (size_t axis = 0; axis < dimsOf(v).size(); ++axis)
        bits.push_back(sizes.contains({v, axis}));
    }
    return bits;
  }
  void add(ValueRange all, const llvm::BitVector &bits) {
    unsigned at = 0;
    for (Value v : all) {
      if (at < bits.size() && bits.test(at++))
        values.insert(v);
      for (size_t axis = 0; axis < dimsOf(v).size(); ++axis)
        if (at < bits.size() && bits.test(at++))
          sizes.insert({v, axis});
    }
  }
};

/// The blocks of a function in numbers, and for each those that every path from it to the end passes.
class Paths {
public:
  explicit Paths(func::FuncOp function) {
    for (Block &block : function.getBody())
      numbers.insert({&block, static_cast<unsigned>(numbers.size())});
    const unsigned n = numbers.size();
    passed.assign(n, llvm::BitVector(n, true));
    for (bool changed = true; changed;) {
      changed = false;
      for (auto [block, i] : llvm::reverse(numbers)) {
        llvm::BitVector now(n, true);
        if (next(block).empty() && !endsHere(block))
          now.reset();
        for (Block *to : next(block))
          now &= passed[numbers.lookup(to)];
        now.set(i);
        changed |= now != passed[i];
        passed[i] = now;
      }
    }
  }

  /// Blocks that some paths from a branch come to and others do not, and the one where all meet again, if any.
  std::pair<SmallVector<Block *>, Block *> between(Block *branch) const {
    llvm::BitVector common = passed[numbers.lookup(branch)];
    common.reset(numbers.lookup(branch));
    SmallVector<Block *> reached, waiting(next(branch));
    Block *meeting = nullptr;
    llvm::SmallPtrSet<Block *, 16> seen;
    while (!waiting.empty()) {
      Block *block = waiting.pop_back_val();
      if (!seen.insert(block).second)
        continue;
      if (common.test(numbers.lookup(block))) {
        if (!meeting || passed[numbers.lookup(block)].test(numbers.lookup(meeting)))
          meeting = block; // the first of them
        continue;
      }
      reached.push_back(block);
      llvm::append_range(waiting, next(block));
    }
    return {reached, meeting};
  }

private:
  static bool endsHere(Block *block) {
    return llvm::any_of(*block, [](Operation &op) { return endsProgram(&op); });
  }
  static SmallVector<Block *> next(Block *block) {
    return endsHere(block) ? SmallVector<Block *>() : SmallVector<Block *>(block->getSuccessors());
  }

  llvm::MapVector<Block *, unsigned> numbers;
  std::vector<llvm::BitVector> passed;
};

class Analysis {
public:
  Analysis(ModuleOp module, llvm::function_ref<func::FuncOp(StringRef)> bodyOf, VaryingGlobals &globals)
      : module(module), bodyOf(bodyOf), globals(globals) {}

  struct Summary {
    llvm::BitVector results;
    bool meets = false;     ///< it calls a collective
    bool fails = false;     ///< it may end with a failure
    bool stopsSome = false; ///< and on some ranks only
    unsigned round = 0;
    bool isRunning = false;
  };

  /// A function whose arguments differ between ranks as the bits say.
  const Summary &run(func::FuncOp function, const llvm::BitVector &arguments) {
    std::string key = function.getSymName().str() + ":";
    for (int i = 0; i <= arguments.find_last(); ++i)
      key += arguments.test(i) ? '1' : '0';
    Summary &known = summaries[key];
    meetsItself |= known.isRunning;
    if (std::exchange(known.round, round) == round)
      return known;
    known.isRunning = true;
    Summary now = FunctionAnalysis(*this, function, arguments).summary();
    known.isRunning = false;
    now.results |= known.results;
    hasChanged |= now.results != known.results || now.meets != known.meets || now.fails != known.fails ||
                  now.stopsSome != known.stopsSome;
    now.round = round;
    known = now;
    return known;
  }

  /// Functions that call themselves are looked at with what is known of them, until that is all.
  void runAll(bool isOfAnyArguments) {
    const VaryingGlobals before = globals;
    do {
      ++round;
      meetsItself = hasChanged = false;
      globals = before;
      found.clear();
      deciding.clear();
      given.clear();
      for (auto function : module.getOps<func::FuncOp>())
        if (!function.isExternal())
          run(function, isOfAnyArguments ? allValues(function) : llvm::BitVector());
    } while (meetsItself && hasChanged);
  }

  std::vector<VaryingCollective> found;
  llvm::MapVector<Operation *, SmallVector<Value>> deciding; ///< conditions that collectives depend on
  llvm::MapVector<Operation *, SmallVector<Value>> given;    ///< to `broadcast` and `save`, whatever arguments are

private:
  static llvm::BitVector allValues(func::FuncOp function) {
    Varying all;
    all.values.insert_range(function.getArguments());
    return all.bitsOf(function.getArguments());
  }

  /// One function: values that differ, until nothing changes.
  struct FunctionAnalysis {
    Analysis &all;
    func::FuncOp function;
    Paths paths;
    bool isOfAnyArguments = true;
    Varying varying;

    FunctionAnalysis(Analysis &all, func::FuncOp function, const llvm::BitVector &arguments)
        : all(all), function(function), paths(function) {
      varying.add(function.getArguments(), arguments);
      for (Value v : function.getArguments())
        isOfAnyArguments &= varies(v);
      for (size_t before = SIZE_MAX; before != varying.count();) {
        before = varying.count();
        for (Block &block : function.getBody())
          for (Operation &op : block)
            visit(&op);
      }
    }

    bool varies(Value v) const { return varying.values.contains(v); }
    bool anyVaries(ValueRange values) const {
      return llvm::any_of(values, [&](Value v) { return varies(v); });
    }

    const Summary &calleeOf(func::CallOp call, Summary &none) {
      auto callee = all.module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        callee = all.bodyOf(call.getCallee());
      if (!callee || callee.isExternal() || callee.getNumArguments() != call.getNumOperands())
        return none;
      return all.run(callee, varying.bitsOf(call.getOperands()));
    }

    /// Whether the size of a result differs: that of an operand which has the same name in its type does, or, of one
    /// that is not there, what decides it.
    bool sizeVaries(Operation *op, Value result, int64_t axis) const {
      if (isa<AllReduceOp, AllGatherOp, BroadcastRanksOp>(op))
        return false;
      if (auto load = dyn_cast<GlobalLoadOp>(op))
        return all.globals.sizes.contains({load.getName().str(), axis});
      if (auto scattered = dyn_cast<ReduceScatterOp>(op))
        return static_cast<int64_t>(scattered.getAxis()) == axis;
      if (isa<RelabelOp>(op))
        return varying.sizes.contains({op->getOperand(0), axis});
      ValueRange given = sizesGiven(op);
      if (given.size() == Varying::dimsOf(result).size())
        return varies(given[axis]);
      bool found = false;
      Varying::dimsOf(result)[axis].collectSymbols([&](StringRef symbol) { found |= symbolVaries(op, symbol); });
      return found;
    }

    bool symbolVaries(Operation *op, StringRef symbol) const {
      bool isThere = false, found = false;
      for (Value operand : op->getOperands())
        for (auto [axis, dim] : llvm::enumerate(Varying::dimsOf(operand)))
          if (has(dim, symbol)) {
            isThere = true;
            found |= varying.sizes.contains({operand, static_cast<int64_t>(axis)});
          }
      return isThere ? found : anyVaries(op->getOperands());
    }

    bool resultsVary(Operation *op) const {
      if (isa<AllReduceOp, AllGatherOp, BroadcastRanksOp>(op))
        return false;
      if (auto dim = dyn_cast<DimOp>(op))
        return varying.sizes.contains({dim.getX(), static_cast<int64_t>(dim.getAxis())});
      if (auto load = dyn_cast<GlobalLoadOp>(op))
        return all.globals.values.contains(load.getName().str());
      if (auto system = dyn_cast<SystemOp>(op); system && system.getFunction() == "read_line")
        return false;
      return isSource(op) || anyVaries(op->getOperands());
    }

    void visit(Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        Summary none;
        const Summary &callee = calleeOf(call, none);
        varying.add(call.getResults(), callee.results);
        if (call->hasAttr("toy.try") && callee.stopsSome)
          varying.values.insert_range(call.getResults());
      } else if (auto branch = dyn_cast<cf::BranchOp>(op))
        pass(branch.getDestOperands(), branch.getDest()->getArguments());
      else if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
        pass(branch.getTrueDestOperands(), branch.getTrueDest()->getArguments());
        pass(branch.getFalseDestOperands(), branch.getFalseDest()->getArguments());
        if (varies(branch.getCondition()))
          join(branch);
      } else {
        if (resultsVary(op))
          varying.values.insert_range(op->getResults());
        for (Value result : op->getResults())
          for (size_t axis = 0; axis < Varying::dimsOf(result).size(); ++axis)
            if (sizeVaries(op, result, axis))
              varying.sizes.insert({result, axis});
      }
    }

    void pass(ValueRange operands, ValueRange to) { varying.add(to, varying.bitsOf(operands)); }

    /// Where values come from one side on some ranks and from another one on others. Sizes that are not those of both
    /// sides have got a name of their own.
    void join(cf::CondBranchOp branch) {
      auto [blocks, meeting] = paths.between(branch->getBlock());
      if (meeting)
        blocks.push_back(meeting);
      for (Block *block : blocks) {
        varying.values.insert_range(block->getArguments());
        for (auto it = block->pred_begin(); it != block->pred_end(); ++it) {
          auto from = cast<BranchOpInterface>((*it)->getTerminator());
          ValueRange operands = from.getSuccessorOperands(it.getSuccessorIndex()).getForwardedOperands();
          for (auto [argument, operand] : llvm::zip_equal(block->getArguments(), operands))
            addRenamed(argument, operand);
        }
      }
    }
    void addRenamed(Value to, Value from) {
      auto relabel = from.getDefiningOp<RelabelOp>();
      for (auto [axis, dim] : llvm::enumerate(Varying::dimsOf(to)))
        if (relabel && Varying::dimsOf(relabel.getX())[axis] != dim)
          varying.sizes.insert({to, axis});
    }

    Summary summary() {
      Summary out;
      function.walk([&](func::ReturnOp end) { out.results |= varying.bitsOf(end.getOperands()); });
      for (Block &block : function.getBody()) {
        for (Operation &op : block) {
          out.meets |= meetsIn(&op);
          out.fails |= failsIn(&op);
          out.stopsSome |= !op.hasAttr("toy.try") && isCallThat(&op, [](const Summary &to) { return to.stopsSome; });
          noteGiven(&op);
        }
        // Of a text that is only checked, a block may end where its type is not known.
        auto branch = block.empty() ? nullptr : dyn_cast<cf::CondBranchOp>(block.back());
        if (!branch)
          continue;
        for (Block *reached : paths.between(&block).first) {
          if (auto end = dyn_cast<func::ReturnOp>(reached->back()); end && varies(branch.getCondition()))
            noteReturned(end, out.results);
          for (Operation &op : *reached) {
            out.stopsSome |= varies(branch.getCondition()) && failsIn(&op);
            if (!meetsIn(&op))
              continue;
            if (!varies(branch.getCondition()))
              all.deciding[branch] = {conditionOf(branch)};
            else
              all.found.push_back({&op, branch});
          }
        }
      }
      noteGlobals();
      return out;
    }

    /// Some ranks return here and others elsewhere.
    void noteReturned(func::ReturnOp end, llvm::BitVector &results) const {
      Varying returned;
      returned.values.insert_range(end.getOperands());
      for (Value v : end.getOperands())
        if (auto relabel = v.getDefiningOp<RelabelOp>())
          for (auto [axis, dim] : llvm::enumerate(Varying::dimsOf(v)))
            if (Varying::dimsOf(relabel.getX())[axis] != dim)
              returned.sizes.insert({v, axis});
      results |= returned.bitsOf(end.getOperands());
    }

    bool isCallThat(Operation *op, llvm::function_ref<bool(const Summary &)> holds) {
      auto call = dyn_cast<func::CallOp>(op);
      Summary none;
      return call && holds(calleeOf(call, none));
    }
    bool meetsIn(Operation *op) {
      return isCollective(op) || isCallThat(op, [](const Summary &callee) { return callee.meets; });
    }
    bool failsIn(Operation *op) {
      return isFailure(op) ||
             (!op->hasAttr("toy.try") && isCallThat(op, [](const Summary &callee) { return callee.fails; }));
    }

    static Value conditionOf(cf::CondBranchOp branch) {
      auto truth = branch.getCondition().getDefiningOp<TruthOp>();
      return truth ? truth->getOperand(0) : Value();
    }

    /// What all ranks give alike, and some rank's is taken.
    void noteGiven(Operation *op) {
      auto save = dyn_cast<SaveOp>(op);
      if (!isOfAnyArguments || !(isa<BroadcastRanksOp>(op) || (save && !varies(save.getPath()))))
        return;
      for (Value v : save ? SmallVector<Value>(save.getValues()) : SmallVector<Value>{op->getOperand(0)})
        if (isa<TensorType>(v.getType()) && !varies(v))
          all.given[op].push_back(v);
    }

    void noteGlobals() {
      function.walk([&](GlobalStoreOp store) {
        const std::string name = store.getName().str();
        if (varies(store.getValue()))
          all.globals.values.insert(name);
        else
          all.globals.values.erase(name);
        std::erase_if(all.globals.sizes, [&](const auto &size) { return size.first == name; });
        for (int64_t axis = 0; axis < static_cast<int64_t>(Varying::dimsOf(store.getValue()).size()); ++axis)
          if (varying.sizes.contains({store.getValue(), axis}))
            all.globals.sizes.emplace(name, axis);
      });
    }
  };

  ModuleOp module;
  llvm::function_ref<func::FuncOp(StringRef)> bodyOf;
  VaryingGlobals &globals;
  std::map<std::string, Summary> summaries;
  unsigned round = 0;
  bool meetsItself = false, hasChanged = false;
};

} // namespace

bool concernsRanks(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<RankOp, RankCountOp, SendOp, RecvOp>(op) || (isCollective(op) && !isa<SaveOp, TextOp, SystemOp>(op))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

std::vector<VaryingCollective> findVaryingCollectives(ModuleOp module,
                                                      llvm::function_ref<func::FuncOp(StringRef)> bodyOf,
                                                      VaryingGlobals &varyingGlobals) {
  Analysis analysis(module, bodyOf, varyingGlobals);
  analysis.runAll(false);
  return std::move(analysis.found);
}

/// Conditions are those of functions whose arguments are the same everywhere: calls with others are errors, or need no
/// check. What is given may come from arguments that differ in one call and not in another.
void insertReplicatedChecks(ModuleOp module, llvm::function_ref<func::FuncOp(StringRef)> bodyOf,
                            const VaryingGlobals &varyingGlobals) {
  VaryingGlobals globals = varyingGlobals, sameGlobals = varyingGlobals;
  Analysis any(module, bodyOf, globals), same(module, bodyOf, sameGlobals);
  auto insert = [](Operation *op, ValueRange values, StringRef what) {
    OpBuilder b(op);
    for (Value v : values)
      CheckReplicatedOp::create(b, op->getLoc(), v, what);
  };
  any.runAll(true);
  same.runAll(false);
  auto isHere = [&](Operation *op) { return op->getParentOfType<ModuleOp>() == module; };
  for (auto &[op, values] : any.given)
    if (isHere(op))
      insert(op, values, isa<SaveOp>(op) ? "what `save` is given" : "what `broadcast` is given");
  for (auto &[op, values] : same.deciding)
    if (isHere(op) && values[0])
      insert(op, values, "the condition");
}

} // namespace toy
