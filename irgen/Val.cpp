// SPDX-License-Identifier: Apache-2.0
/// \file
/// Types and values of the language as trees over the IR's leaves.
#include "irgen/Val.h"

using namespace mlir;

namespace toy {

using ShownSize = llvm::function_ref<std::string(StringRef)>;

/// People see two levels of functions that hold functions.
static std::string textOf(const TypeDesc &type, ShownSize shownSize, bool isKey, int functions = 0) {
  switch (type.kind) {
  case TypeDesc::Nothing:
    return "nothing";
  case TypeDesc::Leaf:
    return isa<TensorType>(type.leaf) ? llvm::cast<TensorType>(type.leaf).str(shownSize) : typeText(type.leaf);
  case TypeDesc::DTypeRef:
    return "dtype " + std::string(nameOf(type.dtype));
  default:
    break;
  }
  bool isTuple = type.kind == TypeDesc::Tuple;
  std::string out = isTuple ? "" : type.structName;
  if (isKey && type.code)
    out = "@" + std::to_string(type.code->range.buffer) + ":" + std::to_string(type.code->range.begin);
  if (type.kind == TypeDesc::Function) {
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

std::string TypeDesc::str(ShownSize shownSize) const { return textOf(*this, shownSize, false); }
std::string TypeDesc::key() const { return textOf(*this, nullptr, true); }

void TypeDesc::flatten(SmallVectorImpl<Type> &leaves) const {
  if (kind == Leaf)
    leaves.push_back(leaf);
  for (const TypeDesc &element : elements)
    element.flatten(leaves);
}

/// `leaf` is the first one's number, and then that of the one behind the last.
static void mapSizesFrom(unsigned &leaf, TypeDesc &type, llvm::function_ref<Dim(unsigned, size_t, Dim)> map) {
  for (TypeDesc &element : type.elements)
    mapSizesFrom(leaf, element, map);
  if (auto tensor = dyn_cast_if_present<TensorType>(type.leaf)) {
    SmallVector<Dim> dims = tensor.getDims();
    for (auto [axis, dim] : llvm::enumerate(dims))
      dim = map(leaf, axis, dim);
    type.leaf = tensor.withDims(dims);
  }
  leaf += type.kind == TypeDesc::Leaf;
}

void TypeDesc::mapSizes(llvm::function_ref<Dim(unsigned, size_t, Dim)> map) {
  unsigned leaf = 0;
  mapSizesFrom(leaf, *this, map);
}

TypeDesc Val::type() const {
  TypeDesc desc;
  if (kind == Leaf) {
    desc.kind = TypeDesc::Leaf;
    desc.leaf = value.getType();
  } else if (kind != Nothing) {
    desc.kind = kind;
    desc.structName = structName;
    desc.code = code;
    desc.dtype = dtype;
    desc.names = names;
    for (const Val &element : elements)
      desc.elements.push_back(element.type());
  }
  return desc;
}

void Val::flatten(SmallVectorImpl<Value> &leaves) const {
  if (kind == Leaf)
    leaves.push_back(value);
  for (const Val &element : elements)
    element.flatten(leaves);
}

Val unflatten(const TypeDesc &type, ValueRange &leaves) {
  Val val;
  if (type.kind == TypeDesc::Leaf) {
    val = leaves.front();
    leaves = leaves.drop_front();
  } else if (type.kind != TypeDesc::Nothing) {
    val.kind = type.kind;
    val.structName = type.structName;
    val.code = type.code;
    val.dtype = type.dtype;
    val.names = type.names;
    for (const TypeDesc &element : type.elements)
      val.elements.push_back(unflatten(element, leaves));
  }
  return val;
}

} // namespace toy
