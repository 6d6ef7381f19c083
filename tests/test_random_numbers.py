# SPDX-License-Identifier: Apache-2.0
"""Random numbers of every distribution: what they look like beside their probabilities, that a key says all about them
in every mode, that a failed call takes none, and what is refused. Keys are fixed, so nothing here is left to chance."""
import math
import os
import subprocess

import numpy as np
import pytest

from programs import run_parts

pytestmark = [pytest.mark.host, pytest.mark.sanitized]
#: the reference, and what must do the same
MODES = [
    "--jit=never",
    "--jit=always",
    "--jit=always -O0 --threads=1",
    "--jit=always --unpack",
    "--jit=auto --dynamic=on",
    "--jit=never --threads=2",
]


def agreed(toy, program, modes=MODES):
    results = run_parts(toy, [(program, modes)])[0]
    assert results[0].status == 0, results[0].stderr
    for mode, done in zip(modes, results):
        assert (done.status, done.stdout) == (0, results[0].stdout), (mode, done.stderr)
    return results[0].stdout


def drawn(toy, folder, call, count=200_000):
    """So many numbers of a call that has `{n}` for its size."""
    program = f'save("x.npy", {call.format(n=count)});\n'
    (done,) = run_parts(toy, [(program, ["--jit=auto"])], cwd=folder)[0]
    assert done.status == 0, done.stderr
    return np.load(os.path.join(folder, "x.npy"))


# --- distributions: Kolmogorov's and Pearson's distances; one in 10^5 samples would be farther away

KOLMOGOROV, TAIL = 2.47, 4.3


def normal_below(x):
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x])


def gamma_below(shape):
    """By its density, summed on a grid that is fine where it is steep."""

    def below(x):
        y = np.exp(np.linspace(math.log(x.max()) - 60 / min(shape, 1), math.log(x.max()), 400_001))
        density = np.exp(shape * np.log(y) - y - math.lgamma(shape))  # of log y
        parts = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(np.log(y)))])
        return np.interp(np.log(x), np.log(y), parts)

    return below


CONTINUOUS = [
    ("rand({n}, key = key(1))", lambda x: x),
    ("rand({n}, dtype = f32, key = key(2))", lambda x: x),
    ("uniform(-3, 5, {n}, key = key(3))", lambda x: (x + 3) / 8),
    ("randn({n}, key = key(4))", normal_below),
    ("randn({n}, dtype = f32, key = key(5))", normal_below),
    ("normal(10, 0.5, {n}, key = key(6))", lambda x: normal_below((x - 10) / 0.5)),
    ("sqrt(2.0) * imag(randn({n}, dtype = c128, key = key(7)))", normal_below),
    ("exponential(2.5, {n}, key = key(8))", lambda x: -np.expm1(-x / 2.5)),
    ("exponential(f32(1), {n}, key = key(9))", lambda x: -np.expm1(-x)),
    *(
        (f"gamma({shape}, {{n}}, scale = {scale}, key = key({i}))", lambda x, b=gamma_below(shape), s=scale: b(x / s))
        for i, (shape, scale) in enumerate([(0.2, 1.0), (0.9, 3.0), (1.0, 1.0), (2.5, 0.5), (60.0, 1.0)], 10)
    ),
    # every element from a stream of its own
    ("map(k => rand(key = k), keys(key(20), {n}))", lambda x: x),
    ("rand({n})", lambda x: x),
    ("map(i => rand(), zeros({n}))", lambda x: x),
    ("map(i => randn(), zeros({n}))", normal_below),
]


@pytest.mark.parametrize("call, below", CONTINUOUS, ids=[call for call, _ in CONTINUOUS])
def test_continuous(toy, tmp_path, call, below):
    x = np.sort(drawn(toy, tmp_path, call).astype(np.float64))
    n = len(x)
    p = below(x)
    distance = max(np.max(np.arange(1, n + 1) / n - p), np.max(p - np.arange(n) / n))
    assert distance * math.sqrt(n) < KOLMOGOROV


def poisson_chances(lam):
    k = np.arange(0, int(lam + 12 * math.sqrt(lam) + 30))
    return k, np.exp([v * math.log(lam) - lam - math.lgamma(v + 1) for v in k])


def binomial_chances(n, p):
    k = np.arange(0, n + 1)
    chances = [math.lgamma(n + 1) - math.lgamma(v + 1) - math.lgamma(n - v + 1) for v in k]
    return k, np.exp(np.array(chances) + k * math.log(p) + (n - k) * math.log1p(-p))


def even(low, high):
    return np.arange(low, high), np.full(high - low, 1 / (high - low))


DISCRETE = [
    *(
        (f"poisson({lam}, {{n}}, key = key({i}))", poisson_chances(lam))
        for i, lam in enumerate([0.01, 0.7, 4.0, 9.99, 10.0, 37.5, 1000.0], 30)
    ),
    *(
        (f"binomial({n}, {p}, {{n}}, key = key({i}))", binomial_chances(n, p))
        for i, (n, p) in enumerate(
            [(1, 0.25), (9, 0.5), (30, 0.3), (40, 0.25), (100, 0.93), (1000, 0.009), (5000, 0.6)], 40
        )
    ),
    ("randint(-3, 8, {n}, key = key(50))", even(-3, 8)),
    ("randint(0, [7][0].i64(), {n}, key = key(51))", even(0, 7)),
    # the words of a range above 2^32
    ("randint(0, 5 * 2 ** 60, {n}, key = key(52)) // 2 ** 60", even(0, 5)),
    ("randint(-9223372036854775807 - 1, 9223372036854775807, {n}, key = key(53)) % 64", even(0, 64)),
    ("choice([1, 2, 3, 4, 5], {n}, key = key(54)).i64()", even(1, 6)),
    ("choice(4, {n}, p = [0.1, 0.0, 0.6, 0.3], key = key(55))", (np.array([0, 2, 3]), np.array([0.1, 0.6, 0.3]))),
    # first places of short orders
    ("map(k => permutation(6, key = k)[0], keys(key(56), {n}))", even(0, 6)),
    ("map(k => permutation(6, key = k)[5], keys(key(57), {n}))", even(0, 6)),
    ("map(k => sum(permutation(4, k) * i64([1, 4, 16, 64])), keys(key(58), {n}))", None),
    ("map(k => choice(40, 2, replace = false, key = k)[1], keys(key(59), {n}))", even(0, 40)),
    # without replacement: 1 behind 0 with 0.2 * 0.3 / 0.8, and so on
    (
        "map(k => sum(choice(3, 2, p = [0.2, 0.3, 0.5], replace = false, key = k) * i64([3, 1])), keys(key(60), {n}))",
        (
            np.array([1, 2, 3, 5, 6, 7]),
            np.array(
                [0.2 * 0.3 / 0.8, 0.2 * 0.5 / 0.8, 0.3 * 0.2 / 0.7, 0.3 * 0.5 / 0.7, 0.5 * 0.2 / 0.5, 0.5 * 0.3 / 0.5]
            ),
        ),
    ),
    ("map(i => randint(0, 3), zeros({n}))", even(0, 3)),
]


@pytest.mark.parametrize("call, chances", DISCRETE, ids=[call for call, _ in DISCRETE])
def test_discrete(toy, tmp_path, call, chances):
    x = drawn(toy, tmp_path, call, 40_000 if "map" in call else 200_000)
    values, p = chances or (np.unique(x), np.full(24, 1 / 24))
    expected = p * len(x)
    counts = np.array([np.count_nonzero(x == v) for v in values])
    assert counts.sum() == len(x)
    often = expected >= 10
    rest = [(counts[~often].sum(), expected[~often].sum())] if expected[~often].sum() > 1 else []
    pairs = [*zip(counts[often], expected[often]), *rest]
    degrees = len(pairs) - 1
    distance = sum((c - e) ** 2 / e for c, e in pairs)
    # Wilson and Hilferty: the cube root is about normal
    spread = 2 / (9 * max(degrees, 1))
    assert degrees == 0 or ((distance / degrees) ** (1 / 3) - (1 - spread)) / math.sqrt(spread) < TAIL


def test_means_far_beyond_any_table(toy):
    out = agreed(
        toy,
        """
var n = 20000;
for lam in [1e6, 1e12, 3e17] {
  var x = f64(poisson(lam, n, key = key(1))) - lam;
  print(abs(mean(x)) < 5 * sqrt(lam / n), abs(var(x) / lam - 1) < 0.06);
}
for p in [1e-14, 0.3, 0.999] {
  var trials = 2 ** 53;
  var x = f64(binomial(trials, p, n, key = key(2))) - trials * p;
  print(abs(mean(x)) < 5 * sqrt(trials * p * (1 - p) / n), abs(var(x) / (trials * p * (1 - p)) - 1) < 0.06);
}
print(poisson([0, 1e-300], key = key(3)), binomial(i64([0, 5, 5]), [0.5, 0, 1], key = key(3)),
    gamma(0, 2, key = key(3)));
""",
        MODES[:2],
    )
    assert out == "true true\n" * 6 + "[0, 0] [0, 0, 5] [0.0, 0.0]\n"


def test_same_key_same_numbers(toy):
    """What one mode draws another draws, of any sizes, dtypes, places; an element does not depend on how many there
    are; parameters of all sizes."""
    out = agreed(
        toy,
        """
var k = key(7);
print(k, fold_in(k, 3), fold_in(k, -1), keys(k, 3)[2] == fold_in(k, 2),
    keys(k, 0).shape, fold_in(k, i64([[4], [5]])).shape);
print(rand(3, key = k), rand(key = k), rand(2, 2, dtype = f32, key = k), rand(3, dtype = f16, key = k));
print(randn(3, key = k), randn(dtype = c64, key = k), randn([2, 1], dtype = c128, key = k),
    randn(2, dtype = bf16, key = k));
print(uniform(2, [3, 30], key = k), uniform(f32([1]), 2, 3, 1, key = k), normal([[0], [9]], [1, 2], key = k));
print(normal(1+1i, 0.5, 2, key = k), normal(0, 1, 2, dtype = c64, key = k), exponential([1, 1e9], 2, 2, key = k));
print(gamma([0.5, 5], key = k), gamma(2, 2, scale = 10, key = k), poisson([0.5, 50], 2, 2, key = k),
    poisson(3, key = k));
print(binomial([10, 1000], 0.25, key = k), binomial(10, [[0.1], [0.9]], 2, 2, key = k),
    randint(0, [10, 1000], key = k));
print(permutation(8, key = k), permutation([[1, 2], [3, 4], [5, 6]], k), permutation(0, k), choice(9, 2, 2, key = k));
print(choice(5, 2, replace = false, key = k), choice([[1i, 2], [3, 4]], key = k),
    choice(6, 6, replace = false, key = k));
var order = permutation(5000, k); var seen = zeros(5000); seen[order] = 1;
print(all(seen == 1), order[:3], choice(5000, 4000, replace = false, key = k)[3999] == order[3999]);
print(choice(5000, 3, replace = false, key = k), permutation(1000, k)[:3], choice(3, 2, p = [0, 1, 0], key = k));
var long = rand(100000, key = k); var other = exponential(1, 70000, key = k); var g = gamma(0.3, 5000, key = k);
print(all(long[:7] == rand(7, key = k)), long[99999], sum(other), all(g[:999] == gamma(0.3, 999, key = k)), sum(g));
print(sum(poisson(linspace(0, 40, 5000), key = k)), sum(binomial(50, linspace(0, 1, 5000), key = k)));
def f(x: f64[N], k) { return x + normal(0, 1, N, key = fold_in(k, N)); }
print(f([1, 2], k), map(i => randn(2, key = fold_in(k, i)), arange(3)), rand(2, key = k) == rand(2, key = k));
""",
    )
    # Salmon's generator says what the first numbers of a key are
    assert out.splitlines()[0].startswith("[ 7, -1]") and "[true, true]" in out.splitlines()[-1]
    words = np.array([philox(7, i, 2**64 - 1) for i in range(3)], dtype=np.uint64)
    unit = ((words[:, 0] << np.uint64(32) | words[:, 1]) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    assert "[" + ", ".join(f"{u:.6f}" for u in unit) + "]" in out


def philox(key, low, high):
    c, mask = [low & 0xFFFFFFFF, low >> 32, high & 0xFFFFFFFF, high >> 32], 0xFFFFFFFF
    k0, k1 = key & mask, key >> 32
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [p1 >> 32 ^ c[1] ^ k0, p1 & mask, p0 >> 32 ^ c[3] ^ k1, p0 & mask]
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return c


def test_numbers_of_the_program(toy):
    """Every draw without a key takes the next one; `seed` begins again; failed blocks take none; keys take none."""
    out = agreed(
        toy,
        """
seed(3);
var a = rand(2); var b = randint(0, 1000, 2); var c = poisson(5); var d = normal(0, 1); var k = key();
seed(3);
print(all(a == rand(2)), all(b == randint(0, 1000, 2)), c == poisson(5), d == normal(0, 1), all(k == key()));
seed(3);
rand(9, key = key(1)); fold_in(k, 2);
print(all(a == rand(2)));
try { randint(0, 9); permutation(4); fail("x"); } catch e { print(e.text); }
print(all(b == randint(0, 1000, 2)));
def hits(n) { var h = 0; for i in range(n) { if rand() ** 2 + rand() ** 2 < 1 { h += 1; } } return 4.0 * h / n; }
print(abs(hits(200000) - pi) < 0.02);
seed(5); var x = rand(); var y = randn(); var z = f64(rand(dtype = f32)); var w = randn(dtype = c64);
seed(5); print(x == rand(1)[0], y == randn(1)[0], z == rand(1, dtype = f32)[0], w == randn(1, dtype = c64)[0]);
""",
    )
    assert out == "true true true true true\ntrue\nx\ntrue\ntrue\ntrue true true true\n"


REFUSED = {
    "choice(4, 9, replace = false);": ("T0104 1:8", "no shorter than what is chosen"),
    "var n = 4; choice(arange(n), n + 1, replace = false);": ("T0104 1:19", "no shorter than what is chosen"),
    "def f(m) { return choice(nonzero(m)[:, 0], 3, replace = false); } f([1, 0]);": (
        "R0132 1:26",
        "no shorter than what is chosen",
    ),
    "choice(3, 2, p = [0.5, 0.5]);": ("T0104 1:18", "as long as there are values"),
    "choice(2, 2, p = [0.5, 0.6]);": ("R0132 1:18", "with the sum 1"),
    "choice(2, 2, p = [1.5, -0.5]);": ("R0132 1:18", "0 or more"),
    "choice(2, 2, p = [nan, 1]);": ("R0132 1:18", "0 or more"),
    "choice(3, 2, p = [1, 0, 0], replace = false);": ("R0132 1:8", "no shorter than what is chosen"),
    "choice(2, 2, p = 0.5);": ("T0104 1:18", "a vector of probabilities"),
    "choice(0, 2);": ("R0132 1:8", "not empty"),
    "choice(zeros(0));": ("R0132 1:8", "not empty"),
    "permutation(-1);": ("T0104 1:13", "0 or more"),
    "permutation(2.5);": ("T0104 1:13", "integers"),
    "randint(3, 3);": ("T0104 1:12", "above `low`"),
    "randint(i64([0, 5]), 5);": ("R0132 1:22", "above `low`"),
    "randint(0.5, 3);": ("T0104 1:9", "integers"),
    "randint(6);": ("T0101 1:1", "high"),
    "poisson(-1);": ("R0132 1:9", "from 0 to 9.2e18"),
    "poisson([1, nan]);": ("R0132 1:9", "from 0 to 9.2e18"),
    "poisson(1i);": ("T0104 1:9", "real numbers"),
    "binomial(5, 1.5);": ("R0132 1:13", "from 0 to 1"),
    "binomial(-5, 0.5);": ("R0132 1:10", "from 0 to 2 ** 53"),
    "normal(0, -1);": ("R0132 1:11", "0 or more"),
    "normal(0, 1i);": ("T0207 1:11", "two parts"),
    "exponential(-1, 3);": ("R0132 1:13", "0 or more"),
    "gamma(-1, 3);": ("R0132 1:7", "0 or more"),
    "gamma(1, 3, scale = -1);": ("R0132 1:21", "0 or more"),
    "uniform(0, 1i, 3);": ("T0326 1:1", "cannot make c128"),
    "gamma(1, 1, scale = [1, 2]);": ("T0310 1:1", "expand"),
    "uniform([0, 1, 2], 1, 2);": ("T0310 1:1", "expand"),
    "uniform(0, 1, -2);": ("T0323", "negative"),
    "rand(3, dtype = i64);": ("T0326 1:1", "cannot make i64"),
    "rand(3, dtype = c64);": ("T0326 1:1", "cannot make c64"),
    "rand(3, key = 7);": ("T0104 1:15", "an i64[2]"),
    "rand(3, key = [7, 8, 9]);": ("T0104 1:15", "an i64[2]"),
    "def f(k: i64[N]) { return rand(key = k); } f(i64([1, 2, 3]));": ("R0", ""),
    "fold_in(3, 3);": ("T0104 1:9", "an i64[2]"),
    "fold_in(key(1), 0.5);": ("T0104 1:17", "integers"),
    "keys(key(1), -1);": ("T0323", "negative"),
    "key(1.5);": ("T0104 1:5", "integer"),
    "normal(loc = 0, std = 1);": ("N0108 1:8", "write `mean`"),
    "normal(0, scale = 1);": ("N0108 1:11", "write `std`"),
    "uniform(0, 1, size = 3);": ("N0108 1:15", "sizes have no name"),
    "seed();": ("T0101 1:1", "`n`"),
}


def test_refused(toy):
    """With code, place and words."""
    parts, problems = [(program, ["--jit=never", "--jit=always"]) for program in REFUSED], []
    for (program, (where, words)), both in zip(REFUSED.items(), run_parts(toy, parts)):
        code, _, place = where.partition(" ")
        column = place.rpartition(":")[2]  # lines are counted from what configures the part
        told = both[0].stderr
        if (
            told != both[1].stderr
            or f"[{code}" not in told
            or words not in told
            or (place and f":{column}\n" not in told)
        ):
            problems.append(f"{program} {where}\n{told}{both[1].stderr if told != both[1].stderr else ''}")
    assert not problems, "\n".join(problems)


def test_one_key_twice_is_warned_of(toy, tmp_path):
    (tmp_path / "p.toy").write_text(
        """
def twice(k) { return rand(3, key = k) + randn(3, key = k); }
def order(k) { var p = permutation(4, k); return choice(p, 2, key = k); }
def branches(k, c) { if c { return rand(key = k); } else { print(randn(key = k)); } return 0.0; }
def either(k, c) { var x = 0.0; if c { x = rand(key = k); } else { x = randn(key = k); } return x; }
def behind(k, c) { if c { print(rand(key = k)); } return rand(key = k); }
def folded(k) { var x = rand(key = k); k = fold_in(k, 1); return x + rand(key = k) + rand(key = fold_in(k, 2)); }
def own(k) { var rand = key => 1; return rand(key = k) + rand(key = k); }
print(twice(key(1)), order(key(1)), branches(key(1), true), either(key(1), true), behind(key(1), true), folded(key(1)));
var k = key(1);
print(own(k), rand(key = k) == rand(key = k));
"""
    )
    done = subprocess.run([toy, "--check", str(tmp_path / "p.toy")], capture_output=True, text=True)
    places = [line.rsplit("p.toy:", 1)[1] for line in done.stderr.splitlines() if line.startswith(" -->")]
    assert done.stderr.count("N0124") == 3 and done.stderr.count("fold_in(k, 1)") == 3, done.stderr
    assert places[:6] == ["2:57", "2:37", "3:69", "3:39", "6:69", "6:44"], places
    ran = subprocess.run([toy, str(tmp_path / "p.toy")], capture_output=True, text=True)
    keys = done.stderr.partition("warning[N0120]")[0]  # of the rest only --check tells
    assert ran.returncode == 0 and ran.stderr == keys, ran.stderr
    (tmp_path / "q.toy").write_text('import "p.toy"; print(folded(key(2)));')
    imported = subprocess.run([toy, str(tmp_path / "q.toy")], capture_output=True, text=True)
    assert imported.returncode == 0 and imported.stderr == keys, imported.stderr


def test_one_key_twice_at_the_prompt(toy):
    """Of a function, a lambda, and not of a function that has a sampler's name."""
    text = """def twice(k) { return rand(key = k) + randn(key = k); }
var f = k => uniform(0, 1, key = k) - uniform(0, 1, key = k);
def normal(m, s, key) { return m; }
def own(k) { return normal(1, 2, key = k) + normal(1, 2, key = k); }
own(3)
"""
    done = subprocess.run([toy], input=text, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("2\n"), done
    assert done.stderr.count("warning[N0124]") == 2 and "<stdin from line 2>:1:59" in done.stderr, done.stderr


def test_a_draw_in_a_loop_is_no_tensor(toy, tmp_path):
    """Numbers of the program come as numbers: nothing is allocated for them."""
    (tmp_path / "p.toy").write_text(
        "def f(n) { var s = 0.0; for i in range(n) { s += rand() * f64(randint(0, 6)); } return s; }\n"
        "print(f(10) > 0);\n"
    )
    done = subprocess.run(
        [toy, "--emit=llvm", "--jit=always", str(tmp_path / "p.toy")], capture_output=True, text=True
    ).stdout
    assert "i64 @toy_rt_draw(" in done and "toy_rt_sample" not in done and "toy_rt_next_key" not in done
