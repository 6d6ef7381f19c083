// SPDX-License-Identifier: Apache-2.0
/// \file
/// What is written above a function about its sizes: @dynamic, @static, @buckets.
#include "irgen/IRGenImpl.h"

using namespace mlir;

namespace toy {

IRGen::SizeAttribute IRGen::sizeAttribute(const ast::Function &decl, const std::string &parameter, int64_t rank,
                                          int64_t axis) {
  SizeAttribute out;
  for (const ast::Attribute &attribute : decl.attributes) {
    if (attribute.name == "buckets")
      continue;
    auto *name = attribute.arguments.empty() ? nullptr : ast::dynCast<ast::Name>(attribute.arguments[0].get());
    if (!name || llvm::none_of(decl.parameters, [&](const ast::Parameter &p) { return p.name == name->name; }))
      fail(DiagId::SizeAttribute, attribute.range,
           {attribute.name, "the first argument is a parameter of `" + decl.name + "`"});
    if (attribute.arguments.size() != 2 && (attribute.name == "static" || attribute.arguments.size() != 4))
      fail(DiagId::SizeAttribute, attribute.range,
           {attribute.name, attribute.name == "static" ? "a parameter and an axis are wanted"
                                                       : "a parameter, an axis and perhaps two bounds are wanted"});
    if (name->name != parameter)
      continue;
    if (int64_t at = staticInteger(*attribute.arguments[1], attribute.name); at < -rank || at >= rank)
      fail(DiagId::SizeAttribute, attribute.arguments[1]->range,
           {attribute.name, "`" + parameter + "` has rank " + std::to_string(rank)});
    else if ((at + rank) % rank != axis)
      continue;
    out.kind = attribute.name == "static" ? SizeAttribute::Static : SizeAttribute::Dynamic;
    out.range = attribute.range;
    if (attribute.arguments.size() == 4) {
      out.lo = staticInteger(*attribute.arguments[2], "dynamic");
      out.hi = staticInteger(*attribute.arguments[3], "dynamic");
      if (out.lo < 0 || out.hi < out.lo)
        fail(DiagId::SizeAttribute, attribute.range,
             {attribute.name, "no size lies between " + std::to_string(out.lo) + " and " + std::to_string(out.hi)});
    }
  }
  return out;
}

DictionaryAttr IRGen::bucketsOf(const ast::Function &decl) {
  SmallVector<NamedAttribute> rows;
  for (const ast::Attribute &attribute : decl.attributes) {
    if (attribute.name != "buckets")
      continue;
    auto refuse = [&](const std::string &why) { fail(DiagId::SizeAttribute, attribute.range, {attribute.name, why}); };
    auto *name = attribute.arguments.size() == 2 ? ast::dynCast<ast::Name>(attribute.arguments[0].get()) : nullptr;
    if (!name)
      refuse("a size of the signature and a list of numbers are wanted: `@buckets(N, [8, 16])`");
    if (!fn().declaredSizes.count(name->name))
      refuse("`" + name->name + "` is no size in the signature of `" + decl.name + "`");
    if (llvm::any_of(rows, [&](NamedAttribute row) { return row.getName() == name->name; }))
      refuse("`" + name->name + "` has buckets already");
    auto sizes = staticList(*attribute.arguments[1], attribute.name);
    if (sizes.empty() || sizes.front() < 1 ||
        std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal<>()) != sizes.end())
      refuse("the sizes are positive and in ascending order");
    rows.emplace_back(b.getStringAttr(name->name), b.getDenseI64ArrayAttr(sizes));
  }
  return rows.empty() ? nullptr : b.getDictionaryAttr(rows);
}

} // namespace toy
