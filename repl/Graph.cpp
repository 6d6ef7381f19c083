// SPDX-License-Identifier: Apache-2.0
/// \file
/// Operations are nodes, values are edges labelled by their types; complex operations are shaded.
#include "repl/Graph.h"

#include "compile/Compile.h"
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

class Drawing {
public:
  void add(ModuleOp module, StringRef title) {
    out += ("  subgraph cluster_" + Twine(clusters++) + " {\n    label=\"" + title + "\";\n").str();
    DenseMap<Value, int> numbers;
    std::string edges;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (Block &block : function.getBody()) {
        for (BlockArgument argument : block.getArguments())
          numbers[argument] =
              node(("argument " + Twine(argument.getArgNumber()) + "\n" + typeLabel(argument.getType())).str(),
                   "ellipse", false);
        for (Operation &op : block) {
          if (isa<ConstantOp>(op) && tensorTypeOf(op.getResult(0)).isScalar() && op.use_empty())
            continue;
          bool isComplex = llvm::any_of(op.getResultTypes(),
                                        [](Type t) { return isa<TensorType>(t) && cast<TensorType>(t).isComplex(); });
          std::string label = op.getName().stripDialect().str();
          if (op.getNumResults())
            label += "\n" + typeLabel(op.getResult(0).getType());
          int number = node(label, "box", isComplex);
          for (Value result : op.getResults())
            numbers[result] = number;
          for (Value operand : op.getOperands())
            if (auto it = numbers.find(operand); it != numbers.end())
              edges += ("    n" + Twine(it->second) + " -> n" + Twine(number) + ";\n").str();
        }
      }
    }
    out += edges + "  }\n";
  }
  std::string take() {
    return "digraph toy {\n  rankdir=TB;\n  node [fontname=\"monospace\", fontsize=10];\n" + out + "}\n";
  }

private:
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

} // namespace

std::string graphText(ModuleOp module, Compiler &compiler) {
  Drawing drawing;
  drawing.add(module, "as generated");
  CompiledUnit unit;
  if (compiler.compile({module}, unit, Phase::Recognize))
    drawing.add(*unit.ir, "after inlining and recognition");
  return drawing.take();
}

} // namespace toy
