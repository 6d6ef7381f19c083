// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse))' %s | FileCheck %s
// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse{fuse=false}))' %s | FileCheck %s --check-prefix=APART

// A chain is one group; without fusion every operation is its own.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: toy.fused
// CHECK-NOT: toy.fused
// APART-LABEL: func.func @chain
// APART-COUNT-2: toy.fused
func.func @chain(%a: !toy.tensor<c64[N]>, %b: !toy.tensor<c64[N]>) -> !toy.tensor<c64[N]> {
  %p = toy.mul %a, %b : (!toy.tensor<c64[N]>, !toy.tensor<c64[N]>) -> !toy.tensor<c64[N]>
  %r = toy.add %p, %b : (!toy.tensor<c64[N]>, !toy.tensor<c64[N]>) -> !toy.tensor<c64[N]>
  return %r : !toy.tensor<c64[N]>
}

// CHECK-LABEL: func.func @into_reduction
// CHECK-COUNT-1: toy.fused
// CHECK-NOT: toy.fused
func.func @into_reduction(%a: !toy.tensor<f64[N]>) -> !toy.tensor<f64[]> {
  %p = toy.mul %a, %a : (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  %r = toy.sum %p {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[]>
  return %r : !toy.tensor<f64[]>
}

// exp of N values broadcast over M rows would be computed M times: it is stored.
// CHECK-LABEL: func.func @not_when_broadcast
// CHECK-COUNT-2: toy.fused
func.func @not_when_broadcast(%a: !toy.tensor<f64[N]>, %b: !toy.tensor<f64[M, N]>) -> !toy.tensor<f64[M, N]> {
  %e = toy.exp %a : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  %r = toy.add %e, %b : (!toy.tensor<f64[N]>, !toy.tensor<f64[M, N]>) -> !toy.tensor<f64[M, N]>
  return %r : !toy.tensor<f64[M, N]>
}

// A value that is returned as well is computed once and stored.
// CHECK-LABEL: func.func @not_when_used_elsewhere
// CHECK-COUNT-2: toy.fused
func.func @not_when_used_elsewhere(%a: !toy.tensor<f64[N]>) -> (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) {
  %e = toy.exp %a : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  %r = toy.add %e, %a : (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  return %e, %r : !toy.tensor<f64[N]>, !toy.tensor<f64[N]>
}

// The size of a result is asked of the operand, so that the cast is not stored; that of a product stays.
// CHECK-LABEL: @size
// CHECK: %[[D:.*]] = toy.dim %arg0 {axis = 1 : i64} : (!toy.tensor<bf16[N, M]>) -> !toy.tensor<i64[]>
// CHECK: toy.assert
// CHECK: %[[S:.*]] = toy.fused %arg0 : (!toy.tensor<bf16[N, M]>) -> !toy.tensor<f32[N, 1]>
// CHECK: %[[P:.*]] = toy.matmul
// CHECK: toy.dim %[[P]]
func.func @size(%x: !toy.tensor<bf16[N, M]>, %y: !toy.tensor<f32[M, N]>, %z: !toy.tensor<f32[N, M]>) -> (!toy.tensor<f32[N, 1]>, !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %c = toy.cast %x {dtype = "f32"} : (!toy.tensor<bf16[N, M]>) -> !toy.tensor<f32[N, M]>
  %d = toy.dim %c {axis = 1 : i64} : (!toy.tensor<f32[N, M]>) -> !toy.tensor<i64[]>
  %g = toy.gt %d, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %t = toy.str_constant {value = "empty"} : () -> !toy.str
  toy.assert %g, %t : (!toy.tensor<bool[]>, !toy.str) -> ()
  %s = toy.sum %c {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f32[N, M]>) -> !toy.tensor<f32[N, 1]>
  %p = toy.matmul %y, %z : (!toy.tensor<f32[M, N]>, !toy.tensor<f32[N, M]>) -> !toy.tensor<f32[M, M]>
  %e = toy.dim %p {axis = 0 : i64} : (!toy.tensor<f32[M, M]>) -> !toy.tensor<i64[]>
  return %s, %e : !toy.tensor<f32[N, 1]>, !toy.tensor<i64[]>
}
