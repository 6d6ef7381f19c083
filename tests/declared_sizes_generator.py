# SPDX-License-Identifier: Apache-2.0
"""Writes the programs of declared_sizes.py, each line beside what it means in NumPy."""
import random
import re

import numpy as np

from declared_sizes_model import (
    Function,
    Mismatch,
    Size,
    at,
    element,
    of_late_sizes,
    same,
    solve,
    stored,
    stretched,
)

FILES = 7  # f0.npy to f6.npy have 0 to 6 elements


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.dtype = self.rng.choice(["f64", "f64", "c128", "f32", "i64"])
        self.toy, self.model, self.functions, self.count = [], [], [], 0
        self.wrong = False  # whether the function has a mistake by intention

    def fresh(self, lead):
        self.count += 1
        return f"{lead}{self.count}"

    def emit(self, toy, model):
        self.body.append((toy, model))

    def some_size(self, names):
        """A size that can be written with these names, most often simple."""
        size = Size(self.rng.choice([0, 0, 0, 1, 2, 3]))
        for name in (
            self.rng.sample(names, self.rng.randint(0 if size.constant else 1, min(2, len(names)))) if names else []
        ):
            size = size + Size(0, {name: self.rng.choice([1, 1, 1, 2, 3])})
        return size

    def value(self, size=None):
        """A name of a value of a size, made if there is none."""
        fitting = [name for name, known in self.values.items() if size is None or known == size]
        if fitting and (size is None or self.rng.random() < 0.7):
            return self.rng.choice(fitting)
        if size.hidden():
            return None
        name, text = self.fresh("v"), size.text(self.rng)
        self.emit(
            f"var {name} = zeros({text}, dtype={self.dtype}) + {len(name)};",
            f"{name} = np.zeros(at(env, '{text}')) + {len(name)}",
        )
        self.values[name] = size
        return name

    def step(self):
        getattr(
            self,
            "step_"
            + self.rng.choice(
                [
                    "sum",
                    "sum",
                    "join",
                    "cut",
                    "local",
                    "local",
                    "wrong_local",
                    "new_name",
                    "call",
                    "call",
                    "call",
                    "loop",
                    "branch",
                    "store",
                    "load",
                    "element",
                ]
            ),
        )()

    def step_sum(self):
        x = self.value()
        y, name = self.value(self.values[x]) or x, self.fresh("v")  # of a size that has no expression, the value itself
        operator = self.rng.choice("+-")
        self.emit(f"var {name} = {x} {operator} {y} * 2;", f"{name} = same({x}, {y}) {operator} {y} * 2")
        self.values[name] = self.values[x]

    def step_join(self):
        x, y, name = self.value(), self.value(), self.fresh("v")
        self.emit(f"var {name} = cat([{x}, {y}]);", f"{name} = np.concatenate([{x}, {y}])")
        self.values[name] = self.values[x] + self.values[y]

    def step_cut(self):
        x = self.value()
        if self.values[x].constant < 1:
            return
        name, k = self.fresh("v"), self.rng.randint(1, self.values[x].constant)
        part = self.rng.choice([f"{k}:", f":-{k}"])
        self.emit(f"var {name} = {x}[{part}];", f"{name} = {x}[{part}]")
        self.values[name] = self.values[x] + -k

    def step_local(self):
        x = self.value()
        if not self.values[x].hidden():
            name, text = self.fresh("v"), self.values[x].text(self.rng)
            self.emit(
                f"var {name}: {self.dtype}[{text}] = {x};", f"{name} = {x}; solve(env, [({name}.shape, ['{text}'])])"
            )
            self.values[name] = self.values[x]

    def step_wrong_local(self):
        """Another size than declared, except for some sizes of the arguments."""
        if self.rng.random() < 0.75:
            return
        x, size, name = self.value(), self.some_size(self.names), self.fresh("v")
        text, self.wrong = size.text(self.rng), self.wrong or size != self.values[x]
        self.emit(f"var {name}: {self.dtype}[{text}] = {x};", f"{name} = {x}; solve(env, [({name}.shape, ['{text}'])])")
        self.values[name] = size

    def step_new_name(self):
        x, name, bound = self.value(), self.fresh("v"), self.fresh("K")
        self.emit(
            f"var {name}: {self.dtype}[{bound}] = {x};", f"{name} = {x}; solve(env, [({name}.shape, ['{bound}'])])"
        )
        self.values[name] = self.values[x]
        if self.values[x].hidden():
            self.values[name] = Size(0, {bound: 1})
            self.names.append(bound)
        else:
            self.emit(f"{name} = {name} + {bound};", f"{name} = {name} + env['{bound}']")

    def step_call(self):
        if not self.functions:
            return
        f = self.rng.choice(self.functions)
        wanted, arguments = {
            n: self.some_size(self.names) if self.rng.random() < 0.5 else self.values[self.value()] for n in f.names
        }, []
        fits = True
        for parameter in f.parameters:
            x = self.value(parameter.replaced(wanted))
            if x is None or self.rng.random() < 0.07:
                x, fits, self.wrong = self.value(), False, True
            arguments.append(x)
        arguments += [str(self.rng.randint(0, 3)) for _ in range(f.integers)]
        self.called(f, arguments, f.result.replaced(wanted) if f.result and fits else None)

    def called(self, f, arguments, size):
        name = self.fresh("v")
        toy, model = f.call(arguments, arguments)
        self.emit(f"var {name} = {toy};", f"{name} = {model}")
        if f.result is None:
            x = self.value()
            self.emit(f"var {name}x = {x} + {name};", f"{name}x = {x} + {name}")
            self.values[f"{name}x"] = self.values[x]
        else:
            self.values[name] = size or Size(0, {self.fresh("_"): 1})

    def step_loop(self):
        x = self.value()
        y, name = self.value(self.values[x]) or x, self.fresh("v")  # of a size that has no expression, the value itself
        self.emit(f"var {name} = {x};", f"{name} = {x}.copy()")
        if self.values[x].hidden() or self.rng.random() < 0.5:
            k = self.rng.randint(0, 2)
            self.emit(
                f"for i in range({k}) {{ {name} = {name} + {y} + i; }}",
                f"for i in range({k}): {name} = same({name}, {y}) + {y} + i",
            )
        else:  # never entered for a size of 0
            i = self.rng.choice(["0", "i", "-1"])
            self.emit(
                f"for i in range({x}.shape[0]) {{ {name} = {name} + {x}[{i}]; }}",
                f"for i in range(len({x})): {name} = {name} + element({x}, {i})",
            )
        self.values[name] = self.values[x]

    def step_branch(self):
        x = self.value()
        if not self.values[x].hidden():
            y, text, k = self.value(self.values[x]), self.some_size(self.names).text(self.rng), self.rng.randint(0, 4)
            if not re.search("[A-Z]", text):
                return
            self.emit(
                f"if {text} > {k} {{ {x} = {x} + {y}; }} else {{ {x} = {x} - 1; }}",
                f"{x} = same({x}, {y}) + {y} if at(env, '{text}') > {k} else {x} - 1",
            )

    def step_store(self):
        x = self.value()
        y = self.value(self.values[x]) or x
        to, value, source = self.rng.choice(
            [
                ("[:]", x, x),
                ("[::-1]", x, x),
                ("[:]", y, y),
                ("[::-1]", f"{x} * 2", x),
                ("[1:]", f"{x}[:-1]", f"{x}[:-1]"),
                ("[:]", f"{x}[::-1]", x),
            ]
        )
        self.emit(f"{x}{to} = {value};", f"{x} = stored({x}, np.s_{to}, {value})")

    def step_load(self):
        size, k, name = self.some_size(self.names), self.rng.randrange(FILES), self.fresh("v")
        text, path = size.text(self.rng), f'"{self.dtype}.{k}.npy"'
        if self.rng.random() < 0.8:
            text = self.fresh("K")
            size = Size(0, {text: 1})
            self.names.append(text)
        self.emit(
            f"var {name}: {self.dtype}[{text}] = load({path});",
            f"{name} = file({k}); solve(env, [({name}.shape, ['{text}'])])",
        )
        self.values[name] = size

    def step_element(self):
        x, name, i = self.value(), self.fresh("v"), self.rng.choice([0, -1, 1])
        if self.rng.random() < 0.3:
            self.emit(f"var {name} = {x} + {x}[{i}];", f"{name} = {x} + element({x}, {i})")
            self.values[name] = self.values[x]

    def finish(self, f, header, model_header):
        self.toy.append(header + " {\n" + "".join(f"  {toy}\n" for toy, _ in self.body) + "}")
        f.wrong, self.wrong = self.wrong, False
        self.model.append(
            f"{model_header}  called.add('{f.name}')\n" + "".join(f"  {model}\n" for _, model in self.body)
        )
        self.functions.append(f)

    def declared(self):
        """A function whose parameters are declared so that their sizes bind all names."""
        name = self.fresh("f")
        self.names, self.values, self.body = self.rng.sample(["N", "M", "L"], self.rng.choice([1, 1, 2, 2, 3])), {}, []
        bound = list(self.names)
        sizes = []
        for i, n in enumerate(bound):  # bare, or solved from an expression of the names before
            sizes.append(
                Size(0, {n: 1})
                if self.rng.random() < 0.6
                else Size(self.rng.choice([0, 1, 2]), {n: self.rng.choice([1, 2, 3])})
                + (Size(0, {self.rng.choice(bound[:i]): 1}) if i and self.rng.random() < 0.5 else 0)
            )
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            sizes.append(self.some_size(bound))
        self.rng.shuffle(sizes)
        parameters = {f"x{i}": size for i, size in enumerate(sizes)}
        texts = {x: size.text(self.rng) for x, size in parameters.items()}
        self.values = dict(parameters)
        clauses = [
            self.rng.choice([f"{n} > {self.rng.randint(0, 2)}", f"{n} < 5", f"{n} != 3"])
            for n in bound
            if self.rng.random() < 0.15
        ]
        if len(bound) > 1 and self.rng.random() < 0.15:
            clauses.append(f"{bound[0]} == {bound[1]}" if self.rng.random() < 0.3 else f"{bound[0]} <= {bound[1]}")
        for _ in range(self.rng.randint(1, 5)):
            self.step()
        result = self.value()
        size, kind = self.values[result], self.rng.choice(["same", "same", "none", "other", "_"])
        arrow = check = ""
        if kind == "_":
            arrow = f" -> {self.dtype}[_]"
        elif kind != "none" and not size.hidden():
            if kind == "other" and self.rng.random() < 0.3:
                size, self.wrong = self.some_size(bound), True
            if all(n in bound for n in size.terms):
                arrow, check = (
                    f" -> {self.dtype}[{(text := size.text(self.rng))}]",
                    f"solve(env, [({result}.shape, ['{text}'])]); ",
                )
        self.emit(f"return {result};", f"{check}return {result}")
        header = f"def {name}({', '.join(f'{x}: {self.dtype}[{texts[x]}]' for x in parameters)}){arrow}{' where ' + ', '.join(clauses) if clauses else ''}"
        items = ", ".join(f"({x}.shape, ['{texts[x]}'])" for x in parameters)
        visible = size if all(n in bound for n in size.terms) else Size(0, {"_": 1})
        self.finish(
            Function(name, list(parameters.values()), bound, visible),
            header,
            f"def {name}({', '.join(parameters)}):\n  env = {{}}; solve(env, [{items}], {clauses})\n",
        )

    def undeclared(self):
        """A function of what comes, also of the members of a struct; operands stretch."""
        name, self.body, self.values = self.fresh("u"), [], {"x": Size(0, {"_x": 1}), "y": Size(0, {"_y": 1})}
        members = self.rng.random() < 0.4
        if members:
            self.emit("var x = s.p; var y = s.q;", "x, y = s")
        self.names = []
        for _ in range(self.rng.randint(1, 3)):
            kind, x, y, z = (
                self.rng.choice(["sum", "store", "call", "call", "cut", "loop"]),
                self.value(),
                self.value(),
                self.fresh("v"),
            )
            if kind == "sum":
                self.emit(f"var {z} = {x} + {y};", f"{z} = stretched({x}, {y}) + {y}")
            elif kind == "store":
                to, part = self.rng.choice(["[:]", "[::-1]", "[:2]", "[1:]"]), self.rng.choice(
                    ["", "[::-1]", "[1:3]", "[:-1]", "[:2]"]
                )
                self.emit(f"var {z} = {x}; {z}{to} = {y}{part};", f"{z} = stored({x}, np.s_{to}, {y}{part})")
            elif kind == "cut":
                part = self.rng.choice(["[1:]", "[:2]", "[::2]", "[:-1]"])
                self.emit(f"var {z} = {x}{part};", f"{z} = {x}{part}")
            elif kind == "loop":
                self.emit(
                    f"var {z} = {x}; for i in range({y}.shape[0]) {{ {z} = {z} + {y}[0]; }}",
                    f"{z} = {x}\n  for i in range(len({y})): {z} = {z} + element({y}, 0)",
                )
            elif self.functions:
                f = self.rng.choice(self.functions)
                if f.name.startswith("u"):
                    continue
                arguments = [self.value() for _ in f.parameters] + [
                    str(self.rng.randint(0, 2)) for _ in range(f.integers)
                ]
                self.emit(
                    f"var {z} = {f.name}({', '.join(arguments)}) + {x}[:0].shape[0];",
                    f"{z} = {f.name}({', '.join(arguments)}) + 0",
                )
                if f.result is None:
                    continue
            else:
                continue
            self.values[z] = Size(0, {self.fresh("_"): 1})
        result = self.value()
        self.emit(f"return {result};", f"return {result}")
        f = Function(name, [Size(0, {"_": 1})] * 2, [], Size(0, {"_": 1}), members=members)
        if members:
            self.finish(f, f"def {name}(s)", f"def {name}(s):\n")
        else:
            self.finish(f, f"def {name}(x, y)", f"def {name}(x, y):\n")

    def recursive(self):
        name, d, self.body = self.fresh("r"), self.dtype, []
        kind = self.rng.choice(["same", "shorter", "split", "longer"])
        if kind == "same":
            self.body = [
                ("if n <= 0 { return x; }", "if n <= 0: return x"),
                (f"return {name}(x + 1, n - 1) + x;", f"return {name}(x + 1, n - 1) + x"),
            ]
            header, result, integers = f"def {name}(x: {d}[N], n: i64) -> {d}[N]", Size(0, {"N": 1}), 1
        elif kind == "shorter":
            self.body = [
                ("if N <= 1 { return sum(x) * 2; }", "if len(x) <= 1: return sum(x) * 2"),
                (f"return {name}(x[1:]) + x[0];", f"return {name}(x[1:]) + x[0]"),
            ]
            header, result, integers = f"def {name}(x: {d}[N]) -> {d}", None, 0
        elif kind == "split":
            self.body = [
                ("var h = x.shape[0] // 2;", "h = len(x) // 2"),
                ("if x.shape[0] <= 1 { return x; }", "if len(x) <= 1: return x"),
                (
                    f"return cat([{name}(x[h:]), {name}(x[:h])]);",
                    f"return np.concatenate([{name}(x[h:]), {name}(x[:h])])",
                ),
            ]
            header, result, integers = f"def {name}(x: {d}[N]) -> {d}[_]", Size(0, {"_": 1}), 0
        else:  # right only where nothing is added at the end
            self.body = [
                (
                    f"if n <= 1 {{ return cat([x, zeros(n, dtype={d})]); }}",
                    "if n <= 1:\n    y = np.concatenate([x, np.zeros(n)]); solve({'N': len(x)}, [(y.shape, ['N'])]); return y",
                ),
                (f"return {name}(x + 1, n - 2);", f"return {name}(x + 1, n - 2)"),
            ]
            header, result, integers = f"def {name}(x: {d}[N], n: i64) -> {d}[N]", Size(0, {"N": 1}), 1
        self.finish(
            Function(name, [Size(0, {"N": 1})], ["N"], result, integers),
            header,
            f"def {name}(x{', n' if integers else ''}):\n",
        )

    def sized(self):
        """A function whose result has the size that its parameters, also an integer one, say; or not."""
        name, self.body = self.fresh("z"), []
        declared = Size(self.rng.choice([0, 0, 1]), {"n": self.rng.choice([1, 1, 2]), "N": self.rng.choice([0, 1])})
        made = declared if self.rng.random() < 0.7 else declared + Size(0, {self.rng.choice(["n", "N"]): 1})
        text, made = declared.text(self.rng), made.text(self.rng)
        self.emit(f"var r = {self.dtype}(arange({made})) + 1; return r;", f"r = np.arange({made}) + 1")
        self.emit("", f"solve({{'n': n, 'N': N}}, [(r.shape, ['{text}'])]); return r")
        n = self.rng.choice(["n", "n: i64"])
        self.finish(
            Function(name, [Size(0, {"N": 1})], ["N"], Size(0, {"_": 1}), 1),
            f"def {name}(x: {self.dtype}[N], {n}) -> {self.dtype}[{text}]",
            f"def {name}(x, n):\n  N = len(x)\n",
        )

    def argument(self, n, late):
        """A tensor of n elements: known while compiling, or from a function of a number."""
        k = self.rng.randint(-3, 3)
        if late:
            return f"made({n}, {k})", f"made({n}, {k})"
        texts = [f"({self.dtype}(arange({n})) + {k})", f"(ones({n}, dtype={self.dtype}) * {k})"]
        i = self.rng.randrange(2)
        return texts[i], f"(np.arange({n}) + {k})" if i == 0 else f"(np.ones({n}) * {k})"

    def call(self):
        """A statement that prints a result; sizes mostly fit."""
        f = self.rng.choice(self.functions[-3:])
        env, late = {n: self.rng.choice([0, 1, 1, 2, 3, 4]) for n in f.names}, self.rng.random() < 0.5
        sizes = (
            [self.rng.choice([0, 1, 2, 3])] * 2
            if f.name.startswith("u")
            else [max(p.replaced({n: Size(k) for n, k in env.items()}).constant, 0) for p in f.parameters]
        )
        if self.rng.random() < 0.35:
            i = self.rng.randrange(len(sizes))
            sizes[i] = max(0, sizes[i] + self.rng.choice([-1, 1, 1, 2])) if self.rng.random() < 0.8 else 1
        loop = late and self.rng.random() < 0.4
        toy, model = zip(*(self.argument(f"i + {n}" if loop else str(n), late) for n in sizes))
        integers = [str(self.rng.randint(0, 3)) for _ in range(f.integers)]
        toy, model = f.call([*toy, *integers], [*model, *integers])
        if late:
            model = f"of_late_sizes(lambda: {model})"
        name = self.fresh("r")
        show = (
            f"print({name}.shape, i64(real({name})), i64(imag({name})))"
            if self.dtype == "c128"
            else f"print({name}.shape, i64({name}))"
        )
        if f.result is None:
            show = f"print({name})"
        toy, model = f"var {name} = {toy}; {show};", f"{name} = {model}; show({name})"
        return (f"for i in range(2) {{ {toy} }}", f"for i in range(2): {model}") if loop else (toy, model)

    def program(self):
        """The text, what it prints (numbers of each line), and whether it ends with an error (None: a function that is
        never called may be refused)."""
        self.toy.append("struct S { var p; var q; }")
        self.toy.append(f"def made(n: i64, k: i64) {{ return {self.dtype}(arange(n)) + k; }}")
        self.model.append("def made(n, k): return np.arange(n) + k\n")
        for kind in [self.declared] + self.rng.choices(
            [self.declared, self.declared, self.undeclared, self.recursive, self.sized], k=self.rng.randint(1, 3)
        ):
            kind()
        calls = [self.call() for _ in range(self.rng.randint(2, 4))]
        printed, called, scope = (
            [],
            set(),
            {
                "np": np,
                "solve": solve,
                "same": same,
                "stretched": stretched,
                "of_late_sizes": of_late_sizes,
                "stored": stored,
                "element": element,
                "at": at,
                "file": np.arange,
            },
        )
        scope["called"] = called
        scope["show"] = lambda x: printed.append(
            [*np.shape(x), *map(int, np.ravel(x)), *([0] * np.size(x) if self.dtype == "c128" else [])]
        )
        exec("\n".join(self.model), scope)
        fails = False
        try:
            for _, model in calls:
                exec(model, scope)
        except Mismatch:
            fails = True
        if not fails and any(f.wrong and f.name not in called for f in self.functions):
            fails = None
        return "\n".join(self.toy + [toy for toy, _ in calls]), printed, fails
