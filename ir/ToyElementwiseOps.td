// SPDX-License-Identifier: Apache-2.0
// Operations computed element by element with NumPy broadcasting.
#ifndef TOY_ELEMENTWISE_OPS
#define TOY_ELEMENTWISE_OPS

include "ir/ToyInterfaces.td"

class Toy_Unary<string mnemonic, string rule, string summary_, string semantics, string from = "f64", string to = from,
    list<Trait> traits = []>
    : Toy_Op<mnemonic, rule, traits # [Pure, Toy_Computes, Toy_Elementwise]> {
  let summary = summary_;
  let description = semantics # "\n\n```mlir\n%r = toy." # mnemonic # " %x : (!toy.tensor<" # from
      # "[N]>) -> !toy.tensor<" # to # "[N]>\n```\n";
  let arguments = (ins Toy_Tensor:$x);
  let results = (outs Toy_Tensor:$result);
}

// Elementary functions of a real or complex floating argument; the result has the argument's type.
class Toy_Math<string mnemonic, string summary_, string semantics = ""> : Toy_Unary<mnemonic, "floating", summary_,
    semantics # " C99 Annex G special values, signed zeros and both sides of each branch cut; NaN gives NaN.">;

def ExpOp : Toy_Math<"exp", "natural exponential", "`exp(a+bi) = e^a (cos b + i sin b)`.">;
def Expm1Op : Toy_Math<"expm1", "exp(x) - 1, accurate near 0">;
def LogOp : Toy_Math<"log", "natural logarithm", "Complex: cut along the negative real axis, imaginary part in [-pi, "
    "pi]. `log(0)` is -inf; a negative real gives NaN.">;
def Log1pOp : Toy_Math<"log1p", "log(1 + x), accurate near 0">;
def Log2Op : Toy_Math<"log2", "logarithm to base 2">;
def Log10Op : Toy_Math<"log10", "logarithm to base 10">;
def SqrtOp : Toy_Math<"sqrt", "square root", "Complex: cut along the negative real axis, continuous from above for +0 "
    "imaginary part, real part never negative. A negative real gives NaN.">;
def RsqrtOp : Toy_Math<"rsqrt", "1 / sqrt(x)">;
def ReciprocalOp : Toy_Math<"reciprocal", "1 / x", "Complex: no overflow or underflow where the result is "
    "representable.">;
def SinOp : Toy_Math<"sin", "sine">;
def CosOp : Toy_Math<"cos", "cosine">;
def TanOp : Toy_Math<"tan", "tangent">;
def SinhOp : Toy_Math<"sinh", "hyperbolic sine">;
def CoshOp : Toy_Math<"cosh", "hyperbolic cosine">;
def TanhOp : Toy_Math<"tanh", "hyperbolic tangent">;
def AsinOp : Toy_Math<"asin", "arc sine", "Cuts on the real axis outside [-1, 1].">;
def AcosOp : Toy_Math<"acos", "arc cosine", "Cuts on the real axis outside [-1, 1].">;
def AtanOp : Toy_Math<"atan", "arc tangent", "Cuts on the imaginary axis outside [-i, i].">;
def AsinhOp : Toy_Math<"asinh", "inverse hyperbolic sine", "Cuts on the imaginary axis outside [-i, i].">;
def AcoshOp : Toy_Math<"acosh", "inverse hyperbolic cosine", "Cut on the real axis below 1.">;
def AtanhOp : Toy_Math<"atanh", "inverse hyperbolic tangent", "Cuts on the real axis outside [-1, 1].">;

class Toy_RealMath<string mnemonic, string summary_, string semantics = ""> : Toy_Unary<mnemonic, "realFloating",
    summary_,
    semantics # " Real floating only: complex values are not ordered. NaN gives NaN.">;
def Exp2Op : Toy_RealMath<"exp2", "2 to the power x", "Exact where x is an integer.">;
def ErfOp : Toy_RealMath<"erf", "the error function">;
def FloorOp : Toy_RealMath<"floor", "largest integral value not above x">;
def CeilOp : Toy_RealMath<"ceil", "smallest integral value not below x">;
def RoundOp : Toy_Unary<"round", "floating", "nearest integral value, ties to even",
    "Complex values are rounded part by part.", "f64", "f64", [Toy_PartWise]>;
def TruncOp : Toy_RealMath<"trunc", "integral part, towards zero">;

def NegOp : Toy_Unary<"neg", "numeric", "negation", "Flips the sign of every part (also of zeros and NaN); integers "
    "wrap.", "f64", "f64", [Toy_PartWise]>;
def NotOp : Toy_Unary<"not", "boolean", "logical not", "On bool only.", "bool">;
def ConjOp : Toy_Unary<"conj", "complexOnly", "complex conjugate", "Flips the sign of the imaginary part (also of "
    "zero).", "c64">;
def RealOp : Toy_Unary<"real", "partOf", "real part", "c64 gives f32, c128 gives f64; exact.", "c64", "f32">;
def ImagOp : Toy_Unary<"imag", "partOf", "imaginary part", "c64 gives f32, c128 gives f64; exact.", "c64", "f32">;
def AngleOp : Toy_Unary<"angle", "partOf", "the argument, atan2(imag, real)",
    "In [-pi, pi]; `angle(0)` is 0, `angle(-0.0+0i)` is pi.", "c64", "f32">;
def AbsOp : Toy_Unary<"abs", "magnitude", "absolute value", "Complex: hypot(re, im), real result, never over- or "
    "underflows on the way; infinite if a part is. The smallest integer wraps.">;
def Abs2Op : Toy_Unary<"abs2", "magnitude", "squared absolute value", "`re*re + im*im` (complex, real result), `x*x` "
    "(real).">;
def SignOp : Toy_Unary<"sign", "numeric", "sign", "Real: -1, 0 or 1 (signed zero kept, NaN stays). Complex: z/abs(z), "
    "0 at 0.">;
def IsNanOp : Toy_Unary<"isnan", "test", "whether a part is NaN", "Complex: either part.", "f64", "bool">;
def IsInfOp : Toy_Unary<"isinf", "test", "whether a part is infinite", "Complex: either part.", "f64", "bool">;
def IsFiniteOp : Toy_Unary<"isfinite", "test", "whether all parts are finite", "Complex: both parts.", "f64", "bool">;

def CastOp : Toy_Op<"cast", "castTo", [Pure, Toy_Elementwise]> {
  let summary = "conversion to another dtype";
  let description = [{
    Floating to integer truncates and saturates (NaN gives 0); to bool is `x != 0`; real to complex has imaginary part
    +0; integer to integer wraps. Complex to real is not a cast: `real`, `imag` or `abs` say which part is meant.

    ```mlir
    %r = toy.cast %x {dtype = "c128"} : (!toy.tensor<f64[N]>) -> !toy.tensor<c128[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$x, StrAttr:$dtype);
  let results = (outs Toy_Tensor:$result);
  let hasFolder = 1;
}

class Toy_Binary<string mnemonic, string rule, string summary_, string semantics, list<Trait> traits = [Pure],
    string from = "f64", string to = from>
    : Toy_Op<mnemonic, rule, traits # [Toy_Computes, Toy_Elementwise]> {
  let summary = summary_;
  let description = semantics # "\n\n```mlir\n%r = toy." # mnemonic
      # " %a, %b : (!toy.tensor<" # from # "[N]>, !toy.tensor<" # from # "[N]>) -> !toy.tensor<" # to # "[N]>\n```\n";
  let arguments = (ins Toy_Tensor:$lhs, Toy_Tensor:$rhs);
  let results = (outs Toy_Tensor:$result);
}

// Operands have one dtype, or one is the real dtype of the other's parts and stays real.
def AddOp : Toy_Binary<"add", "arithmetic", "sum", "A real operand adds to the real part only. Integers wrap.">
    { let hasFolder = 1; }
def SubOp : Toy_Binary<"sub", "arithmetic", "difference", "Real minus complex negates the imaginary part. Integers "
    "wrap."> { let hasFolder = 1; }
def MulOp : Toy_Binary<"mul", "arithmetic", "product",
    "Complex: the four-product form `ac-bd`, `ad+bc` without contraction. Real times complex is two products. "
        "Integers wrap."> { let hasFolder = 1; }
def DivOp : Toy_Binary<"div", "trueDivision", "quotient",
    "Floating only. Complex by real is two quotients; complex by complex never over- or underflows where the result "
        "is representable.">;
// Divisors and exponents of integers are checked: these may fail, unless they are constants that never do.
def FloorDivOp : Toy_Binary<"floordiv", "orderedArithmetic", "quotient rounded down",
    "Integers: an error for divisor 0, the most negative value by -1 wraps. Floats: floor(a/b) as Python computes it.",
        [Toy_ElementEffect]> { let hasFolder = 1; }
def ModOp : Toy_Binary<"mod", "orderedArithmetic", "remainder with the divisor's sign",
    "`a - floordiv(a, b)*b`, exact for floats. Integers: an error for divisor 0.", [Toy_ElementEffect]>
        { let hasFolder = 1; }
def PowOp : Toy_Binary<"pow", "power", "power",
    "Floats: IEEE pow; exponents from 0 to 64, -1 and 1/2 as products, quotient and root. Integers: wraps, a negative "
        "exponent is an error. Complex: integral exponents by repeated multiplication (exact for small cases), `z**0` "
        "is 1, otherwise exp(w log z).", [Toy_ElementEffect]>;
def MinimumOp : Toy_Binary<"minimum", "orderedArithmetic", "smaller value", "NaN if either is NaN; -0 is below +0.">
    { let hasFolder = 1; }
def MaximumOp : Toy_Binary<"maximum", "orderedArithmetic", "larger value", "NaN if either is NaN; +0 is above -0.">
    { let hasFolder = 1; }
def Atan2Op : Toy_Binary<"atan2", "realFloatingPair", "angle of the point (rhs, lhs)",
    "In [-pi, pi], IEEE signed zeros and infinities.">;
def CopysignOp : Toy_Binary<"copysign", "realFloatingPair", "the magnitude of lhs with the sign of rhs",
    "Also of zeros; the sign of NaN is +.">;
def HypotOp : Toy_Binary<"hypot", "realFloatingPair", "sqrt(a*a + b*b)",
    "Without over- or underflow on the way; infinite if either is.">;
def ComplexOp : Toy_Binary<"complex", "composed", "complex value of a real and an imaginary part",
    "f32 parts give c64, f64 parts c128; exact.", [Pure], "f32", "c64">;
def PolarOp : Toy_Binary<"polar", "composed", "complex value of modulus and angle",
    "`r*cos t + i r*sin t`; the modulus may be negative.", [Pure], "f32", "c64">;

class Toy_Compare<string mnemonic, string rule, string summary_> : Toy_Binary<mnemonic, rule, summary_,
    "Result is bool; comparisons with NaN are false (`ne`: true), zeros of either sign are equal.", [Pure], "f64",
        "bool"> { let hasFolder = 1; }
def EqOp : Toy_Compare<"eq", "equality", "equal (complex: both parts)">;
def NeOp : Toy_Compare<"ne", "equality", "different">;
def LtOp : Toy_Compare<"lt", "ordering", "less">;
def LeOp : Toy_Compare<"le", "ordering", "less or equal">;
def GtOp : Toy_Compare<"gt", "ordering", "greater">;
def GeOp : Toy_Compare<"ge", "ordering", "greater or equal">;
def AndOp : Toy_Binary<"and", "booleanPair", "logical and", "On bool; both operands are evaluated (rank-0 short "
    "circuits are control flow).", [Pure], "bool">;
def OrOp : Toy_Binary<"or", "booleanPair", "logical or", "On bool; both operands are evaluated.", [Pure], "bool">;

def WhereOp : Toy_Op<"where", "choose", [Pure, Toy_Elementwise, Toy_PartWise]> {
  let summary = "element of the second operand where the first is true, of the third elsewhere";
  let description = [{
    All three broadcast. The alternatives have one dtype, and both are evaluated.

    ```mlir
    %r = toy.where %m, %a, %b : (!toy.tensor<bool[N]>, !toy.tensor<f64[N]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Toy_Tensor:$condition, Toy_Tensor:$lhs, Toy_Tensor:$rhs);
  let results = (outs Toy_Tensor:$result);
}

def FunctionPartOp : Toy_Op<"function_part", "functionPart", [Pure, Toy_Elementwise]> {
  let summary = "a part of a complex function of numbers given by their parts";
  let description = [{
    `function` is a complex operation of one or two operands (`exp`, `div`, …); operands are re and im of each (an
    integer exponent is one operand). `part` is 0 for the real and 1 for the imaginary part. Same bits as the complex
    operation.

    ```mlir
    %r = toy.function_part %re, %im {function = "exp", part = 0 : i64} : (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>)
      -> !toy.tensor<f64[N]>
    ```
  }];
  let arguments = (ins Variadic<Toy_Tensor>:$parts, StrAttr:$function, I64Attr:$part);
  let results = (outs Toy_Tensor:$result);
}
#endif
