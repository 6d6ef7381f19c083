// SPDX-License-Identifier: Apache-2.0
/// \file
/// What files hold: at the top level they are read while the statement is generated, whose types they decide.
#include "ir/ToyDialect.h"
#include "runtime/Error.h"
#include "runtime/Io.h"
#include "session/SessionImpl.h"

using namespace mlir;

namespace toy {

/// A string, now: `$text = e;` as a statement of its own.
bool Session::evaluateText(const ast::Expr &e, std::string &text, const char *what) {
  auto statement = std::make_unique<ast::Var>(e.range);
  std::string name = "$text" + std::to_string(instanceTable.newNumber());
  statement->names = {name};
  statement->nameRanges = {e.range};
  statement->value.reset(const_cast<ast::Expr *>(&e)); // borrowed, given back below
  bool ok = execute({statement.get()});
  statement->value.release();
  if (!ok)
    return false;
  auto value = globals.find(name); // none of that name: a function, or of several leaves
  auto *found = value == globals.end() ? nullptr : std::get_if<rt::StrRef>(&value->second);
  bool isText = found != nullptr;
  if (isText)
    text = (*found)->text;
  else
    diagnostics.report(DiagId::ArgumentKind, e.range, {"load", what, "a string", globalTypes[name].str()});
  forgetHidden(name);
  return isText;
}

/// Takes away a variable that no user knows, or its members.
void Session::forgetHidden(const std::string &name) {
  for (auto it = globals.lower_bound(name);
       it != globals.end() && (it->first == name || it->first.starts_with(name + "."));)
    it = globals.erase(it);
  globalTypes.erase(name);
}

void Session::forgetLoaded(size_t from) {
  for (; loadedNow.size() > from; loadedNow.pop_back())
    forgetHidden(loadedNow.back());
}

using Member = std::pair<std::string, ValueType>;

/// The name of a member, or `bn.gamma` for one of a member, `t.0` for one of a tuple.
static bool isMemberName(StringRef name, bool isOutermost = true) {
  auto [first, rest] = name.split('.');
  const bool isNumber = !first.empty() && llvm::all_of(first, llvm::isDigit),
             isName = !first.empty() && !llvm::isDigit(first[0]) &&
                      llvm::all_of(first, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return (isName || (isNumber && !isOutermost)) && (first.size() == name.size() || isMemberName(rest, false));
}

static std::vector<Member> grouped(ArrayRef<Member> members);

/// The members of a struct that a file is.
static ValueType typeOfFileStruct(ArrayRef<Member> all) {
  ValueType type;
  type.kind = ValueType::Struct;
  type.structName = "file";
  for (auto &[name, member] : grouped(all)) {
    type.names.push_back(name);
    type.elements.push_back(member);
  }
  bool isTuple = true;
  for (auto [i, name] : llvm::enumerate(type.names))
    isTuple &= name == std::to_string(i);
  if (isTuple) {
    type.kind = ValueType::Tuple;
    type.structName.clear();
    type.names.clear();
  }
  return type;
}

/// Members whose names begin with one name and a point, as a member of that name. They stand one behind the other, so
/// that leaves keep their order; otherwise the names stay as they are, which no member has.
static std::vector<Member> grouped(ArrayRef<Member> members) {
  std::vector<Member> out;
  for (size_t i = 0, end; i < members.size(); i = end) {
    auto headOf = [&](size_t k) { return StringRef(members[k].first).split('.').first; };
    auto isInner = [&](size_t k) { return headOf(k).size() < members[k].first.size(); };
    for (end = i + 1; end < members.size() && isInner(i) && isInner(end) && headOf(end) == headOf(i); ++end)
      ;
    if (!isInner(i)) {
      out.push_back(members[i]);
      continue;
    }
    std::vector<Member> inner;
    for (const Member &member : members.slice(i, end - i))
      inner.emplace_back(StringRef(member.first).split('.').second.str(), member.second);
    out.emplace_back(headOf(i).str(), typeOfFileStruct(inner));
  }
  return out;
}

/// Whether all arrays of a file can be members of a struct.
template <typename Entries> static bool haveNames(const Entries &all) {
  return all.size() >= 2 && llvm::all_of(all, [](const auto &entry) { return isMemberName(entry.name); });
}

static ValueType typeOfArray(MLIRContext *context, DType dtype, ArrayRef<int64_t> shape) {
  ValueType leaf;
  leaf.kind = ValueType::Leaf;
  leaf.leaf =
      TensorType::get(context, dtype, llvm::map_to_vector(shape, [&](int64_t n) { return Dim::number(context, n); }));
  return leaf;
}

/// The type of a tensor, or of a column of text.
static ValueType typeOfLoaded(MLIRContext *context, const rt::Value &value) {
  if (auto *tensor = std::get_if<rt::TensorRef>(&value))
    return typeOfArray(context, (*tensor)->dtype, (*tensor)->shape());
  ValueType leaf;
  leaf.kind = ValueType::Leaf;
  leaf.leaf = StrType::get(context);
  return leaf.listOf(context);
}

bool Session::typeOfFile(const std::string &path, const std::string &member, const CsvOptions &csv, ValueType &type) {
  try {
    std::vector<Member> members;
    if (csv.header) {
      rt::LoadedFile table(path);
      for (auto &[name, column] : rt::readCsvTable(table, csv))
        members.emplace_back(name, typeOfLoaded(ir(), column));
      type = typeOfFileStruct(members);
      return true;
    }
    std::vector<rt::ArrayHeader> all = rt::headersOf(path, csv);
    if (!member.empty())
      std::erase_if(all, [&](const rt::ArrayHeader &array) { return array.name != member; });
    for (const rt::ArrayHeader &array : all)
      members.emplace_back(array.name, typeOfArray(ir(), array.dtype, array.shape));
    if (member.empty() && haveNames(all))
      type = typeOfFileStruct(members);
    else if (all.size() == 1)
      type = members[0].second;
    else
      return false;
    return true;
  } catch (rt::Error &) {
    return false;
  }
}

/// One array, a struct of all arrays by their names, or a struct of columns.
std::string Session::loadNow(const ast::Expr &path, const ast::Expr *member, const CsvOptions &csv, ValueType &type,
                             llvm::function_ref<void(DiagId, std::vector<std::string>)> failed) {
  std::string file, wanted, loaded = "$load" + std::to_string(instanceTable.newNumber());
  if (!evaluateText(path, file, "the path") || (member && !evaluateText(*member, wanted, "the name")))
    return "";
  auto keep = [&](const auto &all) { // until the statement ends
    std::vector<Member> members;
    for (auto &[name, value] : all) {
      globals[all.size() == 1 ? loaded : loaded + "." + std::to_string(members.size())] = value;
      members.emplace_back(name, typeOfLoaded(ir(), value));
    }
    type = typeOfFileStruct(members);
  };
  try {
    if (csv.header) {
      rt::LoadedFile table(file);
      keep(rt::readCsvTable(table, csv));
    } else if (std::vector<rt::NamedTensor> all = rt::openAll(file, csv, wanted); wanted.empty() && haveNames(all))
      keep(all);
    else {
      rt::TensorRef tensor = rt::oneOf(all, file, wanted, csv);
      type = typeOfLoaded(ir(), tensor);
      globals[loaded] = tensor;
    }
    globalTypes[loaded] = type;
    loadedNow.push_back(loaded);
    return loaded;
  } catch (rt::Error &error) {
    failed(error.id, error.args);
    return "";
  }
}

} // namespace toy
