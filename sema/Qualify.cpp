// SPDX-License-Identifier: Apache-2.0
/// \file
/// One walk over the tree with the scopes that IR generation has.
#include "sema/Qualify.h"

#include "ast/Parts.h"

#include <algorithm>

namespace toy::sema {
namespace {

using ast::NodeKind;

class Qualifier {
public:
  explicit Qualifier(const ModuleNames &names) : names(names) {}

  void statement(ast::Stmt *s) {
    if (!s)
      return;
    switch (s->kind) {
    case NodeKind::Block:
      return block(as<ast::Block>(*s));
    case NodeKind::Var:
      return var(as<ast::Var>(*s));
    case NodeKind::For:
      expr(as<ast::For>(*s).iterable);
      return inside(as<ast::For>(*s).names, as<ast::For>(*s).body.get());
    case NodeKind::Try:
      statement(as<ast::Try>(*s).body.get());
      return inside({as<ast::Try>(*s).name}, as<ast::Try>(*s).handler.get());
    case NodeKind::Function:
      declare(as<ast::Function>(*s).name);
      return function(as<ast::Function>(*s));
    case NodeKind::Struct:
      return structure(as<ast::Struct>(*s));
    default:
      return parts(*s);
    }
  }

private:
  template <typename T> static T &as(ast::Node &node) { return static_cast<T &>(node); }

  bool isLocal(const std::string &name) const {
    return std::any_of(scopes.begin(), scopes.end(), [&](const auto &scope) { return scope.count(name) > 0; });
  }
  void rename(std::string &name) const {
    if (auto known = names.names.find(name); known != names.names.end() && !isLocal(name))
      name = known->second;
  }
  /// A name of the top level is called as in the tables, any other one is a local name from here on.
  void declare(std::string &name) {
    if (scopes.empty())
      rename(name);
    else
      scopes.back().insert(name);
  }

  /// The module that an expression names, or null.
  const ModuleNames::Module *moduleOf(const ast::Expr &e) const {
    auto *name = ast::dynCast<ast::Name>(&e);
    auto it = name && !isLocal(name->name) ? names.modules.find(name->name) : names.modules.end();
    return it == names.modules.end() ? nullptr : &it->second;
  }
  /// One that the module has not keeps its name, for the error.
  static std::string memberOf(const ModuleNames::Module &module, const ast::Expr &alias, const std::string &member) {
    auto it = module.names.find(member);
    return it != module.names.end() ? it->second : ast::cast<ast::Name>(alias).name + "." + member;
  }

  template <typename Pointer> void expr(Pointer &e) {
    if (!e)
      return;
    switch (e->kind) {
    case NodeKind::Name:
      return rename(as<ast::Name>(*e).name);
    case NodeKind::Call:
      return call(as<ast::Call>(*e));
    case NodeKind::Lambda:
      return function(*as<ast::Lambda>(*e).function);
    case NodeKind::Member:
      if (auto &member = as<ast::Member>(*e); const ModuleNames::Module *module = moduleOf(*member.base)) {
        auto name = std::make_unique<ast::Name>(member.range);
        name->name = memberOf(*module, *member.base, member.member);
        e = std::move(name);
      } else
        expr(member.base);
      return;
    default:
      return parts(*e);
    }
  }

  template <typename Pointer> void walk(Pointer &part) {
    if constexpr (std::derived_from<std::remove_reference_t<decltype(*part)>, ast::Expr>)
      expr(part);
    else
      statement(part.get());
  }
  void parts(ast::Node &node) {
    ast::forEachPart(node, [this](auto &part) { walk(part); });
  }

  void call(ast::Call &c) {
    const ModuleNames::Module *module = c.isMember ? moduleOf(*c.arguments[0].value) : nullptr;
    if (module) {
      c.callee = memberOf(*module, *c.arguments[0].value, c.callee);
      c.arguments.erase(c.arguments.begin());
      c.isMember = false;
    } else if (c.isMember) { // a member of a struct has its own name
      c.qualified = c.callee;
      rename(c.qualified);
    } else
      rename(c.callee);
    parts(c);
  }

  void type(ast::TypeExpr &t) {
    rename(t.name);
    for (ast::TypeExpr &element : t.elements)
      type(element);
    for (const ast::ExprPtr &size : t.sizes)
      declareSizes(size.get());
  }
  /// Names of sizes are local names.
  void declareSizes(const ast::Expr *size) {
    if (!size || scopes.empty())
      return;
    if (auto *name = ast::dynCast<ast::Name>(size))
      scopes.back().insert(name->name);
    if (auto *binary = ast::dynCast<ast::Binary>(size)) {
      declareSizes(binary->first.get());
      for (const ast::Binary::Step &step : binary->steps)
        declareSizes(step.operand.get());
    }
  }

  void function(ast::Function &f) {
    for (ast::Parameter &parameter : f.parameters)
      expr(parameter.defaultValue);
    scopes.emplace_back();
    for (ast::Parameter &parameter : f.parameters)
      scopes.back().insert(parameter.name);
    for (ast::Parameter &parameter : f.parameters)
      if (parameter.type)
        type(*parameter.type);
    for (ast::ExprPtr &fact : f.where)
      expr(fact);
    if (f.result)
      type(*f.result);
    statement(f.body.get());
    scopes.pop_back();
  }

  void structure(ast::Struct &s) {
    declare(s.name);
    for (ast::Parameter &member : s.members) {
      expr(member.defaultValue);
      if (member.type)
        type(*member.type);
    }
  }

  void var(ast::Var &s) {
    expr(s.value);
    if (s.type)
      type(*s.type);
    for (std::string &name : s.names)
      declare(name);
  }

  void block(ast::Block &b) {
    scopes.emplace_back();
    for (ast::StmtPtr &s : b.statements)
      statement(s.get());
    scopes.pop_back();
  }

  void inside(const std::vector<std::string> &declared, ast::Stmt *body) {
    scopes.emplace_back(declared.begin(), declared.end());
    statement(body);
    scopes.pop_back();
  }

  const ModuleNames &names;
  std::vector<std::set<std::string>> scopes; ///< innermost last; at the top level none
};

class UseCollector {
public:
  std::vector<ModuleUse> uses;

  void visit(const ast::Node *node) {
    if (!node)
      return;
    if (auto *name = ast::dynCast<ast::Name>(node))
      add(node->range, name->name);
    else if (auto *call = ast::dynCast<ast::Call>(node))
      add(node->range, call->callee);
    else if (auto *lambda = ast::dynCast<ast::Lambda>(node))
      visit(lambda->function.get());
    else if (auto *function = ast::dynCast<ast::Function>(node)) {
      members(function->parameters);
      for (const ast::ExprPtr &fact : function->where)
        visit(fact.get());
      type(function->result);
      visit(function->body.get());
    } else if (auto *structure = ast::dynCast<ast::Struct>(node))
      members(structure->members);
    else if (auto *var = ast::dynCast<ast::Var>(node))
      type(var->type);
    ast::forEachPart(*node, [this](const auto &part) { visit(part.get()); });
  }

private:
  void add(SourceRange range, const std::string &name) {
    if (name.find('.') != std::string::npos)
      uses.push_back({range.begin, name});
  }
  template <typename Pointer> void type(const Pointer &t) {
    if (t)
      typeExpr(*t);
  }
  void typeExpr(const ast::TypeExpr &t) {
    add(t.range, t.name);
    for (const ast::TypeExpr &element : t.elements)
      typeExpr(element);
  }
  void members(const std::vector<ast::Parameter> &parameters) {
    for (const ast::Parameter &parameter : parameters) {
      type(parameter.type);
      visit(parameter.defaultValue.get());
    }
  }
};

} // namespace

std::vector<ModuleUse> moduleUses(const ast::Node &node) {
  UseCollector collector;
  collector.visit(&node);
  return std::move(collector.uses);
}

void declareTop(const ast::Module &file, ModuleNames &names) {
  auto add = [&](const std::string &name) {
    names.names[name] = names.prefix + name;
    names.modules.erase(name);
  };
  for (const ast::StmtPtr &s : file.items)
    if (auto *f = ast::dynCast<ast::Function>(s.get()))
      add(f->name);
    else if (auto *structure = ast::dynCast<ast::Struct>(s.get()))
      add(structure->name);
    else if (auto *var = ast::dynCast<ast::Var>(s.get()))
      for (const std::string &name : var->names)
        add(name);
}

void qualify(ast::Module &file, const ModuleNames &names) {
  Qualifier qualifier(names);
  for (ast::StmtPtr &s : file.items)
    qualifier.statement(s.get());
}

} // namespace toy::sema
