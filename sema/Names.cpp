// SPDX-License-Identifier: Apache-2.0
/// \file
/// One walk with the scopes that IR generation has.
#include "sema/Names.h"

#include "ast/Parts.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace toy::sema {
namespace {

using ast::NodeKind;

class NameWalker {
public:
  NameTable run(const ast::Module &text) {
    scopes.emplace_back();
    for (const ast::StmtPtr &s : text.items)
      declareTop(*s);
    table.topCount = table.declarations.size();
    for (const ast::StmtPtr &s : text.items)
      statement(s.get());
    auto placeOf = [](const NameUse &use) { return std::tuple(use.range.begin, use.range.end); };
    std::sort(table.uses.begin(), table.uses.end(),
              [&](const NameUse &a, const NameUse &b) { return placeOf(a) < placeOf(b); });
    auto isSame = [&](const NameUse &a, const NameUse &b) { return placeOf(a) == placeOf(b); };
    table.uses.erase(std::unique(table.uses.begin(), table.uses.end(), isSame), table.uses.end());
    return std::move(table);
  }

private:
  /// What functions see wherever they stand.
  void declareTop(const ast::Stmt &s) {
    if (auto *f = ast::dynCast<ast::Function>(&s))
      declare(NameKind::Function, f->name, f->nameRange, f);
    else if (auto *structure = ast::dynCast<ast::Struct>(&s))
      declare(NameKind::Struct, structure->name, structure->nameRange, structure);
    else if (auto *import = ast::dynCast<ast::Import>(&s); import && !import->alias.empty())
      declare(NameKind::Module, import->alias, import->pathRange, import);
    else if (auto *var = ast::dynCast<ast::Var>(&s))
      for (size_t i = 0; i < var->names.size(); ++i)
        declare(NameKind::Variable, var->names[i], var->nameRanges[i], var);
  }

  std::optional<size_t> find(const std::string &name) const {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (auto it = scope->find(name); it != scope->end())
        return it->second;
    return std::nullopt;
  }

  size_t declare(NameKind kind, const std::string &name, SourceRange range, const ast::Stmt *node = nullptr) {
    auto [it, isNew] = scopes.back().try_emplace(name, table.declarations.size());
    if (isNew)
      table.declarations.push_back({kind, name, range, node});
    if (kind != NameKind::Module)
      table.uses.push_back({range, name, it->second});
    return it->second;
  }

  std::optional<size_t> use(const std::string &name, SourceRange range) {
    auto known = find(name);
    table.uses.push_back({range, name, known});
    return known;
  }

  /// Whether an expression names a module.
  bool isModule(const ast::Expr &e) const {
    auto *name = ast::dynCast<ast::Name>(&e);
    auto known = name ? find(name->name) : std::nullopt;
    return known && table.declarations[*known].kind == NameKind::Module;
  }

  void walk(const ast::Expr *e) { expr(e); }
  void walk(const ast::Stmt *s) { statement(s); }
  void parts(const ast::Node &node) {
    ast::forEachPart(node, [this](const auto &part) { walk(part.get()); });
  }

  void expr(const ast::Expr *e) {
    if (!e)
      return;
    switch (e->kind) {
    case NodeKind::Name:
      use(ast::cast<ast::Name>(*e).name, e->range);
      return;
    case NodeKind::Call:
      return call(ast::cast<ast::Call>(*e));
    case NodeKind::Lambda:
      return function(*ast::cast<ast::Lambda>(*e).function);
    case NodeKind::Member:
      return member(ast::cast<ast::Member>(*e));
    default:
      return parts(*e);
    }
  }

  void member(const ast::Member &m) {
    expr(m.base.get());
    bool ofModule = isModule(*m.base);
    table.uses.push_back(
        {m.memberRange, m.member, {}, ofModule ? ast::cast<ast::Name>(*m.base).name : std::string(), !ofModule});
    if (auto *inner = ast::dynCast<ast::Member>(m.base.get()))
      table.uses.back().base = inner->memberRange;
    else if (m.base->kind == NodeKind::Name)
      table.uses.back().base = m.base->range;
  }

  void call(const ast::Call &c) {
    if (c.isMember && isModule(*c.arguments[0].value)) {
      table.uses.push_back({c.calleeRange, c.callee, {}, ast::cast<ast::Name>(*c.arguments[0].value).name});
    } else if (!c.function) {
      use(c.callee, c.calleeRange);
      table.uses.back().isDotCall = c.isMember;
    }
    for (const ast::Argument &argument : c.arguments)
      if (!c.function && !argument.keyword.empty()) {
        NameUse &key = table.uses.emplace_back(NameUse{argument.keywordRange, argument.keyword});
        key.callee = c.calleeRange;
      }
    parts(c);
  }

  void type(const ast::TypeExpr &t) {
    if (t.form == ast::TypeExpr::Named && find(t.name))
      use(t.name, t.range);
    for (const ast::TypeExpr &element : t.elements)
      type(element);
    for (const ast::ExprPtr &size : t.sizes)
      sizes(size.get());
  }
  /// The first mention of a size's name declares it.
  void sizes(const ast::Expr *size) {
    if (auto *name = ast::dynCast<ast::Name>(size)) {
      find(name->name) ? void(use(name->name, name->range)) : void(declare(NameKind::Size, name->name, name->range));
    } else if (auto *binary = ast::dynCast<ast::Binary>(size)) {
      sizes(binary->first.get());
      for (const ast::Binary::Step &step : binary->steps)
        sizes(step.operand.get());
    }
  }

  void function(const ast::Function &f) {
    for (const ast::Parameter &parameter : f.parameters)
      expr(parameter.defaultValue.get());
    scopes.emplace_back();
    for (const ast::Parameter &parameter : f.parameters)
      declare(NameKind::Parameter, parameter.name, parameter.range, &f);
    for (const ast::Parameter &parameter : f.parameters)
      if (parameter.type)
        type(*parameter.type);
    for (const ast::ExprPtr &fact : f.where)
      expr(fact.get());
    if (f.result)
      type(*f.result);
    for (const ast::Attribute &attribute : f.attributes)
      for (const ast::ExprPtr &argument : attribute.arguments)
        expr(argument.get());
    statement(f.body.get());
    scopes.pop_back();
  }

  void structure(const ast::Struct &s) {
    scopes.emplace_back();
    for (const ast::Parameter &m : s.members) {
      expr(m.defaultValue.get());
      if (m.type)
        type(*m.type);
    }
    for (const ast::Parameter &m : s.members)
      declare(NameKind::Member, m.name, m.range, &s);
    scopes.pop_back();
  }

  void inside(NameKind kind, const std::vector<std::string> &names, const std::vector<SourceRange> &ranges,
              const ast::Stmt *body) {
    scopes.emplace_back();
    for (size_t i = 0; i < names.size(); ++i)
      declare(kind, names[i], ranges[i]);
    statement(body);
    scopes.pop_back();
  }

  void var(const ast::Var &s) {
    expr(s.value.get());
    if (s.type)
      type(*s.type);
    for (size_t i = 0; i < s.names.size(); ++i)
      declare(NameKind::Variable, s.names[i], s.nameRanges[i], &s);
  }

  void statement(const ast::Stmt *s) {
    if (!s)
      return;
    switch (s->kind) {
    case NodeKind::Block:
      scopes.emplace_back();
      parts(*s);
      scopes.pop_back();
      return;
    case NodeKind::Var:
      return var(ast::cast<ast::Var>(*s));
    case NodeKind::For: {
      auto &loop = ast::cast<ast::For>(*s);
      expr(loop.iterable.get());
      return inside(NameKind::Variable, loop.names, loop.nameRanges, loop.body.get());
    }
    case NodeKind::Try: {
      auto &attempt = ast::cast<ast::Try>(*s);
      statement(attempt.body.get());
      bool isNamed = !attempt.name.empty();
      return inside(NameKind::Variable, isNamed ? std::vector{attempt.name} : std::vector<std::string>(),
                    isNamed ? std::vector{attempt.nameRange} : std::vector<SourceRange>(), attempt.handler.get());
    }
    case NodeKind::Function: {
      auto &f = ast::cast<ast::Function>(*s);
      declare(NameKind::Function, f.name, f.nameRange, &f);
      return function(f);
    }
    case NodeKind::Struct:
      declare(NameKind::Struct, ast::cast<ast::Struct>(*s).name, ast::cast<ast::Struct>(*s).nameRange, s);
      return structure(ast::cast<ast::Struct>(*s));
    default:
      return parts(*s);
    }
  }

  NameTable table;
  std::vector<std::map<std::string, size_t>> scopes; ///< innermost last
};

} // namespace

const NameUse *NameTable::at(uint32_t offset) const {
  auto next = std::upper_bound(uses.begin(), uses.end(), offset,
                               [](uint32_t at, const NameUse &use) { return at < use.range.begin; });
  return next != uses.begin() && offset <= std::prev(next)->range.end ? &*std::prev(next) : nullptr;
}

const DeclaredName *NameTable::ofTop(const std::string &name) const {
  auto end = declarations.begin() + static_cast<ptrdiff_t>(topCount);
  auto it = std::find_if(declarations.begin(), end, [&](const DeclaredName &d) { return d.name == name; });
  return it == end ? nullptr : &*it;
}

NameTable namesOf(const ast::Module &text) { return NameWalker().run(text); }

} // namespace toy::sema
