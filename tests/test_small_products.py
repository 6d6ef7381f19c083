# SPDX-License-Identifier: Apache-2.0
"""Complex products of at most 64 multiplications sum complex products in the order of the inner axis, also where both
factors and the result exist by parts. So do products with few columns or a short inner axis, in any layout."""
import subprocess

import pytest

PROGRAM = """
def parts(a: {left}, b: {left}, c: {right}, d: {right}) {{ var z = complex(a, b) @ complex(c, d); return (real(z), imag(z)); }}
def by_hand(a, b) {{
  var z = complex(zeros(a.shape[0], b.shape[1]), zeros(a.shape[0], b.shape[1]));
  for i in range(a.shape[0]) {{ for j in range(b.shape[1]) {{
    var s = 0.0 + 0i;
    for p in range(a.shape[1]) {{ s = s + a[i, p] * b[p, j]; }}
    z[i, j] = s;
  }} }}
  return z;
}}
seed(5);
var wrong = 0;
for k in range(50) {{
  var a = randn({m}, {n}); var b = randn({m}, {n}); var c = randn({n}, {m}); var d = randn({n}, {m});
  var z = by_hand(complex(a, b), complex(c, d)); var p = parts(a, b, c, d);
  wrong += i64(not all(p[0] == real(z)) or not all(p[1] == imag(z)));
}}
print(wrong);
"""


@pytest.mark.host
@pytest.mark.parametrize("flags", ["--jit=never", "--jit=always", "--jit=always --dynamic=on", "--jit=always -O0"])
@pytest.mark.parametrize("m, n", [(3, 3), (4, 4), (1, 9), (2, 16)])
@pytest.mark.parametrize("declared", ["known", "unknown"])
def test_parts_of_small_products(toy, tmp_path, flags, m, n, declared):
    left, right = (f"f64[{m}, {n}]", f"f64[{n}, {m}]") if declared == "known" else ("f64[M, N]", "f64[N, M]")
    path = tmp_path / "p.toy"
    path.write_text(PROGRAM.format(m=m, n=n, left=left, right=right))
    done = subprocess.run([toy, *flags.split(), str(path)], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("0\n", "")


IN_ORDER = """
def in_order(a, b) {
  var s = outer(a[:, 0], b[0]) + 0;
  for p in range(1, a.shape[1]) { s = s + outer(a[:, p], b[p]); }
  return s;
}
def agree(a, b) {
  var first = transpose(a) * 1.0; var second = transpose(b) * 1.0; # the same in other layouts
  return all(a @ b == in_order(a, b)) and all(transpose(first) @ b == a @ b) and all(a @ transpose(second) == a @ b)
     and all((a @ b)[len(a) // 2] == (a[len(a) // 2:len(a) // 2 + 2] @ b)[0])
     and all(conj(a) @ conj(b) == in_order(conj(a), conj(b)));
}
seed(8);
for (m, n, k) in i64([[4, 16, 17], [4, 17, 8], [3, 16, 64], [70, 33, 3], [129, 5, 40], [300, 2, 33], [65, 49, 8],
                          [1000, 16, 1]]) {
  var a = randn(m, k); var b = randn(k, n); var z = complex(a, randn(m, k)); var w = complex(b, randn(k, n));
  if not (agree(a, b) and agree(f32(a), f32(b)) and agree(z, w) and agree(c64(z), c64(w))) { print(m, n, k); }
}
"""


@pytest.mark.host
@pytest.mark.parametrize("flags", ["--jit=never", "--jit=always", "--jit=always --dynamic=off --threads=2"])
def test_products_in_order(toy, tmp_path, flags):
    path = tmp_path / "p.toy"
    path.write_text(IN_ORDER)
    done = subprocess.run([toy, *flags.split(), str(path)], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("", "")


OWN_TRANSPOSE = """
def show(what, p, q, unit) { # exactly symmetric, near the product of a copy, with the bits of the other mode
  if not (max(abs(p - q)) <= unit * (1 + max(abs(q)))) { print("wrong", what, p.shape); }
  print(what, p.shape[-1], sum(p * cos(arange(p.shape[-1]))));
}
def products(x, copy, unit) {
  show("x x.T", x @ transpose(x), x @ transpose(copy), unit); show("x.T x", transpose(x) @ x, transpose(copy) @ x, unit);
  show("x x'", x @ x', x @ copy', unit); show("x' x", x' @ x, copy' @ x, unit);
  show("conj", conj(x) @ transpose(x), conj(x) @ transpose(copy), unit); show("x.T conj", transpose(x) @ conj(x), transpose(copy) @ conj(x), unit);
  show("both", conj(x) @ x', conj(x) @ copy', unit); show("adjoint", x' @ conj(x), copy' @ conj(x), unit);
  var s = x[1:, ::2]; show("part", s @ transpose(s), s @ transpose(copy[1:, ::2]), unit);
  var t = x[:, 1:]; show("other part", x[:, :-1] @ transpose(t), copy[:, :-1] @ transpose(t), unit);
  show("scaled", 2 * (x @ transpose(x)), 2 * (x @ transpose(copy)), unit);
  return x.shape[0] < 32 or all(x @ transpose(x) == transpose(x @ transpose(x))) and all(x @ x' == (x @ x')') and all(imag(diag(x' @ x)) == 0);
}
def on_batch(x, copy) { return max(abs(x @ swapaxes(x, -1, -2) - x @ swapaxes(copy, -1, -2))); }
def twice(a, b) { return a @ transpose(b); }
seed(6);
for (m, n) in i64([[15, 40], [16, 90], [31, 50], [32, 50], [45, 33], [100, 70]]) {
  var x = randn(m, n); var z = complex(x, randn(m, n));
  print(products(x, x + 0, 1e-12), products(f32(x), f32(x + 0), 1e-4), products(z, z + 0, 1e-12), products(c64(z), c64(z + 0), 1e-4));
  show("same", twice(x, x), twice(x, x + 0), 1e-12);
}
var q = randn(40, 40); var w = complex(q, randn(40, 40));
show("square", q @ q, q @ (q + 0), 1e-12); show("conjugate", conj(w) @ w, conj(w) @ (w + 0), 1e-12);
show("twice", transpose(w) @ transpose(w), transpose(w) @ transpose(w + 0), 1e-12);
var b = randn(3, 40, 21); print(on_batch(b, b + 0) < 1e-12, on_batch(complex(b, b * b), complex(b, b * b) + 0) < 1e-12);
"""


@pytest.mark.host
def test_products_with_own_transpose(toy, tmp_path):
    path = tmp_path / "p.toy"
    path.write_text(OWN_TRANSPOSE)
    shown = []
    for flags in ("--jit=never", "--jit=always"):
        done = subprocess.run([toy, flags, str(path)], capture_output=True, text=True, timeout=60)
        assert done.stderr == "" and "wrong" not in done.stdout and "false" not in done.stdout
        shown.append(done.stdout)
    assert shown[0] == shown[1]
