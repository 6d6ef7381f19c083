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

/// Whether a program does not go on behind an operation.
bool endsProgram(Operation *op) {
  auto system = dyn_cast<SystemOp>(op);
  return system && llvm::is_contained({"fail", "raise", "exit"}, system.getFunction());
}

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
  Analysis(ModuleOp module, llvm::function_ref<func::FuncOp(StringRef)> bodyOf, std::set<std::string> &globals)
      : module(module), bodyOf(bodyOf), globals(globals) {}

  struct Summary {
    llvm::BitVector results;
    bool meets = false; ///< it calls a collective
  };

  /// A function whose arguments differ between ranks as the bits say.
  const Summary &run(func::FuncOp function, const llvm::BitVector &arguments) {
    std::string key = function.getSymName().str() + ":";
    for (unsigned i = 0; i < arguments.size(); ++i)
      key += arguments.test(i) ? '1' : '0';
    auto [it, isNew] = summaries.try_emplace(key);
    if (!isNew)
      return it->second;
    it->second.results.resize(function.getNumResults());
    return it->second = FunctionAnalysis(*this, function, arguments).summary();
  }

  std::vector<VaryingCollective> found;
  llvm::MapVector<Operation *, SmallVector<Value>> deciding; ///< conditions that collectives depend on
  llvm::MapVector<Operation *, SmallVector<Value>> given;    ///< to `broadcast` and `save`, whatever arguments are

private:
  /// One function: values that differ, until nothing changes.
  struct FunctionAnalysis {
    Analysis &all;
    func::FuncOp function;
    Paths paths;
    bool isOfAnyArguments;
    DenseSet<Value> varying;

    FunctionAnalysis(Analysis &all, func::FuncOp function, const llvm::BitVector &arguments)
        : all(all), function(function), paths(function), isOfAnyArguments(arguments.all()) {
      for (unsigned i : arguments.set_bits())
        varying.insert(function.getArgument(i));
      for (size_t before = SIZE_MAX; before != varying.size();) {
        before = varying.size();
        for (Block &block : function.getBody())
          for (Operation &op : block)
            visit(&op);
      }
    }

    bool varies(Value v) const { return varying.contains(v); }
    bool anyVaries(ValueRange values) const {
      return llvm::any_of(values, [&](Value v) { return varies(v); });
    }

    const Summary &calleeOf(func::CallOp call, Summary &none) {
      auto callee = all.module.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        callee = all.bodyOf(call.getCallee());
      none.results.resize(call.getNumResults());
      if (!callee || callee.isExternal() || callee.getNumArguments() != call.getNumOperands())
        return none;
      llvm::BitVector arguments(call.getNumOperands());
      for (auto [i, operand] : llvm::enumerate(call.getOperands()))
        if (varies(operand))
          arguments.set(i);
      return all.run(callee, arguments);
    }

    /// Of the sizes of a value that differs, those that a varying part has are followed, and no others.
    bool sizeVaries(DimOp op) const {
      if (auto slice = op.getX().getDefiningOp<SliceOp>())
        return varies(slice.getCounts()[op.getAxis()]);
      if (auto part = op.getX().getDefiningOp<ReadPartOp>())
        return varies(part.getCounts()[op.getAxis()]);
      auto scattered = op.getX().getDefiningOp<ReduceScatterOp>();
      return scattered && static_cast<int64_t>(scattered.getAxis()) == static_cast<int64_t>(op.getAxis());
    }

    bool resultsVary(Operation *op) const {
      if (isa<AllReduceOp, AllGatherOp, BroadcastRanksOp>(op))
        return false;
      if (auto dim = dyn_cast<DimOp>(op))
        return sizeVaries(dim);
      if (auto load = dyn_cast<GlobalLoadOp>(op))
        return all.globals.count(load.getName().str());
      if (auto system = dyn_cast<SystemOp>(op); system && system.getFunction() == "read_line")
        return false;
      return isSource(op) || anyVaries(op->getOperands());
    }

    void visit(Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        Summary none;
        const Summary &callee = calleeOf(call, none);
        for (unsigned i : callee.results.set_bits())
          varying.insert(call.getResult(i));
      } else if (auto branch = dyn_cast<cf::BranchOp>(op))
        pass(branch.getDestOperands(), branch.getDest());
      else if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
        pass(branch.getTrueDestOperands(), branch.getTrueDest());
        pass(branch.getFalseDestOperands(), branch.getFalseDest());
        if (varies(branch.getCondition()))
          for (Block *block : joined(branch))
            varying.insert(block->getArguments().begin(), block->getArguments().end());
      } else if (resultsVary(op))
        varying.insert(op->getResults().begin(), op->getResults().end());
    }

    void pass(ValueRange operands, Block *to) {
      for (auto [argument, operand] : llvm::zip_equal(to->getArguments(), operands))
        if (varies(operand))
          varying.insert(argument);
    }

    /// Where values come from one side on some ranks and from another one on others.
    SmallVector<Block *> joined(cf::CondBranchOp branch) {
      auto [between, meeting] = paths.between(branch->getBlock());
      if (meeting)
        between.push_back(meeting);
      return between;
    }

    Summary summary() {
      Summary out;
      out.results.resize(function.getNumResults());
      function.walk([&](func::ReturnOp end) {
        for (auto [i, value] : llvm::enumerate(end.getOperands()))
          if (varies(value))
            out.results.set(i);
      });
      for (Block &block : function.getBody()) {
        for (Operation &op : block) {
          out.meets |= meetsIn(&op);
          noteGiven(&op);
        }
        // Of a text that is only checked, a block may end where its type is not known.
        auto branch = block.empty() ? nullptr : dyn_cast<cf::CondBranchOp>(block.back());
        if (!branch)
          continue;
        for (Block *reached : paths.between(&block).first)
          for (Operation &op : *reached) {
            if (!meetsIn(&op))
              continue;
            if (!varies(branch.getCondition()))
              all.deciding[branch] = {conditionOf(branch)};
            else
              all.found.push_back({&op, branch});
          }
      }
      noteGlobals();
      return out;
    }

    bool meetsIn(Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        Summary none;
        return calleeOf(call, none).meets;
      }
      return isCollective(op);
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
        if (varies(store.getValue()))
          all.globals.insert(store.getName().str());
        else
          all.globals.erase(store.getName().str());
      });
    }
  };

  ModuleOp module;
  llvm::function_ref<func::FuncOp(StringRef)> bodyOf;
  std::set<std::string> &globals;
  std::map<std::string, Summary> summaries;
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
                                                      std::set<std::string> &varyingGlobals) {
  Analysis analysis(module, bodyOf, varyingGlobals);
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      analysis.run(function, llvm::BitVector(function.getNumArguments()));
  return std::move(analysis.found);
}

/// Conditions are those of functions whose arguments are the same everywhere: calls with others are errors, or need no
/// check. What is given may come from arguments that differ in one call and not in another.
void insertReplicatedChecks(ModuleOp module, llvm::function_ref<func::FuncOp(StringRef)> bodyOf,
                            const std::set<std::string> &varyingGlobals) {
  std::set<std::string> globals = varyingGlobals, sameGlobals = varyingGlobals;
  Analysis any(module, bodyOf, globals), same(module, bodyOf, sameGlobals);
  auto insert = [](Operation *op, ValueRange values, StringRef what) {
    OpBuilder b(op);
    for (Value v : values)
      CheckReplicatedOp::create(b, op->getLoc(), v, what);
  };
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal()) {
      any.run(function, llvm::BitVector(function.getNumArguments(), true));
      same.run(function, llvm::BitVector(function.getNumArguments()));
    }
  auto isHere = [&](Operation *op) { return op->getParentOfType<ModuleOp>() == module; };
  for (auto &[op, values] : any.given)
    if (isHere(op))
      insert(op, values, isa<SaveOp>(op) ? "what `save` is given" : "what `broadcast` is given");
  for (auto &[op, values] : same.deciding)
    if (isHere(op) && values[0])
      insert(op, values, "the condition");
}

} // namespace toy
