// SPDX-License-Identifier: Apache-2.0
/// \file
/// One walk over the tree with the scopes that IR generation has.
#include "sema/Summary.h"

#include "ast/Parts.h"

#include <algorithm>

namespace toy::sema {
namespace {

using ast::NodeKind;

/// The variable that an assignment to a name, an index or a member changes.
const ast::Name &variableOf(const ast::Expr &target) {
  const ast::Expr *base = &target;
  while (base->kind != NodeKind::Name)
    base = base->kind == NodeKind::Index ? ast::cast<ast::Index>(*base).base.get()
                                         : ast::cast<ast::Member>(*base).base.get();
  return ast::cast<ast::Name>(*base);
}

class Walker {
public:
  explicit Walker(Summary &out) : out(out) {}

  void function(const ast::Function &f) {
    for (const ast::Parameter &parameter : f.parameters)
      expr(parameter.defaultValue.get());
    isFunction = true;
    scopes.emplace_back();
    for (const ast::Parameter &parameter : f.parameters) {
      parameters.push_back(parameter.name);
      scopes.back().insert(parameter.name);
    }
    for (const ast::Parameter &parameter : f.parameters)
      if (parameter.type)
        declareSizes(*parameter.type);
    for (const ast::ExprPtr &fact : f.where)
      expr(fact.get());
    if (f.result)
      type(*f.result);
    if (f.body)
      block(*f.body);
  }

  void statement(const ast::Stmt *s) {
    if (!s)
      return;
    switch (s->kind) {
    case NodeKind::Block:
      return block(ast::cast<ast::Block>(*s));
    case NodeKind::Var:
      return var(ast::cast<ast::Var>(*s));
    case NodeKind::Assign:
      return assign(ast::cast<ast::Assign>(*s));
    case NodeKind::If:
      out.branches = true;
      break;
    case NodeKind::While:
      out.loops = true;
      break;
    case NodeKind::For:
      return loop(ast::cast<ast::For>(*s));
    case NodeKind::Try:
      return attempt(ast::cast<ast::Try>(*s));
    case NodeKind::Return:
      out.returnsValue |= ast::cast<ast::Return>(*s).value != nullptr;
      break;
    case NodeKind::Function:
      declare(ast::cast<ast::Function>(*s).name);
      return nested(ast::cast<ast::Function>(*s));
    default:
      break;
    }
    parts(*s);
  }

  void expr(const ast::Expr *e) {
    if (!e)
      return;
    switch (e->kind) {
    case NodeKind::Name:
      return read(ast::cast<ast::Name>(*e).name);
    case NodeKind::Binary:
      for (const ast::Binary::Step &step : ast::cast<ast::Binary>(*e).steps)
        operation(step.op);
      break;
    case NodeKind::Call:
      call(ast::cast<ast::Call>(*e));
      break;
    case NodeKind::Lambda:
      return nested(*ast::cast<ast::Lambda>(*e).function);
    default:
      break;
    }
    parts(*e);
  }

private:
  void walk(const ast::Expr *e) { expr(e); }
  void walk(const ast::Stmt *s) { statement(s); }
  void parts(const ast::Node &node) {
    ast::forEachPart(node, [this](const auto &part) { walk(part.get()); });
  }

  void operation(ast::BinaryOp op) {
    using enum ast::BinaryOp;
    out.factors += op == Mul || op == Div || op == MatMul || op == Pow;
  }

  /// What a function inside mentions and does not declare is mentioned here; what it would assign to, too: that is an
  /// error about its copy.
  void nested(const ast::Function &f) {
    Summary inside;
    Walker(inside).function(f);
    for (const NameSet *names : {&inside.reads, &inside.writes})
      for (const std::string &name : *names)
        read(name);
    for (const std::string &name : inside.freeCalls)
      callee(name);
    out.factors += inside.factors;
  }

  /// A variable may hold the function.
  void callee(const std::string &name) {
    out.calls.insert(name);
    if (find(name))
      use(name);
    else
      out.freeCalls.insert(name);
  }

  void call(const ast::Call &c) {
    if (!c.function)
      callee(c.functionName());
    out.factors += c.callee == "cos" || c.callee == "sin";
  }

  void block(const ast::Block &b) {
    scopes.emplace_back();
    for (const ast::StmtPtr &s : b.statements)
      statement(s.get());
    scopes.pop_back();
  }

  void loop(const ast::For &s) {
    out.loops = true;
    expr(s.iterable.get());
    scopes.emplace_back(s.names.begin(), s.names.end());
    statement(s.body.get());
    scopes.pop_back();
  }

  void attempt(const ast::Try &s) {
    out.branches = true;
    statement(s.body.get());
    scopes.emplace_back(NameSet{s.name});
    statement(s.handler.get());
    scopes.pop_back();
  }

  void var(const ast::Var &s) {
    expr(s.value.get());
    if (s.type) {
      type(*s.type);
      declareSizes(*s.type);
    }
    for (const std::string &name : s.names)
      declare(name);
  }

  void assign(const ast::Assign &s) {
    expr(s.value.get());
    if (s.op) {
      operation(*s.op);
      expr(s.target.get());
    }
    target(*s.target, s.op.has_value());
  }

  void target(const ast::Expr &t, bool isRead) {
    if (auto *tuple = ast::dynCast<ast::Tuple>(&t)) {
      for (const ast::ExprPtr &element : tuple->elements)
        target(*element, isRead);
      return;
    }
    if (t.kind != NodeKind::Name && !isRead) // the rest of the variable stays
      expr(&t);
    const std::string &name = variableOf(t).name;
    if (find(name))
      use(name);
    else
      out.writes.insert(name);
  }

  void type(const ast::TypeExpr &t) {
    for (const ast::TypeExpr &element : t.elements)
      type(element);
    for (const auto &size : t.sizes)
      sizeNames(size, [&](const std::string &name) { read(name); });
  }

  /// Names of sizes are integers from their declaration on.
  void declareSizes(const ast::TypeExpr &t) {
    if (scopes.empty())
      return;
    for (const ast::TypeExpr &element : t.elements)
      declareSizes(element);
    for (const auto &size : t.sizes)
      sizeNames(size, [&](const std::string &name) {
        if (!find(name))
          scopes.back().insert(name);
      });
  }

  template <typename Visit> static void sizeNames(const ast::ExprPtr &size, Visit visit) {
    Summary names;
    Walker(names).expr(size.get());
    for (const std::string &name : names.reads)
      visit(name);
  }

  void declare(const std::string &name) {
    if (scopes.empty())
      out.writes.insert(name);
    else
      scopes.back().insert(name);
  }

  /// The scope that declares a name, or null: it comes from outside.
  const NameSet *find(const std::string &name) const {
    auto scope =
        std::find_if(scopes.rbegin(), scopes.rend(), [&](const NameSet &names) { return names.count(name) > 0; });
    return scope == scopes.rend() ? nullptr : &*scope;
  }

  void read(const std::string &name) {
    if (find(name))
      use(name);
    else
      out.reads.insert(name);
  }

  void use(const std::string &name) {
    if (isFunction && find(name) == &scopes.front())
      if (auto parameter = std::find(parameters.begin(), parameters.end(), name); parameter != parameters.end())
        out.usedParameters.insert(parameter - parameters.begin());
  }

  Summary &out;
  std::vector<NameSet> scopes; ///< innermost last; at the top level none
  std::vector<std::string> parameters;
  bool isFunction = false;
};

} // namespace

Summary summarize(const ast::Stmt &statement) {
  Summary out;
  if (auto *f = ast::dynCast<ast::Function>(&statement))
    Walker(out).function(*f);
  else
    Walker(out).statement(&statement);
  return out;
}

Summary summarize(const ast::Expr &expression) {
  Summary out;
  Walker(out).expr(&expression);
  return out;
}

std::vector<std::string> assignedIn(const ast::Node &node) {
  std::vector<std::string> out;
  auto target = [&](auto &self, const ast::Expr &t) -> void {
    if (auto *tuple = ast::dynCast<ast::Tuple>(&t)) {
      for (const ast::ExprPtr &element : tuple->elements)
        self(self, *element);
      return;
    }
    const std::string &name = variableOf(t).name;
    if (std::find(out.begin(), out.end(), name) == out.end())
      out.push_back(name);
  };
  auto walk = [&](auto &self, const ast::Node *n) -> void {
    if (!n)
      return;
    if (auto *assign = ast::dynCast<ast::Assign>(n))
      return target(target, *assign->target);
    ast::forEachPart(*n, [&](const auto &part) {
      if constexpr (!std::is_same_v<decltype(part.get()), ast::Expr *>)
        self(self, part.get());
    });
  };
  walk(walk, &node);
  return out;
}

} // namespace toy::sema
