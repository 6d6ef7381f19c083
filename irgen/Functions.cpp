// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls of user functions: arguments, declared sizes, results.
#include "irgen/IRGenImpl.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace toy {

void collectNames(Type type, std::set<std::string> &names) {
  if (auto tensor = dyn_cast<TensorType>(type))
    for (Dim dim : tensor.getDims())
      dim.collectSymbols([&](StringRef s) { names.insert(s.str()); });
}

static Val integers(ArrayRef<Value> values) {
  Val tuple;
  tuple.kind = Val::Tuple;
  for (Value value : values)
    tuple.elements.push_back(Val::leaf(value));
  return tuple;
}

Val IRGen::callUser(const ast::Function &decl, const ast::Call &call,
                    std::vector<std::pair<std::string, const ast::Expr *>> bound) {
  std::vector<Val> values;
  std::vector<SourceRange> ranges;
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    const ast::Expr *e = bound[i].second;
    ranges.push_back(e ? e->range : call.range);
    if (e && e->kind == ast::NodeKind::Bracket && parameter.name == "axis" &&
        isLibrary(decl)) // several axes are integers
      values.push_back(integers(indexList(*e, decl.name)));
    else if (e)
      values.push_back(expr(*e));
    else { // defaults see top-level names only, as they are now
      std::vector<std::map<std::string, Variable>> scopes(1);
      if (!fn().decl)
        for (auto &[name, variable] : fn().scopes.front())
          if (variable.isGlobal)
            scopes.front()[name] = variable;
      std::swap(scopes, fn().scopes);
      values.push_back(expr(*parameter.defaultValue));
      std::swap(scopes, fn().scopes);
    }
    if (values.back().kind == Val::Nothing)
      fail(DiagId::NoValue, ranges.back(), {sourceText(ranges.back())});
  }
  // Functions of the library compute in f32 as a whole, and round halves once.
  auto half = llvm::find_if(values, [](const Val &v) { return v.isTensor() && isHalfTensor(v.value.getType()); });
  if (isLibrary(decl))
    for (auto [i, parameter] : llvm::enumerate(decl.parameters))
      if (!parameter.defaultValue)
        needTensor(values[i], decl.name, ranges[i]);
  if (isLibrary(decl) && half != values.end()) {
    DType dtype = half->tensor().getDtype();
    for (Val &v : values)
      if (v.isTensor() && isHalfTensor(v.value.getType()))
        v = Val::leaf(cast(v.value, DType::F32, call.range));
    Val result = callWith(decl, call, std::move(values), std::move(ranges));
    if (result.isTensor() && result.tensor().getDtype() == DType::F32)
      result = Val::leaf(cast(result.value, dtype, call.range));
    return result;
  }
  return callWith(decl, call, std::move(values), std::move(ranges));
}

/// A call with evaluated arguments.
/// Instances of a function differ by the types of their arguments and by constants; types of top-level variables come
/// on top (see globalsKey).
std::string IRGen::instanceKey(const ast::Function &decl, ArrayRef<Val> values, const std::set<unsigned> &statics,
                               ArrayRef<SourceRange> ranges) {
  std::string key = decl.name + "@" + std::to_string(decl.range.buffer) + ":" + std::to_string(decl.range.begin) + "(";
  for (auto [i, value] : llvm::enumerate(values)) {
    key += i ? "; " : "";
    if (value.kind == Val::Nothing) {
      key += "_";
      continue;
    }
    if (value.kind == Val::DTypeRef) {
      key += std::string(nameOf(value.dtype));
      continue;
    }
    key += value.type().str();
    if (!statics.count(i))
      continue;
    auto leaves = constantLeaves(value, ranges[i]);
    if (!leaves) {
      SmallVector<Value> unknown;
      value.flatten(unknown);
      for (Value leaf : unknown)
        needStatic(leaf);
      fail(DiagId::StaticNeeded, ranges[i], {decl.name, "`" + decl.parameters[i].name + "`"});
    }
    for (Attribute leaf : *leaves)
      key += isa<StringAttr>(leaf) ? "=\"" + cast<StringAttr>(leaf).getValue().str() + "\""
                                   : "=" + std::to_string(cast<IntegerAttr>(leaf).getInt());
  }
  return key + ")";
}

/// Arguments that nobody reads are not passed, and instances do not differ by them. Declared ones are: their sizes may
/// give names their values.
void IRGen::dropUnread(const ast::Function &decl, std::vector<Val> &values) {
  if (isLibrary(decl))
    return;
  const std::set<size_t> &used = host.callGraph().summary(decl).usedParameters;
  std::set<std::string> sizes = sizeNamesOf(decl);
  for (auto [i, parameter] : llvm::enumerate(decl.parameters))
    if (!parameter.type && !used.count(i) && !sizes.count(parameter.name))
      values[i] = Val();
}

Val IRGen::callWith(const ast::Function &decl, const ast::Call &call, std::vector<Val> values,
                    std::vector<SourceRange> ranges) {
  storeFor(decl, call.range);
  const std::string globals = globalsKey(decl);
  llvm::StringMap<Dim> sizes = declareArguments(decl, values, ranges);
  dropUnread(decl, values);
  while (true) {
    std::set<unsigned> statics = staticParameters[&decl];
    for (auto [i, value] : llvm::enumerate(values)) // words choose what a library function does
      if (isLibrary(decl) && stringOf(value))
        statics.insert(i);
    auto keyOf = [&](ArrayRef<Val> values) { return instanceKey(decl, values, statics, ranges) + globals; };
    size_t depth = stack.size();
    try {
      std::vector<Val> given = values;
      std::shared_ptr<Specialization> form = specialize(decl, call, given, statics, keyOf, ranges);
      const Instance &instance = instantiate(decl, given, keyOf(given), call.range, statics, form);
      SmallVector<Value> operands;
      for (auto [i, value] : llvm::enumerate(given))
        if (!statics.count(i) && value.kind != Val::DTypeRef)
          value.flatten(operands);
      if (FunctionState &caller = fn(); caller.instance) {
        caller.instance->functions.insert(instance.functions.begin(), instance.functions.end());
        caller.instance->functions.insert(decl.name);
      }
      // Sizes of the result in the caller's names; what only the callee knows gets new ones.
      std::set<std::string> known;
      for (Value v : operands)
        collectNames(v.getType(), known);
      llvm::StringMap<Dim> names = sizes;
      if (form)
        for (const auto &entry : form->bound)
          names[entry.first()] = entry.second;
      auto rename = [&](auto &self, TypeDesc &type) -> void {
        for (TypeDesc &element : type.elements)
          self(self, element);
        auto tensor = dyn_cast_if_present<TensorType>(type.leaf);
        if (!tensor)
          return;
        SmallVector<Dim> dims;
        for (Dim dim : tensor.getDims()) {
          dim.collectSymbols([&](StringRef s) {
            if (!names.count(s) && !known.count(s.str()))
              names[s] = freshSize();
          });
          dims.push_back(dim.substitute(names));
        }
        type.leaf = tensor.withDims(dims);
      };
      TypeDesc resultType = instance.result;
      rename(rename, resultType);
      SmallVector<Type> leaves;
      instance.result.flatten(leaves);
      auto op = func::CallOp::create(b, loc(call.range), instance.symbol, leaves, operands);
      SmallVector<Type> callerLeaves;
      resultType.flatten(callerLeaves);
      SmallVector<Value> results;
      for (auto [result, type] : llvm::zip_equal(op.getResults(), callerLeaves))
        results.push_back(relabel(result, type, call.range));
      ValueRange rest(results);
      return unflatten(resultType, rest);
    } catch (StaticParameterNeeded &need) {
      if (need.function != &decl || stack.size() != depth)
        throw;
      staticParameters[&decl].insert(need.index);
    }
  }
}

} // namespace toy
