// SPDX-License-Identifier: Apache-2.0
#include "repl/Signature.h"

#include "irgen/IRGen.h"
#include "session/Session.h"
#include "support/Unicode.h"

#include <algorithm>

namespace toy {
namespace {

/// `x, axis=, *xs` of the table of built-in functions.
std::vector<CallSignature::Parameter> parametersOf(std::string_view row) {
  std::vector<CallSignature::Parameter> out;
  while (!row.empty()) {
    std::string text(row.substr(0, row.find(", ")));
    row.remove_prefix(std::min(row.size(), text.size() + 2));
    size_t name = text.find_first_not_of('*');
    bool isOptional = text.ends_with("=");
    out.push_back({text.substr(name, text.size() - name - isOptional), text, name > 0, isOptional});
  }
  return out;
}

std::vector<CallSignature::Parameter> parametersOf(const std::vector<ast::Parameter> &parameters,
                                                   const SourceManager &sources) {
  std::vector<CallSignature::Parameter> out;
  for (const ast::Parameter &p : parameters) {
    std::string text = p.name;
    if (p.type)
      text += ": " + ast::str(*p.type);
    if (p.defaultValue)
      text += " = " + std::string(sources.text(p.defaultValue->range));
    out.push_back({p.name, std::move(text), false, true});
  }
  return out;
}

std::optional<CallSignature> signatureOf(const std::string &name, Session &session) {
  const SourceManager &sources = session.getDiagnostics().getSources();
  if (const ast::Function *f = session.functionOf(name))
    return CallSignature{
        name, parametersOf(f->parameters, sources), f->result ? " -> " + ast::str(*f->result) : "", 0, {}};
  if (const ast::Struct *structure = session.definitions().structure(name))
    return CallSignature{name, parametersOf(structure->members, sources), "", 0, {}};
  for (const BuiltinInfo &info : builtins())
    if (info.name == name)
      return CallSignature{name, parametersOf(info.parameters), "", 0, {}};
  return std::nullopt;
}

/// The parameters that have an argument, and the one that the current argument is for.
void place(CallSignature &s, const Surroundings::Call &call, size_t values) {
  auto indexOf = [&](const std::string &name) {
    return std::find_if(s.parameters.begin(), s.parameters.end(), [&](auto &p) { return p.name == name; }) -
           s.parameters.begin();
  };
  s.given.assign(s.parameters.size(), false);
  for (const std::string &name : call.named)
    if (size_t i = indexOf(name); i < s.given.size())
      s.given[i] = true;
  auto next = [&] {
    size_t i = 0;
    while (i < s.given.size() && s.given[i])
      ++i;
    return i;
  };
  for (size_t k = 0; k < values; ++k)
    if (size_t i = next(); i < s.given.size() && !s.parameters[i].isMany)
      s.given[i] = true;
  s.current = call.current.empty() ? next() : indexOf(call.current);
}

} // namespace

const std::vector<BuiltinInfo> &builtins() {
  static const std::vector<BuiltinInfo> all = allBuiltins();
  return all;
}

std::string signatureText(const std::string &name, Session &session) {
  if (std::string own = session.signatureOf(name); !own.empty())
    return own;
  for (const BuiltinInfo &info : builtins())
    if (info.name == name)
      return "(" + info.parameters + ")";
  return "";
}

std::optional<CallSignature> signatureOf(const Surroundings::Call &call, Session &session) {
  std::string name = call.callee;
  bool isMember = !call.base.empty();
  if (auto *names = isMember ? session.namesOfModule(call.base) : nullptr) {
    auto known = names->find(name);
    if (known == names->end())
      return std::nullopt;
    name = known->second;
    isMember = false;
  }
  std::optional<CallSignature> out = signatureOf(name, session);
  if (out)
    place(*out, call, call.values + isMember); // the first argument stands before the dot
  return out;
}

std::string textOf(const CallSignature &s, size_t width, const std::string &mark, const std::string &unmark) {
  size_t used = columnsOf(s.name + "()" + s.result);
  for (const CallSignature::Parameter &p : s.parameters)
    used += columnsOf(p.text) + 2;
  size_t first = 0, last = s.parameters.size(); // those far from the current one give way
  while (used > width && last - first > 1) {
    size_t dropped = last > s.current + 1 ? --last : first++;
    used -= columnsOf(s.parameters[dropped].text) + (last == s.parameters.size() - 1 || dropped == 0 ? 0 : 2);
  }
  if (used > width)
    return "";
  std::string out = s.name + (first ? "(…, " : "(");
  for (size_t i = first; i < last; ++i)
    out += (i > first ? ", " : "") + (i == s.current ? mark + s.parameters[i].text + unmark : s.parameters[i].text);
  return out + (last < s.parameters.size() ? ", …)" : ")") + s.result;
}

} // namespace toy
