# SPDX-License-Identifier: Apache-2.0
"""What a line of the bench is: an expression in Toy and its equals in NumPy (or SciPy), PyTorch and JAX, for dtypes and
for classes of shapes. An expression is a text; words in braces are what the class puts there: `{x}` an input as it is
read, `{axis}` and `{dim}` the axis of a reduction."""
from dataclasses import dataclass, field

FLOATS, COMPLEX, INTEGERS = ("f32", "f64"), ("c64", "c128"), ("i64", "i32", "u8", "bool")
ELEMENTARY, LINEAR = (*FLOATS, *COMPLEX, "bf16"), (*FLOATS, *COMPLEX)
NUMBERS = (*FLOATS, *COMPLEX, "i64", "i32", "u8", "bf16")
ORDERED = (*FLOATS, "i64", "i32", "u8", "bf16")
EVERY = (*NUMBERS, "bool")
#: inputs of two operands
TWO = {"x": "normal", "y": "normal"}
#: dtypes that are measured in few classes: their loops are those of the others
THIN, THIN_CLASSES = ("bf16", "i32", "u8", "bool"), ("10^6", "last axis", "axis 0", "whole", "rows")


@dataclass
class Class:
    """A class of shapes: its name, the sizes of the inputs (`*`: of those that are not named), and words."""

    name: str
    sizes: dict
    words: dict = field(default_factory=dict)


@dataclass
class Case:
    """A line. Inputs are kinds of values by name (inputs.py); a text is None where the peer has nothing like it."""

    name: str
    toy: str
    numpy: str | None
    torch: str | None
    jax: str | None
    inputs: dict
    dtypes: tuple
    classes: list
    tolerance: float = 1.0  # times what is usual


def half(name):
    """Every other element of the last axis: not contiguous."""
    return {name: f"{name}[:, ::2]"}


def along(axis):
    return {"axis": f", axis={axis}", "dim": f", dim={axis}", "a": axis}


SMALL, MIDDLING, LARGE = (Class("16", {"*": (16,)}), Class("10^3", {"*": (1000,)}), Class("10^6", {"*": (1000, 1000)}))
STRIDED = Class("strided", {"*": (1000, 1000), "x": (1000, 2000)}, half("x"))
#: elements each from their own
MAP = [SMALL, MIDDLING, LARGE, STRIDED]
#: and with a second operand that is transposed, a row, or a column
PAIRS = MAP + [
    Class("transposed", {"*": (1000, 1000)}, {"y": "y.T"}),
    Class("with row", {"*": (1000, 1000), "y": (1000,)}),
    Class("with column", {"*": (1000, 1000), "y": (1000, 1)}),
]
AXES = [
    Class("last axis", {"*": (1000, 1000)}, along(-1)),
    Class("short last", {"*": (200000, 3)}, along(-1)),
    Class("axis 0", {"*": (1000, 1000)}, along(0)),
    Class("middle", {"*": (100, 100, 100)}, along(1)),
    Class("strided", {"*": (1000, 2000)}, {**half("x"), **along(-1)}),
]
#: several at once: the last ones, with one between, and all but the channels of pictures
SEVERAL = [
    Class("axes 1, 2", {"*": (50, 100, 200)}, along((1, 2))),
    Class("axes 0, 2", {"*": (50, 100, 200)}, along((0, 2))),
    Class("channels", {"*": (16, 32, 28, 28)}, along((0, 2, 3))),
]
#: many elements to one, or to the same along an axis
FOLD_ONE = [SMALL, MIDDLING, LARGE] + AXES
FOLD = FOLD_ONE + SEVERAL
#: the same for what has always an axis
ALONG = [Class("16", {"*": (16,)}, along(-1)), Class("10^3", {"*": (1000,)}, along(-1))] + AXES

#: what is made of sizes alone
NEW = [
    Class("16", {"*": (1,)}, {"n": 16}),
    Class("10^3", {"*": (1,)}, {"n": 1000}),
    Class("10^6", {"*": (1,)}, {"n": 1000000}),
]


def only(classes, *names):
    return [c for c in classes if c.name in names]


FLAT = [Class("small", {"*": (4, 4)}), Class("large", {"*": (1000, 1000)})]


def sizes(**by_class):
    """Classes of inputs of one shape: whole=(3, 4), or {"x": …} of several."""
    return [
        Class(name.replace("_", " "), shape if isinstance(shape, dict) else {"*": shape})
        for name, shape in by_class.items()
    ]


CASES = []


def case(name, toy, numpy=None, torch=None, jax=None, inputs=None, dtypes=ELEMENTARY, classes=MAP, tolerance=1.0):
    CASES.append(Case(name, toy, numpy, torch, jax, inputs or {"x": "normal"}, dtypes, classes, tolerance))


def same(name, toy, peers, **options):
    """Whose text is the same for all peers, but for the module."""
    case(name, toy, peers.replace("M.", "np."), peers.replace("M.", "torch."), peers.replace("M.", "jnp."), **options)


def cells(case):
    """(dtype, class) of a line."""
    thin = any(c.name in THIN_CLASSES for c in case.classes)
    for dtype in case.dtypes:
        for c in case.classes:
            if dtype not in THIN or not thin or c.name in THIN_CLASSES:
                yield dtype, c


def texts(case, c):
    """The expression in each language, as this class has it."""
    words = {"x": "x", "y": "y", "z": "z", "axis": "", "dim": "", **c.words}
    toy_words = {k: v.replace(".T", "'") if v == "y.T" else v for k, v in words.items() if isinstance(v, str)}
    toy_words = {**words, **{k: "transpose(y)" if v == "y'" else v for k, v in toy_words.items()}}
    return {
        "toy": case.toy.format_map(toy_words),
        **{
            peer: text.format_map(words)
            for peer in ("numpy", "torch", "jax")
            if (text := getattr(case, peer)) is not None
        },
    }
