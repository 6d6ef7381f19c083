// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-select-kernels))' %s | FileCheck %s

// CHECK-LABEL: func.func @adjoint
// CHECK-NOT: toy.permute
// CHECK-NOT: toy.conj
// CHECK: toy.gemm %arg0, %arg1 {{.*}}rhsAxes = array<i64: 1, 0>, rhsConjugated = true
func.func @adjoint(%a: !toy.tensor<c64[2, 3]>, %b: !toy.tensor<c64[4, 3]>) -> !toy.tensor<c64[2, 4]> {
  %c = toy.conj %b : (!toy.tensor<c64[4, 3]>) -> !toy.tensor<c64[4, 3]>
  %t = toy.permute %c {permutation = array<i64: 1, 0>} : (!toy.tensor<c64[4, 3]>) -> !toy.tensor<c64[3, 4]>
  %r = toy.matmul %a, %t : (!toy.tensor<c64[2, 3]>, !toy.tensor<c64[3, 4]>) -> !toy.tensor<c64[2, 4]>
  return %r : !toy.tensor<c64[2, 4]>
}

// One head of queries [S, H, D]: a slice and a dropped axis are read in place.
// CHECK-LABEL: func.func @head
// CHECK-NOT: toy.slice
// CHECK-NOT: toy.reshape
// CHECK: toy.gemm %arg0, %arg1{{.*}}lhsAxes = array<i64: 0, 2>{{.*}}lhsSteps = array<i64: 1, 1, 1>
func.func @head(%q: !toy.tensor<f32[8, 4, 16]>, %k: !toy.tensor<f32[16, 5]>, %h: !toy.tensor<i64[]>) -> !toy.tensor<f32[8, 5]> {
  %zero = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %one = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %s = toy.constant {value = dense<8> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %d = toy.constant {value = dense<16> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %x = toy.slice %q, %zero, %h, %zero, %s, %one, %d {steps = array<i64: 1, 1, 1>} : (!toy.tensor<f32[8, 4, 16]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f32[8, 1, 16]>
  %m = toy.reshape %x, %s, %d : (!toy.tensor<f32[8, 1, 16]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f32[8, 16]>
  %r = toy.matmul %m, %k : (!toy.tensor<f32[8, 16]>, !toy.tensor<f32[16, 5]>) -> !toy.tensor<f32[8, 5]>
  return %r : !toy.tensor<f32[8, 5]>
}

// A reshape that mixes axes is no view.
// CHECK-LABEL: func.func @not_through_mixing_reshape
// CHECK: toy.reshape
// CHECK: toy.gemm
func.func @not_through_mixing_reshape(%a: !toy.tensor<f64[2, 6]>, %b: !toy.tensor<f64[4, 5]>) -> !toy.tensor<f64[3, 5]> {
  %three = toy.constant {value = dense<3> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %four = toy.constant {value = dense<4> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %t = toy.reshape %a, %three, %four : (!toy.tensor<f64[2, 6]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3, 4]>
  %r = toy.matmul %t, %b : (!toy.tensor<f64[3, 4]>, !toy.tensor<f64[4, 5]>) -> !toy.tensor<f64[3, 5]>
  return %r : !toy.tensor<f64[3, 5]>
}

// In a loop, a product of vectors that lie in memory is a sum, also of what was computed before the loop; what the same
// block computes goes to the library.
// CHECK-LABEL: func.func @vectors_in_loop
// CHECK: toy.gemm
// CHECK: toy.sum %{{.*}}toy.inOrder
func.func @vectors_in_loop(%x: !toy.tensor<f64[5]>, %c: i1) -> !toy.tensor<f64[]> {
  %w = toy.exp %x : (!toy.tensor<f64[5]>) -> !toy.tensor<f64[5]>
  %zero = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^turn(%zero : !toy.tensor<f64[]>)
^turn(%s: !toy.tensor<f64[]>):
  %y = toy.exp %x : (!toy.tensor<f64[5]>) -> !toy.tensor<f64[5]>
  %p = toy.matmul %x, %y : (!toy.tensor<f64[5]>, !toy.tensor<f64[5]>) -> !toy.tensor<f64[]>
  %q = toy.matmul %x, %w : (!toy.tensor<f64[5]>, !toy.tensor<f64[5]>) -> !toy.tensor<f64[]>
  %t = toy.add %p, %q : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  cf.cond_br %c, ^turn(%t : !toy.tensor<f64[]>), ^end
^end:
  return %t : !toy.tensor<f64[]>
}
