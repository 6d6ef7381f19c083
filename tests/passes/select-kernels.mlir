// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-select-kernels))' %s | FileCheck %s

// CHECK-LABEL: func.func @adjoint
// CHECK-NOT: toy.permute
// CHECK-NOT: toy.conj
// CHECK: toy.gemm %arg0, %arg1 {lhsConjugated = false, lhsTransposed = false, rhsConjugated = true, rhsTransposed = true}
func.func @adjoint(%a: !toy.tensor<c64[2, 3]>, %b: !toy.tensor<c64[4, 3]>) -> !toy.tensor<c64[2, 4]> {
  %c = toy.conj %b : (!toy.tensor<c64[4, 3]>) -> !toy.tensor<c64[4, 3]>
  %t = toy.permute %c {permutation = array<i64: 1, 0>} : (!toy.tensor<c64[4, 3]>) -> !toy.tensor<c64[3, 4]>
  %r = toy.matmul %a, %t : (!toy.tensor<c64[2, 3]>, !toy.tensor<c64[3, 4]>) -> !toy.tensor<c64[2, 4]>
  return %r : !toy.tensor<c64[2, 4]>
}

// Another permutation is no transpose of the last two axes.
// CHECK-LABEL: func.func @not_when_other_axes_move
// CHECK: toy.permute
// CHECK: toy.gemm
func.func @not_when_other_axes_move(%a: !toy.tensor<f64[2, 3, 4]>, %b: !toy.tensor<f64[4, 5]>) -> !toy.tensor<f64[3, 2, 5]> {
  %t = toy.permute %a {permutation = array<i64: 1, 0, 2>} : (!toy.tensor<f64[2, 3, 4]>) -> !toy.tensor<f64[3, 2, 4]>
  %r = toy.matmul %t, %b : (!toy.tensor<f64[3, 2, 4]>, !toy.tensor<f64[4, 5]>) -> !toy.tensor<f64[3, 2, 5]>
  return %r : !toy.tensor<f64[3, 2, 5]>
}
