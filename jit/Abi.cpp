// SPDX-License-Identifier: Apache-2.0
/// \file
/// The C functions behind compiled code. Objects are borrowed unless said otherwise; results are owned by the caller.
/// Errors are exceptions.
#include "jit/Abi.h"

#include "ir/Consumption.h"
#include "jit/AbiProducts.h"
#include "passes/lowering/Attributes.h"
#include "reference/EvaluatorImpl.h"
#include "runtime/ArrayOps.h"
#include "runtime/ComplexMath.h"
#include "runtime/Device.h"
#include "runtime/ElementFunctions.h"
#include "runtime/Join.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "runtime/Progress.h"
#include "runtime/RowLoops.h"
#include "runtime/Scalar.h"
#include "runtime/Transpose.h"
#include "support/CallLimit.h"

#include <cstdarg>

using namespace toy;

namespace toy {
AbiState &abiState() {
  static AbiState &state = []() -> AbiState & {
    static AbiState made;
    made.passed.reserve(mostCalls);
    return made;
  }();
  return state;
}
} // namespace toy

extern "C" {

int __gxx_personality_v0(...);

int64_t toy_rt_site = 0;
int64_t toy_rt_loops = 0;
extern int64_t toy_rt_profile_depth, toy_rt_profile_places[]; // of Profiler.cpp

static rt::Tensor *toy_rt_alloc(int64_t dtype, int64_t rank, const int64_t *sizes) {
  return rt::newTensor(static_cast<DType>(dtype), {sizes, static_cast<size_t>(rank)});
}
/// The operand itself, once more, if nobody else holds its memory and no frame; else a new tensor. Types are equal.
static rt::Tensor *toy_rt_reuse(rt::Tensor *operand, int64_t dtype, int64_t rank, const int64_t *sizes) {
  if (!operand->storage || operand->refs != 1 || operand->storage->refs != 1)
    return toy_rt_alloc(dtype, rank, sizes);
  rt::retain(operand);
  rt::onHostOnly(*operand);
  return operand;
}
/// The first of `count` results of one rank, the others go to `others`; null where the host should do it.
static rt::Tensor *toy_rt_launch(rt::DeviceKernel *kernel, int64_t count, const int64_t *dtypes, int64_t rank,
                                 const int64_t *sizes, rt::Tensor **others, rt::Tensor **operands, int64_t operandCount,
                                 const int64_t *words, int64_t wordCount, int64_t threads, int64_t leastBlock,
                                 int64_t site, int64_t region) {
  auto size = [](int64_t n) { return static_cast<size_t>(n); };
  std::vector<rt::DeviceLaunch::Result> results;
  for (int64_t i = 0; i < count; ++i)
    results.push_back({static_cast<DType>(dtypes[i]), {sizes + i * rank, size(rank)}});
  std::vector<rt::Tensor *> made = rt::deviceLaunch(
      {kernel, results, {operands, size(operandCount)}, {words, size(wordCount)}, threads, leastBlock, site, region});
  if (made.empty())
    return nullptr;
  std::copy(made.begin() + 1, made.end(), others);
  return made[0];
}
static int64_t toy_rt_multiplier(int64_t size) { return static_cast<int64_t>(rt::divisorFor(size).multiplier); }
static int64_t toy_rt_multiplier_shift(int64_t size) { return rt::divisorFor(size).shift; }
static void toy_rt_on_host(rt::Tensor *t) { rt::onHost(*t); }
static void toy_rt_read_element(rt::Tensor *t, int64_t at, void *to) {
  rt::readBytes(*t, at * sizeOf(t->dtype), sizeOf(t->dtype), to);
}
static void toy_rt_only_on_host(rt::Tensor *t) { rt::onHostOnly(*t); }
static void toy_rt_retain(rt::Tensor *t) { rt::retain(t); }
static void toy_rt_release_str(rt::Str *s) { rt::release(s); }
static void toy_rt_retain_str(rt::Str *s) { rt::retain(s); }
static void toy_rt_release_list(rt::List *list) { rt::release(list); }
static void toy_rt_retain_list(rt::List *list) { rt::retain(list); }
/// Consumes the list and the item's reference.
static rt::List *toy_rt_list_append(rt::List *list, const rt::Item *item) {
  return rt::append(rt::ListRef(list), *item).take();
}
/// Consumes the tensor. The row is a tensor, or its only element; so many rows in all are known to follow.
static rt::Tensor *toy_rt_append(rt::Tensor *x, const rt::Tensor *row, const void *element, int64_t more) {
  return rt::append(rt::TensorRef(x), row ? rt::onHost(*row) : element, more).take();
}
static rt::List *toy_rt_list_set(rt::List *list, int64_t index, const rt::Item *item) {
  return rt::set(rt::ListRef(list), index, *item).take();
}
/// Consumes the list.
static rt::List *toy_rt_list_unique(rt::List *list) { return rt::unique(rt::ListRef(list)).take(); }
static void *toy_rt_list_own(const rt::List *list, int64_t index) { return rt::ownElement(*list, index); }
static rt::Tensor *toy_rt_box(int64_t dtype, const void *element) {
  return rt::newScalar(static_cast<DType>(dtype), element);
}
static rt::Tensor *toy_rt_view(rt::Tensor *t, int64_t dtype, int64_t rank, const int64_t *sizes) {
  return rt::newView(t, static_cast<DType>(dtype), {sizes, static_cast<size_t>(rank)});
}
static void toy_rt_parallel_for(void (*body)(void *, int64_t, int64_t), void *context, int64_t n, int64_t grain) {
  rt::poll();
  rt::parallelFor(n, grain, body, context);
}
/// The same in a group of groups, for loops over its rows: see runtime/RowLoops.h.
static void toy_rt_row_loop(const rt::RowLoop *loop, int64_t grain) {
  rt::poll();
  rt::addRowLoop(*loop, grain);
}
static void toy_rt_run_row_loops() { rt::runRowLoops(); }
static void toy_rt_drop_row_loops() { rt::dropRowLoops(); }
/// The loop finds the steps of a piece that is written past the caches, and the bytes of a step, in two words of its
/// context. In the place of an operand, which is read anyway, nothing is gained.
static void toy_rt_streamed_for(void (*body)(void *, int64_t, int64_t), void *context, int64_t n, int64_t grain,
                                int64_t *words, int64_t stepBytes, int64_t inPlace) {
  words[0] = inPlace ? 0 : rt::streamSteps(n * stepBytes, stepBytes);
  words[1] = stepBytes;
  toy_rt_parallel_for(body, context, n, grain);
}
static void toy_rt_stream(void *to, const void *from, int64_t bytes) { rt::streamCopy(to, from, bytes); }
static void toy_rt_transpose(void *to, int64_t toPitch, const void *from, int64_t fromPitch, int64_t rows,
                             int64_t columns, int64_t elementBytes, int64_t streams) {
  rt::transpose({to, from, toPitch, fromPitch, rows, columns, streams != 0}, elementBytes);
}
static void toy_rt_sum_rows(void *to, const void *from, int64_t pitch, int64_t rows, int64_t count, int64_t type) {
  rt::sumRows({to, from, pitch, rows, count}, static_cast<rt::SummedAs>(type));
}
static void toy_rt_join(void *to, const rt::JoinedPart *parts, int64_t count, int64_t rows) {
  rt::join(static_cast<char *>(to), {parts, static_cast<size_t>(count)}, rows);
}
static void toy_rt_finish_stream() { rt::finishStream(); }
static void toy_rt_poll() { rt::poll(); }
/// At the end of a turn, where a request waits: Ctrl-C, or how far the loops are.
static void toy_rt_turn(int64_t done, int64_t total, int64_t innerDone, int64_t innerTotal) {
  rt::poll();
  rt::noteTurn(done, total, innerDone, innerTotal);
}
/// The index is outside: throws.
static void toy_rt_index_error(int64_t index, int64_t size, int64_t axis) { rt::checkIndex(index, size, axis); }
/// Consumes the operand and gives a tensor that nobody else holds, on the host.
static rt::Tensor *toy_rt_unique(rt::Tensor *t) {
  rt::onHostOnly(*(t = rt::unique(t)));
  return t;
}
/// A copy of a tensor that somebody else holds.
static rt::Tensor *toy_rt_copy(const rt::Tensor *t) {
  rt::Tensor *copy = rt::copyOf(t);
  rt::countCopy();
  return copy;
}
static int64_t toy_rt_draw(int64_t distribution, int64_t dtype, int64_t a, int64_t b) {
  rt::poll();
  int64_t bits = 0;
  rt::draw(abiState().environment->random().next(), static_cast<rt::Distribution>(distribution),
           static_cast<DType>(dtype), &a, &b, &bits);
  return bits;
}
static void toy_rt_too_deep() { rt::fail(DiagId::RecursionDepth); }
/// An error passes through a call.
static void toy_rt_passed(int64_t site) noexcept {
  if (std::vector<int64_t> &passed = abiState().passed; passed.size() < passed.capacity()) // nothing is allocated here
    passed.push_back(site);
}

/// Executes one operation; updates own their first operand.
static void toy_rt_eval(mlir::Operation *op, void **operands, void **results) {
  static const CompileOptions options;
  Evaluator evaluator(op->getParentOfType<mlir::ModuleOp>(), *abiState().environment, options);
  Frame frame(evaluator);
  frame.single = true;
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    rt::Value leaf = leafOf(v.getType(), operands[i]);
    frame.values[v] = leaf;
    if (!(i == 0 && takesFirst(op))) // it stays the caller's
      (void)rt::takeObject(leaf);
  }
  rt::deviceSite() = toy_rt_site;
  frame.run(op);
  rt::deviceSite() = -1;
  for (auto [i, v] : llvm::enumerate(op->getResults()))
    results[i] = rt::takeObject(frame.values[v]);
}

/// The same of a sum over ranks alone.
static void toy_rt_all_reduce(mlir::Operation *op, void **operands, void **results) {
  const auto &x = *static_cast<const rt::Tensor *>(operands[0]);
  auto reduction = llvm::cast<AllReduceOp>(op).getReduction();
  rt::deviceSite() = toy_rt_site;
  results[0] = ranks::allReduce(placeOf(op), x, ranks::reductionNamed(std::string_view(reduction))).take();
  rt::deviceSite() = -1;
}

/// Calls a block, which puts its results into `words`, and catches its errors.
static void toy_rt_try(mlir::Operation *op, int64_t *words, void (*block)(int64_t *, int64_t), int64_t depth) {
  AbiState &state = abiState();
  const size_t passed = state.passed.size();
  auto body = [&] {
    block(words, depth);
    return words[0] >= 0;
  };
  auto tell = [&](const rt::Error &error) {
    llvm::SmallVector<int64_t> sites = {toy_rt_site};
    sites.append(state.passed.begin() + passed, state.passed.end());
    state.passed.resize(passed);
    state.environment->noteCaught(error, sites, {});
  };
  if (attempt(*state.environment, body, tell))
    return;
  int64_t *word = words;
  for (mlir::Type type : op->getResultTypes()) {
    if (auto tensor = llvm::dyn_cast<TensorType>(type); tensor && tensor.isScalar()) {
      word = std::fill_n(word, tensor.isComplex() ? 2 : 1, 0);
      continue;
    }
    rt::Value value = absentValue(type);
    *word++ = reinterpret_cast<int64_t>(rt::takeObject(value));
  }
  words[0] = -1;
}

/// Notes an error of a block, which then returns.
static void toy_rt_note_failure(mlir::Operation *op, void **operands, void **) {
  std::vector<std::string> texts;
  for (void *text : llvm::ArrayRef(operands, op->getNumOperands()))
    texts.push_back(static_cast<rt::Str *>(text)->text);
  abiState().environment->noteCaught(failureOf(llvm::cast<SystemOp>(op), std::move(texts)), {toy_rt_site}, {});
}

static rt::Str *toy_rt_caught(int64_t part) { return rt::newStr(abiState().environment->caught(part)); }

/// Executes an operation that compiled code saw fail. Operands are objects, borrowed, and integers or bools.
[[noreturn]] static void toy_rt_refuse(mlir::Operation *op, ...) {
  llvm::SmallVector<rt::TensorRef> scalars;
  llvm::SmallVector<void *> operands, results(op->getNumResults());
  va_list arguments;
  va_start(arguments, op);
  for (mlir::Value v : op->getOperands())
    if (auto type = llvm::dyn_cast<TensorType>(v.getType()); type && type.isScalar()) {
      int64_t value = va_arg(arguments, int64_t);
      scalars.push_back(rt::TensorRef(rt::newScalar(type.getDtype(), &value)));
      operands.push_back(scalars.back().get());
    } else
      operands.push_back(va_arg(arguments, void *));
  va_end(arguments);
  toy_rt_eval(op, operands.data(), results.data());
  llvm_unreachable("compiled code and the evaluator check the same");
}

static double toy_rt_float_floordiv_f64(double a, double b) { return rt::floorDivide(a, b); }
static double toy_rt_float_mod_f64(double a, double b) { return rt::floorModulo(a, b); }
static float toy_rt_float_floordiv_f32(float a, float b) { return rt::floorDivide(double(a), double(b)); }
static float toy_rt_float_mod_f32(float a, float b) { return rt::floorModulo(double(a), double(b)); }
static void toy_rt_division_by_zero() { rt::fail(DiagId::DivisionByZero); }
static int64_t toy_rt_int_pow(int64_t a, int64_t b) { return rt::integerPower(a, b); }
static void toy_rt_elements(int64_t function, int64_t n, double *values) {
  rt::applyElements(static_cast<int>(function), n, values);
}
}

namespace toy {

int64_t &abiSite() { return toy_rt_site; }
int64_t abiLoops() { return toy_rt_loops; }

std::span<const std::pair<const char *, void *>> abiSymbols() {
#define TOY_SYMBOL(NAME) {#NAME, reinterpret_cast<void *>(&NAME)}
#define TOY_INTEGER(NAME)                                                                                              \
  {#NAME "_bool", reinterpret_cast<void *>(&NAME)}, {#NAME "_u8", reinterpret_cast<void *>(&NAME)},                    \
      {#NAME "_i32", reinterpret_cast<void *>(&NAME)}, {#NAME "_i64", reinterpret_cast<void *>(&NAME)}
#define TOY_LIBM(NAME)                                                                                                 \
  {#NAME, reinterpret_cast<void *>(static_cast<double (*)(double)>(&::NAME))},                                         \
      {#NAME "f", reinterpret_cast<void *>(static_cast<float (*)(float)>(&::NAME##f))}
#define TOY_LIBM2(NAME)                                                                                                \
  {#NAME, reinterpret_cast<void *>(static_cast<double (*)(double, double)>(&::NAME))}, {                               \
    #NAME "f", reinterpret_cast<void *>(static_cast<float (*)(float, float)>(&::NAME##f))                              \
  }
  static const std::pair<const char *, void *> table[] = {
      {"toy_rt_interrupted", &rt::interruptFlag()},
      {"toy_rt_requests", &rt::interruptFlag()}, // and the byte behind it
      {"__gxx_personality_v0", reinterpret_cast<void *>(&__gxx_personality_v0)},
      TOY_SYMBOL(toy_rt_poll),
      TOY_SYMBOL(toy_rt_turn),
      TOY_SYMBOL(toy_rt_site),
      TOY_SYMBOL(toy_rt_loops),
      TOY_SYMBOL(toy_rt_alloc),
      {"toy_rt_alloc_vector", reinterpret_cast<void *>(&rt::newVector)},
      TOY_SYMBOL(toy_rt_reuse),
      TOY_SYMBOL(toy_rt_launch),
      TOY_SYMBOL(toy_rt_multiplier),
      TOY_SYMBOL(toy_rt_multiplier_shift),
      TOY_SYMBOL(toy_rt_on_host),
      TOY_SYMBOL(toy_rt_only_on_host),
      TOY_SYMBOL(toy_rt_read_element),
      TOY_SYMBOL(toy_rt_stream),
      TOY_SYMBOL(toy_rt_join),
      TOY_SYMBOL(toy_rt_transpose),
      TOY_SYMBOL(toy_rt_sum_rows),
      TOY_SYMBOL(toy_rt_finish_stream),
      {"toy_rt_release", reinterpret_cast<void *>(static_cast<void (*)(rt::Tensor *)>(&rt::release))},
      TOY_SYMBOL(toy_rt_retain),
      TOY_SYMBOL(toy_rt_release_str),
      TOY_SYMBOL(toy_rt_retain_str),
      TOY_SYMBOL(toy_rt_release_list),
      TOY_SYMBOL(toy_rt_retain_list),
      TOY_SYMBOL(toy_rt_append),
      TOY_SYMBOL(toy_rt_list_append),
      TOY_SYMBOL(toy_rt_list_set),
      TOY_SYMBOL(toy_rt_list_unique),
      TOY_SYMBOL(toy_rt_list_own),
      TOY_SYMBOL(toy_rt_box),
      TOY_SYMBOL(toy_rt_view),
      TOY_SYMBOL(toy_rt_parallel_for),
      TOY_SYMBOL(toy_rt_row_loop),
      TOY_SYMBOL(toy_rt_run_row_loops),
      TOY_SYMBOL(toy_rt_drop_row_loops),
      TOY_SYMBOL(toy_rt_streamed_for),
      TOY_SYMBOL(toy_rt_copy),
      TOY_SYMBOL(toy_rt_index_error),
      TOY_SYMBOL(toy_rt_unique),
      TOY_SYMBOL(toy_rt_draw),
      TOY_SYMBOL(toy_rt_too_deep),
      TOY_SYMBOL(toy_rt_passed),
      TOY_SYMBOL(toy_rt_gemm),
      TOY_SYMBOL(toy_rt_planar_gemm),
      TOY_SYMBOL(toy_rt_eval),
      TOY_SYMBOL(toy_rt_all_reduce),
      TOY_SYMBOL(toy_rt_profile_depth),
      TOY_SYMBOL(toy_rt_profile_places),
      TOY_SYMBOL(toy_rt_try),
      TOY_SYMBOL(toy_rt_note_failure),
      TOY_SYMBOL(toy_rt_caught),
      TOY_SYMBOL(toy_rt_refuse),
      TOY_SYMBOL(toy_rt_float_floordiv_f64),
      TOY_SYMBOL(toy_rt_float_mod_f64),
      TOY_SYMBOL(toy_rt_float_floordiv_f32),
      TOY_SYMBOL(toy_rt_float_mod_f32),
      TOY_SYMBOL(toy_rt_division_by_zero),
      TOY_INTEGER(toy_rt_int_pow),
      TOY_SYMBOL(toy_rt_elements),
      TOY_LIBM(floor),
      TOY_LIBM(ceil),
      TOY_LIBM(trunc),
      TOY_LIBM(roundeven),
      TOY_LIBM(sqrt),
      TOY_LIBM2(fmod)};
  static const auto all = [] { // with element functions of vectors
    const size_t rows = rt::elementFunctions().size();
    static std::vector<std::string> names(2 * rows);
    std::vector<std::pair<const char *, void *>> symbols(std::begin(table), std::end(table));
    for (size_t i = 0; i < 2 * rows; ++i) {
      names[i] = (i < rows ? laneFunctionPrefix : lanePairPrefix) + std::to_string(i % rows);
      if (void *function = i < rows ? rt::laneFunction(i) : rt::pairFunction(i - rows))
        symbols.emplace_back(names[i].c_str(), function);
    }
    return symbols;
  }();
  return all;
}

} // namespace toy
