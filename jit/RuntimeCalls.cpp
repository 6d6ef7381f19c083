// SPDX-License-Identifier: Apache-2.0
/// \file
/// What compiled code calls by name (RuntimeCalls.def): objects, then the numbers that passes/lowering/RuntimeCalls.cpp
/// puts together. Objects are borrowed, but for the first one of updates and of what can be done in place; results are
/// the caller's.
#include "jit/Abi.h"

#include "reference/EvaluatorImpl.h"
#include "runtime/ArrayOps.h"
#include "runtime/Format.h"
#include "runtime/FormatField.h"
#include "runtime/Io.h"
#include "runtime/List.h"
#include "runtime/Parallel.h"
#include "runtime/Text.h"

using namespace toy;

namespace calls {

using Objects = void *const *;
using Numbers = const int64_t *;

static const rt::Tensor &tensor(Objects x, int i) { return *static_cast<rt::Tensor *>(x[i]); }
static const std::string &text(Objects x, int i) { return static_cast<rt::Str *>(x[i])->text; }
static rt::TensorRef consumed(Objects x) { return rt::TensorRef(static_cast<rt::Tensor *>(x[0])); }
static std::span<const int64_t> numbers(Numbers n, int64_t count) { return {n, static_cast<size_t>(count)}; }
static std::span<const rt::Tensor *const> tensors(Objects x, int first, int64_t count) {
  return {reinterpret_cast<const rt::Tensor *const *>(x) + first, static_cast<size_t>(count)};
}

static rt::TensorRef sort(Objects x, Numbers n) {
  return n[2] ? rt::sort(tensor(x, 0), n[0], n[1], {n[3], n[4]}) : rt::sort(consumed(x), n[0], n[1]);
}
static rt::TensorRef argsort(Objects x, Numbers n) {
  return n[2] ? rt::argsort(tensor(x, 0), n[0], n[1], {n[3], n[4]}) : rt::argsort(consumed(x), n[0], n[1]);
}
static rt::TensorRef cumsum(Objects x, Numbers n) { return rt::cumulate(consumed(x), n[0], false); }
static rt::TensorRef cumprod(Objects x, Numbers n) { return rt::cumulate(consumed(x), n[0], true); }
static rt::TensorRef nonzero(Objects x, Numbers) { return rt::nonzero(tensor(x, 0)); }
static rt::TensorRef mask_select(Objects x, Numbers) { return rt::maskSelect(tensor(x, 0), tensor(x, 1)); }
static rt::TensorRef mask_store(Objects x, Numbers) { return rt::maskStore(consumed(x), tensor(x, 1), tensor(x, 2)); }
static rt::TensorRef take(Objects x, Numbers n) { return rt::take(tensor(x, 0), tensors(x, 1, n[1]), n[0]); }
static rt::TensorRef take_store(Objects x, Numbers n) {
  return rt::takeStore(consumed(x), tensor(x, 1), tensors(x, 2, n[1]), n[0]);
}
static rt::TensorRef take_along(Objects x, Numbers n) { return rt::takeAlong(tensor(x, 0), tensor(x, 1), n[0]); }
static rt::TensorRef put_along(Objects x, Numbers n) {
  return rt::putAlong(consumed(x), tensor(x, 1), tensor(x, 2), n[0]);
}
static rt::TensorRef slice_store(Objects x, Numbers n) {
  int64_t rank = n[0];
  return rt::storeSlice(consumed(x), tensor(x, 1), numbers(n + 1 + rank, rank), numbers(n + 1 + 2 * rank, rank),
                        numbers(n + 1, rank));
}
static rt::TensorRef shorten(Objects x, Numbers n) { return rt::shorten(consumed(x), n[0]); }
static rt::ListRef list_slice(Objects x, Numbers n) {
  return rt::slice(rt::ListRef(static_cast<rt::List *>(x[0])), n[0], n[1], n[2]);
}
static rt::TensorRef next_key(Objects, Numbers) { return rt::keyTensor(abiState().environment->random().next()); }
static rt::TensorRef fold_in(Objects x, Numbers) { return rt::foldIn(rt::keyOf(tensor(x, 0)), tensor(x, 1)); }
static rt::TensorRef sample(Objects x, Numbers n) {
  return rt::sample(rt::keyOf(tensor(x, 0)), static_cast<rt::Distribution>(n[0]), static_cast<DType>(n[1]),
                    numbers(n + 3, n[2]), tensor(x, 1), tensor(x, 2));
}
static rt::TensorRef permutation(Objects x, Numbers n) { return rt::permutation(rt::keyOf(tensor(x, 0)), n[0], n[1]); }
static rt::TensorRef read_binary(Objects x, Numbers n) {
  return rt::readBinary(text(x, 0), static_cast<DType>(n[0]), numbers(n + 3, n[1]), n[2]);
}
static rt::StrRef str_constant(Objects x, Numbers n) {
  return rt::StrRef(rt::newStr(std::string(static_cast<const char *>(x[0]), n[0])));
}
static rt::StrRef to_str(Objects x, Numbers) { return rt::StrRef(rt::newStr(rt::format(tensor(x, 0)))); }
static rt::StrRef str_concat(Objects x, Numbers) { return rt::StrRef(rt::newStr(text(x, 0) + text(x, 1))); }
static rt::StrRef str_slice(Objects x, Numbers n) { return rt::StrRef(rt::newStr(text(x, 0).substr(n[0], n[1]))); }
static int64_t str_eq(Objects x, Numbers) { return text(x, 0) == text(x, 1); }
static int64_t str_len(Objects x, Numbers) { return static_cast<int64_t>(text(x, 0).size()); }

static rt::Value text_function(Objects x, Numbers n) { return rt::textOf(n[0], x); }
static int64_t text_number(Objects x, Numbers n) { return rt::numberOfText(n[0], x); }

static rt::Str *format(const char *plan, const int64_t *words) {
  rt::poll();
  return rt::newStr(rt::FormatPlan::run(plan, words));
}

/// The form in which compiled code calls them.
template <auto function> static auto called(Objects x, Numbers n) {
  rt::poll();
  auto given = function(x, n);
  if constexpr (std::is_same_v<decltype(given), int64_t>)
    return given;
  else if constexpr (std::is_same_v<decltype(given), rt::Value>)
    return rt::takeObject(given);
  else
    return static_cast<void *>(given.take());
}
template <typename Function> static void *address(Function *function) { return reinterpret_cast<void *>(function); }

} // namespace calls

namespace toy {

std::span<const std::pair<const char *, void *>> runtimeCalls() {
  static const std::pair<const char *, void *> table[] = {
#define TOY_RUNTIME_CALL(OPERATION, NAME) {"toy_rt_" #NAME, calls::address(calls::called<&calls::NAME>)},
#include "jit/RuntimeCalls.def"
      {"toy_rt_text_number", calls::address(calls::called<&calls::text_number>)},
      {"toy_rt_format", calls::address(&calls::format)},
  };
  return table;
}

} // namespace toy
