// SPDX-License-Identifier: Apache-2.0
/// \file
/// Library functions written in the language itself.
#include "irgen/IRGenImpl.h"

#include "parser/Parser.h"

namespace toy {

static const char *const preludeText = R"toy(
## x * x
def square(x) { return x * x; }
## values limited to [low, high]
def clip(x, low, high) { return minimum(maximum(x, low), high); }
## 1 / (1 + exp(-x))
def sigmoid(x) { return reciprocal(1 + exp(-x)); }
## x * sigmoid(x)
def silu(x) { return x * sigmoid(x); }
## max(x, 0)
def relu(x) { return maximum(x, 0); }
## the Gaussian error linear unit, x/2 * (1 + erf(x / sqrt 2))
def gelu(x) { return 0.5 * x * (1 + erf(x * 0.7071067811865476)); }
## arithmetic mean over axes
def mean(x, axis = -1000, keepdims = false) {
  if axis == -1000 { return sum(x) / size(x); }
  return sum(x, axis, keepdims) / size(x, axis);
}
## variance over axes: the mean of abs2(x - mean), divided by n - ddof
def var(x, axis = -1000, ddof = 0, keepdims = false) {
  if axis == -1000 { return sum(abs2(x - mean(x))) / (size(x) - ddof); }
  return sum(abs2(x - mean(x, axis, true)), axis, keepdims) / (size(x, axis) - ddof);
}
## standard deviation over axes
def std(x, axis = -1000, ddof = 0, keepdims = false) { return sqrt(var(x, axis, ddof, keepdims)); }
## the 2-norm: sqrt(sum(abs2(x)))
def norm(x, axis = -1000, keepdims = false) {
  if axis == -1000 { return sqrt(sum(abs2(x))); }
  return sqrt(sum(abs2(x), axis, keepdims));
}
## exp(x) over its sum along an axis, without overflow
def softmax(x, axis = -1) {
  var e = exp(x - max(x, axis, keepdims = true));
  return e / sum(e, axis, keepdims = true);
}
## log(sum(exp(x))) along an axis, without overflow
def logsumexp(x, axis = -1, keepdims = false) {
  var m = max(x, axis, keepdims = true);
  var s = log(sum(exp(x - m), axis, keepdims));
  if keepdims { return s + m; }
  return s + squeeze(m, axis);
}
## sum(conj(a) * b) of vectors
def vdot(a, b) { return sum(conj(flatten(a)) * flatten(b)); }
## a[i] * b[j]
def outer(a, b) { return unsqueeze(flatten(a), 1) * unsqueeze(flatten(b), 0); }
## the sum of the diagonal
def trace(x, k = 0) { assert rank(x) >= 2, "trace needs a matrix"; return sum(diag(x, k), -1); }
)toy";

/// The parsed library of one SourceManager.
static const ast::Module &prelude(SourceManager &sources) {
  static std::map<SourceManager *, ast::Module> *modules = new std::map<SourceManager *, ast::Module>;
  auto it = modules->find(&sources);
  if (it == modules->end()) {
    DiagnosticEngine diagnostics(sources);
    TokenBuffer tokens = lex(sources.add("<library>", preludeText), diagnostics);
    ParseResult result = parse(tokens, diagnostics);
    assert(result.status == ParseStatus::Complete && "the library parses");
    it = modules->emplace(&sources, std::move(result.module)).first;
  }
  return it->second;
}

const ast::Function *preludeFunction(const std::string &name, SourceManager &sources) {
  for (const ast::StmtPtr &item : prelude(sources).items)
    if (auto *function = ast::dynCast<ast::Function>(item.get()); function && function->name == name)
      return function;
  return nullptr;
}

std::vector<BuiltinInfo> allBuiltins() {
  std::vector<BuiltinInfo> all;
  for (const BuiltinRow &row : builtinRows())
    all.push_back({row.name, row.parameters, row.group, row.doc});
  static SourceManager *sources = new SourceManager;
  for (const ast::StmtPtr &item : prelude(*sources).items) {
    auto &function = ast::cast<ast::Function>(*item);
    std::string parameters;
    for (const ast::Parameter &p : function.parameters)
      parameters += (parameters.empty() ? "" : ", ") + p.name + (p.defaultValue ? "=" : "");
    all.push_back({function.name, parameters, "library", function.doc});
  }
  return all;
}

} // namespace toy
