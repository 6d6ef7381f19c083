// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists of numbers that never leave their module become vectors, which grow as they do and which loops over elements
/// know: what is stored goes where it is, behind one question whether somebody else holds it.
#include "passes/ListsAsTensors.h"
#include "ir/Constants.h"
#include "passes/FillVectors.h"
#include "passes/ListGroups.h"
#include "passes/ListSizes.h"
#include "passes/Passes.h"

#include "mlir/IR/RegionGraphTraits.h"
#include "llvm/ADT/PostOrderIterator.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_LISTSASTENSORS
#include "passes/Passes.h.inc"

namespace {

class Converter {
public:
  Converter(func::FuncOp function, const llvm::DenseSet<Value> &lists, StringRef names = "list$")
      : b(function.getContext()), values(inOrder(function, lists, /*ofNumbers=*/true)),
        outer(inOrder(function, lists, /*ofNumbers=*/false)), sizes(b.getContext(), values, names) {}

  /// The vector that a list becomes, under the names of its function.
  TensorType typeOf(Value v) {
    return cast<TensorType>(cast<ListType>(listTypes.try_emplace(v, v.getType()).first->second).getElement())
        .withDims({sizes.of(v)});
  }
  bool isConverted(Value v) const { return sizes.contains(v); }

  void run() {
    sizes.relabelEdges([&](Value v) { return typeOf(v); });
    for (Value v : outer)
      v.setType(typeOfOuter(cast<ListType>(v.getType())));
    for (Value v : values)
      if (TensorType type = typeOf(v); isa<BlockArgument>(v) || v.getDefiningOp<ListElementOp>())
        v.setType(type);
    SmallVector<Operation *> done;
    for (Value v : values) {
      for (Operation *user : llvm::make_early_inc_range(v.getUsers()))
        convertQuestion(user);
      if (Operation *def = v.getDefiningOp(); def && !isa<func::CallOp, ListElementOp>(def))
        done.push_back(def);
    }
    for (Operation *op : done) {
      op->replaceAllUsesWith(ValueRange(made(op)));
      op->erase();
    }
  }

private:
  static SmallVector<Value> inOrder(func::FuncOp function, const llvm::DenseSet<Value> &lists, bool ofNumbers) {
    SmallVector<Value> found;
    auto note = [&](Value v) {
      if (lists.contains(v) && isListOfNumbers(v.getType()) == ofNumbers)
        found.push_back(v);
    };
    for (Block *block : llvm::ReversePostOrderTraversal<Region *>(&function.getBody())) {
      llvm::for_each(block->getArguments(), note);
      for (Operation &op : *block)
        llvm::for_each(op.getResults(), note);
    }
    return found;
  }

  /// A list of lists, with vectors of any size in their places.
  static ListType typeOfOuter(ListType list) {
    auto inner = cast<ListType>(list.getElement());
    Type element = isListOfNumbers(inner)
                       ? Type(cast<TensorType>(inner.getElement()).withDims({Dim::unknown(list.getContext())}))
                       : typeOfOuter(inner);
    return ListType::get(list.getContext(), element);
  }

  /// What a list is asked.
  void convertQuestion(Operation *op) {
    b.setInsertionPoint(op);
    Value answer, list = op->getOperand(0); // whose type is a vector's by now
    if (isa<ListLenOp>(op))
      answer = sizes.lengthOf(list, op);
    else if (auto element = dyn_cast<ListElementOp>(op))
      answer = ElementOp::create(b, op->getLoc(), element.getType(), list, ValueRange(element.getIndex()));
    else
      return;
    op->getResult(0).replaceAllUsesWith(answer);
    op->erase();
  }

  /// A list.
  Value made(Operation *op) {
    b.setInsertionPoint(op);
    TensorType type = typeOf(op->getResult(0));
    Value list = op->getNumOperands() ? op->getOperand(0) : Value();
    if (auto append = dyn_cast<ListAppendOp>(op))
      return AppendOp::create(b, op->getLoc(), type, list, append.getValue());
    if (auto set = dyn_cast<ListSetOp>(op))
      return ElementStoreOp::create(b, op->getLoc(), type, list, set.getValue(), ValueRange(set.getIndex()));
    if (auto slice = dyn_cast<ListSliceOp>(op))
      return ShortenOp::create(b, op->getLoc(), type, list, slice.getCount());
    ValueRange elements = cast<ListOp>(op).getValues();
    if (elements.empty())
      return FullOp::create(b, op->getLoc(), type, zeroConstant(b, op->getLoc(), type.getDtype()),
                            ValueRange(integerConstant(b, op->getLoc(), 0)));
    return FromElementsOp::create(b, op->getLoc(), type, elements,
                                  b.getDenseI64ArrayAttr({static_cast<int64_t>(elements.size())}));
  }

  OpBuilder b;
  SmallVector<Value> values, outer;      ///< those that become vectors; those that hold such
  ListSizes sizes;                       ///< of all values
  llvm::DenseMap<Value, Type> listTypes; ///< of values as they were
};

/// Functions of a module, whose calls hand vectors in and out where they handed lists.
class ModuleConverter {
public:
  explicit ModuleConverter(ModuleOp module) : module(module), forms(module), b(module.getContext()) {
    llvm::DenseSet<Value> lists = listsThatMayBeVectors(module, forms);
    forms.keep([&](func::FuncOp form) { // those that are given, or give, one
      auto isVector = [&](Value v) { return lists.contains(v); };
      bool gives = false;
      form.walk([&](func::ReturnOp end) { gives |= llvm::any_of(end.getOperands(), isVector); });
      return gives || llvm::any_of(form.getArguments(), isVector);
    });
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        converters.try_emplace(function, std::make_unique<Converter>(function, lists));
  }

  void run() {
    for (auto &[_, converter] : converters)
      converter->run();
    for (auto &[function, _] : converters)
      if (forms.contains(cast<func::FuncOp>(function)))
        convertSignature(cast<func::FuncOp>(function));
    module.walk([&](func::CallOp call) {
      if (func::FuncOp callee = forms.of(call))
        convertCall(call, callee);
    });
  }

private:
  /// What is returned has a name of the function for each result.
  void convertSignature(func::FuncOp function) {
    SmallVector<Type> results(function.getResultTypes());
    Converter &converter = *converters.find(function)->second;
    function.walk([&](func::ReturnOp end) {
      for (OpOperand &operand : end->getOpOperands()) {
        // What a call gives has its type later.
        auto type = converter.isConverted(operand.get()) ? converter.typeOf(operand.get())
                                                         : dyn_cast<TensorType>(operand.get().getType());
        Type &result = results[operand.getOperandNumber()];
        if (!isa<ListType>(function.getResultTypes()[operand.getOperandNumber()]) || !type) {
          result = operand.get().getType(); // which holds vectors now, if it held lists
          continue;
        }
        result = type.withDims({Dim::symbol(b.getContext(), "given$" + std::to_string(operand.getOperandNumber()))});
        relabel(operand, end, result);
      }
    });
    function.setType(FunctionType::get(b.getContext(), function.getBody().front().getArgumentTypes(), results));
  }

  void convertCall(func::CallOp call, func::FuncOp callee) {
    Converter &caller = *converters.find(call->getParentOfType<func::FuncOp>())->second;
    for (OpOperand &operand : call->getOpOperands())
      if (Type type = callee.getArgumentTypes()[operand.getOperandNumber()]; type != operand.get().getType())
        relabel(operand, call, type);
    b.setInsertionPointAfter(call);
    for (auto [result, type] : llvm::zip_equal(call.getResults(), callee.getResultTypes()))
      if (caller.isConverted(result)) {
        TensorType named = caller.typeOf(result);
        result.setType(type);
        auto other = RelabelOp::create(b, call.getLoc(), named, result);
        result.replaceAllUsesExcept(other, other);
      } else
        result.setType(type);
  }

  void relabel(OpOperand &operand, Operation *at, Type type) {
    b.setInsertionPoint(at);
    operand.set(RelabelOp::create(b, at->getLoc(), type, operand.get()));
  }

  ModuleOp module;
  VectorForms forms;
  OpBuilder b;
  llvm::MapVector<Operation *, std::unique_ptr<Converter>> converters;
};

struct ListsAsTensorsPass : impl::ListsAsTensorsBase<ListsAsTensorsPass> {
  void runOnOperation() override {
    ModuleConverter(getOperation()).run();
    for (auto function : getOperation().getOps<func::FuncOp>())
      fillVectors(function);
  }
};

} // namespace

void makeVectors(func::FuncOp function, const llvm::DenseSet<Value> &lists, StringRef names) {
  Converter(function, lists, names).run();
}

} // namespace toy
