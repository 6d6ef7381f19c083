// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse))' %s | FileCheck %s

// Halves are read and written as they are: one group, no f32 tensor between views.
// CHECK-LABEL: @halves
// CHECK-COUNT-1: toy.fused %arg0, %arg1 : (!toy.tensor<bf16[S, 4, 2]>, !toy.tensor<c64[4]>) -> !toy.tensor<bf16[S, 4, 2]>
// CHECK-NOT: toy.fused
// CHECK: return
func.func @halves(%x: !toy.tensor<bf16[S, 4, 2]>, %w: !toy.tensor<c64[4]>) -> !toy.tensor<bf16[S, 4, 2]> {
  %f = toy.cast %x {dtype = "f32"} : (!toy.tensor<bf16[S, 4, 2]>) -> !toy.tensor<f32[S, 4, 2]>
  %z = toy.view_as_complex %f : (!toy.tensor<f32[S, 4, 2]>) -> !toy.tensor<c64[S, 4]>
  %p = toy.mul %z, %w : (!toy.tensor<c64[S, 4]>, !toy.tensor<c64[4]>) -> !toy.tensor<c64[S, 4]>
  %v = toy.view_as_real %p : (!toy.tensor<c64[S, 4]>) -> !toy.tensor<f32[S, 4, 2]>
  %r = toy.cast %v {dtype = "bf16"} : (!toy.tensor<f32[S, 4, 2]>) -> !toy.tensor<bf16[S, 4, 2]>
  return %r : !toy.tensor<bf16[S, 4, 2]>
}

// Casts between other types stay where they are: views of them are free.
// CHECK-LABEL: @wide
// CHECK: toy.view_as_complex
// CHECK: toy.view_as_real
// CHECK: return
func.func @wide(%x: !toy.tensor<f64[S, 4, 2]>, %w: !toy.tensor<c64[4]>) -> !toy.tensor<f64[S, 4, 2]> {
  %f = toy.cast %x {dtype = "f32"} : (!toy.tensor<f64[S, 4, 2]>) -> !toy.tensor<f32[S, 4, 2]>
  %z = toy.view_as_complex %f : (!toy.tensor<f32[S, 4, 2]>) -> !toy.tensor<c64[S, 4]>
  %p = toy.mul %z, %w : (!toy.tensor<c64[S, 4]>, !toy.tensor<c64[4]>) -> !toy.tensor<c64[S, 4]>
  %v = toy.view_as_real %p : (!toy.tensor<c64[S, 4]>) -> !toy.tensor<f32[S, 4, 2]>
  %r = toy.cast %v {dtype = "f64"} : (!toy.tensor<f32[S, 4, 2]>) -> !toy.tensor<f64[S, 4, 2]>
  return %r : !toy.tensor<f64[S, 4, 2]>
}

// What only its size is asked of is not made: a product reads through its own view.
// CHECK-LABEL: @asked
// CHECK-NOT: toy.slice
// CHECK-NOT: toy.reshape
// CHECK: toy.add %arg2, %arg2
// CHECK: return
func.func @asked(%x: !toy.tensor<f64[M, 8]>, %i: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>, %eight: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %s = toy.slice %x, %i, %i, %n, %eight {steps = array<i64: 1, 1>} : (!toy.tensor<f64[M, 8]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, 8]>
  %r = toy.reshape %s, %n, %eight : (!toy.tensor<f64[N, 8]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, 8]>
  %d = toy.dim %s {axis = 0 : i64} : (!toy.tensor<f64[N, 8]>) -> !toy.tensor<i64[]>
  %e = toy.dim %r {axis = 0 : i64} : (!toy.tensor<f64[N, 8]>) -> !toy.tensor<i64[]>
  %sum = toy.add %d, %e : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  return %sum : !toy.tensor<i64[]>
}
