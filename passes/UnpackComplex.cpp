// SPDX-License-Identifier: Apache-2.0
/// \file
/// One total conversion: complex tensors become real ones with a last axis of 2, in signatures, constants, calls,
/// control flow, results and globals. Inside a function a complex value is two real values; they are put side by side
/// only where something asks for the whole.
#include "ir/Constants.h"
#include "passes/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace toy {
#define GEN_PASS_DEF_UNPACKCOMPLEX
#include "passes/Passes.h.inc"

namespace {

bool isComplexType(Type type) {
  auto tensor = dyn_cast<TensorType>(type);
  return tensor && tensor.isComplex();
}
TensorType partType(Type complex) {
  return cast<TensorType>(complex).withDType(realOf(cast<TensorType>(complex).getDtype()));
}
Type converted(Type type) { return isComplexType(type) ? Type(packedType(cast<TensorType>(type))) : type; }

/// A complex value by its parts; `packed` where it exists as a whole.
struct Pair {
  Value re, im, packed;
};

class FunctionUnpacker {
public:
  FunctionUnpacker(func::FuncOp function, StringRef strategy)
      : function(function), strategy(strategy), b(function.getContext()) {}

  void run() {
    if (!function.isExternal()) {
      for (Block &block : function.getBody())
        enter(block);
      for (Block *block : inDominanceOrder())
        for (Operation &op : llvm::make_early_inc_range(*block))
          visit(&op);
      for (Operation *op : llvm::reverse(replaced)) {
        op->dropAllUses();
        op->erase();
      }
      for (Block &block : function.getBody())
        block.eraseArguments([](BlockArgument argument) { return isComplexType(argument.getType()); });
    }
    auto convertAll = [](ArrayRef<Type> types) { return llvm::map_to_vector(types, converted); };
    function.setFunctionType(FunctionType::get(function.getContext(), convertAll(function.getArgumentTypes()),
                                               convertAll(function.getResultTypes())));
  }

private:
  using Row = void (FunctionUnpacker::*)(Operation *);
  static Row rowOf(Operation *op);

  /// Arguments: packed at the entry, as pairs everywhere else.
  void enter(Block &block) {
    b.setInsertionPointToStart(&block);
    SmallVector<BlockArgument> arguments(block.getArguments());
    for (BlockArgument argument : arguments) {
      if (!isComplexType(argument.getType()))
        continue;
      Location loc = argument.getLoc();
      if (block.isEntryBlock()) {
        Value packed = block.insertArgument(argument.getArgNumber(), converted(argument.getType()), loc);
        split(argument, packed);
      } else {
        Type part = partType(argument.getType());
        Value re = block.insertArgument(argument.getArgNumber(), part, loc),
              im = block.insertArgument(argument.getArgNumber(), part, loc);
        pairs[argument] = {re, im, {}};
      }
    }
  }

  SmallVector<Block *> inDominanceOrder() {
    SmallVector<Block *> order;
    DenseSet<Block *> seen;
    auto visit = [&](auto &self, Block *block) -> void {
      if (!seen.insert(block).second)
        return;
      for (Block *next : block->getSuccessors())
        self(self, next);
      order.push_back(block);
    };
    visit(visit, &function.getBody().front());
    for (Block &block : llvm::make_early_inc_range(function.getBody()))
      if (!seen.contains(&block)) { // nothing reaches it
        block.dropAllDefinedValueUses();
        block.erase();
      }
    return llvm::to_vector(llvm::reverse(order));
  }

  void visit(Operation *op) {
    auto touches = [](TypeRange types) { return llvm::any_of(types, isComplexType); };
    if (!touches(op->getOperandTypes()) && !touches(op->getResultTypes()))
      return;
    b.setInsertionPoint(op);
    if (op->hasTrait<mlir::OpTrait::IsTerminator>())
      return terminator(op);
    if (auto call = dyn_cast<func::CallOp>(op))
      return callWhole(call);
    Row row = rowOf(op);
    (this->*row)(op);
    replaced.push_back(op);
  }

  // --- values

  template <typename Op, typename... Args> Value make(Operation *at, Type type, Args &&...args) {
    return Op::create(b, at->getLoc(), type, std::forward<Args>(args)...).getResult();
  }
  Value named(Operation *at, StringRef name, Type type, ValueRange operands, ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(at->getLoc(), name, operands, type, attributes);
    return b.create(state)->getResult(0);
  }
  bool isComplex(Value v) { return isComplexType(v.getType()); }
  Value re(Value v) { return isComplex(v) ? pairs.at(v).re : v; }
  /// The imaginary part; of a real value a zero, which broadcasts.
  Value im(Operation *at, Value v) { return isComplex(v) ? pairs.at(v).im : zero(at, tensorTypeOf(v).getDtype()); }
  Value zero(Operation *at, DType dtype) { return zeroConstant(b, at->getLoc(), dtype); }
  Value integer(Operation *at, int64_t n) { return integerConstant(b, at->getLoc(), n); }
  /// A value repeated to the sizes of a type, which the sources have between them.
  Value broadcast(Operation *at, Value v, TensorType shape, ValueRange sources) {
    TensorType target = shape.withDType(tensorTypeOf(v).getDtype());
    if (v.getType() == target)
      return v;
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < target.getRank(); ++axis) {
      if (target.getDim(axis).isNumber()) {
        sizes.push_back(integer(at, target.getDim(axis).value()));
        continue;
      }
      Value from = sources[0];
      int64_t own = 0;
      for (Value source : sources)
        if (int64_t offset = target.getRank() - tensorTypeOf(source).getRank();
            axis >= offset && !tensorTypeOf(source).getDim(axis - offset).is(1)) {
          from = source;
          own = axis - offset;
          break;
        }
      sizes.push_back(make<DimOp>(at, TensorType::scalar(b.getContext(), DType::I64), from, own));
    }
    return make<BroadcastOp>(at, target, v, sizes);
  }
  Value packed(Operation *at, Value v) {
    Pair &pair = pairs.at(v);
    return pair.packed ? pair.packed : make<PackOp>(at, converted(v.getType()), pair.re, pair.im);
  }
  void split(Value complex, Value whole) {
    Type part = partType(complex.getType());
    Value re = PartOp::create(b, whole.getLoc(), part, whole, 0),
          im = PartOp::create(b, whole.getLoc(), part, whole, 1);
    pairs[complex] = {re, im, whole};
  }
  /// A part that only one operand decides may be smaller than the result.
  void define(Operation *op, Value re, Value im) {
    Value result = op->getResult(0);
    pairs[result] = {
        broadcast(op, re, tensorTypeOf(result), {re, im}), broadcast(op, im, tensorTypeOf(result), {im, re}), {}};
  }
  void replace(Operation *op, Value real) { op->getResult(0).replaceAllUsesWith(real); }

  // --- rows

  /// The same operation on each part: what moves, adds or chooses elements never mixes parts.
  void byParts(Operation *op) {
    Type part = partType(op->getResult(0).getType());
    SmallVector<Value> res, ims;
    for (auto [i, v] : llvm::enumerate(op->getOperands())) {
      bool data = isComplex(v) || (isa<WhereOp>(op) && i > 0);
      res.push_back(re(v));
      ims.push_back(data ? im(op, v) : v);
    }
    SmallVector<NamedAttribute> attributes(op->getAttrs());
    for (NamedAttribute &attribute : attributes)
      if (attribute.getName() == "dtype")
        attribute.setValue(b.getStringAttr(std::string(nameOf(cast<TensorType>(part).getDtype()))));
    pairs[op->getResult(0)] = {named(op, op->getName().getStringRef(), part, res, attributes),
                               named(op, op->getName().getStringRef(), part, ims, attributes),
                               {}};
  }

  void constant(Operation *op) {
    auto value = cast<DenseElementsAttr>(cast<ConstantOp>(op).getValue());
    TensorType part = partType(op->getResult(0).getType());
    auto type = RankedTensorType::get(value.getType().getShape(), elementTypeOf(b.getContext(), part.getDtype()));
    SmallVector<APFloat> res, ims;
    auto values = value.getValues<std::complex<APFloat>>();
    for (int64_t i = 0, n = value.isSplat() ? 1 : value.getNumElements(); i < n; ++i) {
      std::complex<APFloat> z = *(values.begin() + i);
      res.push_back(z.real());
      ims.push_back(z.imag());
    }
    auto make = [&](ArrayRef<APFloat> parts) {
      return ConstantOp::create(b, op->getLoc(), part, cast<ElementsAttr>(DenseElementsAttr::get(type, parts)))
          .getResult();
    };
    pairs[op->getResult(0)] = {make(res), make(ims), {}};
  }

  void cast_(Operation *op) {
    Value x = op->getOperand(0);
    Type part = partType(op->getResult(0).getType());
    auto dtype = b.getStringAttr(std::string(nameOf(mlir::cast<TensorType>(part).getDtype())));
    auto convert = [&](Value v) {
      return make<CastOp>(op, tensorTypeOf(v).withDType(mlir::cast<TensorType>(part).getDtype()), v, dtype);
    };
    Value real = convert(re(x));
    define(op, real, isComplex(x) ? convert(im(op, x)) : zero(op, mlir::cast<TensorType>(part).getDtype()));
  }

  void complex(Operation *op) { define(op, op->getOperand(0), op->getOperand(1)); }
  void polar(Operation *op) {
    Value r = op->getOperand(0), t = op->getOperand(1);
    Type part = partType(op->getResult(0).getType());
    define(op, make<MulOp>(op, part, r, make<CosOp>(op, t.getType(), t)),
           make<MulOp>(op, part, r, make<SinOp>(op, t.getType(), t)));
  }
  void viewAsComplex(Operation *op) { split(op->getResult(0), op->getOperand(0)); }
  void viewAsReal(Operation *op) { replace(op, packed(op, op->getOperand(0))); }
  void real(Operation *op) { replace(op, re(op->getOperand(0))); }
  void imag(Operation *op) { replace(op, im(op, op->getOperand(0))); }
  void dim(Operation *op) {
    replace(op, make<DimOp>(op, op->getResult(0).getType(), re(op->getOperand(0)), mlir::cast<DimOp>(op).getAxis()));
  }
  void conj(Operation *op) {
    Value x = op->getOperand(0);
    pairs[op->getResult(0)] = {re(x), make<NegOp>(op, im(op, x).getType(), im(op, x)), {}};
  }
  void angle(Operation *op) {
    replace(op, make<Atan2Op>(op, op->getResult(0).getType(), im(op, op->getOperand(0)), re(op->getOperand(0))));
  }
  void abs2(Operation *op) {
    Value x = op->getOperand(0);
    Type type = op->getResult(0).getType();
    replace(op,
            make<AddOp>(op, type, make<MulOp>(op, type, re(x), re(x)), make<MulOp>(op, type, im(op, x), im(op, x))));
  }
  /// isnan, isinf: either part; isfinite: both.
  void test(Operation *op) {
    Value x = op->getOperand(0);
    Type type = op->getResult(0).getType();
    StringRef name = op->getName().getStringRef();
    Value first = named(op, name, type, re(x)), second = named(op, name, type, im(op, x));
    replace(op, isa<IsFiniteOp>(op) ? make<AndOp>(op, type, first, second) : make<OrOp>(op, type, first, second));
  }
  void equal(Operation *op) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    Type type = op->getResult(0).getType();
    StringRef name = op->getName().getStringRef();
    TensorType resultType = mlir::cast<TensorType>(type);
    auto compare = [&](Value u, Value v) { // broadcasts as far as its operands go
      RuleContext ctx(b.getContext(), "eq", {u, v}, b.getDictionaryAttr({}));
      (void)rules::equality(ctx);
      Type own = ctx.results.empty() || mlir::cast<TensorType>(ctx.results[0]).hasUnknownSize() ? Type(resultType)
                                                                                                : ctx.results[0];
      return named(op, name, own, {u, v});
    };
    Value first = compare(re(x), re(y)), second = compare(im(op, x), im(op, y));
    replace(op, isa<EqOp>(op) ? make<AndOp>(op, type, first, second) : make<OrOp>(op, type, first, second));
  }
  /// A real operand has no imaginary part to add.
  void sum(Operation *op) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    StringRef name = op->getName().getStringRef();
    Type part = partType(op->getResult(0).getType());
    Value real = named(op, name, part, {re(x), re(y)}), imaginary;
    if (isComplex(x) && isComplex(y))
      imaginary = named(op, name, part, {im(op, x), im(op, y)});
    else
      imaginary = isComplex(x)     ? im(op, x)
                  : isa<AddOp>(op) ? im(op, y)
                                   : make<NegOp>(op, im(op, y).getType(), im(op, y));
    define(op, real, imaginary);
  }
  /// (a + ib)(c + id) = (ac - bd) + i(ad + bc); a real factor gives two products.
  void product(Operation *op) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    Type part = partType(op->getResult(0).getType());
    auto times = [&](Value u, Value v) { return make<MulOp>(op, part, u, v); };
    if (!isComplex(x) || !isComplex(y))
      return define(op, times(re(x), re(y)), isComplex(x) ? times(im(op, x), y) : times(x, im(op, y)));
    define(op, make<SubOp>(op, part, times(re(x), re(y)), times(im(op, x), im(op, y))),
           make<AddOp>(op, part, times(re(x), im(op, y)), times(im(op, x), re(y))));
  }
  void quotient(Operation *op) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    Type part = partType(op->getResult(0).getType());
    if (isComplex(y))
      return functionParts(op);
    define(op, make<DivOp>(op, part, re(x), y), make<DivOp>(op, part, im(op, x), y));
  }
  /// As an elementwise product, or by the strategy that is asked for.
  void matrixProduct(Operation *op) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    Type part = partType(op->getResult(0).getType());
    if (StringRef chosen = mlir::cast<MatMulOp>(op).getStrategy().value_or(strategy); chosen != "auto") {
      auto axes = [](Value v) { return llvm::to_vector(llvm::seq<int64_t>(0, tensorTypeOf(v).getRank())); };
      auto planar = PlanarGemmOp::create(b, op->getLoc(), TypeRange{part, part}, re(x), im(op, x), re(y), im(op, y),
                                         axes(x), false, axes(y), false, chosen);
      return define(op, planar.getRe(), planar.getIm());
    }
    auto times = [&](Value u, Value v) { return make<MatMulOp>(op, part, u, v, StringAttr()); };
    define(op, make<SubOp>(op, part, times(re(x), re(y)), times(im(op, x), im(op, y))),
           make<AddOp>(op, part, times(re(x), im(op, y)), times(im(op, x), re(y))));
  }
  /// Functions that have no short expansion: each part by name.
  void functionParts(Operation *op) {
    SmallVector<Value> operands;
    for (Value v : op->getOperands()) {
      operands.push_back(re(v));
      if (isComplex(v) || isFloat(tensorTypeOf(v).getDtype()))
        operands.push_back(isComplex(v) ? im(op, v) : zero(op, tensorTypeOf(v).getDtype()));
    }
    StringRef name = op->getName().stripDialect();
    auto part = [&](int64_t which, Type type) { return make<FunctionPartOp>(op, type, operands, name, which); };
    Type type = op->getResult(0).getType();
    if (!isComplexType(type)) // abs
      return replace(op, part(0, type));
    pairs[op->getResult(0)] = {part(0, partType(type)), part(1, partType(type)), {}};
  }

  /// Everything else in packed form: pairs in, pairs out.
  void inPackedForm(Operation *op) {
    SmallVector<Value> operands;
    SmallVector<int64_t> which;
    for (auto [i, v] : llvm::enumerate(op->getOperands())) {
      if (isComplex(v))
        which.push_back(i);
      operands.push_back(isComplex(v) ? packed(op, v) : v);
    }
    OperationState state(op->getLoc(), op->getName(), operands, llvm::map_to_vector(op->getResultTypes(), converted),
                         op->getAttrs());
    state.addAttribute("packed", b.getDenseI64ArrayAttr(which));
    Operation *copy = b.create(state);
    for (auto [old, now] : llvm::zip_equal(op->getResults(), copy->getResults()))
      if (isComplex(old))
        split(old, now);
      else
        old.replaceAllUsesWith(now);
  }

  void callWhole(func::CallOp op) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op.getOperands(), [&](Value v) { return isComplex(v) ? packed(op, v) : v; });
    auto call = func::CallOp::create(b, op.getLoc(), op.getCallee(),
                                     llvm::map_to_vector(op.getResultTypes(), converted), operands);
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    for (auto [old, now] : llvm::zip_equal(op.getResults(), call.getResults()))
      if (isComplex(old))
        split(old, now);
      else
        old.replaceAllUsesWith(now);
    replaced.push_back(op);
  }

  void terminator(Operation *op) {
    if (isa<func::ReturnOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (isComplex(operand.get()))
          operand.set(packed(op, operand.get()));
      return;
    }
    auto flat = [&](ValueRange values) {
      SmallVector<Value> out;
      for (Value v : values) {
        out.push_back(re(v));
        if (isComplex(v))
          out.push_back(im(op, v));
      }
      return out;
    };
    if (auto branch = dyn_cast<cf::BranchOp>(op))
      cf::BranchOp::create(b, op->getLoc(), branch.getDest(), flat(branch.getDestOperands()));
    else {
      auto conditional = cast<cf::CondBranchOp>(op);
      cf::CondBranchOp::create(b, op->getLoc(), conditional.getCondition(), conditional.getTrueDest(),
                               flat(conditional.getTrueDestOperands()), conditional.getFalseDest(),
                               flat(conditional.getFalseDestOperands()));
    }
    op->erase();
  }

  func::FuncOp function;
  StringRef strategy;
  OpBuilder b;
  llvm::DenseMap<Value, Pair> pairs;
  SmallVector<Operation *> replaced;
};

/// The table: one row an operation. What only moves, adds or chooses elements has the trait PartWise; the rest of the
/// elementwise operations are functions.
FunctionUnpacker::Row FunctionUnpacker::rowOf(Operation *op) {
  using U = FunctionUnpacker;
  if (op->hasTrait<toy::OpTrait::PartWise>())
    return &U::byParts;
  Row row = llvm::StringSwitch<Row>(op->getName().stripDialect())
                .Case("dim", &U::dim)
                .Case("constant", &U::constant)
                .Case("cast", &U::cast_)
                .Case("complex", &U::complex)
                .Case("polar", &U::polar)
                .Case("view_as_complex", &U::viewAsComplex)
                .Case("view_as_real", &U::viewAsReal)
                .Case("real", &U::real)
                .Case("imag", &U::imag)
                .Case("conj", &U::conj)
                .Case("angle", &U::angle)
                .Case("abs2", &U::abs2)
                .Cases({"isnan", "isinf", "isfinite"}, &U::test)
                .Cases({"eq", "ne"}, &U::equal)
                .Cases({"add", "sub"}, &U::sum)
                .Case("mul", &U::product)
                .Case("div", &U::quotient)
                .Case("matmul", &U::matrixProduct)
                .Default(nullptr);
  if (row)
    return row;
  return op->hasTrait<toy::OpTrait::Elementwise>() ? &U::functionParts : &U::inPackedForm;
}

/// Each edge with operands gets a block of its own.
void splitEdges(cf::CondBranchOp branch) {
  OpBuilder b(branch);
  auto split = [&](Block *to, ValueRange operands) {
    if (operands.empty())
      return to;
    Block *between = b.createBlock(to);
    cf::BranchOp::create(b, branch.getLoc(), to, operands);
    return between;
  };
  Block *yes = split(branch.getTrueDest(), branch.getTrueDestOperands()),
        *no = split(branch.getFalseDest(), branch.getFalseDestOperands());
  b.setInsertionPoint(branch);
  cf::CondBranchOp::create(b, branch.getLoc(), branch.getCondition(), yes, ValueRange(), no, ValueRange());
  branch.erase();
}

/// A block whose errors are caught gives values to the way out that it takes, and nothing to others: their parts are
/// taken where that way is certain.
void sinkParts(func::FuncOp function) {
  SmallVector<PartOp> parts;
  function.walk([&](PartOp part) {
    if (auto call = part.getX().getDefiningOp<func::CallOp>(); call && call->hasAttr(triedCall))
      parts.push_back(part);
  });
  llvm::SetVector<Operation *> branches;
  for (PartOp part : parts)
    for (Operation *user : part->getUsers())
      if (isa<cf::CondBranchOp>(user))
        branches.insert(user);
  for (Operation *branch : branches)
    splitEdges(cast<cf::CondBranchOp>(branch));
  for (PartOp part : parts) {
    for (OpOperand &use : llvm::make_early_inc_range(part->getUses()))
      use.set(OpBuilder(use.getOwner()).clone(*part)->getResult(0));
    part->erase();
  }
}

struct UnpackComplexPass : impl::UnpackComplexBase<UnpackComplexPass> {
  using UnpackComplexBase::UnpackComplexBase;
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      FunctionUnpacker(function, strategy).run();
      sinkParts(function);
    }
    getOperation().walk([&](Operation *op) {
      bool complex =
          llvm::any_of(op->getResultTypes(), isComplexType) || llvm::any_of(op->getOperandTypes(), isComplexType);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          complex |= llvm::any_of(block.getArgumentTypes(), isComplexType);
      if (complex) {
        op->emitOpError("is left with a complex type");
        signalPassFailure();
      }
    });
  }
};

} // namespace
} // namespace toy
