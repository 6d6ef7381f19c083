// SPDX-License-Identifier: Apache-2.0
/// \file
/// What expressions and statements are made of, for walks that care for some kinds of them only.
#pragma once

#include "ast/AST.h"

#include <concepts>
#include <type_traits>

namespace toy::ast {

/// Visits the pointers of a node to its expressions and statements, in the order in which they are evaluated; `visit`
/// takes a pointer of any of these kinds, which may be null. Lambdas, functions and structs have scopes of their own:
/// what they hold is no part of them here, nor are types.
template <std::derived_from<const Node> N, typename Visit> void forEachPart(N &node, const Visit &visit) {
  constexpr bool isConst = std::is_const_v<N>;
  std::conditional_t<isConst, const Node, Node> &any = node;
  auto all = [&](auto &pointers) {
    for (auto &pointer : pointers)
      visit(pointer);
  };
  auto arguments = [&](auto &given) {
    for (auto &argument : given)
      visit(argument.value);
  };
  auto fields = [&](auto &self, auto &parts) -> void {
    for (auto &part : parts) {
      visit(part.value);
      self(self, part.spec);
    }
  };
#define TOY_PARTS(KIND, ...)                                                                                           \
  case NodeKind::KIND: {                                                                                               \
    auto &n = static_cast<std::conditional_t<isConst, const KIND, KIND> &>(any);                                       \
    __VA_ARGS__;                                                                                                       \
    return;                                                                                                            \
  }
  switch (node.kind) {
    TOY_PARTS(Format, fields(fields, n.parts))
    TOY_PARTS(Bracket, all(n.elements))
    TOY_PARTS(Tuple, all(n.elements))
    TOY_PARTS(Brace, all(n.elements))
    TOY_PARTS(Unary, visit(n.operand))
    TOY_PARTS(Adjoint, visit(n.operand))
    TOY_PARTS(Member, visit(n.base))
    TOY_PARTS(TryElse, visit(n.value), visit(n.otherwise))
    TOY_PARTS(Binary, visit(n.first); for (auto &step : n.steps) visit(step.operand))
    TOY_PARTS(Call, visit(n.function), arguments(n.arguments))
    TOY_PARTS(Index, visit(n.base);
              for (auto &s : n.subscripts) visit(s.value), visit(s.start), visit(s.stop), visit(s.step))
    TOY_PARTS(Block, all(n.statements))
    TOY_PARTS(Var, visit(n.value))
    TOY_PARTS(Assign, visit(n.value), visit(n.target))
    TOY_PARTS(ExprStmt, visit(n.value))
    TOY_PARTS(If, visit(n.condition), visit(n.thenBlock), visit(n.elseBranch))
    TOY_PARTS(While, visit(n.condition), visit(n.body))
    TOY_PARTS(For, visit(n.iterable), visit(n.body))
    TOY_PARTS(Try, visit(n.body), visit(n.handler))
    TOY_PARTS(Return, visit(n.value))
    TOY_PARTS(Assert, visit(n.condition), visit(n.text))
    TOY_PARTS(Print, arguments(n.arguments))
    TOY_PARTS(Write, visit(n.value))
  default:
    return;
  }
#undef TOY_PARTS
}

} // namespace toy::ast
