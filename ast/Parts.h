// SPDX-License-Identifier: Apache-2.0
/// \file
/// What expressions are made of.
#pragma once

#include "ast/AST.h"

#include <functional>

namespace toy::ast {

/// Visits the expressions that an expression is made of, in the order of the text. What a lambda holds is none of them.
void forEachPart(const Expr &e, const std::function<void(const Expr &)> &visit);

} // namespace toy::ast
