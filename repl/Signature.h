// SPDX-License-Identifier: Apache-2.0
/// \file
/// The parameters of what a call names: a function, a built-in one, or a struct.
#pragma once

#include "repl/Surroundings.h"

#include <optional>
#include <string>
#include <vector>

namespace toy {
class Session;
struct BuiltinInfo;

struct CallSignature {
  struct Parameter {
    std::string name, text; ///< `axis`, as it is written: `axis=`
    bool isMany = false;    ///< takes any number of arguments
    bool isNamed = false;   ///< can be given by its name
  };
  std::string name;
  std::vector<Parameter> parameters;
  std::string result;      ///< ` -> f64[N]`, or nothing
  size_t current = 0;      ///< the parameter that is being typed; their number where none is left
  std::vector<bool> given; ///< for each: it has an argument before the current one
};

/// All built-in functions, made once.
const std::vector<BuiltinInfo> &builtins();
/// The parameters of a name, with brackets; empty for what cannot be called.
std::string signatureText(const std::string &name, Session &session);
/// The signature that a call needs; nothing for what cannot be called.
std::optional<CallSignature> signatureOf(const Surroundings::Call &call, Session &session);
/// It on a line of at most `width` columns. `mark` and `unmark` are put around the current parameter.
std::string textOf(const CallSignature &signature, size_t width, const std::string &mark, const std::string &unmark);

} // namespace toy
