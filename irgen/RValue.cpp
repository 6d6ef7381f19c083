// SPDX-License-Identifier: Apache-2.0
/// \file
/// Types and values of the language as trees over the IR's leaves.
#include "irgen/RValue.h"

using namespace mlir;

namespace toy {

using ShownSize = llvm::function_ref<std::string(StringRef)>;

/// People see two levels of functions that hold functions.
static std::string textOf(const ValueType &type, ShownSize shownSize, bool isKey, int functions = 0) {
  switch (type.kind) {
  case ValueType::Nothing:
    return "nothing";
  case ValueType::Leaf:
    return isa<TensorType>(type.leaf) ? llvm::cast<TensorType>(type.leaf).str(shownSize) : typeText(type.leaf);
  case ValueType::DTypeRef:
    return "dtype " + std::string(nameOf(type.dtype));
  default:
    break;
  }
  if (type.kind == ValueType::List) {
    std::string out = type.isOpenList() ? "list" : textOf(type.elementOfList(), shownSize, isKey, functions);
    std::replace(out.begin(), out.end(), '?', '_'); // sizes are free
    return type.isOpenList() ? out : "list[" + out + "]";
  }
  bool isTuple = type.kind == ValueType::Tuple;
  std::string out = isTuple ? "" : type.structName;
  if (isKey && type.code)
    out = "@" + std::to_string(type.code->range.buffer) + ":" + std::to_string(type.code->range.begin);
  if (type.kind == ValueType::Function) {
    out = "fn " + out;
    if (type.elements.empty())
      return out;
    if (++functions > 2 && !isKey)
      return out + "{…}";
  }
  out += isTuple ? "(" : "{";
  for (auto [i, element] : llvm::enumerate(type.elements))
    out += (i ? ", " : "") + (isTuple ? std::string() : type.names[i] + ": ") +
           textOf(element, shownSize, isKey, functions);
  return out + (isTuple ? ")" : "}");
}

std::string ValueType::str(ShownSize shownSize) const { return textOf(*this, shownSize, false); }
std::string ValueType::key() const { return textOf(*this, nullptr, true); }

template <typename Change> static ValueType withLeaves(ValueType type, Change change) {
  for (ValueType &element : type.elements)
    element = withLeaves(element, change);
  if (type.kind == ValueType::Leaf)
    type.leaf = change(type.leaf);
  return type;
}

ValueType ValueType::listOf(MLIRContext *context) const {
  ValueType out;
  out.kind = List;
  auto listOfLeaves = [&](Type leaf) -> Type {
    if (auto tensor = dyn_cast<TensorType>(leaf))
      leaf = tensor.withDims(SmallVector<Dim>(tensor.getRank(), Dim::unknown(context)));
    return ListType::get(context, leaf);
  };
  out.elements.push_back(withLeaves(*this, listOfLeaves));
  SmallVector<Type> leaves;
  out.flatten(leaves);
  if (leaves.empty()) { // what counts elements without leaves
    ValueType count;
    count.kind = Leaf;
    count.leaf = ListType::get(context, TensorType::scalar(context, DType::Bool));
    out.elements.push_back(count);
  }
  return out;
}

ValueType ValueType::elementOfList() const {
  return withLeaves(elements[0], [](Type leaf) { return cast<ListType>(leaf).getElement(); });
}

void ValueType::flatten(SmallVectorImpl<Type> &leaves) const {
  if (kind == Leaf)
    leaves.push_back(leaf);
  for (const ValueType &element : elements)
    element.flatten(leaves);
}

/// `leaf` is the first one's number, and then that of the one behind the last.
static void mapSizesFrom(unsigned &leaf, ValueType &type, llvm::function_ref<Dim(unsigned, size_t, Dim)> map) {
  for (ValueType &element : type.elements)
    mapSizesFrom(leaf, element, map);
  if (auto tensor = dyn_cast_if_present<TensorType>(type.leaf)) {
    SmallVector<Dim> dims = tensor.getDims();
    for (auto [axis, dim] : llvm::enumerate(dims))
      dim = map(leaf, axis, dim);
    type.leaf = tensor.withDims(dims);
  }
  leaf += type.kind == ValueType::Leaf;
}

void ValueType::mapSizes(llvm::function_ref<Dim(unsigned, size_t, Dim)> map) {
  unsigned leaf = 0;
  mapSizesFrom(leaf, *this, map);
}

ValueType RValue::type() const {
  ValueType desc;
  if (kind == Leaf) {
    desc.kind = ValueType::Leaf;
    desc.leaf = value.getType();
  } else if (kind != Nothing) {
    desc.kind = kind;
    desc.structName = structName;
    desc.code = code;
    desc.dtype = dtype;
    desc.names = names;
    for (const RValue &element : elements)
      desc.elements.push_back(element.type());
  }
  return desc;
}

void RValue::flatten(SmallVectorImpl<Value> &leaves) const {
  if (kind == Leaf)
    leaves.push_back(value);
  for (const RValue &element : elements)
    element.flatten(leaves);
}

RValue unflatten(const ValueType &type, ValueRange &leaves) {
  RValue val;
  if (type.kind == ValueType::Leaf) {
    val = leaves.front();
    leaves = leaves.drop_front();
  } else if (type.kind != ValueType::Nothing) {
    val.kind = type.kind;
    val.structName = type.structName;
    val.code = type.code;
    val.dtype = type.dtype;
    val.names = type.names;
    for (const ValueType &element : type.elements)
      val.elements.push_back(unflatten(element, leaves));
  }
  return val;
}

} // namespace toy
