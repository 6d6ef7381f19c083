// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rows whose elements are computed side by side, in the lanes of vectors.
#pragma once

#include "passes/ControlFlow.h"

#include "llvm/ADT/SetVector.h"

#include <optional>

namespace toy {

/// On a group whose rows, operands as well as the result, are in as many lanes of registers; its last operand is the
/// number of elements. With `leavesLanes`, its result is in memory.
constexpr llvm::StringLiteral rowLanes = "toy.lanes", leavesLanes = "toy.leaves_lanes";
/// On such a group: the number of elements, which are computed one by one, because the loop takes the rows apart.
constexpr llvm::StringLiteral rowElements = "toy.elements";

/// The axis that is not 1, if all others are.
std::optional<int64_t> onlyAxis(mlir::Value v);
/// The axis of an operand along an axis of what it is broadcast to.
std::optional<int64_t> axisOfOperand(mlir::Value operand, mlir::Value result, std::optional<int64_t> row);
/// What vectors compute as scalars do: nothing that fails, and no function of the runtime.
bool isForLanes(mlir::Operation *op);
/// Whether elements so far apart are read as vectors of which those between are left out; others are read one by one.
bool areNear(int64_t step);
/// Whether the lanes of a value can be computed along an axis of it.
bool hasLanes(mlir::Value v, std::optional<int64_t> row);
/// Whether a reduction is one number, of one axis, whose elements can be computed in lanes.
bool isRowFold(mlir::Operation *op);

/// Whether sums along a vector are of the type of its elements: in loops, code of the loop.
bool isRowScan(mlir::Operation *op);

/// Names of one size.
using Names = llvm::SetVector<Dim>;
/// Whether a value is a tensor of one axis, of such a size.
bool isRowOf(mlir::Value v, const Names &names);
bool isScalar(mlir::Value v);
/// Whether a group is a row of so many elements, or a number that is made of one, and can be computed in lanes.
bool isRowGroup(FusedOp group, const Names &names);
/// Whether the elements of such a group can be computed one by one.
bool isByElement(FusedOp group);
/// Lengths of rows of a loop's groups that are numbers, if they are short.
llvm::SmallVector<Names> knownLengths(mlir::CFGLoop &loop, int64_t mostBytes, int64_t mostElements);
/// Sizes that no number is known for, of what a loop's groups make, each by all its names: two that an operation of a
/// group has for one axis are one, if it runs.
llvm::SmallVector<Names> unknownLengths(mlir::CFGLoop &loop, llvm::function_ref<bool(Dim)> isKnownBefore);
/// Whether what a group reads of an operand is the element that it computes.
bool readsInPlace(FusedOp group, mlir::Value operand);

} // namespace toy
