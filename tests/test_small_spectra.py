# SPDX-License-Identifier: Apache-2.0
"""Spectra of up to eight rows and columns are found in lanes: orthonormal vectors, also where singular values are zero
or tiny, within a few units of the last place of what LAPACK finds in a larger matrix; alone with the same bits as in a
batch, whatever lies beside it; nan and infinity are errors of the matrix that has them."""
import subprocess

import pytest

PROGRAM = """
def size_of(x) { var size = f64(max(abs(x))); if size == 0.0 { return 1.0; } return size; }
def same(a, b) {
  return array_equal(a, b) and array_equal(1 / real(a), 1 / real(b)) and array_equal(1 / imag(a), 1 / imag(b));
}
def wide(x) { return c128(x); }
def is_basis(q, unit) { return max(abs(q' @ q - eye(q.shape[-1]))) < 40 * unit; }
def larger(x) { # in a corner of zeros: by LAPACK
  var y = zeros(20, 20, dtype = c128);
  y[:x.shape[0], :x.shape[1]] = x;
  return y;
}
def check(x, what, unit) {
  var (m, n) = (x.shape[-2], x.shape[-1]); var k = minimum(m, n);
  var (u, s, vh) = svd(x); var (u1, s1, vh1) = svd(x, full_matrices = false);
  if not (same(s, s1) and same(s, svdvals(x)) and u.shape[-1] == m and vh1.shape[-2] == k) { print("thin", what, m, n); }
  for i in range(len(x)) {
    var (p, q, r) = svd(x[i]);
    if not (same(p, u[i]) and same(q, s[i]) and same(r, vh[i])) { print("alone", what, m, n, i); }
    var size = size_of(x[i]);
    var one = wide(x[i]) / size; var d = f64(s[i]) / size;
    if not (is_basis(wide(u[i]), unit) and is_basis(wide(vh[i])', unit) and is_basis(wide(u1[i]), unit)
            and max(abs((wide(u1[i]) * d) @ wide(vh1[i]) - one)) < 40 * unit
            and max(abs(svdvals(larger(one))[:k] - d)) < 20 * unit and all(d >= 0) and all(diff(d) <= 0)) {
      print("singular", what, m, n, i);
    }
  }
  if m == n {
    var (w, v) = eigh(x);
    if not same(w, eigvalsh(x)) { print("values", what, n); }
    for i in range(len(x)) {
      var (p, q) = eigh(x[i]);
      if not (same(p, w[i]) and same(q, v[i])) { print("eigenvectors alone", what, n, i); }
      var h = wide(tril(x[i], -1)); h = h + h' + diag(real(diag(x[i])));
      var size = size_of(h); var one = h / size; var d = f64(w[i]) / size;
      if not (is_basis(wide(v[i]), unit) and max(abs((wide(v[i]) * d) @ wide(v[i])' - one)) < 40 * unit
              and all(diff(d) >= 0) and max(abs(sort(real(eigvals(one))) - d)) < 40 * unit) { print("eigen", what, n, i); }
    }
  }
  return 0;
}
def matrices(m: i64, n: i64) {
  var all = randn(19, m, n); all[0] = 0; all[1] = 1; all[2] = outer(all[2, :, 0], all[3, 0]); all[4] *= 1e-30; all[5] *= 1e30;
  all[6] = 0; all[6, 0, 0] = 1; all[6, m - 1, n - 1] = 1e-35; all[7, :, 0] = 0; all[8, 0] = 0; all[9, :, n - 1] = all[9, :, 0];
  all[10] = all[10] * 10.0 ** -(4.0 * arange(n)); all[11] = tril(ones(m, n)); all[12] = -all[11]; all[13] *= 1e-9; all[13, 0] = 1; all[14] = -eye(m, n);
  return all;
}
seed(29);
for (m, n) in i64([[1, 1], [2, 2], [3, 3], [4, 4], [8, 8], [1, 6], [4, 3], [5, 7]]) {
  var x = matrices(m, n); var z = complex(x, randn(19, m, n) * abs(x));
  check(x, "f64", 2.0 ** -52); check(f32(x), "f32", 2.0 ** -23); check(z, "c128", 2.0 ** -52); check(c64(z), "c64", 2.0 ** -23);
}
print(eigh([[1e300, 5.0], [1e300, 1e300]])[0], svdvals([[3e307, 4e307], [0, 0]]), svdvals(f32([[3e-40, 4e-40]])));
var x = ones(5, 3, 3); x[2, 2, 1] = nan; x[3, 0, 0] = inf;
try { svdvals(x); } catch e { print(e.text); }
try { svd(x); } catch e { print(e.text); }
try { eigvalsh(x); } catch e { print(e.text); }
try { eigh(x); } catch e { print(e.text); }
"""
SHOWN = "[ 0.0e+00, 2.0e+300] [5.0e+307,  0.0e+00] [5.0e-40]\n" + "".join(
    f"`{name}` did not converge: the matrix 2 of the batch holds nan or infinity\n"
    for name in ("svdvals", "svd", "eigvalsh", "eigh")
)


@pytest.mark.host
def test_small_spectra(toy, tmp_path):
    path = tmp_path / "p.toy"
    path.write_text(PROGRAM)
    done = subprocess.run([toy, str(path)], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (SHOWN, "")
