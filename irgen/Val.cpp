// SPDX-License-Identifier: Apache-2.0
/// \file
/// Types and values of the language as trees over the IR's leaves.
#include "irgen/Val.h"

using namespace mlir;

namespace toy {

std::string TypeDesc::str(llvm::function_ref<std::string(StringRef)> shownSize) const {
  if (kind == Nothing)
    return "nothing";
  if (kind == Leaf)
    return isa<TensorType>(leaf) ? llvm::cast<TensorType>(leaf).str(shownSize) : typeText(leaf);
  std::string out = kind == Tuple ? "(" : structName + "{";
  for (auto [i, element] : llvm::enumerate(elements))
    out += (i ? ", " : "") + (kind == Struct ? names[i] + ": " : std::string()) + element.str(shownSize);
  return out + (kind == Tuple ? ")" : "}");
}

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
  } else if (kind == Tuple || kind == Struct) {
    desc.kind = kind == Tuple ? TypeDesc::Tuple : TypeDesc::Struct;
    desc.structName = structName;
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
    val.kind = type.kind == TypeDesc::Tuple ? Val::Tuple : Val::Struct;
    val.structName = type.structName;
    val.names = type.names;
    for (const TypeDesc &element : type.elements)
      val.elements.push_back(unflatten(element, leaves));
  }
  return val;
}

} // namespace toy
