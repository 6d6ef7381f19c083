// SPDX-License-Identifier: Apache-2.0
/// \file
/// All rows of the libraries, and calls of them.
#include "runtime/Library.h"

#include "runtime/Apart.h"
#include "runtime/Memory.h"
#include "runtime/OpenBlas.h"
#include "runtime/Ownership.h"

#include <optional>

namespace toy::rt {

static const LibraryRow *findRow(std::string_view name) {
  for (auto rows :
       {linearAlgebraFunctions(), spectralFunctions(), fourierFunctions(), convolutionFunctions(), searchFunctions()})
    for (const LibraryRow &row : rows)
      if (row.name == name)
        return &row;
  return nullptr;
}

/// Headers of their own over the arguments' elements: whoever updates those meanwhile works on a copy, and they live as
/// long as the thread.
template <typename Function>
static std::vector<TensorRef> callApart(Function function, LibraryArguments arguments, LibraryParameters parameters) {
  struct Call {
    std::vector<TensorRef> operands, results;
    std::vector<int64_t> parameters;
  };
  auto call = std::make_shared<Call>();
  call->parameters.assign(parameters.begin(), parameters.end());
  {
    Unlisted unlisted;
    for (const Tensor *t : arguments)
      call->operands.push_back(TensorRef(newView(const_cast<Tensor *>(t), t->dtype, t->shape())));
  }
  runApart([call, function] {
    std::vector<const Tensor *> operands;
    for (const TensorRef &t : call->operands)
      operands.push_back(t.get());
    call->results = function(operands, call->parameters);
  });
  for (TensorRef &t : call->results)
    listObject(*t);
  return std::move(call->results);
}

std::vector<TensorRef> callLibrary(std::string_view name, LibraryArguments arguments, LibraryParameters parameters,
                                   bool wantsFirst, TensorRef consumed) {
  constexpr double briefWork = 1e8; // operations: some hundredths of a second
  const LibraryRow *row = findRow(name);
  LibraryFunction function = !wantsFirst && row->withoutFirst ? row->withoutFirst : row->function;
  const double work = row->work ? row->work(arguments) : 0;
  std::optional<OneBlasThread> one;
  if (row->work && work < longWork)
    one.emplace();
  auto call = [&](auto called) {
    return work > briefWork ? callApart(called, arguments, parameters) : called(arguments, parameters);
  };
  if (!row->overFirst || !consumed || !isHeldOnce(*consumed))
    return call(function);
  onHostOnly(*consumed);
  auto found = call([row](LibraryArguments of, LibraryParameters by) {
    return row->overFirst(of, by) ? std::vector<TensorRef>() : row->function(of, by);
  });
  if (found.empty())
    found.push_back(std::move(consumed));
  return found;
}

} // namespace toy::rt
