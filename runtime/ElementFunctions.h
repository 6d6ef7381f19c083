// SPDX-License-Identifier: Apache-2.0
/// \file
/// Elementary functions of real and complex elements. Those of ElementFunctions.def are computed several at a time,
/// with the same bits for an element wherever it stands; the reference evaluator and compiled code share them.
#pragma once

#include "support/DType.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace toy::rt {

/// Arguments (the parts of complex ones) in, results out, in place: one element, any values.
using CarefulFunction = void (*)(double *);
/// n elements in place: all first arguments, all second ones, and so on.
using ElementKernel = void (*)(int64_t n, double *values, CarefulFunction careful);

struct ElementFunction {
  std::string_view name;
  DType dtype;
  int inputs, outputs;
  CarefulFunction careful;

  int most() const { return inputs > outputs ? inputs : outputs; }
  /// Its function of registers takes and gives floats, twice as many.
  bool isSingle() const { return dtype == DType::F32 && outputs == 1; }
};

std::span<const ElementFunction> elementFunctions();
/// Index into elementFunctions(), or -1. Results for f32 and c64 are doubles that still have to be rounded.
int findElementFunction(std::string_view name, DType dtype);
void applyElements(int function, int64_t n, double *values);
/// How many doubles the machine's registers have, and the function of one or two such registers that gives another, or
/// null: of doubles, or of floats.
int laneWidth();
void *laneFunction(int function);
/// The same of two registers of each argument, first those of the first one, that gives two: where code of LLVM has a
/// result of two parts. Of c64 a function of one register for each part, of as many elements as it has floats.
void *pairFunction(int function);

} // namespace toy::rt
