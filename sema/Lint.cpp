// SPDX-License-Identifier: Apache-2.0
/// \file
/// One walk with the scopes that IR generation has, and a mark at each variable that is read.
#include "sema/Lint.h"

#include "ast/Parts.h"

#include <algorithm>
#include <map>

namespace toy::sema {
namespace {

using ast::NodeKind;

struct Local {
  SourceRange range;
  bool isRead = false, isWatched = false, holdsFunction = false;
  SourceRange drawn = {}; ///< where random numbers were made of it as it is
};

bool isTrue(const ast::Expr &e) {
  auto *constant = ast::dynCast<ast::Bool>(&e);
  return constant && constant->value;
}

/// Whether a `break` inside leaves this loop.
bool hasBreak(const ast::Stmt *s) {
  if (!s)
    return false;
  if (s->kind == NodeKind::While || s->kind == NodeKind::For)
    return false;
  bool found = s->kind == NodeKind::Break;
  ast::forEachPart(*s, [&](const auto &part) {
    if constexpr (!std::is_same_v<decltype(part.get()), ast::Expr *>)
      found |= hasBreak(part.get());
  });
  return found;
}

/// Whether what stands behind a statement is never reached.
bool leaves(const ast::Stmt *s) {
  if (!s)
    return false;
  switch (s->kind) {
  case NodeKind::Return:
  case NodeKind::Break:
  case NodeKind::Continue:
    return true;
  case NodeKind::Block: {
    auto &all = ast::cast<ast::Block>(*s).statements;
    return std::any_of(all.begin(), all.end(), [](const ast::StmtPtr &inner) { return leaves(inner.get()); });
  }
  case NodeKind::If:
    return leaves(ast::cast<ast::If>(*s).thenBlock.get()) && leaves(ast::cast<ast::If>(*s).elseBranch.get());
  case NodeKind::Try:
    return leaves(ast::cast<ast::Try>(*s).body.get()) && leaves(ast::cast<ast::Try>(*s).handler.get());
  case NodeKind::While:
    return isTrue(*ast::cast<ast::While>(*s).condition) && !hasBreak(ast::cast<ast::While>(*s).body.get());
  default:
    return false;
  }
}

class Walker {
public:
  Walker(const std::vector<const ast::Stmt *> &items, Lint &to) : to(to) {
    for (const ast::Stmt *s : items)
      if (auto *f = ast::dynCast<ast::Function>(s))
        functions.insert(f->name);
      else if (s->kind != NodeKind::Struct)
        for (const std::string &name : summarize(*s).writes)
          globals[name];
    isProgram = std::any_of(items.begin(), items.end(), [](const ast::Stmt *s) {
      return s->kind != NodeKind::Var && s->kind != NodeKind::Function && s->kind != NodeKind::Struct;
    });
  }

  void walk(const std::vector<const ast::Stmt *> &items) {
    for (const ast::Stmt *s : items)
      statement(s);
    if (isProgram) // the variables of a file of definitions are there for others
      for (auto &[name, local] : globals)
        report(name, local);
  }

private:
  void report(const std::string &name, const Local &local) {
    if (local.isWatched && !local.isRead && !name.starts_with("_"))
      to.unusedVariable(name, local.range);
  }

  bool isInside() const { return depth > 0; }

  void push() { scopes.emplace_back(); }
  void pop() {
    for (auto &[name, local] : scopes.back())
      report(name, local);
    scopes.pop_back();
  }

  Local *find(const std::string &name) {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (auto it = scope->find(name); it != scope->end())
        return &it->second;
    auto it = globals.find(name);
    return it == globals.end() ? nullptr : &it->second;
  }

  NameSet visible() const {
    NameSet out;
    for (const auto &scope : scopes)
      for (auto &[name, local] : scope)
        out.insert(name);
    return out;
  }

  Local &declare(const std::string &name, SourceRange range, bool isWatched) {
    auto &scope = scopes.empty() ? globals : scopes.back();
    auto it = scope.find(name);
    if (it != scope.end() && it->second.range.valid()) {
      it->second.isWatched &= isWatched; // declared again
      it->second.drawn = {};
      return it->second;
    }
    bool isRead = it != scope.end() && it->second.isRead; // by a function that stands before
    return scope[name] = {range, isRead, isWatched};
  }

  void holdFunction(const std::string &name, SourceRange range) {
    if (functions.count(name) || to.isBuiltin(name))
      to.hidesFunction(name, range);
    declare(name, range, true).holdsFunction = true;
  }

  void read(const ast::Name &n) {
    if (Local *local = find(n.name))
      local->isRead = true;
    else if (isInside() && !functions.count(n.name) && !to.isKnown(n.name))
      to.unknownName(n.name, n.range, false, visible());
  }

  /// Keys that were drawn with so far.
  std::map<Local *, SourceRange> drawnKeys() {
    std::map<Local *, SourceRange> keys;
    for (auto &scope : scopes)
      for (auto &[name, local] : scope)
        if (local.drawn.valid())
          keys[&local] = local.drawn;
    return keys;
  }

  /// What one branch has drawn with, the other may.
  void branches(const ast::If &s) {
    expr(s.condition.get());
    auto before = drawnKeys();
    statement(s.thenBlock.get());
    auto then = drawnKeys();
    for (auto &[local, range] : then)
      local->drawn = before[local];
    statement(s.elseBranch.get());
    if (!leaves(s.thenBlock.get()))
      for (auto &[local, range] : then)
        local->drawn = range;
  }

  void draw(const ast::Call &c) {
    auto *name = isInside() && !functions.count(c.callee) ? ast::dynCast<ast::Name>(to.keyOf(c)) : nullptr;
    Local *key = name ? find(name->name) : nullptr;
    if (!key)
      return;
    if (key->drawn.valid())
      to.sameKey(name->name, name->range, key->drawn);
    key->drawn = name->range;
  }

  void callee(const ast::Call &c) {
    Local *local = find(c.functionName());
    if (!local)
      draw(c);
    if (local)
      local->isRead = true;
    else if (functions.count(c.functionName()) || to.isKnown(c.functionName())) {
      if (isInside())
        to.call(c);
    } else if (isInside() && !c.isMember) // a member of the first argument may be meant
      to.unknownName(c.functionName(), c.calleeRange, true, visible());
  }

  void function(const ast::Function &f) {
    for (const ast::Parameter &parameter : f.parameters)
      expr(parameter.defaultValue.get());
    ++depth;
    push();
    for (const ast::Parameter &parameter : f.parameters)
      declare(parameter.name, parameter.range, false);
    if (!f.place.empty())
      declare(f.name, f.nameRange, false);
    for (const ast::Parameter &parameter : f.parameters)
      if (parameter.type)
        sizeNames(*parameter.type);
    for (const ast::ExprPtr &fact : f.where)
      expr(fact.get());
    if (f.result)
      sizeNames(*f.result);
    statement(f.body.get());
    pop();
    --depth;
  }

  /// Names of sizes are integers from their declaration on.
  void sizeNames(const ast::TypeExpr &type) {
    for (const ast::TypeExpr &element : type.elements)
      sizeNames(element);
    for (const ast::ExprPtr &size : type.sizes)
      if (size)
        for (const std::string &name : summarize(*size).reads) {
          if (Local *local = find(name))
            local->isRead = true;
          else
            declare(name, size->range, false);
        }
  }

  void block(const ast::Block &b) {
    push();
    const ast::Stmt *cause = nullptr;
    for (const ast::StmtPtr &s : b.statements) {
      if (cause) {
        to.unreachable(s->range, cause->range);
        break;
      }
      statement(s.get());
      if (leaves(s.get()))
        cause = s.get();
    }
    pop();
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
    case NodeKind::ExprStmt:
      parts(*s);
      if (auto &e = ast::cast<ast::ExprStmt>(*s); e.silenced && isPure(*e.value))
        to.unusedValue(*e.value, isOfVariable(*e.value));
      return;
    case NodeKind::For: {
      auto &loop = ast::cast<ast::For>(*s);
      iterable(*loop.iterable);
      push();
      for (size_t i = 0; i < loop.names.size(); ++i)
        declare(loop.names[i], loop.nameRanges[i], false);
      statement(loop.body.get());
      return pop();
    }
    case NodeKind::If:
      return branches(ast::cast<ast::If>(*s));
    case NodeKind::Try: {
      auto &attempt = ast::cast<ast::Try>(*s);
      statement(attempt.body.get());
      push();
      if (!attempt.name.empty())
        declare(attempt.name, attempt.nameRange, false);
      statement(attempt.handler.get());
      return pop();
    }
    case NodeKind::Function: {
      auto &f = ast::cast<ast::Function>(*s);
      if (!scopes.empty())
        holdFunction(f.name, f.nameRange);
      else if (to.isBuiltin(f.name))
        to.hidesFunction(f.name, f.nameRange);
      return function(f);
    }
    case NodeKind::Struct:
      for (const ast::Parameter &member : ast::cast<ast::Struct>(*s).members)
        expr(member.defaultValue.get());
      return;
    default:
      return parts(*s);
    }
  }

  void walk(const ast::Expr *e) { expr(e); }
  void walk(const ast::Stmt *s) { statement(s); }
  void parts(const ast::Node &node) {
    ast::forEachPart(node, [this](const auto &part) { walk(part.get()); });
  }

  /// `range(…)` and the like are words of the loop.
  void iterable(const ast::Expr &e) {
    static const NameSet words = {"enumerate", "progress", "range", "zip"};
    auto *c = ast::dynCast<ast::Call>(&e);
    if (!c || c->isMember || !words.count(c->callee) || functions.count(c->callee) || find(c->callee))
      return expr(&e);
    for (const ast::Argument &argument : c->arguments)
      c->callee == "progress" ? iterable(*argument.value) : expr(argument.value.get());
  }

  void var(const ast::Var &s) {
    expr(s.value.get());
    if (s.type)
      sizeNames(*s.type);
    if (!s.isTuple && s.value && s.value->kind == NodeKind::Lambda)
      return holdFunction(s.names[0], s.nameRanges[0]);
    for (size_t i = 0; i < s.names.size(); ++i) // of a tuple some may be left over
      declare(s.names[i], s.nameRanges[i], !s.isTuple);
  }

  /// The variable that changes is not read by that, nor is it by its own new value.
  void assign(const ast::Assign &s) {
    expr(s.value.get());
    target(*s.target);
  }

  void target(const ast::Expr &t) {
    if (auto *tuple = ast::dynCast<ast::Tuple>(&t)) {
      for (const ast::ExprPtr &element : tuple->elements)
        target(*element);
    } else if (auto *index = ast::dynCast<ast::Index>(&t)) {
      target(*index->base);
      for (const ast::Subscript &s : index->subscripts)
        for (const ast::ExprPtr *part : {&s.value, &s.start, &s.stop, &s.step})
          expr(part->get());
    } else if (auto *member = ast::dynCast<ast::Member>(&t))
      target(*member->base);
    else if (auto *name = ast::dynCast<ast::Name>(&t)) {
      if (Local *local = find(name->name))
        local->drawn = {};
      else if (isInside())
        read(*name);
    }
  }

  void arguments(const std::vector<ast::Argument> &all) {
    for (const ast::Argument &argument : all)
      expr(argument.value.get());
  }

  void expr(const ast::Expr *e) {
    if (!e)
      return;
    switch (e->kind) {
    case NodeKind::Name:
      return read(ast::cast<ast::Name>(*e));
    case NodeKind::Call:
      if (auto &c = ast::cast<ast::Call>(*e); !c.function)
        callee(c);
      break;
    case NodeKind::Lambda:
      return function(*ast::cast<ast::Lambda>(*e).function);
    default:
      break;
    }
    parts(*e);
  }

  /// Whether a value was made for nothing: only functions that do nothing else are called.
  /// `x.f(…)` where `x` is a variable of the text.
  bool isOfVariable(const ast::Expr &e) {
    auto *call = ast::dynCast<ast::Call>(&e);
    auto *first = call && call->isMember ? ast::dynCast<ast::Name>(call->arguments[0].value.get()) : nullptr;
    return first && (find(first->name) || globals.count(first->name));
  }

  bool isPure(const ast::Expr &e) {
    if (auto *c = ast::dynCast<ast::Call>(&e))
      if (c->function || find(c->callee) || functions.count(c->callee))
        return false;
    const NameSet calls = summarize(e).calls;
    return std::all_of(calls.begin(), calls.end(), [&](const std::string &name) {
      return !find(name) && !functions.count(name) && to.isPure(name);
    });
  }

  Lint &to;
  NameSet functions; ///< of the top level
  std::map<std::string, Local> globals;
  std::vector<std::map<std::string, Local>> scopes; ///< innermost last; at the top level none
  unsigned depth = 0;                               ///< functions around
  bool isProgram = false;
};

} // namespace

void lint(const std::vector<const ast::Stmt *> &items, Lint &to) { Walker(items, to).walk(items); }

} // namespace toy::sema
