// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse))' %s | FileCheck %s

// Small matrices that change places beside others are written first, by shuffles.
// CHECK-LABEL: @beside
// CHECK: toy.fused %arg0 :
// CHECK-NEXT: bb0
// CHECK-NEXT: toy.permute
// CHECK: toy.fused %arg0,
// CHECK-NOT: toy.permute
// CHECK: return
func.func @beside(%x: !toy.tensor<f32[100, 4, 4]>) -> !toy.tensor<f32[100, 4, 4]> {
  %t = toy.permute %x {permutation = array<i64: 0, 2, 1>} : (!toy.tensor<f32[100, 4, 4]>) -> !toy.tensor<f32[100, 4, 4]>
  %r = toy.add %x, %t : (!toy.tensor<f32[100, 4, 4]>, !toy.tensor<f32[100, 4, 4]>) -> !toy.tensor<f32[100, 4, 4]>
  return %r : !toy.tensor<f32[100, 4, 4]>
}

// What is computed before is a group of its own.
// CHECK-LABEL: @computed
// CHECK: toy.fused
// CHECK: toy.mul
// CHECK-NEXT: toy.yield
// CHECK: toy.fused
// CHECK-NEXT: bb0
// CHECK-NEXT: toy.permute
// CHECK-NEXT: toy.yield
func.func @computed(%x: !toy.tensor<f32[100, 4, 4]>) -> !toy.tensor<f32[100, 4, 4]> {
  %m = toy.mul %x, %x : (!toy.tensor<f32[100, 4, 4]>, !toy.tensor<f32[100, 4, 4]>) -> !toy.tensor<f32[100, 4, 4]>
  %t = toy.permute %m {permutation = array<i64: 0, 2, 1>} : (!toy.tensor<f32[100, 4, 4]>) -> !toy.tensor<f32[100, 4, 4]>
  return %t : !toy.tensor<f32[100, 4, 4]>
}

// Matrices of unknown number are read where they lie.
// CHECK-LABEL: @others
// CHECK-COUNT-1: toy.fused
// CHECK-NOT: toy.fused
// CHECK: return
func.func @others(%x: !toy.tensor<f32[N, 4, 4]>) -> !toy.tensor<f32[N, 4, 4]> {
  %t = toy.permute %x {permutation = array<i64: 0, 2, 1>} : (!toy.tensor<f32[N, 4, 4]>) -> !toy.tensor<f32[N, 4, 4]>
  %r = toy.add %x, %t : (!toy.tensor<f32[N, 4, 4]>, !toy.tensor<f32[N, 4, 4]>) -> !toy.tensor<f32[N, 4, 4]>
  return %r : !toy.tensor<f32[N, 4, 4]>
}
