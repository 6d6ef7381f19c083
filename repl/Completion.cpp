// SPDX-License-Identifier: Apache-2.0
#include "repl/Completion.h"

#include "irgen/IRGen.h"
#include "repl/Commands.h"
#include "repl/Signature.h"
#include "repl/StringTexts.h"
#include "session/Session.h"

#include <algorithm>
#include <filesystem>

namespace toy {
namespace {

constexpr std::pair<const char *, const char *> symbols[] = {
    {"alpha", "α"}, {"beta", "β"},    {"gamma", "γ"},   {"delta", "δ"},  {"epsilon", "ε"}, {"zeta", "ζ"},
    {"eta", "η"},   {"theta", "θ"},   {"iota", "ι"},    {"kappa", "κ"},  {"lambda", "λ"},  {"mu", "μ"},
    {"nu", "ν"},    {"xi", "ξ"},      {"omicron", "ο"}, {"pi", "π"},     {"rho", "ρ"},     {"sigma", "σ"},
    {"tau", "τ"},   {"upsilon", "υ"}, {"phi", "φ"},     {"chi", "χ"},    {"psi", "ψ"},     {"omega", "ω"},
    {"Gamma", "Γ"}, {"Delta", "Δ"},   {"Theta", "Θ"},   {"Lambda", "Λ"}, {"Xi", "Ξ"},      {"Pi", "Π"},
    {"Sigma", "Σ"}, {"Phi", "Φ"},     {"Psi", "Ψ"},     {"Omega", "Ω"},  {"hbar", "ħ"},    {"ell", "ℓ"}};

class Completer {
public:
  Completer(std::string_view text, Session &session) : text(text), session(session), begin(text.size()) {
    while (begin > 0 && isWord(text[begin - 1]))
      --begin;
  }

  void run(bool isInput) {
    if (!isInput)
      return code();
    if (text.starts_with("?"))
      return topics(1);
    if (text.starts_with(":!"))
      return paths(text.find_last_of(" !") + 1);
    if (text.starts_with(":"))
      return command();
    code();
  }

  std::vector<Completion> take() {
    for (auto *list : {&first, &out}) {
      std::sort(list->begin(), list->end(), [](auto &a, auto &b) { return a.text < b.text; });
      list->erase(std::unique(list->begin(), list->end(), [](auto &a, auto &b) { return a.text == b.text; }),
                  list->end());
    }
    first.insert(first.end(), out.begin(), out.end());
    return std::move(first);
  }
  size_t wordBegin() const { return begin; }

private:
  using Kind = Completion::Kind;
  void offer(std::vector<Completion> &list, std::string name, std::string detail, Kind kind) {
    if (std::string_view(name).starts_with(text.substr(begin)))
      list.push_back({kind, std::move(name), std::move(detail)});
  }
  void add(std::string name, std::string detail = "", Kind kind = Kind::Other) {
    offer(out, std::move(name), std::move(detail), kind);
  }

  /// `:name`, or what the command's row says that its argument is.
  void command() {
    size_t blank = text.find(' ');
    if (blank == text.npos) {
      begin = 1;
      for (const CommandInfo &c : commandTable())
        add(c.name, c.argument);
      return;
    }
    for (const CommandInfo &c : commandTable())
      if (c.name == text.substr(1, blank - 1))
        argument(c.argument, blank);
  }

  /// `wanted` is the row's text, such as `STAGE FUNCTION|INPUT`; the last word of it stands for all that follow.
  void argument(std::string_view wanted, size_t at) {
    auto next = [](std::string_view &list, char separator) {
      std::string_view one = list.substr(0, list.find(separator));
      list.remove_prefix(std::min(list.size(), one.size() + 1));
      return one;
    };
    auto skipBlanks = [&](size_t from) { return std::min(text.find_first_not_of(' ', from), text.size()); };
    std::string_view before, kinds = next(wanted, ' ');
    at = skipBlanks(at);
    for (size_t blank; (blank = text.find(' ', at)) != text.npos; at = skipBlanks(blank)) {
      before = text.substr(at, blank - at);
      if (!wanted.empty())
        kinds = next(wanted, ' ');
    }
    while (!kinds.empty()) {
      std::string_view kind = next(kinds, '|');
      kind.remove_prefix(kind.starts_with("["));
      argumentOfKind(kind.substr(0, kind.find_first_of("].")), before, at);
    }
  }

  void argumentOfKind(std::string_view kind, std::string_view before, size_t at) {
    if (kind == "TOPIC")
      topics(at);
    else if (kind == "FILE")
      paths(at);
    else if (kind == "STAGE")
      for (const char *stage : {
#define TOY_PHASE(NAME, HELP) #NAME,
#include "compile/Phases.def"
           })
        add(stage);
    else if (kind == "FUNCTION")
      for (const std::string &name : session.functionNames())
        add(name, signatureText(name, session));
    else if (kind == "NAME")
      for (const SettingInfo &s : settingTable())
        add(std::string(s.name), std::string(s.values));
    else if (kind == "VALUE") {
      for (const SettingInfo &s : settingTable())
        if (s.name == before)
          values(s.values);
    } else if (kind == "INPUT" || kind == "EXPRESSION")
      code();
  }
  /// Words between bars; those in capitals stand for something.
  void values(std::string_view all) {
    while (!all.empty()) {
      std::string_view one = all.substr(0, all.find('|'));
      all.remove_prefix(std::min(all.size(), one.size() + 1));
      if (!std::isupper(static_cast<unsigned char>(one[0])))
        add(std::string(one));
    }
  }

  void topics(size_t from) {
    begin = std::min(text.find_first_not_of(' ', from), text.size());
    for (const std::string &topic : helpTopics())
      add(topic, isWordStart(topic[0]) ? signatureText(topic, session) : "");
    for (const std::string &name : session.names())
      if (!name.starts_with("$"))
        add(name, signatureText(name, session));
    if (begin < text.size())
      for (DiagId id : allDiagnostics())
        add(std::string(infoOf(id).code), textWithoutHoles(infoOf(id).format));
  }

  void paths(size_t from) {
    begin = from;
    std::string typed(text.substr(from)), folder = typed.substr(0, typed.find_last_of('/') + 1);
    std::error_code failed;
    for (auto &entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, failed)) {
      std::string name = entry.path().filename().string();
      if (!name.starts_with(".") || typed.size() > folder.size())
        add(folder + name + (entry.is_directory(failed) ? "/" : ""), "", Kind::Path);
    }
  }

  void code() {
    StringTexts strings(text);
    if (strings.unfinished != text.npos)
      return paths(strings.unfinished);
    Surroundings around(text.substr(strings.field));
    if (around.isInComment())
      return;
    if (begin > 0 && text[begin - 1] == '\\')
      return greek();
    if (std::string base = around.baseOf(text.size() - begin); !base.empty())
      return members(base, around);
    if (auto call = around.call(); call && call->begins)
      if (auto signature = signatureOf(*call, session))
        for (size_t i = 0; i < signature->parameters.size(); ++i)
          if (const auto &p = signature->parameters[i]; p.isNamed && !signature->given[i])
            offer(first, p.name + "=", "argument of " + signature->name, Kind::Argument);
    names(strings.field ? Surroundings(text).locals() : around.locals());
  }

  void greek() {
    std::string_view word = text.substr(begin);
    for (auto &[name, symbol] : symbols)
      if (word == name) {
        --begin;
        out = {{Kind::Symbol, symbol, ""}};
        return;
      }
    for (auto &[name, symbol] : symbols)
      add(name, symbol, Kind::Symbol);
  }

  /// Of a struct its members, of a module its names, of any other value what every tensor has and all functions.
  void members(const std::string &base, const Surroundings &around) {
    if (auto *names = session.namesOfModule(base)) {
      for (auto &[name, known] : *names)
        add(name, signatureText(known, session), Kind::Function);
      return;
    }
    std::vector<std::string> locals = around.locals();
    bool isLocal = Surroundings(base).mentions(locals);
    const ValueType *type = isLocal ? nullptr : session.global(base);
    if (!type && !isLocal) {
      size_t reported = session.getDiagnostics().diagnostics().size();
      type = session.typeOf(base);
      session.getDiagnostics().truncate(reported);
    }
    if (type && type->kind == ValueType::Struct) {
      for (size_t i = 0; i < type->names.size(); ++i)
        add(type->names[i], type->elements[i].str(), Kind::Member);
      return;
    }
    if (!type || type->kind == ValueType::Leaf)
      for (std::string_view name : tensorMembers)
        add(std::string(name), "", Kind::Member);
    functions();
  }

  void names(const std::vector<std::string> &locals) {
    for (const std::string &name : locals)
      add(name, "local", Kind::Variable);
    for (std::string_view keyword : keywords())
      add(std::string(keyword), "", Kind::Keyword);
    for (auto &[name, type] : session.variables())
      add(name, type, Kind::Variable);
    for (auto &[name, structure] : session.definitions().structures)
      add(name, signatureText(name, session), Kind::Struct);
    for (int d = 0; d < numDTypes; ++d)
      add(std::string(nameOf(static_cast<DType>(d))), "dtype", Kind::DType);
    for (const char *name : {"pi", "inf", "nan", "newaxis", "range", "args"})
      add(name, "", Kind::Keyword);
    functions();
  }
  void functions() {
    for (const std::string &name : session.functionNames())
      add(name, signatureText(name, session), Kind::Function);
    for (const BuiltinInfo &info : builtins())
      add(info.name, "(" + info.parameters + ")", Kind::Function);
  }

  std::string_view text;
  Session &session;
  size_t begin;
  std::vector<Completion> first, out; ///< `first` is listed before the others
};

} // namespace

std::vector<Completion> completionsAt(std::string_view text, Session &session, size_t &begin, bool isInput) {
  Completer completer(text, session);
  completer.run(isInput);
  begin = completer.wordBegin();
  return completer.take();
}

std::string completionOf(std::string_view text, Session &session) {
  if (text.empty() || !isWord(text.back()))
    return "";
  size_t begin;
  std::vector<Completion> all = completionsAt(text, session, begin);
  size_t typed = text.size() - begin;
  return all.size() == 1 && typed >= 2 && all[0].text.starts_with(text.substr(begin)) ? all[0].text.substr(typed) : "";
}

} // namespace toy
