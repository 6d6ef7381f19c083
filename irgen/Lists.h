// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lists while IR is generated: a list of structs is a struct of lists, so that the IR has lists of leaves only. A list
/// that has got no element yet has no leaf.
#pragma once

#include "irgen/Context.h"

namespace toy {

/// An element of a list that has no type yet: an error, or in a loop a reason to look for the type first.
[[noreturn]] void needListType(IRGen &g, const std::string &what, SourceRange range);
[[noreturn]] void refuse(IRGen &g, const ListTypeNeeded &need);
/// A list of a type without elements.
RValue emptyList(IRGen &g, const ValueType &list, SourceRange range);
/// Values as the elements of a list; their common type, or `wanted`.
RValue makeList(IRGen &g, std::vector<RValue> values, llvm::ArrayRef<SourceRange> ranges, SourceRange range,
                std::optional<ValueType> wanted = std::nullopt);
mlir::Value listLength(IRGen &g, const RValue &list, SourceRange range);
/// The element at an index that is checked.
RValue listElement(IRGen &g, const RValue &list, mlir::Value index, SourceRange range);
/// `value` is brought to the type of the elements, which it gives to a list that has none.
RValue appended(IRGen &g, const RValue &list, RValue value, SourceRange range, SourceRange valueRange);
/// `xs[i]`, `xs[a:b]`
RValue indexedList(IRGen &g, const RValue &list, llvm::ArrayRef<ast::Subscript> subscripts, SourceRange range);
/// The checked index of `xs[i]`.
mlir::Value listIndex(IRGen &g, const RValue &list, llvm::ArrayRef<ast::Subscript> subscripts, SourceRange range);
/// The list with another element at a checked index.
RValue withElement(IRGen &g, const RValue &list, mlir::Value index, RValue value, SourceRange range,
                   SourceRange valueRange);
/// `+`, `==`, `!=`; nothing for other operators.
std::optional<RValue> listOperation(IRGen &g, ast::BinaryOp op, const RValue &lhs, const RValue &rhs, SourceRange range,
                                    SourceRange opRange, SourceRange rhsRange);
/// A value whose lists that have no type yet get that of `type`.
RValue adapted(IRGen &g, RValue value, const ValueType &type, SourceRange range);
/// `type` with those of its lists that have no type yet as in `other`.
ValueType completed(ValueType type, const ValueType &other);

class Bound;
/// `sort`, `stack` and `cat` of a list.
RValue sortedList(IRGen &g, const RValue &list, Bound &args, SourceRange range);
RValue joinedList(IRGen &g, const RValue &list, Bound &args, bool stacks, SourceRange range);

} // namespace toy
