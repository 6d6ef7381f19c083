// SPDX-License-Identifier: Apache-2.0
/// \file
/// Calls of user functions: arguments, declared sizes, results.
#include "irgen/Functions.h"

#include "irgen/Constants.h"
#include "irgen/Declarations.h"
#include "irgen/Expressions.h"
#include "irgen/Operators.h"
#include "irgen/Shapes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace toy {

void collectNames(Type type, std::set<std::string> &names) {
  if (auto tensor = dyn_cast<TensorType>(type))
    for (Dim dim : tensor.getDims())
      dim.collectSymbols([&](StringRef s) { names.insert(s.str()); });
}

/// A call with evaluated arguments.
/// Instances of a function differ by the types of their arguments and by constants; types of top-level variables come
/// on top (see globalsKey).
std::string instanceKey(IRGen &g, const ast::Function &decl, ArrayRef<Val> values, const std::set<unsigned> &statics,
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
    auto leaves = constantLeaves(g, value, ranges[i]);
    if (!leaves) {
      SmallVector<Value> unknown;
      value.flatten(unknown);
      for (Value leaf : unknown)
        needStatic(g, leaf);
      g.fail(DiagId::StaticNeeded, ranges[i], {decl.name, "`" + decl.parameters[i].name + "`"});
    }
    for (Attribute leaf : *leaves)
      key += isa<StringAttr>(leaf) ? "=\"" + cast<StringAttr>(leaf).getValue().str() + "\""
                                   : "=" + std::to_string(cast<IntegerAttr>(leaf).getInt());
  }
  return key + ")";
}

/// Arguments that nobody reads are not passed, and instances do not differ by them. Declared ones are: their sizes may
/// give names their values.
static void dropUnread(IRGen &g, const ast::Function &decl, std::vector<Val> &values) {
  if (isLibrary(g, decl))
    return;
  const std::set<size_t> &used = g.host.callGraph().summary(decl).usedParameters;
  std::set<std::string> sizes = sizeNamesOf(g, decl);
  for (auto [i, parameter] : llvm::enumerate(decl.parameters))
    if (!parameter.type && !used.count(i) && !sizes.count(parameter.name))
      values[i] = Val();
}

static Val callWith(IRGen &g, const ast::Function &decl, const ast::Call &call, std::vector<Val> values,
                    std::vector<SourceRange> ranges) {
  storeFor(g, decl, call.range);
  const std::string globals = globalsKey(g, decl);
  llvm::StringMap<Dim> sizes = declareArguments(g, decl, values, ranges);
  dropUnread(g, decl, values);
  while (true) {
    std::set<unsigned> statics = g.staticParameters[&decl];
    for (auto [i, value] : llvm::enumerate(values)) // words choose what a library function does
      if (isLibrary(g, decl) && stringOf(value))
        statics.insert(i);
    auto keyOf = [&](ArrayRef<Val> values) { return instanceKey(g, decl, values, statics, ranges) + globals; };
    size_t depth = g.stack.size();
    try {
      std::vector<Val> given = values;
      std::shared_ptr<Specialization> form = specialize(g, decl, call, given, statics, keyOf, ranges);
      const Instance &instance = instantiate(g, decl, given, keyOf(given), call.range, statics, form);
      SmallVector<Value> operands;
      for (auto [i, value] : llvm::enumerate(given))
        if (!statics.count(i) && value.kind != Val::DTypeRef)
          value.flatten(operands);
      if (FunctionState &caller = g.fn(); caller.instance) {
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
      TypeDesc resultType = instance.result;
      resultType.mapSizes([&](unsigned, size_t, Dim dim) {
        dim.collectSymbols([&](StringRef s) {
          if (!names.count(s) && !known.count(s.str()))
            names[s] = g.freshSize();
        });
        return dim.substitute(names);
      });
      SmallVector<Type> leaves;
      instance.result.flatten(leaves);
      auto op = func::CallOp::create(g.b, g.loc(call.range), instance.symbol, leaves, operands);
      SmallVector<Type> callerLeaves;
      resultType.flatten(callerLeaves);
      SmallVector<Value> results;
      for (auto [result, type] : llvm::zip_equal(op.getResults(), callerLeaves))
        results.push_back(relabel(g, result, type, call.range));
      ValueRange rest(results);
      return unflatten(resultType, rest);
    } catch (StaticParameterNeeded &need) {
      if (need.function != &decl || g.stack.size() != depth)
        throw;
      g.staticParameters[&decl].insert(need.index);
    }
  }
}

Val callUser(IRGen &g, const ast::Function &decl, const ast::Call &call, BoundArguments bound) {
  std::vector<Val> values;
  std::vector<SourceRange> ranges;
  for (auto [i, parameter] : llvm::enumerate(decl.parameters)) {
    const ast::Expr *e = bound[i].second;
    ranges.push_back(e ? e->range : call.range);
    if (e && e->kind == ast::NodeKind::Bracket && parameter.name == "axis" &&
        isLibrary(g, decl)) // several axes are integers
      values.push_back(Val::tuple(indexList(g, *e, decl.name)));
    else if (e)
      values.push_back(genExpr(g, *e));
    else { // defaults see top-level names only, as they are now
      std::vector<std::map<std::string, Variable>> scopes(1);
      if (!g.fn().decl)
        for (auto &[name, variable] : g.fn().scopes.front())
          if (variable.isGlobal)
            scopes.front()[name] = variable;
      std::swap(scopes, g.fn().scopes);
      values.push_back(genExpr(g, *parameter.defaultValue));
      std::swap(scopes, g.fn().scopes);
    }
    if (values.back().kind == Val::Nothing)
      g.fail(DiagId::NoValue, ranges.back(), {g.sourceText(ranges.back())});
  }
  // Functions of the library compute in f32 as a whole, and round halves once.
  auto half = llvm::find_if(values, [](const Val &v) { return v.isTensor() && isHalfTensor(v.value.getType()); });
  if (isLibrary(g, decl))
    for (auto [i, parameter] : llvm::enumerate(decl.parameters))
      if (!parameter.defaultValue)
        needTensor(g, values[i], decl.name, ranges[i]);
  if (isLibrary(g, decl) && half != values.end()) {
    DType dtype = half->tensor().getDtype();
    for (Val &v : values)
      if (v.isTensor() && isHalfTensor(v.value.getType()))
        v = castTo(g, v.value, DType::F32, call.range);
    Val result = callWith(g, decl, call, std::move(values), std::move(ranges));
    if (result.isTensor() && result.tensor().getDtype() == DType::F32)
      result = castTo(g, result.value, dtype, call.range);
    return result;
  }
  return callWith(g, decl, call, std::move(values), std::move(ranges));
}

} // namespace toy
