// SPDX-License-Identifier: Apache-2.0
/// \file
/// Constants, indexing by data, strings, files, output, and the checks.
#include "reference/EvaluatorImpl.h"

#include "runtime/Device.h"
#include "runtime/Extern.h"
#include "runtime/Format.h"
#include "runtime/Io.h"
#include "runtime/Library.h"
#include "runtime/Memory.h"
#include "runtime/Output.h"
#include "runtime/Scalar.h"

#include <array>
#include <chrono>
#include <cmath>
#include <charconv>

using namespace mlir;

namespace toy {

/// Whether an expression of sizes divides by 0.
static bool dividesByZero(Dim dim, llvm::function_ref<std::optional<int64_t>(StringRef)> valueOf) {
  bool found = dim.kind() == Dim::Kind::FloorDiv && dim.operands()[1].evaluate(valueOf) == 0;
  for (Dim operand : dim.operands())
    found |= dividesByZero(operand, valueOf);
  if (dim.kind() == Dim::Kind::Sum)
    dim.forEachTerm([&](int64_t, Dim monomial) { found |= dividesByZero(monomial, valueOf); });
  if (dim.kind() == Dim::Kind::Product)
    dim.forEachAtom([&](int64_t, Dim atom) { found |= dividesByZero(atom, valueOf); });
  return found;
}

rt::TensorRef constantTensor(DenseElementsAttr value, DType dtype) {
  SmallVector<int64_t> sizes(value.getType().getShape());
  rt::TensorRef out(rt::newTensor(dtype, sizes));
  int64_t count = out->count(), width = sizeOf(dtype);
  if (dtype == DType::Bool) {
    for (auto [i, b] : llvm::enumerate(value.getValues<bool>()))
      out->as<uint8_t>()[i] = b;
    return out;
  }
  ArrayRef<char> raw = value.getRawData();
  if (!value.isSplat()) {
    std::memcpy(out->data, raw.data(), count * width);
    return out;
  }
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(out->as<char>() + i * width, raw.data(), width);
  return out;
}

/// Rebuilds tuples and structs from leaves, following the structure text.
static rt::Value rebuild(StringRef &structure, ArrayRef<rt::Value> &leaves) {
  if (structure.consume_front("_")) {
    rt::Value v = leaves.front();
    leaves = leaves.drop_front();
    return v;
  }
  auto aggregate = std::make_shared<rt::Aggregate>();
  char close = ')';
  if (!structure.consume_front("(")) {
    size_t brace = structure.find('{');
    aggregate->typeName = structure.take_front(brace).str();
    structure = structure.drop_front(brace + 1);
    close = '}';
  }
  while (!structure.empty() && structure.front() != close) {
    structure.consume_front(", ");
    if (close == '}') {
      size_t colon = structure.find(": ");
      aggregate->names.push_back(structure.take_front(colon).str());
      structure = structure.drop_front(colon + 2);
    }
    aggregate->elements.push_back(rebuild(structure, leaves));
  }
  structure = structure.drop_front();
  return aggregate;
}

std::string renderPrint(StringRef structure, bool echo, ArrayRef<rt::Value> leaves) {
  std::string out;
  bool first = true;
  while (!structure.empty()) {
    structure.consume_front(";");
    rt::Value v = rebuild(structure, leaves);
    if (echo && rt::printOptions().header)
      out += rt::typeName(v) + "\n";
    else if (!first)
      out += " ";
    first = false;
    out += rt::format(v);
  }
  return out + "\n";
}

rt::TensorRef loadAs(const std::string &path, const std::string &name, Type declared) {
  rt::TensorRef t = rt::load(path, name);
  auto type = cast<TensorType>(declared);
  bool fits = t->dtype == type.getDtype() && t->rank == type.getRank();
  std::map<std::string, int64_t> names;
  for (int64_t i = 0; fits && i < type.getRank(); ++i) {
    Dim dim = type.getDim(i);
    if (dim.isNumber())
      fits = dim.value() == t->sizes[i];
    else if (StringRef name = dim.symbolName(); !name.empty())
      fits = names.emplace(name.str(), t->sizes[i]).first->second == t->sizes[i];
  }
  if (!fits)
    rt::fail(DiagId::LoadedType, {path, rt::typeName(t), typeText(declared)});
  return t;
}

/// `i64("3")`, `f64("2.5")`: the whole text is a number.
static Elem parseNumber(const std::string &text, DType dtype) {
  const char *begin = text.data(), *end = begin + text.size();
  while (begin < end && std::isspace(static_cast<unsigned char>(*begin)))
    ++begin;
  while (end > begin && std::isspace(static_cast<unsigned char>(end[-1])))
    --end;
  if (begin < end && *begin == '+')
    ++begin;
  Elem x;
  std::from_chars_result r;
  if (kindOf(dtype) <= DKind::Int)
    r = std::from_chars(begin, end, x.i);
  else if (dtype == DType::F32) {
    float f = 0;
    r = std::from_chars(begin, end, f);
    x.re = f;
  } else
    r = std::from_chars(begin, end, x.re);
  if (isHalf(dtype))
    x.re = fromHalf(dtype, toHalf(dtype, x.re));
  bool outOfRange = dtype == DType::I32 && (x.i > INT32_MAX || x.i < INT32_MIN);
  if (begin == end || r.ec != std::errc() || r.ptr != end || outOfRange)
    rt::fail(DiagId::MalformedNumberText, {text, std::string(nameOf(dtype))});
  return x;
}

static DType dtypeOf(StringRef name) { return *dtypeNamed(std::string_view(name.data(), name.size())); }

bool Frame::runData(Operation *op) {
  if (isa<UseOp>(op))
    return true;
  Value result = op->getNumResults() ? op->getResult(0) : Value();
  auto indexTensors = [&](ValueRange range) {
    SmallVector<const rt::Tensor *> tensors;
    for (Value v : range)
      tensors.push_back(&tensor(v));
    return tensors;
  };
  if (auto o = dyn_cast<ConstantOp>(op))
    set(result, constantTensor(cast<DenseElementsAttr>(o.getValue()), tensorTypeOf(result).getDtype()));
  else if (auto o = dyn_cast<TruthOp>(op))
    alias(result, o.getX());
  else if (auto o = dyn_cast<CumSumOp>(op))
    set(result, rt::cumulate(tensor(o.getX()), o.getAxis(), false));
  else if (auto o = dyn_cast<CumProdOp>(op))
    set(result, rt::cumulate(tensor(o.getX()), o.getAxis(), true));
  else if (auto o = dyn_cast<SortOp>(op))
    set(result, rt::sort(tensor(o.getX()), o.getAxis(), o.getDescending()));
  else if (auto o = dyn_cast<ArgSortOp>(op))
    set(result, rt::argsort(tensor(o.getX()), o.getAxis(), o.getDescending()));
  else if (auto o = dyn_cast<TakeOp>(op))
    set(result, rt::take(tensor(o.getX()), indexTensors(o.getIndices()), o.getAxes()[0]));
  else if (auto o = dyn_cast<TakeAlongOp>(op))
    set(result, rt::takeAlong(tensor(o.getX()), tensor(o.getIndex()), o.getAxis()));
  else if (auto o = dyn_cast<PutAlongOp>(op)) {
    const rt::Tensor &index = tensor(o.getIndex()), &v = tensor(o.getValues());
    set(result, rt::putAlong(consume(o.getX(), op), index, v, o.getAxis()));
  } else if (auto o = dyn_cast<MaskSelectOp>(op))
    set(result, rt::maskSelect(tensor(o.getX()), tensor(o.getMask())));
  else if (auto o = dyn_cast<NonZeroOp>(op))
    set(result, rt::nonzero(tensor(o.getX())));
  else if (auto o = dyn_cast<TakeStoreOp>(op)) {
    auto indices = indexTensors(o.getIndices());
    const rt::Tensor &v = tensor(o.getValues());
    set(result, rt::takeStore(consume(o.getX(), op), v, indices, o.getAxes()[0]));
  } else if (auto o = dyn_cast<MaskStoreOp>(op)) {
    const rt::Tensor &mask = tensor(o.getMask()), &v = tensor(o.getValues());
    set(result, rt::maskStore(consume(o.getX(), op), mask, v));
  } else if (auto o = dyn_cast<CheckIndexOp>(op))
    setInteger(result, rt::checkIndex(integer(o.getIndex()), integer(o.getSize()), o.getAxis()));
  else if (auto o = dyn_cast<CheckEqualOp>(op)) {
    if (integer(o.getLhs()) != integer(o.getRhs()))
      rt::fail(DiagId::SizesDiffer, {o.getWhat().str(), std::to_string(integer(o.getLhs())), std::to_string(integer(o.getRhs()))});
  } else if (auto o = dyn_cast<SizeValueOp>(op)) {
    auto operand = [&](StringRef name) { return integer(o.getOperand(*SizeValueOp::operandOf(name))); };
    auto value = o.getExpr().evaluate([&](StringRef name) { return std::optional(operand(name)); });
    if (!value && dividesByZero(o.getExpr(), [&](StringRef name) { return std::optional(operand(name)); }))
      rt::fail(DiagId::DivisionByZero);
    if (!value)
      rt::fail(DiagId::SizeOverflow, {o.getExpr().str([&](StringRef name) { return std::to_string(operand(name)); })});
    setInteger(result, *value);
  } else if (auto o = dyn_cast<CheckSizeOp>(op)) {
    if (o.getReduced() && integer(o.getSize()) == 0)
      rt::fail(DiagId::EmptyReductionRun, {o.getReduced()->str()});
    if (integer(o.getSize()) < 0)
      rt::fail(DiagId::NegativeSizeRun, {(o.getName() ? "`" + o.getName()->str() + "` = " : "") + std::to_string(integer(o.getSize()))});
    if (integer(o.getSize()) > largestSize)
      rt::fail(DiagId::SizeOverflow, {std::to_string(integer(o.getSize()))});
    alias(result, o.getSize());
  } else if (auto o = dyn_cast<RandomOp>(op))
    set(result, rt::random(environment().random(), dtypeOf(o.getDtype()), integers(o.getSizes()), o.getNormal()));
  else if (auto o = dyn_cast<SeedOp>(op))
    environment().random() = {static_cast<uint64_t>(integer(o.getSeed())), 0};
  else if (auto o = dyn_cast<GlobalLoadOp>(op))
    values[result] = environment().getGlobal(o.getName().str());
  else if (auto o = dyn_cast<GlobalStoreOp>(op))
    environment().setGlobal(o.getName().str(), values[o.getValue()]);
  else if (auto o = dyn_cast<StrConstantOp>(op))
    setText(result, o.getValue().str());
  else if (auto o = dyn_cast<StrConcatOp>(op))
    setText(result, text(o.getLhs()) + text(o.getRhs()));
  else if (auto o = dyn_cast<StrEqOp>(op))
    setBool(result, text(o.getLhs()) == text(o.getRhs()));
  else if (auto o = dyn_cast<StrLenOp>(op))
    setInteger(result, text(o.getText()).size());
  else if (auto o = dyn_cast<StrBytesOp>(op)) {
    const std::string &bytes = text(o.getText());
    rt::TensorRef out(rt::newTensor(DType::U8, std::array{static_cast<int64_t>(bytes.size())}));
    std::memcpy(out->data, bytes.data(), bytes.size());
    set(result, std::move(out));
  } else if (auto o = dyn_cast<LibraryOp>(op)) {
    SmallVector<const rt::Tensor *> arguments = indexTensors(o.getArguments());
    StringRef name = o.getFunction();
    std::string_view function(name.data(), name.size());
    std::span<const rt::Tensor *const> all(arguments.data(), arguments.size());
    std::span<const int64_t> parameters(o.getParameters().data(), o.getParameters().size());
    std::vector<rt::TensorRef> found;
    if (!rt::deviceLibrary(function, all, parameters, found)) {
      if (llvm::any_of(all, [](const rt::Tensor *t) { return !t->data; }))
        rt::flushDevice(("`" + std::string(function) + "` runs on the host").c_str());
      for (const rt::Tensor *t : all)
        rt::onHost(*t);
      found = rt::callLibrary(function, all, parameters);
    }
    for (auto [value, tensor] : llvm::zip_equal(o.getResults(), found))
      set(value, std::move(tensor));
  } else if (auto o = dyn_cast<ExternOp>(op)) {
    SmallVector<const rt::Tensor *> arguments = indexTensors(o.getOperands().take_front(o.getCount()));
    SmallVector<int64_t> sizes = integers(o.getOperands().drop_front(o.getCount()));
    ArrayRef<int64_t> types = o.getResultTypes(), rest(sizes);
    std::vector<rt::TensorRef> results;
    for (; !types.empty(); types = types.drop_front(2)) {
      results.push_back(rt::TensorRef(rt::newTensor(static_cast<DType>(types[0]), {rest.data(), static_cast<size_t>(types[1])})));
      rest = rest.drop_front(types[1]);
    }
    rt::callExtern(o.getName().str(), o.getLibrary().str(), o.getSymbol().str(), {arguments.data(), arguments.size()}, results);
    for (auto [value, tensor] : llvm::zip_equal(o.getResults(), results))
      set(value, std::move(tensor));
  } else if (auto o = dyn_cast<StrSliceOp>(op))
    setText(result, text(o.getText()).substr(integer(o.getStart()), integer(o.getCount())));
  else if (auto o = dyn_cast<ToStrOp>(op))
    setText(result, rt::format(values[o.getValue()]));
  else if (auto o = dyn_cast<ParseNumberOp>(op)) {
    DType dtype = dtypeOf(o.getDtype());
    rt::TensorRef out(rt::newTensor(dtype, {}));
    storeElement(dtype, out->data, 0, parseNumber(text(o.getText()), dtype));
    set(result, std::move(out));
  } else if (isa<ArgCountOp>(op))
    setInteger(result, environment().arguments().size());
  else if (auto o = dyn_cast<ArgOp>(op))
    setText(result, environment().arguments()[integer(o.getIndex())]);
  else if (auto o = dyn_cast<PrintOp>(op)) {
    std::vector<rt::Value> leaves;
    for (Value v : o.getValues())
      leaves.push_back(values[v]);
    rt::output(renderPrint(o.getStructure(), o.getEcho(), leaves));
  } else if (auto o = dyn_cast<WriteOp>(op)) {
    if (isa<StrType>(o.getValue().getType()))
      rt::output(text(o.getValue()));
    else
      rt::output({tensor(o.getValue()).as<char>(), static_cast<size_t>(tensor(o.getValue()).count())});
  } else if (auto o = dyn_cast<AssertOp>(op)) {
    if (!*tensor(o.getCondition()).as<uint8_t>())
      rt::fail(DiagId::AssertionFailed, {text(o.getText())});
  } else if (auto o = dyn_cast<LoadOp>(op))
    set(result, loadAs(text(o.getPath()), text(o.getName()), op->hasAttr("packed") ? Type(unpackedType(tensorTypeOf(result))) : result.getType()));
  else if (auto o = dyn_cast<SaveOp>(op)) {
    std::vector<rt::NamedTensor> all;
    SmallVector<StringRef> names;
    if (o.getValues().size() == 1) // may hold anything
      names.push_back(o.getNames());
    else
      o.getNames().split(names, '\n');
    for (auto [name, v] : llvm::zip_equal(names, o.getValues()))
      all.push_back({name.str(), tensorRef(v)});
    rt::save(text(o.getPath()), all);
  } else if (auto o = dyn_cast<ShowOp>(op))
    rt::output(rt::imageText(tensor(o.getValue()), rt::printOptions().color));
  else if (auto o = dyn_cast<ReadBinaryOp>(op))
    set(result, rt::readBinary(text(o.getPath()), dtypeOf(o.getDtype()), integers(o.getSizes()), integer(o.getOffset())));
  else if (isa<ClockOp>(op)) {
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    set(result, rt::TensorRef(rt::newScalar(DType::F64, &seconds)));
  } else
    return false;
  return true;
}

} // namespace toy
