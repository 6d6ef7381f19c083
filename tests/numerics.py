# SPDX-License-Identifier: Apache-2.0
"""Accuracy of transforms and decompositions: round trips of every length, roots of polynomials, residuals in units of
n·eps."""
import pathlib
import tempfile

import programs

LENGTHS = [*range(1, 258), 1000, 1009, 4096, 10007, 65537, 1 << 20]


def run(toy, program, flags=()):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "p.toy")
        path.write_text(program)
        done = programs.run([toy, *flags, str(path)], cwd=folder, timeout=300)
    return (
        done.stderr[:2000]
        if done.returncode
        else "\n".join(line for line in done.stdout.splitlines() if line.startswith("FAIL"))
        or (None if done.stdout.strip().endswith("done") else done.stdout)
    )


def transforms(toy):
    """ifft(fft(x)) and irfft(rfft(x)) are x to 1e-14 and 1e-6 of the largest element; Parseval's theorem."""
    return run(
        toy,
        """
def largest(x: _[N]) { return max(abs(x)); }
def check_length(z: _[N], x: _[N], n: i64, limit) {
  var back = largest(ifft(fft(z)) - z) / largest(z);
  var half = largest(irfft(rfft(x), n) - x) / largest(x);
  var energy = abs(norm(fft(z, norm = "ortho")) / norm(z) - 1);
  if not (back < limit and half < limit and energy < 8 * limit) { print("FAIL", n, back, half, energy); }
  return 0;
}
"""
        + "".join(
            f"seed({n}); var z{n} = randn({n}, dtype=c128); var x{n} = randn({n}); check_length(z{n}, x{n}, {n}, 1e-14); check_length(c64(z{n}), f32(x{n}), {n}, 1e-6);\n"
            for n in LENGTHS
        )
        + 'print("done");\n',
    )


def polynomials(toy):
    """Roots of random complex polynomials of degree 2 to 30: the polynomial is small there, relative to the sum of the
    absolute terms."""
    return run(
        toy,
        """
def residual(p, r, n: i64) {
  var value = zeros(n, dtype = c128); var size = zeros(n);
  for i in range(n + 1) { value = value * r + p[i]; size = size * abs(r) + abs(p[i]); }
  return max(abs(value) / size) / (n * 2.220446049250313e-16);
}
def check_degree(n: i64) {
  var p = randn(n + 1, dtype = c128);
  var r = roots(p);
  if r.shape[0] != n or not (residual(p, r, n) < 40) { print("FAIL complex", n, residual(p, r, n)); }
  var q = roots(real(p));
  if q.shape[0] != n or not (residual(complex(real(p), 0), q, n) < 40) { print("FAIL real", n); }
  return max(abs(sort(imag(q)) + flip(sort(imag(q)))));
}
var odd = 0.0;
for n in range(2, 31) { odd += check_degree(n); }
if odd != 0 { print("FAIL: roots of real polynomials come in exact pairs"); }
var turn = eigvals([[0, -1], [1, 0]]);
if not all(turn == [1i, -1i]) { print("FAIL: turn", turn); }
print("done");
""",
    )


def decompositions(dtype, n):
    def check(toy):
        eps = "1.1920929e-07" if dtype in ("f32", "c64") else "2.220446049250313e-16"
        return run(
            toy,
            f"""
seed({n});
def check_all(a, n: i64) {{
  var unit = n * {eps}; var size = norm(a); var one = eye(n, dtype = a.dtype);
  var (q, r) = qr(a); var (u, s, vh) = svd(a); var h = a + a'; var (w, v) = eigh(h); var (e, ev) = eig(a); var l = cholesky(a @ a' + one); var b = a[:, 0];
  var worst = stack(norm(q @ r - a) / size, norm(q' @ q - one), norm((u * s) @ vh - a) / size, norm(u' @ u - one), norm(h @ v - v * w) / norm(h), norm(v' @ v - one), norm(a @ ev - ev * e) / size,
                    norm(l @ l' - a @ a' - one) / norm(a @ a'), norm(a @ solve(a, b) - b) / (size * norm(solve(a, b))), norm(a @ inv(a) - one) / (size * norm(inv(a))), abs(sum(e) - trace(a)) / size) / unit;
  for i in range(11) {{ if not (worst[i] < 10) {{ print("FAIL", i, worst[i]); }} }}
  return 0;
}}
check_all(randn({n}, {n}, dtype = {dtype}), {n});
print("done");
""",
        )

    return check


def all_cases():
    yield "Fourier transforms of every length", transforms, "host"
    yield "roots of polynomials", polynomials
    for dtype in ("f32", "f64", "c64", "c128"):
        for n in (1, 2, 7, 60, 200):
            yield f"decompositions of {dtype}[{n}, {n}]", decompositions(dtype, n)
