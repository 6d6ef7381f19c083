// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations are nodes, values are edges labelled by their types; complex operations are shaded or marked.
#include "repl/Graph.h"

#include "ir/ToyDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace toy {
namespace {

std::string escaped(StringRef text) {
  std::string out;
  for (char c : text)
    out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string typeLabel(Type type) {
  if (auto tensor = dyn_cast<TensorType>(type))
    return tensor.str();
  return isa<StrType, ListType>(type) ? typeText(type) : "";
}

bool isComplex(Type type) { return isa<TensorType>(type) && cast<TensorType>(type).isComplex(); }

/// An unused scalar constant is no part of a picture.
bool isShown(Operation &op) {
  return !isa<ConstantOp>(op) || !tensorTypeOf(op.getResult(0)).isScalar() || !op.use_empty();
}

std::string nameOf(Operation &op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return ("call " + call.getCallee()).str();
  std::string name = op.getName().stripDialect().str();
  if (auto fused = dyn_cast<FusedOp>(op)) {
    name += ":";
    for (Operation &inner : fused->getRegion(0).front().without_terminator())
      name += " " + inner.getName().stripDialect().str();
  }
  return name;
}

/// Functions of a module with bodies, block by block.
void forEachBlock(ModuleOp module, function_ref<void(func::FuncOp, Block &)> body) {
  for (auto function : module.getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      body(function, block);
}

class Drawing {
public:
  void add(const GraphPart &part) {
    out += ("  subgraph cluster_" + Twine(clusters++) + " {\n    label=\"" + part.title + "\";\n").str();
    DenseMap<Value, int> numbers;
    std::string edges;
    forEachBlock(part.module, [&](func::FuncOp, Block &block) {
      for (BlockArgument argument : block.getArguments())
        numbers[argument] =
            node(("argument " + Twine(argument.getArgNumber()) + "\n" + typeLabel(argument.getType())).str(), "ellipse",
                 false);
      for (Operation &op : block)
        if (isShown(op))
          addOperation(op, numbers, edges);
    });
    out += edges + "  }\n";
  }
  std::string take() {
    return "digraph toy {\n  rankdir=TB;\n  node [fontname=\"monospace\", fontsize=10];\n" + out + "}\n";
  }

private:
  void addOperation(Operation &op, DenseMap<Value, int> &numbers, std::string &edges) {
    std::string label = nameOf(op);
    if (op.getNumResults())
      label += "\n" + typeLabel(op.getResult(0).getType());
    int number = node(label, "box", llvm::any_of(op.getResultTypes(), isComplex));
    for (Value result : op.getResults())
      numbers[result] = number;
    for (Value operand : op.getOperands())
      if (auto it = numbers.find(operand); it != numbers.end())
        edges += ("    n" + Twine(it->second) + " -> n" + Twine(number) + ";\n").str();
  }
  int node(const std::string &label, StringRef shape, bool shaded) {
    std::string text = escaped(label);
    for (size_t at; (at = text.find('\n')) != text.npos;)
      text.replace(at, 1, "\\n");
    out += ("    n" + Twine(nodes) + " [label=\"" + text + "\", shape=" + shape +
            (shaded ? ", style=filled, fillcolor=lightblue" : "") + "];\n")
               .str();
    return nodes++;
  }
  std::string out;
  int nodes = 0, clusters = 0;
};

/// Trees from what is done for its effect or given to a caller, down to arguments. Operations that several others read
/// get a number where they stand first.
class Outline {
public:
  void add(const GraphPart &part) {
    out += (out.empty() ? "" : "\n") + part.title + "\n";
    func::FuncOp last;
    forEachBlock(part.module, [&](func::FuncOp function, Block &block) {
      if (function != last)
        out += (function.getSymName() + "\n").str();
      last = function;
      if (!block.isEntryBlock())
        out += "  block " + std::to_string(blockNumber(block)) + "\n";
      for (Operation &op : block)
        if (isShown(op) && (op.use_empty() || op.hasTrait<::mlir::OpTrait::IsTerminator>()))
          below(&op, "", "  ", "  ");
    });
  }
  std::string take() { return std::move(out); }

private:
  static int64_t blockNumber(Block &block) {
    return std::distance(block.getParent()->begin(), Region::iterator(block));
  }
  void below(Operation *op, const std::string &which, const std::string &here, const std::string &next) {
    std::string type = op->getNumResults() ? " " + typeLabel(op->getResult(0).getType()) : "";
    auto [it, isNew] = numbers.try_emplace(op, 0);
    if (op->getNumResults() && !isLeaf(op) && !op->hasOneUse() && isNew)
      it->second = ++count;
    std::string number = it->second ? "#" + std::to_string(it->second) + " " : "";
    out += here + number + nameOf(*op) + which + type + successors(*op) + (isNew ? "" : " (above)") + "\n";
    if (!isNew || isLeaf(op))
      return;
    unsigned last = op->getNumOperands();
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      bool isLast = i + 1 == last;
      operandBelow(operand, next + (isLast ? "└ " : "├ "), next + (isLast ? "  " : "│ "));
    }
  }
  void operandBelow(Value operand, const std::string &here, const std::string &next) {
    if (Operation *op = operand.getDefiningOp()) {
      unsigned number = cast<OpResult>(operand).getResultNumber();
      below(op, op->getNumResults() > 1 ? "[" + std::to_string(number) + "]" : "", here, next);
    } else {
      auto argument = cast<BlockArgument>(operand);
      Block &block = *argument.getOwner();
      out += here + "argument " + std::to_string(argument.getArgNumber()) +
             (block.isEntryBlock() ? "" : " of block " + std::to_string(blockNumber(block))) + " " +
             typeLabel(argument.getType()) + "\n";
    }
  }
  static bool isLeaf(Operation *op) { return op->getNumOperands() == 0; }
  static std::string successors(Operation &op) {
    std::string text;
    for (Block *block : op.getSuccessors())
      text += (text.empty() ? " to block " : ", ") + std::to_string(blockNumber(*block));
    return text;
  }
  DenseMap<Operation *, int> numbers;
  int count = 0;
  std::string out;
};

} // namespace

std::string graphvizText(ArrayRef<GraphPart> parts) {
  Drawing drawing;
  for (const GraphPart &part : parts)
    drawing.add(part);
  return drawing.take();
}

std::string terminalText(ArrayRef<GraphPart> parts) {
  Outline outline;
  for (const GraphPart &part : parts)
    outline.add(part);
  return outline.take();
}

} // namespace toy
