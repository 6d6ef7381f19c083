// SPDX-License-Identifier: Apache-2.0
/// \file
/// One case a kind of expression.
#include "ast/Parts.h"

namespace toy::ast {
namespace {

using Visit = std::function<void(const Expr &)>;

void visitFields(const std::vector<Format::Part> &parts, const Visit &visit) {
  for (const Format::Part &part : parts) {
    if (part.value)
      visit(*part.value);
    visitFields(part.spec, visit);
  }
}

void visitAll(const std::vector<ExprPtr> &all, const Visit &visit) {
  for (const ExprPtr &e : all)
    visit(*e);
}

} // namespace

void forEachPart(const Expr &e, const Visit &visit) {
  switch (e.kind) {
  case NodeKind::Format:
    return visitFields(cast<Format>(e).parts, visit);
  case NodeKind::Bracket:
    return visitAll(cast<Bracket>(e).elements, visit);
  case NodeKind::Tuple:
    return visitAll(cast<Tuple>(e).elements, visit);
  case NodeKind::Brace:
    return visitAll(cast<Brace>(e).elements, visit);
  case NodeKind::Unary:
    return visit(*cast<Unary>(e).operand);
  case NodeKind::Adjoint:
    return visit(*cast<Adjoint>(e).operand);
  case NodeKind::Member:
    return visit(*cast<Member>(e).base);
  case NodeKind::Binary:
    visit(*cast<Binary>(e).first);
    for (const Binary::Step &step : cast<Binary>(e).steps)
      visit(*step.operand);
    return;
  case NodeKind::Call:
    if (auto &function = cast<Call>(e).function)
      visit(*function);
    for (const Argument &argument : cast<Call>(e).arguments)
      visit(*argument.value);
    return;
  case NodeKind::TryElse:
    visit(*cast<TryElse>(e).value);
    return visit(*cast<TryElse>(e).otherwise);
  case NodeKind::Index:
    visit(*cast<Index>(e).base);
    for (const Subscript &s : cast<Index>(e).subscripts)
      for (const ExprPtr *part : {&s.value, &s.start, &s.stop, &s.step})
        if (*part)
          visit(**part);
    return;
  default:
    return;
  }
}

} // namespace toy::ast
