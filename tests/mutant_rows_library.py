# SPDX-License-Identifier: Apache-2.0
"""The mutants of mutants.py in kernels of the library and in loops of its functions."""

GRAM, BLAS = "ir/GramProduct.h", "runtime/Blas.cpp"
SINK, REGISTERS = "passes/SinkPermutes.cpp", "runtime/ElementRegisters.h"
TILES, PANELS = "runtime/ProductKernels.cpp", "runtime/PanelProducts.cpp"
COLUMNS, NARROW = "runtime/ColumnKernels.cpp", "runtime/NarrowProducts.cpp"
EIGEN, REAL, COMPLEX = "runtime/SmallEigen.h", "runtime/RealSchur.h", "runtime/ComplexSchur.h"
SPECTRA, POSITIONS = "runtime/SmallSpectraKernels.cpp", "passes/lowering/PositionEmitter.cpp"
LIBRARY_MUTANTS = [
    ("columns of nothing are unit vectors", SPECTRA, "count > n || isAny<L>(isShort)", "count > n"),
    ("bases are not completed", SPECTRA, "count > n || isAny<L>(isShort)", "isAny<L>(isShort)"),
    ("lanes that are done go on", SPECTRA, "size, where & (size > 0)", "size, size > 0"),
    ("the upper triangle is read", SPECTRA, "a[j * n + i] = a[i * n + j].conjugate()", "a[i * n + j] = a[j * n + i]"),
    ("reflected columns change sides", SPECTRA, "work[j * n + j].re < 0", "work[j * n + j].re > 0"),
    ("zeros keep their signs", SPECTRA, "return x + L::of(0);", "return x;"),
    ("columns become parallel", SPECTRA, "size > limit * (4 * epsilon<T>)", "size > limit"),
    ("tiny matrices vanish", SPECTRA, "{c.sizes[j] * c.scale}", "{c.sizes[j]}"),
    (
        "only the first matrix is looked at",
        "runtime/Spectra.cpp",
        "needFinite(x.as<T>() + i * a.m * a.n,",
        "needFinite(x.as<T>(),",
    ),
    (
        "nan is looked for in half of the lanes",
        POSITIONS,
        "half(x, 0), half(x, lanesAtOnce / 2)",
        "half(x, 0), half(x, 0)",
    ),
    ("elements behind a row are zeros", POSITIONS, "return mask ? k.CreateSelect", "return false ? k.CreateSelect"),
    (
        "functions go one by one",
        "passes/Scalarize.cpp",
        "isFunction && count >= fewElements",
        "isFunction && count < 0",
    ),
    ("a transpose is its own part", GRAM, "x.base != y.base || x.isTransposed", "x.isTransposed"),
    ("no transpose is one", GRAM, "|| x.isTransposed == y.isTransposed", ""),
    ("adjoints are transposes", GRAM, "x.isConjugate == y.isConjugate ? 1 : 2", "1"),
    ("other adjoints are not conjugated", BLAS, "isAdjoint ? a.flag == CblasTrans", "isAdjoint ? false"),
    ("conjugates are not conjugated", BLAS, ": a.flag == CblasConjTrans", ": false"),
    ("a triangle is repeated", BLAS, "isAdjoint ? conjugated(x) : x", "x"),
    ("the evaluator knows no triangles", "reference/TensorEval.cpp", "gramKind(op)", "0"),
    ("compiled code knows no triangles", "passes/lowering/Products.cpp", "(gram ? gram.getInt() : 0) << 5", "0"),
    ("starts stay in the order of the result", SINK, "bounds[from] = op.getStarts()", "bounds[to] = op.getStarts()"),
    ("counts stay in the order of the result", SINK, "bounds[rank + from]", "bounds[rank + to]"),
    ("steps stay in the order of the result", SINK, "steps[from] = op.getSteps()", "steps[to] = op.getSteps()"),
    ("what is read elsewhere is permuted twice", SINK, "isa<SliceOp>(user) &&", ""),
    (
        "what is outside of a domain has a value",
        REGISTERS,
        ": V(domain.isPositive",
        ": domain.high > 0 ? result : V(domain.isPositive",
    ),
    ("logarithms begin at 1", REGISTERS, "return {.low = 0};", "return {.low = 1};"),
    ("inverse functions end before 1", REGISTERS, "return {-1, 1};", "return {-0.5, 0.5};"),
    ("lanes have no order", COLUMNS, "sumOfLanes<lane + step, 2 * step>", "sumOfLanes<lane, 2 * step>"),
    ("blocks of columns begin anew", COLUMNS, "sums[i] = block > 0 ? sums[i] + sum : sum;", "sums[i] = sum;"),
    ("last registers stay apart", COLUMNS, "if (tile.size > lanes<T>)", "if (tile.size < lanes<T>)"),
    ("vectors share their sums", COLUMNS, "room + v * sumLanes * tile.registers);", "room);"),
    ("copies begin at the first row", NARROW, "const T *from = a + first * o.rowStride;", "const T *from = a;"),
    ("inner blocks begin anew", PANELS, "x.beta = 1;", ""),
    ("small products are taken from BLAS", PANELS, "|| m * n * k <= smallForBlas", ""),
    ("columns behind a matrix are written", TILES, "std::copy_n(lane, count, c);", "std::copy_n(lane, lanes, c);"),
    ("products are not scaled", TILES, "Vector result = alpha * sum;", "Vector result = sum;"),
    (
        "sums of tiles are rounded twice",
        TILES,
        "__builtin_elementwise_fma(factor, y[j], sums[i][j])",
        "factor * y[j] + sums[i][j]",
    ),
    ("rows of a tile are one", TILES, "const Vector factor = a[i * row];", "const Vector factor = a[0];"),
    ("copied rows lie apart", TILES, "step = isCopied ? count : 1", "step = isCopied ? tall : 1"),
    ("reflections have one side", EIGEN, "fromRight(h.data(), high, k + 1, count, tau);", ""),
    ("large numbers are squared", EIGEN, "|| largest > 1 / least", ""),
    ("isolated eigenvalues are lost", EIGEN, "if (i + 1 >= low && i + 1 <= high)", ""),
    ("pairs of vectors have other lengths", EIGEN, "std::sqrt(most) * std::sqrt(sum)", "std::sqrt(most)"),
    ("vectors of pairs are not turned", REAL, "turn(z[i * n + j], z[last * n + j]);", "continue;"),
    ("double steps leave a row", REAL, "std::min(k + 3, last)", "std::min(k + 2, last)"),
    (
        "rotations are no rotations",
        COMPLEX,
        "y = c * y - times(std::conj(s), before);",
        "y = c * y - times(s, before);",
    ),
    ("every matrix is balanced", EIGEN, "const bool isScaled = !isBalanced();", "const bool isScaled = false;"),
    ("tan loses the sign of zero", "runtime/FloatKernels.h", "t = t == 0 ? v[0] : t;", ""),
]
