// SPDX-License-Identifier: Apache-2.0
/// \file
/// Library functions written in the language itself.
#include "irgen/Builtins.h"

#include "parser/Parser.h"

namespace toy {

static const char *const preludeText = R"toy(
## x * x
def square(x) { return x * x; }
## 1 / (1 + exp(-x))
def sigmoid(x) { return reciprocal(1 + exp(-1.0 * x)); }
## x * sigmoid(x)
def silu(x) { return x * sigmoid(x); }
## max(x, 0)
def relu(x) { return maximum(x, 0); }
## the Gaussian error linear unit, x/2 * (1 + erf(x / sqrt 2))
def gelu(x) { return 0.5 * x * (1 + erf(x * 0.7071067811865476)); }
## arithmetic mean over axes
def mean(x, axis = "all", keepdims = false) { return sum(x, axis, keepdims) / size(x, axis); }
## variance over axes: the mean of abs2(x - mean), divided by n - ddof
def var(x, axis = "all", ddof = 0, keepdims = false) {
  return sum(abs2(x - mean(x, axis, true)), axis, keepdims) / (size(x, axis) - ddof);
}
## standard deviation over axes
def std(x, axis = "all", ddof = 0, keepdims = false) { return sqrt(var(x, axis, ddof, keepdims)); }
## the 2-norm over axes: sqrt(sum(abs2(x)))
def norm(x, axis = "all", keepdims = false) { return sqrt(sum(abs2(1.0 * x), axis, keepdims)); }
## exp(x) over its sum along axes, without overflow
def softmax(x, axis = -1) {
  var e = exp(1.0 * x - max(x, axis, keepdims = true, initial = -inf));
  return e / sum(e, axis, keepdims = true);
}
## log(sum(exp(x))) along axes, without overflow
def logsumexp(x, axis = -1, keepdims = false) {
  var m = max(x, axis, keepdims = true, initial = -inf);
  var s = log(sum(exp(1.0 * x - m), axis, keepdims));
  if keepdims { return s + m; }
  return s + squeeze(m, axis);
}
## the distinct elements in ascending order, nan once and last
def unique(x) {
  var s = sort(flatten(x));
  var first = arange(len(s)) == 0;
  var before = roll(s, 1);
  return s[first or not (s == before or (isnan(1.0 * s) and isnan(1.0 * before)))];
}
## sum(conj(a) * b) of vectors
def vdot(a, b) {
  check(size(a) == size(b), "vdot needs as many elements on both sides");
  return sum(conj(flatten(a)) * flatten(b));
}
## a[i] * b[j]
def outer(a, b) { return unsqueeze(flatten(a), 1) * unsqueeze(flatten(b), 0); }
## the sum of the diagonal
def trace(x, k = 0) { check(rank(x) >= 2, "trace needs a matrix"); return sum(diag(x, k), -1); }
## the Kronecker product of matrices or vectors
def kron(a, b) {
  if rank(a) == 1 { return flatten(unsqueeze(a, 1) * unsqueeze(b, 0)); }
  return reshape(a[:, newaxis, :, newaxis] * b[newaxis, :, newaxis, :], [a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]]);
}
## a square matrix to an integer power, by repeated squaring; negative powers are those of the inverse
def matrix_power(x, n) {
  var base = x + 0 * x;
  var power = n;
  if n < 0 { base = inv(x) + 0 * x; power = -n; }
  var result = 0 * base + eye(x.shape[-1], dtype = base.dtype);
  while power > 0 {
    if power % 2 == 1 { result = result @ base; }
    base = base @ base;
    power = power // 2;
  }
  return result;
}
## frequencies of the points of fft: 0, 1, … , -2, -1 over n*d
def fftfreq(n, d = 1.0) { var i = arange(n); return where(i < (n + 1) // 2, i, i - n) / (n * d); }
## frequencies of the points of rfft
def rfftfreq(n, d = 1.0) { return arange(n // 2 + 1) / (n * d); }
## the convolution of vectors; mode full, same (the middle, as long as the longer one) or valid (where they overlap wholly)
def convolve(a, v, mode = "full") {
  check(mode == "full" or mode == "same" or mode == "valid", "mode is full, same or valid");
  var n = len(a); var m = len(v); var edge = zeros(m - 1, dtype = a.dtype);
  var whole = flatten(conv1d(reshape(cat([edge, a, edge]), [1, 1, n + 2*m - 2]), reshape(flip(v), [1, 1, m])));
  var start = 0; var stop = n + m - 1;
  if mode != "full" { start = minimum(n, m) - 1; stop = maximum(n, m); }
  if mode == "same" { start = (minimum(n, m) - 1) // 2; stop = start + maximum(n, m); }
  return whole[start : stop];
}
## x over its root mean square along the last axis, times weight
def rmsnorm(x, weight = 1, eps = 1e-5) { return x * rsqrt(mean(abs2(x), -1, true) + eps) * weight; }
## x minus its mean, over its standard deviation along the last axis, times weight, plus bias
def layernorm(x, weight = 1, bias = 0, eps = 1e-5) {
  var centred = x - mean(x, -1, true);
  return centred * rsqrt(mean(abs2(centred), -1, true) + eps) * weight + bias;
}
## softmax(q @ k' / sqrt(D)) @ v over the last two axes [S, D]; complex scores count by their real parts; causal: position i sees keys up to its own
def attention(q, k, v, causal = false, scale = 0.0) {
  var factor = where(scale == 0, 1 / sqrt(f64(q.shape[-1])), scale);
  var scores = real(q @ adjoint(k)) * factor;
  var s = q.shape[-2]; var t = k.shape[-2];
  var seen = arange(t) <= arange(s)[:, newaxis] + (t - s);
  return softmax(where(seen or not causal, scores, -inf), axis = -1) @ v;
}
## rotary position embedding: x real [..., S, H, D], freqs complex [S, D/2]; pairs are neighbours, or with layout "half" the halves of the last axis
def rope(x, freqs, layout = "interleaved") {
  check(layout == "interleaved" or layout == "half", "layout is interleaved or half");
  var w = unsqueeze(freqs, -2);
  if layout == "half" {
    var h = freqs.shape[-1];
    var z = complex(x[..., :h], x[..., h:]) * w;
    return cat([real(z), imag(z)], axis = -1);
  }
  return flatten(view_as_real(complex(x[..., 0::2], x[..., 1::2]) * w), -2);
}
)toy";

/// The parsed library of each SourceManager.
static std::map<SourceManager *, ast::Module> &preludes() {
  static auto *modules = new std::map<SourceManager *, ast::Module>;
  return *modules;
}

void forgetPrelude(SourceManager &sources) { preludes().erase(&sources); }

static const ast::Module &prelude(SourceManager &sources) {
  auto it = preludes().find(&sources);
  if (it == preludes().end()) {
    DiagnosticEngine diagnostics(sources);
    TokenBuffer tokens = lex(sources.add("<library>", preludeText), diagnostics);
    ParseResult result = parse(tokens, diagnostics);
    assert(result.status == ParseStatus::Complete && "the library parses");
    it = preludes().emplace(&sources, std::move(result.module)).first;
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
