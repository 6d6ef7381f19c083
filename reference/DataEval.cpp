// SPDX-License-Identifier: Apache-2.0
/// \file
/// Constants, indexing by data, strings, files, output, and the checks.
#include "reference/EvaluatorImpl.h"

#include "ir/Consumption.h"
#include "runtime/ArrayOps.h"
#include "runtime/Device.h"
#include "runtime/Extern.h"
#include "runtime/Format.h"
#include "runtime/Io.h"
#include "runtime/Library.h"
#include "runtime/Memory.h"
#include "runtime/Output.h"
#include "runtime/Progress.h"
#include "runtime/Scalar.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

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
    llvm::copy(raw, out->as<char>()); // of no elements, too
    return out;
  }
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(out->as<char>() + i * width, raw.data(), width);
  return out;
}

rt::TensorRef loadAs(const std::string &path, const std::string &name, Type declared, const CsvOptions &csv) {
  rt::Value value = csv.header ? rt::loadColumn(path, name, csv)
                               : rt::Value(rt::oneOf(rt::openAll(path, csv, name), path, name, csv));
  if (std::holds_alternative<rt::ListRef>(value))
    rt::fail(DiagId::LoadedType, {path, "list[str]", typeText(declared)});
  rt::TensorRef t = std::get<rt::TensorRef>(std::move(value));
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
static ScalarValue parseNumber(const std::string &text, DType dtype) {
  const char *begin = text.data(), *end = begin + text.size();
  while (begin < end && std::isspace(static_cast<unsigned char>(*begin)))
    ++begin;
  while (end > begin && std::isspace(static_cast<unsigned char>(end[-1])))
    --end;
  if (begin < end && *begin == '+')
    ++begin;
  ScalarValue x;
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

SmallVector<const rt::Tensor *> Frame::tensors(ValueRange range) {
  return llvm::map_to_vector(range, [&](Value v) { return &tensor(v); });
}

template <> void Frame::evaluate(UseOp) {}

template <> void Frame::evaluate(ConstantOp o) {
  set(o.getResult(), constantTensor(cast<DenseElementsAttr>(o.getValue()), tensorTypeOf(o.getResult()).getDtype()));
}

template <> void Frame::evaluate(TruthOp o) { alias(o.getResult(), o.getX()); }

template <> void Frame::evaluate(CumSumOp o) {
  set(o.getResult(), rt::cumulate(consume(o.getX(), o), o.getAxis(), false));
}

template <> void Frame::evaluate(CumProdOp o) {
  set(o.getResult(), rt::cumulate(consume(o.getX(), o), o.getAxis(), true));
}

template <> void Frame::evaluate(SortOp o) {
  if (ValueRange part = o.getPart(); !part.empty())
    return set(o.getResult(), rt::sort(tensor(o.getX()), o.getAxis(), o.getDescending(),
                                       {integer(part.front()), integer(part.back())}));
  set(o.getResult(), rt::sort(consume(o.getX(), o), o.getAxis(), o.getDescending()));
}

template <> void Frame::evaluate(ArgSortOp o) {
  if (ValueRange part = o.getPart(); !part.empty())
    return set(o.getResult(), rt::argsort(tensor(o.getX()), o.getAxis(), o.getDescending(),
                                          {integer(part.front()), integer(part.back())}));
  set(o.getResult(), rt::argsort(consume(o.getX(), o), o.getAxis(), o.getDescending()));
}

template <> void Frame::evaluate(TakeOp o) {
  set(o.getResult(), rt::take(tensor(o.getX()), tensors(o.getIndices()), o.getAxes()[0]));
}

template <> void Frame::evaluate(TakeAlongOp o) {
  set(o.getResult(), rt::takeAlong(tensor(o.getX()), tensor(o.getIndex()), o.getAxis()));
}

template <> void Frame::evaluate(PutAlongOp o) {
  const rt::Tensor &index = tensor(o.getIndex()), &v = tensor(o.getValues());
  set(o.getResult(), rt::putAlong(consume(o.getX(), o), index, v, o.getAxis()));
}

template <> void Frame::evaluate(MaskSelectOp o) {
  set(o.getResult(), rt::maskSelect(tensor(o.getX()), tensor(o.getMask())));
}

template <> void Frame::evaluate(NonZeroOp o) { set(o.getResult(), rt::nonzero(tensor(o.getX()))); }

template <> void Frame::evaluate(TakeStoreOp o) {
  auto indices = tensors(o.getIndices());
  const rt::Tensor &v = tensor(o.getValues());
  set(o.getResult(), rt::takeStore(consume(o.getX(), o), v, indices, o.getAxes()[0]));
}

template <> void Frame::evaluate(MaskStoreOp o) {
  const rt::Tensor &mask = tensor(o.getMask()), &v = tensor(o.getValues());
  set(o.getResult(), rt::maskStore(consume(o.getX(), o), mask, v));
}

template <> void Frame::evaluate(CheckIndexOp o) {
  setInteger(o.getResult(), rt::checkIndex(integer(o.getIndex()), integer(o.getSize()), o.getAxis()));
}

template <> void Frame::evaluate(CheckEqualOp o) {
  if (integer(o.getLhs()) != integer(o.getRhs()))
    rt::fail(DiagId::SizesDiffer,
             {o.getWhat().str(), std::to_string(integer(o.getLhs())), std::to_string(integer(o.getRhs()))});
}

template <> void Frame::evaluate(SizeValueOp o) {
  auto operand = [&](StringRef name) { return integer(o.getOperand(*SizeValueOp::operandOf(name))); };
  auto value = o.getExpr().evaluate([&](StringRef name) { return std::optional(operand(name)); });
  if (!value && dividesByZero(o.getExpr(), [&](StringRef name) { return std::optional(operand(name)); }))
    rt::fail(DiagId::DivisionByZero);
  if (!value)
    rt::fail(DiagId::SizeOverflow, {o.getExpr().str([&](StringRef name) { return std::to_string(operand(name)); })});
  setInteger(o.getResult(), *value);
}

template <> void Frame::evaluate(CheckSizeOp o) {
  if (o.getReduced() && integer(o.getSize()) == 0)
    rt::fail(DiagId::EmptyReductionRun, {o.getReduced()->str()});
  if (integer(o.getSize()) < 0)
    rt::fail(DiagId::NegativeSizeRun,
             {(o.getName() ? "`" + o.getName()->str() + "` = " : "") + std::to_string(integer(o.getSize()))});
  if (integer(o.getSize()) > largestSize)
    rt::fail(DiagId::SizeOverflow, {std::to_string(integer(o.getSize()))});
  alias(o.getResult(), o.getSize());
}

template <> void Frame::evaluate(NextKeyOp o) { set(o.getResult(), rt::keyTensor(environment().random().next())); }

template <> void Frame::evaluate(FoldInOp o) {
  set(o.getResult(), rt::foldIn(rt::keyOf(tensor(o.getKey())), tensor(o.getIntegers())));
}

template <> void Frame::evaluate(SampleOp o) {
  const rt::RandomKey key = rt::keyOf(tensor(o.getKey()));
  const rt::Distribution distribution = *rt::distributionNamed(o.getDistribution());
  const DType dtype = dtypeOf(o.getDtype());
  const auto sample = o.getInParts() ? rt::sampleLate : rt::sample;
  set(o.getResult(), sample(key, distribution, dtype, integers(o.getSizes()), tensor(o.getA()), tensor(o.getB())));
}

template <> void Frame::evaluate(DrawOp o) {
  set(o.getResult(), rt::sample(environment().random().next(), *rt::distributionNamed(o.getDistribution()),
                                dtypeOf(o.getDtype()), {}, tensor(o.getA()), tensor(o.getB())));
}

template <> void Frame::evaluate(PermutationOp o) {
  set(o.getResult(), rt::permutation(rt::keyOf(tensor(o.getKey())), integer(o.getN()), integer(o.getSize())));
}

template <> void Frame::evaluate(SeedOp o) {
  environment().random() = {static_cast<uint64_t>(integer(o.getSeed())), 0};
}

template <> void Frame::evaluate(GlobalLoadOp o) {
  rt::Value value = environment().getGlobal(o.getName().str());
  if (auto *tensor = std::get_if<rt::TensorRef>(&value); tensor && o.getLoaded() && !o.getInFile() && !o.use_empty())
    rt::onHost(**tensor);
  values[o.getResult()] = std::move(value);
}

template <> void Frame::evaluate(GlobalStoreOp o) { environment().setGlobal(o.getName().str(), values[o.getValue()]); }

template <> void Frame::evaluate(StrConstantOp o) { setText(o.getResult(), o.getValue().str()); }

template <> void Frame::evaluate(StrConcatOp o) { setText(o.getResult(), text(o.getLhs()) + text(o.getRhs())); }

template <> void Frame::evaluate(StrEqOp o) { setBool(o.getResult(), text(o.getLhs()) == text(o.getRhs())); }

template <> void Frame::evaluate(StrLenOp o) { setInteger(o.getResult(), text(o.getText()).size()); }

template <> void Frame::evaluate(StrBytesOp o) {
  const std::string &bytes = text(o.getText());
  rt::TensorRef out(rt::newTensor(DType::U8, std::array{static_cast<int64_t>(bytes.size())}));
  std::memcpy(out->data, bytes.data(), bytes.size());
  set(o.getResult(), std::move(out));
}

template <> void Frame::evaluate(LibraryOp o) {
  SmallVector<const rt::Tensor *> arguments = tensors(o.getArguments());
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
    found = rt::callLibrary(function, all, parameters, !o.getResult(0).use_empty(),
                            takesFirst(o) ? consume(o.getArguments()[0], o) : rt::TensorRef());
  }
  for (auto [value, tensor] : llvm::zip_equal(o.getResults(), found))
    set(value, std::move(tensor));
}

template <> void Frame::evaluate(ExternOp o) {
  SmallVector<const rt::Tensor *> arguments = tensors(o.getOperands().take_front(o.getCount()));
  SmallVector<int64_t> sizes = integers(o.getOperands().drop_front(o.getCount()));
  ArrayRef<int64_t> types = o.getResultTypes(), rest(sizes);
  std::vector<rt::TensorRef> results;
  for (; !types.empty(); types = types.drop_front(2)) {
    results.push_back(
        rt::TensorRef(rt::newTensor(static_cast<DType>(types[0]), {rest.data(), static_cast<size_t>(types[1])})));
    rest = rest.drop_front(types[1]);
  }
  rt::callExtern(o.getName().str(), o.getLibrary().str(), o.getSymbol().str(), {arguments.data(), arguments.size()},
                 results);
  for (auto [value, tensor] : llvm::zip_equal(o.getResults(), results))
    set(value, std::move(tensor));
}

template <> void Frame::evaluate(StrSliceOp o) {
  setText(o.getResult(), text(o.getText()).substr(integer(o.getStart()), integer(o.getCount())));
}

template <> void Frame::evaluate(ParseNumberOp o) {
  DType dtype = dtypeOf(o.getDtype());
  rt::TensorRef out(rt::newTensor(dtype, {}));
  storeElement(dtype, out->data, 0, parseNumber(text(o.getText()), dtype));
  set(o.getResult(), std::move(out));
}

template <> void Frame::evaluate(ArgCountOp o) { setInteger(o.getResult(), environment().arguments().size()); }

template <> void Frame::evaluate(ArgOp o) { setText(o.getResult(), environment().arguments()[integer(o.getIndex())]); }

template <> void Frame::evaluate(WriteOp o) {
  auto write = o.getToErrors() ? rt::errorOutput : rt::output;
  if (isa<StrType>(o.getValue().getType()))
    write(text(o.getValue()));
  else
    write({tensor(o.getValue()).as<char>(), static_cast<size_t>(tensor(o.getValue()).count())});
}

template <> void Frame::evaluate(ProgressOp o) {
  rt::showProgress(integer(o.getDone()), integer(o.getTotal()), text(o.getLabel()));
}

template <> void Frame::evaluate(AssertOp o) {
  if (!*tensor(o.getCondition()).as<uint8_t>())
    rt::fail(o->hasAttr("toy.of_value") ? DiagId::ValueNotTaken : DiagId::AssertionFailed, {text(o.getText())});
}

template <> void Frame::evaluate(LoadOp o) {
  CsvOptions csv;
  if (auto given = o->getAttrOfType<DictionaryAttr>("csv")) {
    auto number = [&](StringRef name) { return given.getAs<IntegerAttr>(name).getInt(); };
    csv = {static_cast<char>(number("sep")), static_cast<char>(number("decimal")),
           given.getAs<BoolAttr>("header").getValue(), number("skip"),
           given.getAs<FloatAttr>("missing").getValueAsDouble()};
  }
  Type type = o->hasAttr("packed") ? Type(unpackedType(tensorTypeOf(o.getResult()))) : o.getResult().getType();
  rt::TensorRef loaded = loadAs(text(o.getPath()), text(o.getName()), type, csv);
  if (!o.getInFile())
    rt::onHost(*loaded);
  set(o.getResult(), std::move(loaded));
}

template <> void Frame::evaluate(SaveOp o) {
  SmallVector<StringRef> names;
  if (o.getValues().size() == 1) // may hold anything
    names.push_back(o.getNames());
  else
    o.getNames().split(names, '\n');
  std::vector<rt::NamedTensor> tensors;
  std::vector<rt::NamedColumn> columns;
  for (auto [name, v] : llvm::zip_equal(names, o.getValues())) {
    columns.emplace_back(name.str(), values[v]);
    if (auto *tensor = std::get_if<rt::TensorRef>(&values[v]))
      tensors.push_back({name.str(), *tensor});
  }
  const std::string &path = text(o.getPath());
  ranks::writeTogether(placeOf(o), path, [&] {
    if (tensors.size() == columns.size())
      rt::save(path, tensors);
    else
      rt::saveTable(path, columns);
  });
}

template <> void Frame::evaluate(ReadBinaryOp o) {
  set(o.getResult(),
      rt::readBinary(text(o.getPath()), dtypeOf(o.getDtype()), integers(o.getSizes()), integer(o.getOffset())));
}

template <> void Frame::evaluate(ClockOp o) {
  rt::waitForDevice(); // what was asked for so far is part of the time
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  set(o.getResult(), rt::TensorRef(rt::newScalar(DType::F64, &seconds)));
}

} // namespace toy
