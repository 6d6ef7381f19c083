# SPDX-License-Identifier: Apache-2.0
"""Random subscripts against NumPy, read and stored: integers, slices (also with steps that only the run knows), `...`,
new axes, masks and integer tensors in every combination. Evaluated and compiled, inside functions and at the top
level."""
import os
import pathlib
import random
import tempfile

import numpy as np

from programs import of_this_build, run


class Case:
    def __init__(self, rng):
        self.rng = rng
        self.shape = tuple(rng.choice([1, 2, 3, 4, 5]) for _ in range(rng.randint(1, 4)))
        self.text, self.index, self.runtime = [], [], {}
        axis, ellipsis = 0, False
        broadcast = rng.choice([(2,), (3,), (2, 1), (1,)])
        while axis < len(self.shape):
            kind = rng.choice(
                ["int", "slice", "slice", "step", "mask", "tensor", "tensor", "ellipsis", "newaxis", "stop"]
            )
            n = self.shape[axis]
            if kind == "stop":
                break
            if kind == "ellipsis":
                if ellipsis:
                    continue
                ellipsis = True
                skipped = rng.randint(0, len(self.shape) - axis)
                self.add("...", Ellipsis)
                rest = len(self.shape) - axis - skipped
                axis += skipped
                # what follows must take exactly the rest
                for _ in range(rest):
                    i = rng.randint(-self.shape[axis], self.shape[axis] - 1)
                    self.add(str(i), i) if rng.random() < 0.5 else self.add(":", slice(None))
                    axis += 1
                break
            if kind == "newaxis":
                self.add("newaxis", None)
                continue
            if kind == "mask":
                rank = rng.randint(1, min(2, len(self.shape) - axis))
                mask = np.array(
                    [rng.random() < 0.5 for _ in range(int(np.prod(self.shape[axis : axis + rank])))]
                ).reshape(self.shape[axis : axis + rank])
                self.add(
                    np.array2string(mask, separator=", ")
                    .replace("False", "false")
                    .replace("True", "true")
                    .replace("\n", ""),
                    mask,
                )
                axis += rank
                continue
            if kind == "int":
                i = rng.randint(-n, n - 1)
                self.add(str(i), i)
            elif kind == "tensor":
                shape = rng.choice([broadcast, broadcast[-1:]])
                index = np.array([rng.randint(-n, n - 1) for _ in range(int(np.prod(shape)))]).reshape(shape)
                self.add(f"i64({np.array2string(index, separator=', ').replace(chr(10), '')})", index)
            else:
                bounds = [rng.choice([None, rng.randint(-n - 1, n + 1)]) for _ in range(2)]
                step = rng.choice([None, 1, 2, -1, -2, 3])
                part = slice(*bounds, step)
                texts = ["" if b is None else str(b) for b in (*bounds, step)]
                if kind == "step":
                    name = f"k{len(self.runtime)}"
                    self.runtime[name] = step if step is not None else 1
                    texts[2] = name
                self.add(":".join(texts) if texts[2] else ":".join(texts[:2]), part)
            axis += 1
        if not self.text:
            self.add(":", slice(None))

    def add(self, text, index):
        self.text.append(text)
        self.index.append(index)

    def program(self, i):
        """Text that leaves r{i} and s{i}, and the expected values; None when NumPy refuses."""
        tensors = [k for k in self.index if isinstance(k, np.ndarray)]
        if len(tensors) > 1 and any(k.dtype == bool and k.sum() == 1 for k in tensors):
            return None  # sizes that come from data never broadcast
        x = np.arange(int(np.prod(self.shape)), dtype=np.float64).reshape(self.shape)
        y = x.copy()
        try:
            read = x[tuple(self.index)]
            value = -1.0 - np.arange(read.size, dtype=np.float64).reshape(read.shape)
            form = self.rng.choice(["full", "row", "scalar"])
            if form == "row" and value.ndim:
                value = (
                    value[tuple(slice(0, 1) if k == 0 else slice(None) for k in range(value.ndim))]
                    if value.shape[0] > 0
                    else value
                )
            elif form == "scalar":
                value = np.float64(-7)
            positions = np.arange(x.size).reshape(x.shape)[tuple(self.index)]
            if len(np.unique(positions)) != positions.size:  # the order of repeated stores is not part of the language
                value = np.float64(-7)
            y[tuple(self.index)] = value
        except (IndexError, ValueError):
            return None
        sizes = list(self.shape)
        subscripts = ", ".join(self.text)
        parameters = "".join(f", {k}" for k in self.runtime)
        text = f"def f{i}(x{parameters}) {{ return x[{subscripts}]; }}\ndef g{i}(x, v{parameters}) {{ x[{subscripts}] = v; return x; }}\n"
        arguments = "".join(f", {v}" for v in self.runtime.values())
        shaped = f"reshape(-1.0 - arange({value.size}), {list(value.shape)})" if value.ndim else str(float(value))
        if value.ndim and not np.array_equal(value, -1.0 - np.arange(value.size).reshape(value.shape)):
            return None
        text += f"var x{i} = reshape(f64(arange({x.size})), {sizes});\nvar r{i} = f{i}(x{i}{arguments});\nvar s{i} = g{i}(x{i}, {shaped}{arguments});\n"
        text += "".join(f"var {k}_{i} = {v}; " for k, v in self.runtime.items())
        top = subscripts
        for k in self.runtime:
            top = top.replace(k, f"{k}_{i}")
        text += f"var t{i} = x{i}; t{i}[{top}] = {shaped};\nvar u{i} = x{i}[{top}];\n"
        return text, read, y


def check(toy, flags, seed, count=60, env=None):
    rng = random.Random(seed)
    programs, expected = [], []
    while len(programs) < count:
        if made := Case(rng).program(len(programs)):
            programs.append(made[0])
            expected.append(made[1:])
    with tempfile.TemporaryDirectory() as folder:
        results = ", ".join(f"r{i}, s{i}, t{i}, u{i}" for i in range(count))
        pathlib.Path(folder, "p.toy").write_text("".join(programs) + f'save("out.npz", ({results}));\n')
        done = run([toy, *flags, "p.toy"], cwd=folder, timeout=300, env=env)
        if done.returncode:
            return done.stderr[:2000]
        out = np.load(os.path.join(folder, "out.npz"))
        problems = []
        for i, (read, stored) in enumerate(expected):
            for k, want in enumerate((read, stored, stored, read)):
                got = out[f"arr_{4 * i + k}"]
                if got.shape != want.shape or not np.array_equal(got, want):
                    problems.append(f"{programs[i]}{'rstu'[k]}{i} is\n{got}\nexpected\n{want}")
        return "\n".join(problems[:3]) or None


def all_cases():
    for seed in range(40):
        for flags in (["--jit=never"], ["--jit=always"]):
            yield f"random subscripts {seed} {flags[0]}", lambda toy, s=seed, f=flags: check(toy, f, s), *(
                [] if seed in of_this_build(6) else ["nightly"]
            )
