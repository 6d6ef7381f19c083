// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a session keeps: undoing inputs, forgetting everything, and a script that makes all of it again.
#include "irgen/Pictures.h"
#include "runtime/Format.h"
#include "runtime/Io.h"
#include "runtime/List.h"
#include "session/SessionImpl.h"
#include "support/NewFile.h"
#include "support/PrivateFolder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <unistd.h>

namespace toy {

void Session::takeBack(Change &change) {
  rollback(change.values);
  globalTypes = std::move(change.types);
  globalPlaces = std::move(change.places);
  if (defined != change.definitions)
    instanceTable.clear(); // it holds the newer ones
  defined = std::move(change.definitions);
  imported = std::move(change.imported);
  mainNames = std::move(change.mainNames);
  moduleNames = std::move(change.moduleNames);
  graph.forget();
  checkResults();
}

void Session::readSizeProfile(const std::string &path) {
  std::string text;
  try {
    rt::InputFile file(path);
    text = file.text(0, file.size());
  } catch (rt::Error &) { // there is none yet, or it is only written
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    for (unsigned slot; words >> slot && slot < 4096;)
      instanceTable.sizeProfiles[key].insert(slot);
  }
}

void Session::writeSizeProfile(const std::string &path) {
  std::string text;
  for (auto &[key, slots] : instanceTable.sizeProfiles)
    if (!slots.empty()) {
      text += key;
      for (unsigned slot : slots)
        text += " " + std::to_string(slot);
      text += "\n";
    }
  rt::writeFile(path, {text});
}

std::optional<std::string> Session::undo() {
  if (past.empty())
    return std::nullopt;
  std::string text = std::move(past.back().text);
  takeBack(past.back());
  past.pop_back();
  return text;
}

void Session::reset() {
  results.clear();
  globals.clear();
  globalTypes.clear();
  globalPlaces.clear();
  defined = {};
  instanceTable.clear();
  instanceTable.specializations.clear();
  imported.clear();
  importedModules.clear();
  mainNames = firstNames(options);
  moduleNames.clear();
  graph.forgetAll();
  past.clear();
}

/// Only the newest reproducers stay.
static void dropOldReproducers(const std::string &folder) {
  std::error_code failed;
  std::vector<std::string> names; // by time
  for (auto &entry : std::filesystem::directory_iterator(folder, failed))
    if (std::string name = entry.path().filename().string(); name.starts_with("toy-reproducer-"))
      names.push_back(name);
  std::sort(names.begin(), names.end());
  for (size_t kept = 5; names.size() > kept; names.erase(names.begin()))
    std::filesystem::remove(folder + "/" + names.front(), failed);
}

/// What failed, for a report: the definitions there are and the text that was running. For the user's eyes, beside the
/// history.
void Session::writeReproducer(const std::string &name, const std::string &text) {
  std::string out = "# This input of toy failed with an internal error: " + name + "\n";
  if (name.starts_with("<")) { // a file holds its definitions itself
    for (auto &[structure, s] : defined.structures)
      out += definitionOf(structure);
    for (auto &[function, f] : defined.functions)
      out += definitionOf(function);
  }
  Descriptor folder = openPrivateFolder(stateFolder);
  if (!folder)
    return;
  NewFile file(folder.get(), 0600);
  std::string fileName =
      fmt::format("toy-reproducer-{:%Y%m%d-%H%M%S}-{}.toy", fmt::gmtime(std::time(nullptr)), ::getpid());
  if (!file || !writeAll(file.get(), out + text + "\n") || !file.keepAs(fileName, /*replace=*/true))
    return;
  dropOldReproducers(pathIn(stateFolder));
  std::fprintf(stderr, "note: a reproducer is in %s/%s\n", pathIn(stateFolder).c_str(), fileName.c_str());
}

using ModuleAliases = std::map<std::string, std::string>;

/// `m.S` as a script writes it.
static std::string nameInScript(const std::string &name, const ModuleAliases &aliases) {
  size_t dot = name.find('.');
  auto it = dot == std::string::npos ? aliases.end() : aliases.find(name.substr(0, dot));
  return it == aliases.end() ? name : it->second + name.substr(dot);
}

/// The text of a definition or lambda, with the script's names of modules.
static std::string textInScript(const SourceManager &sources, const ast::Node &node, const ModuleAliases &aliases) {
  std::string text(sources.text(node.range));
  std::vector<sema::ModuleUse> uses = sema::moduleUses(node);
  std::ranges::sort(uses, std::greater(), &sema::ModuleUse::begin); // from the end, so that offsets stay
  for (const sema::ModuleUse &use : uses)
    if (auto it = aliases.find(use.name.substr(0, use.name.find('.'))); it != aliases.end()) {
      size_t begin = use.begin - node.range.begin;
      text.replace(begin, text.find_first_of(". \t\r\n", begin) - begin, it->second);
    }
  return text;
}

/// A definition as it was written, with its docstring.
std::string Session::definitionOf(const std::string &name) { return definitionOf(name, {}); }
std::string Session::definitionOf(const std::string &name, const ModuleAliases &aliases) {
  const ast::Function *f = defined.function(name);
  const ast::Struct *s = f ? nullptr : defined.structure(name);
  if (!f && !s)
    return "";
  std::string text;
  if (f && !f->doc.empty())
    for (size_t at = 0; at <= f->doc.size();) {
      size_t end = std::min(f->doc.find('\n', at), f->doc.size());
      text += "## " + f->doc.substr(at, end - at) + "\n";
      at = end + 1;
    }
  return text + (f ? textInScript(sources, *f, aliases) : textInScript(sources, *s, aliases)) + "\n";
}

const ast::Function *Session::functionOf(const std::string &name) {
  const ValueType *type = global(name);
  if (!type || type->kind != ValueType::Function)
    return defined.function(name);
  return type->code ? type->code : defined.function(type->structName);
}

std::string Session::signatureOf(const std::string &name) {
  const ast::Function *f = functionOf(name);
  if (const ast::Struct *structure = f ? nullptr : defined.structure(name))
    return std::string(sources.text(structure->range));
  if (!f)
    return "";
  bool isLambda = f->nameRange.begin == f->range.begin; // its parameters stand in place of a name
  SourceRange range{f->range.buffer, f->nameRange.end, f->body ? f->body->range.begin : f->range.end};
  std::string text(sources.text(isLambda ? f->nameRange : range));
  text.erase(text.find_last_not_of(" \t\r\n;") + 1);
  return isLambda && !text.starts_with('(') ? "(" + text + ")" : text;
}

namespace {

/// Writes values as expressions of the language; what is large goes to a file each.
class ScriptWriter {
public:
  explicit ScriptWriter(const std::string &path) {
    std::error_code ignored;
    auto status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status))
      folder = path + ".data";
  }

  std::string expression(const rt::Value &value, const std::string &name) {
    if (auto *s = std::get_if<rt::StrRef>(&value))
      return rt::quoted((*s)->text);
    auto &t = std::get<rt::TensorRef>(value);
    return t ? tensor(*t, name) : "0";
  }

private:
  std::string tensor(const rt::Tensor &t, const std::string &name) {
    std::string dtype(nameOf(t.dtype));
    if (t.count() == 0)
      return fmt::format("zeros([{}], dtype={})", fmt::join(t.shape(), ", "), dtype);
    if (t.count() <= 200 || folder.empty()) {
      rt::PrintOptions full;
      full.precision = 0;
      return dtype + "(" + rt::format(t, full) + ")";
    }
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored); // saving says why there is none
    bool isHalf = t.dtype == DType::BF16;                 // which .npy lacks
    std::string file = (std::filesystem::path(folder) / (name + (isHalf ? ".safetensors" : ".npy"))).string();
    rt::TensorRef shared(const_cast<rt::Tensor *>(&t));
    rt::retain(shared.get());
    std::vector<rt::NamedTensor> entry;
    entry.push_back({"arr_0", std::move(shared)});
    rt::save(file, entry);
    return "load(" + rt::quoted(file) + ")";
  }

  std::string folder; ///< beside the script; none for a device, which gets everything
};

/// Writes a variable; what it holds of functions that have no name is made by functions that come before it.
class VariableWriter {
public:
  VariableWriter(ScriptWriter &values, const SourceManager &sources, const sema::Definitions &defined,
                 const ModuleAliases &aliases, const std::map<std::string, rt::Value> &globals, const std::string &name,
                 const ValueType &type)
      : values(values), sources(sources), defined(defined), aliases(aliases), name(name) {
    llvm::SmallVector<mlir::Type> leaves;
    type.flatten(leaves);
    bool single = leaves.size() == 1;
    size_t next = 0;
    std::string leaf, value = write(type, [&]() -> Leaf {
                        leaf = single ? name : name + "." + std::to_string(next++);
                        return {globals.at(leaf), leaf};
                      });
    const ValueType *inner = &type; // an empty list keeps its type
    while (inner->kind == ValueType::List && !inner->isOpenList())
      inner = &inner->elements[0];
    bool isDeclared = type.kind == ValueType::List && inner->kind == ValueType::Leaf;
    bool isOwn = name.find('.') == std::string::npos;
    text = makers + (isOwn ? "var " + name + (isDeclared ? ": " + type.str() : "") : nameInScript(name, aliases)) +
           " = " + value + ";\n";
  }

  std::string text;

private:
  struct Leaf {
    rt::Value value;
    std::string name;
  };
  using NextLeaf = llvm::function_ref<Leaf()>;

  std::string write(const ValueType &type, NextLeaf nextLeaf) {
    switch (type.kind) {
    case ValueType::Leaf: {
      Leaf leaf = nextLeaf();
      return values.expression(leaf.value, leaf.name);
    }
    case ValueType::List:
      return list(type, nextLeaf);
    case ValueType::DTypeRef:
      return std::string(nameOf(type.dtype));
    case ValueType::Function:
      return type.code ? closure(type, nextLeaf) : nameInScript(type.structName, aliases);
    default:
      return (hasMaker(type) ? nameInScript(type.structName, aliases) : "") + "(" + elements(type, nextLeaf) +
             (type.elements.size() == 1 && type.kind == ValueType::Tuple ? ",)" : ")");
    }
  }

  /// Whether a function of its name makes it; what a file gives has none.
  bool hasMaker(const ValueType &type) const {
    return isPicture(type) ||
           (type.kind == ValueType::Struct && (type.structName == "Error" || defined.structure(type.structName)));
  }

  std::string elements(const ValueType &type, NextLeaf nextLeaf) {
    std::string parts;
    for (const ValueType &element : type.elements)
      parts += (parts.empty() ? "" : ", ") + write(element, nextLeaf);
    return parts;
  }

  /// `list(a, b)` from the lists of the leaves of its elements.
  std::string list(const ValueType &type, NextLeaf nextLeaf) {
    if (type.isOpenList())
      return "list()";
    llvm::SmallVector<mlir::Type> types;
    type.flatten(types);
    std::vector<Leaf> leaves;
    for (size_t i = 0; i < types.size(); ++i)
      leaves.push_back(nextLeaf());
    std::string parts;
    for (int64_t i = 0; i < std::get<rt::ListRef>(leaves[0].value)->count; ++i) {
      size_t next = 0;
      parts += (i ? ", " : "") + write(type.elementOfList(), [&]() -> Leaf {
                 const Leaf &leaf = leaves[next++];
                 return {rt::valueOf(*std::get<rt::ListRef>(leaf.value), i), leaf.name + "." + std::to_string(i)};
               });
    }
    return "list(" + parts + ")";
  }

  /// `def g_0(w) { return (t, y) => …; }` makes what has captured `w`.
  std::string closure(const ValueType &type, NextLeaf nextLeaf) {
    const ast::Function &f = *type.code;
    std::string source = textInScript(sources, f, aliases), captured = elements(type, nextLeaf);
    bool isLambda = f.nameRange.begin == f.range.begin;
    if (isLambda && type.elements.empty())
      return source;
    std::string maker;
    do
      maker = name.substr(name.rfind('.') + 1) + "_" + std::to_string(count++);
    while (defined.function(maker) || defined.structure(maker));
    makers += fmt::format("def {}({}) {{ {}; }}\n", maker, fmt::join(type.names, ", "),
                          isLambda ? "return " + source : source + " return " + f.name);
    return maker + "(" + captured + ")";
  }

  ScriptWriter &values;
  const SourceManager &sources;
  const sema::Definitions &defined;
  const ModuleAliases &aliases;
  const std::string &name;
  std::string makers;
  size_t count = 0;
};

} // namespace

/// Imports with the names that the program gave, and of files whose functions are saved those that they gave; where one
/// name means two modules, the second has another one in the script.
std::string Session::importsOfScript(ModuleAliases &aliases) {
  std::string text;
  std::set<std::string> taken;
  for (auto &[alias, module] : mainNames.modules)
    taken.insert(alias);
  for (auto &[name, known] : mainNames.names)
    taken.insert(name);
  auto inTables = [&](const std::string &path) { // without the dot
    auto it = moduleNames.find(path);
    return it == moduleNames.end() ? "" : it->second.prefix.substr(0, it->second.prefix.find('.'));
  };
  auto write = [&](const std::string &alias, const std::string &path) {
    text += fmt::format("import {} as {};\n", rt::quoted(path), alias);
    aliases.try_emplace(inTables(path), alias);
  };
  for (auto &[alias, module] : mainNames.modules)
    write(alias, module.path);
  for (auto &[key, file] : moduleNames)
    for (auto &[alias, module] : file.modules) {
      if (!file.prefix.empty() || aliases.count(inTables(module.path)))
        continue;
      std::string own = alias;
      for (int n = 2; !taken.insert(own).second; ++n)
        own = alias + "_" + std::to_string(n);
      write(own, module.path);
    }
  return text;
}

/// Whether a variable of a module got its value from the program, and not from a module.
bool Session::isChangedInModule(const std::string &name) const {
  auto place = globalPlaces.find(name);
  if (place == globalPlaces.end())
    return false;
  std::string file = std::filesystem::weakly_canonical(sources.get(place->second.buffer).getName()).string();
  return !moduleNames.contains(file);
}

void Session::saveScript(const std::string &path) {
  ModuleAliases aliases;
  std::string text = "# A saved session of toy.\n" + importsOfScript(aliases);
  auto isOwn = [](const std::string &name) { return name.find('.') == std::string::npos; };
  for (auto &[name, s] : defined.structures)
    if (isOwn(name))
      text += definitionOf(name, aliases);
  for (auto &[name, f] : defined.functions)
    if (isOwn(name))
      text += definitionOf(name, aliases);
  ScriptWriter writer(path);
  for (auto &[name, type] : globalTypes)
    if (!name.starts_with("$") && (isOwn(name) ? !isResult(name) : isChangedInModule(name)))
      text += VariableWriter(writer, sources, defined, aliases, globals, name, type).text;
  rt::writeFile(path, {text});
}

} // namespace toy
