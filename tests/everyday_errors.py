# SPDX-License-Identifier: Apache-2.0
"""What functions of the library say to arguments that they cannot take: in the user's words, at the user's call."""
from programs import run_parts

# A call, the code, and a part of the text.
ROWS = [
    ("expm(1)", "T0104", "`expm`: `x` must be a square matrix, got i64"),
    ("expm(ones(2, 3))", "T0104", "`expm`: `x` must be a square matrix, got f64[2, 3]"),
    ("slogdet(ones(2, 3))", "T0104", "`slogdet`: `x` must be a square matrix"),
    ("tensordot(ones(2, 3), ones(3, 2), -1)", "T0104", "`axes` must be 0 or more axes, got -1"),
    ("cov(ones(2, 2, 2))", "T0104", "`cov`: `x` must be a vector or a matrix"),
    ("corrcoef(ones(2, 2, 2))", "T0104", "`corrcoef`: `x` must be a vector or a matrix"),
    ("cov([1, 2, 3], [1, 2])", "T0104", "`cov`: `y` must be as many observations as `x`"),
    ("cond(zeros(0, 0))", "T0104", "`cond`: `x` must be a matrix with elements, got f64[0, 0]"),
    ("trapezoid([1, 2, 3], [1, 2])", "T0104", "`trapezoid`: `x` must be as many points as values"),
    ("cumulative_trapezoid([1, 2, 3], [1, 2])", "T0104", "`cumulative_trapezoid`: `x` must be as many points"),
    ("histogram([1, 2], bins = 2.5)", "T0104", "`bins` must be an integer, or a vector of edges, got f64"),
    ("histogram([1, 2, 3], weights = [1, 2])", "T0104", "`weights` must be as many as elements, got f64[2]"),
    ("histogram([1, 2, 3], 0)", "R0132", "histogram needs at least one bin"),
    ("average(ones(2, 3), weights = [1, 2])", "T0104", "`weights` must be as many as elements, or `axis` is given"),
    ("average([1, 2], weights = [1, -1])", "R0132", "average: the weights sum to 0"),
    ("polyfit([1, 2], [1, 2, 3], 1)", "T0104", "`polyfit`: `y` must be as many values as points"),
    ("polyfit([1, 2], [1, 2], 2.5)", "T0104", "`polyfit`: `n` must be an integer, got f64"),
    ("polyval(ones(2, 2), 1)", "T0104", "`polyval`: `p` must be a vector of coefficients"),
    ("polyder(ones(2, 2))", "T0104", "`polyder`: `p` must be a vector of coefficients"),
    ("polymul([], [1])", "T0104", "`polymul`: `a` must be a vector of coefficients, got f64[0]"),
    ("convolve([], [1])", "T0104", "`convolve`: `a` must be a vector with elements, got f64[0]"),
    ("convolve([1], ones(2, 2))", "T0104", "`convolve`: `v` must be a vector with elements"),
    ("correlate([1], [])", "T0104", "`correlate`: `v` must be a vector with elements"),
    ("stft(ones(20), 8, 3.5)", "T0104", "`stft`: `hop` must be an integer, got f64"),
    ("stft(ones(20), 8.5)", "T0104", "`stft`: `n_fft` must be an integer, got f64"),
    ("stft(ones(20), 40)", "R0132", "stft: the signal is too short"),
    ("istft(ones(2, 2), 2.5)", "T0104", "`istft`: `n_fft` must be an integer"),
    ("hann(2.5)", "T0104", "`hann`: `n` must be an integer, got f64"),
    ("kaiser([3], 1)", "T0104", "`kaiser`: `n` must be an integer, got f64[1]"),
    ("topk([1, 2], 1.5)", "T0104", "`topk`: `k` must be an integer, got f64"),
    ("trapezoid([1, 2, 3], 2.0)", "T0104", "`trapezoid`: `x` must be as many points as values, got f64"),
    ("matrix_power(eye(2), 0.5)", "T0104", "`matrix_power`: `n` must be an integer, got f64"),
    ("toeplitz([1, 2], 3)", "T0104", "`toeplitz`: `r` must be a vector, got i64"),
    ("kaiser(3, [1, 2])", "T0104", "`kaiser`: `beta` must be a number, got f64[2]"),
    ("scatter_add(1.0, 0, [0], [1])", "T0104", "`scatter_add`: `x` must be a tensor with an axis, got f64"),
    ("vander([1, 2, 3], increasing = 2)", "T0104", "`vander`: `increasing` must be true or false, got i64"),
    ("diff([1, 2], n = [])", "T0104", "`diff`: `n` must be an integer, got f64[0]"),
    ('cov([1, 2], bias = "a")', "T0104", "`cov`: `bias` must be true or false, got str"),
    ("hann(-1)", "R0132", "a window has 0 or more points"),
    ("cross([1, 2], [3, 4])", "T0104", "`cross`: `a` must be vectors of three elements along the axis"),
    ("cross([1, 2, 3], [3, 4])", "T0104", "`cross`: `b` must be vectors of three elements along the axis"),
    ("cross_entropy(ones(2, 3), [0, 1, 2])", "R0132", "cross_entropy: `target` must be one class for each row"),
    ("cross_entropy(ones(2, 3), [0.5, 1])", "T0104", "`cross_entropy`: `target` must be integers"),
    ("cross_entropy(ones(2, 3), 1)", "T0104", "`target` must be one class for each row"),
    ("argmax(complex(zeros(0), zeros(0)))", "T0325", "`argmax` of c128[0] over axis 0, which is empty"),
    ("argmin(zeros(0))", "T0325", "`argmin` of f64[0] over axis 0"),
    ("vander(ones(2, 2))", "T0104", "`vander`: `x` must be a vector"),
    ("toeplitz(ones(2, 2))", "T0104", "`toeplitz`: `c` must be a vector"),
    ("one_hot([0.5], 3)", "T0104", "`one_hot`: `index` must be integers"),
    ("one_hot([0, 5], 3)", "R0132", "one_hot: an index is from 0 to n - 1"),
    ("topk([1, 2], 3)", "R0132", "topk: k is from 0 to the size of the axis"),
    ("percentile([1, 2], 101)", "R0132", "percentile: q is from 0 to 100"),
    ("quantile([1, 2], -1)", "R0132", "quantile: q is from 0 to 1"),
    ('isin([1, 2], "1")', "T0210", "`isin` needs a tensor, got str"),
    ("bincount([1.5])", "T0104", "`bincount`: `x` must be integers, got f64[1]"),
    ("digitize([1], ones(2, 2))", "T0104", "`digitize`: `bins` must be a vector of edges"),
    ("searchsorted(ones(2, 2), 1)", "T0104", "`searchsorted`: `a` must be a vector"),
    ("interp(1, [], [])", "T0104", "`interp`: `xp` must be a vector of points"),
    ("interp(1, [1, 2], [1])", "T0104", "`interp`: `fp` must be as many values as points"),
    ("trapezoid(3.0)", "T0104", "`trapezoid`: `y` must be a tensor with an axis, got f64"),
    ("diff([1, 2], -1)", "R0132", "diff: n is 0 or more"),
    ("clip([1i], 0, 1)", "T0206", "complex values are not ordered: `clip` of c128"),
    ("clip([1], 0, 1i)", "T0206", "complex values are not ordered: `clip` of c128"),
    ("median([1i])", "T0206", "complex values are not ordered: `median` of c128"),
]

# Sizes that only the run knows: the same words.
LATE = [
    ("expm(ones(n, 3))", "expm: `x` must be a square matrix"),
    ("trapezoid(ones(3), ones(n))", "trapezoid: `x` must be as many points as values"),
    ("cross(ones(n), ones(3))", "cross: `a` must be vectors of three elements along the axis"),
    ("interp(1, ones(n), ones(3))", "interp: `fp` must be as many values as points"),
]


def misuse(toy):
    texts = [f"print(1);\nvar y = {call};" for call, _, _ in ROWS]
    texts += [
        f"def f(n) {{ var k = n; while k > 2 {{ k -= 1; }} return {call.replace('n)', 'k)').replace('n,', 'k,')}; }}\nvar y = f(5);"
        for call, _ in LATE
    ]
    wanted = [(code, text) for _, code, text in ROWS] + [("R0132", text) for _, text in LATE]
    problems = []
    for text, (code, part), runs in zip(
        texts, wanted, run_parts(toy, [(t, ["--jit=never", "--jit=always"]) for t in texts])
    ):
        for done in runs:
            if (
                done.status != 1
                or f"error[{code}]" not in done.stderr
                or part not in done.stderr
                or "library" in done.stderr
            ):
                problems.append(f"{text}\n  wanted {code} {part}\n{done.stderr}")
    return "\n".join(problems) or None


def all_cases():
    yield "everyday functions: misuse", misuse
