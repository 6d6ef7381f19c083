// SPDX-License-Identifier: Apache-2.0
/// \file
/// Shape and dtype rules. A rule reads operands and attributes and sets the result types, or says why not in the user's
/// words.
#pragma once

#include "support/Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <vector>

namespace toy {

/// Why a rule refuses: a row of the diagnostics table with its arguments, labels for single operands, and a help line
/// in which `{i}` stands for the source text of operand i.
struct RuleError {
  DiagId id;
  std::vector<std::string> args;
  std::vector<std::pair<unsigned, std::string>> labels;
  std::string help;
};

/// Two axes whose sizes the rule takes to be equal without being able to prove it: IR generation checks them at run
/// time or refuses.
struct SizeAssumption {
  unsigned lhsOperand, lhsAxis, rhsOperand, rhsAxis;
  bool mayBroadcast = false; ///< a size of 1 would do as well
};
/// An axis whose size has to be a number, or at least that, and is not known to be: IR generation checks it at run time
/// or refuses.
struct WantedSize {
  unsigned operand, axis;
  int64_t size;
  bool orMore = false;
};

/// What differs, in the words of the error at run time (DiagId::SizesDiffer).
std::string whatNeedsSize(int64_t axis, llvm::StringRef user);
std::string whatDiffers(int64_t lhsAxis, int64_t rhsAxis);

/// How users write an operation of the dialect: `+` for `add`, `matmul` for `matmul`.
std::string spelling(llvm::StringRef opName);

/// What a rule sees and what it says.
class RuleContext {
public:
  RuleContext(mlir::MLIRContext *context, llvm::StringRef opName, mlir::ValueRange operands,
              mlir::DictionaryAttr attributes)
      : context(context), operands(operands), attributes(attributes), name(spelling(opName)) {}

  mlir::MLIRContext *context;
  mlir::ValueRange operands;
  mlir::DictionaryAttr attributes;
  std::string name; ///< as users know it: `matmul`, `+`
  /// The declared result types of operations whose results are not inferred (loads).
  llvm::ArrayRef<mlir::Type> declared;
  /// The size that an i64 value stands for when no expression of known sizes is behind it; by default an anonymous
  /// size.
  llvm::function_ref<Dim(mlir::Value)> symbolFor;
  /// Whether the operation runs whenever the program does: then what cannot succeed is refused. Elsewhere (in loops and
  /// branches) it fails when it runs.
  bool alwaysRuns = false;

  llvm::SmallVector<mlir::Type, 1> results;
  llvm::SmallVector<SizeAssumption, 0> assumptions;
  llvm::SmallVector<WantedSize, 0> wanted;
  std::optional<RuleError> error;
  /// Two sizes that differ, which is why the rule refuses: what they are sizes of, and their operands.
  struct Mismatch {
    std::string what;
    Dim left, right;
    llvm::SmallVector<unsigned, 2> operands;
  };
  std::optional<Mismatch> mismatch;

  /// Whether operand i is a real tensor of pairs that stands for a complex one (`packed` form, see packedType).
  bool isPacked(unsigned i) const;
  unsigned size() const { return operands.size(); }
  class TensorType tensor(unsigned i) const;
  DType dtype(unsigned i) const;
  int64_t rank(unsigned i) const;
  Dim dim(unsigned i, int64_t axis) const;
  /// A size that only the data decides; prints as `?` until IR generation names it.
  Dim freshDim() const;
  /// The size that an i64 scalar stands for: a number, an expression of sizes, or `symbolFor`.
  Dim sizeValue(mlir::Value value) const;
  int64_t integer(llvm::StringRef attribute) const;
  bool flag(llvm::StringRef attribute) const;
  llvm::ArrayRef<int64_t> integers(llvm::StringRef attribute) const;
  DType dtypeAttribute(llvm::StringRef attribute = "dtype") const;

  /// A result of the operation; fails where a size is too large.
  llvm::LogicalResult result(mlir::Type type);
  llvm::LogicalResult result(DType dtype, llvm::ArrayRef<Dim> dims) {
    return result(TensorType::get(context, dtype, dims));
  }
  template <typename... Args> llvm::LogicalResult fail(DiagId id, Args &&...args) {
    error = RuleError{id, {text(args)...}, {}, {}};
    return llvm::failure();
  }
  void label(unsigned operand, std::string text) { error->labels.emplace_back(operand, std::move(text)); }
  void help(std::string text) { error->help = std::move(text); }
  /// Complex values have no order; their parts and absolute values have.
  llvm::LogicalResult failNotOrdered(unsigned operand);
  /// Broadcasts the shapes of some operands (all by default); fails with the axis where they differ.
  llvm::FailureOr<llvm::SmallVector<Dim>> broadcast(llvm::ArrayRef<unsigned> which = {});
  /// Takes two axes to be equal: false if they are proved different; assumptions are noted.
  bool unify(unsigned lhsOperand, unsigned lhsAxis, unsigned rhsOperand, unsigned rhsAxis, bool mayBroadcast = false);
  /// Whether an axis may have a size; if that is not known, it is noted.
  bool hasSize(unsigned operand, unsigned axis, int64_t size);
  /// Whether an axis may have elements; if that is not known, it is noted.
  bool hasElements(unsigned operand, unsigned axis);

private:
  static std::string text(const std::string &s) { return s; }
  static std::string text(llvm::StringRef s) { return s.str(); }
  static std::string text(std::string_view s) { return std::string(s); }
  static std::string text(const char *s) { return s; }
  static std::string text(int64_t n) { return std::to_string(n); }
  static std::string text(mlir::Type type);
};

/// The size that an i64 value stands for, through constants, `toy.dim` and arithmetic on them; none when it is only
/// data.
std::optional<Dim> sizeBehind(mlir::Value value);

/// A complex tensor's parts side by side: c64[N] as f32[N, 2]. An operation with the attribute `packed` (numbers of
/// operands) takes such tensors for complex ones, and gives them: the same rule holds, seen through these two
/// functions.
class TensorType packedType(class TensorType complex);
class TensorType unpackedType(class TensorType pairs);

/// How the language writes a type: `c64[2, N]`, `str`.
std::string typeText(mlir::Type type);

/// A row of System.def.
struct SystemFunction {
  llvm::StringRef operands;
  char result;
};
SystemFunction systemFunction(llvm::StringRef name);
/// A row of Distributions.def.
struct DistributionRow {
  DType parameters;
  char result;
  bool gives(DType dtype) const;
};
std::optional<DistributionRow> distributionRow(llvm::StringRef name);

namespace rules {
#define TOY_RULE(NAME) llvm::LogicalResult NAME(RuleContext &ctx);
#include "ir/TypeRules.def"
} // namespace rules

} // namespace toy
