// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse,toy-merge-axes))' %s | FileCheck %s

// Both axes are reduced, or both stay.
// CHECK-LABEL: @channels
// CHECK: %[[V:.*]] = toy.reshape %arg0, {{.*}} -> !toy.tensor<f64[16, 32, 784]>
// CHECK: toy.fused %[[V]]
// CHECK: toy.sum {{.*}} {axes = array<i64: 0, 2>, keepdims = false} : (!toy.tensor<f64[16, 32, 784]>) -> !toy.tensor<f64[32]>
// CHECK-NOT: toy.reshape
// CHECK: return
func.func @channels(%x: !toy.tensor<f64[16, 32, 28, 28]>) -> !toy.tensor<f64[32]> {
  %s = toy.sum %x {axes = array<i64: 0, 2, 3>, keepdims = false} : (!toy.tensor<f64[16, 32, 28, 28]>) -> !toy.tensor<f64[32]>
  return %s : !toy.tensor<f64[32]>
}

// What one group makes is read by the next one as it is.
// CHECK-LABEL: @between
// CHECK: %[[M:.*]] = toy.fused {{.*}} -> !toy.tensor<f64[N, 1, 784]>
// CHECK: toy.fused {{.*}}%[[M]]{{.*}} -> !toy.tensor<f64[N, 32, 784]>
// CHECK: toy.reshape {{.*}} -> !toy.tensor<f64[N, 32, 28, 28]>
// CHECK: return
func.func @between(%x: !toy.tensor<f64[N, 32, 28, 28]>) -> !toy.tensor<f64[N, 32, 28, 28]> {
  %m = toy.max %x {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f64[N, 32, 28, 28]>) -> !toy.tensor<f64[N, 1, 28, 28]>
  %d = toy.sub %x, %m : (!toy.tensor<f64[N, 32, 28, 28]>, !toy.tensor<f64[N, 1, 28, 28]>) -> !toy.tensor<f64[N, 32, 28, 28]>
  return %d : !toy.tensor<f64[N, 32, 28, 28]>
}

// A value of fewer axes has the last ones.
// CHECK-LABEL: @bias
// CHECK: toy.reshape %arg1, {{.*}} -> !toy.tensor<f64[1120]>
// CHECK: toy.fused {{.*}} -> !toy.tensor<f64[8, 1120]>
func.func @bias(%x: !toy.tensor<f64[8, 40, 28]>, %b: !toy.tensor<f64[40, 28]>) -> !toy.tensor<f64[8, 40, 28]> {
  %s = toy.add %x, %b : (!toy.tensor<f64[8, 40, 28]>, !toy.tensor<f64[40, 28]>) -> !toy.tensor<f64[8, 40, 28]>
  return %s : !toy.tensor<f64[8, 40, 28]>
}

// Axes that stay together in another order.
// CHECK-LABEL: @permuted
// CHECK: toy.reshape %arg0, {{.*}} -> !toy.tensor<f64[60, 8000]>
// CHECK: toy.fused
// CHECK: toy.permute {{.*}} {permutation = array<i64: 1, 0>} : {{.*}} -> !toy.tensor<f64[8000, 60]>
// CHECK: toy.reshape {{.*}} -> !toy.tensor<f64[80, 100, 60]>
// CHECK: toy.fused
// CHECK: toy.permute {{.*}} {permutation = array<i64: 2, 1, 0>}
// CHECK-NOT: toy.reshape
// CHECK: return
func.func @permuted(%x: !toy.tensor<f64[60, 80, 100]>) -> (!toy.tensor<f64[80, 100, 60]>, !toy.tensor<f64[100, 80, 60]>) {
  %a = toy.abs %x : (!toy.tensor<f64[60, 80, 100]>) -> !toy.tensor<f64[60, 80, 100]>
  %p = toy.permute %a {permutation = array<i64: 1, 2, 0>} : (!toy.tensor<f64[60, 80, 100]>) -> !toy.tensor<f64[80, 100, 60]>
  %q = toy.permute %x {permutation = array<i64: 2, 1, 0>} : (!toy.tensor<f64[60, 80, 100]>) -> !toy.tensor<f64[100, 80, 60]>
  return %p, %q : !toy.tensor<f64[80, 100, 60]>, !toy.tensor<f64[100, 80, 60]>
}

// And where they are folded behind that.
// CHECK-LABEL: @permuted_sum
// CHECK: toy.reshape %arg0, {{.*}} -> !toy.tensor<f64[259, 1001]>
// CHECK: toy.permute {{.*}} {permutation = array<i64: 1, 0>} : {{.*}} -> !toy.tensor<f64[1001, 259]>
// CHECK: toy.sum {{.*}} {axes = array<i64: 0>, keepdims = false} : {{.*}} -> !toy.tensor<f64[259]>
// CHECK: toy.reshape {{.*}} -> !toy.tensor<f64[37, 7]>
func.func @permuted_sum(%x: !toy.tensor<f64[37, 7, 1001]>) -> !toy.tensor<f64[37, 7]> {
  %p = toy.permute %x {permutation = array<i64: 2, 0, 1>} : (!toy.tensor<f64[37, 7, 1001]>) -> !toy.tensor<f64[1001, 37, 7]>
  %s = toy.sum %p {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[1001, 37, 7]>) -> !toy.tensor<f64[37, 7]>
  return %s : !toy.tensor<f64[37, 7]>
}

// One value has only one of the axes; one axis is reduced and the other is not; the elements are few; an index map is
// among the operations; the sizes are not known.
// CHECK-LABEL: @row
// CHECK-NOT: toy.reshape
// CHECK: return
func.func @row(%x: !toy.tensor<f64[40, 28, 30]>, %b: !toy.tensor<f64[28, 1]>, %c: !toy.tensor<f64[40, 1, 1]>) -> !toy.tensor<f64[40, 28, 30]> {
  %s = toy.add %x, %b : (!toy.tensor<f64[40, 28, 30]>, !toy.tensor<f64[28, 1]>) -> !toy.tensor<f64[40, 28, 30]>
  %t = toy.add %s, %c : (!toy.tensor<f64[40, 28, 30]>, !toy.tensor<f64[40, 1, 1]>) -> !toy.tensor<f64[40, 28, 30]>
  return %t : !toy.tensor<f64[40, 28, 30]>
}
// CHECK-LABEL: @middle
// CHECK-NOT: toy.reshape
// CHECK: return
func.func @middle(%x: !toy.tensor<f64[40, 28, 30]>) -> !toy.tensor<f64[40, 30]> {
  %s = toy.sum %x {axes = array<i64: 1>, keepdims = false} : (!toy.tensor<f64[40, 28, 30]>) -> !toy.tensor<f64[40, 30]>
  return %s : !toy.tensor<f64[40, 30]>
}
// CHECK-LABEL: @few
// CHECK-NOT: toy.reshape
// CHECK: return
func.func @few(%x: !toy.tensor<f64[4, 2, 3]>) -> !toy.tensor<f64[4]> {
  %s = toy.sum %x {axes = array<i64: 1, 2>, keepdims = false} : (!toy.tensor<f64[4, 2, 3]>) -> !toy.tensor<f64[4]>
  return %s : !toy.tensor<f64[4]>
}
// CHECK-LABEL: @turned
// CHECK-NOT: toy.reshape
// CHECK: return
func.func @turned(%x: !toy.tensor<f64[28, 40, 30]>, %c: !toy.tensor<f64[40, 1, 1]>) -> !toy.tensor<f64[40, 28, 30]> {
  %p = toy.permute %x {permutation = array<i64: 1, 0, 2>} : (!toy.tensor<f64[28, 40, 30]>) -> !toy.tensor<f64[40, 28, 30]>
  %s = toy.mul %p, %c : (!toy.tensor<f64[40, 28, 30]>, !toy.tensor<f64[40, 1, 1]>) -> !toy.tensor<f64[40, 28, 30]>
  return %s : !toy.tensor<f64[40, 28, 30]>
}
// CHECK-LABEL: @symbols
// CHECK-NOT: toy.reshape
// CHECK: return
func.func @symbols(%x: !toy.tensor<f64[4, N, M]>) -> !toy.tensor<f64[4]> {
  %s = toy.sum %x {axes = array<i64: 1, 2>, keepdims = false} : (!toy.tensor<f64[4, N, M]>) -> !toy.tensor<f64[4]>
  return %s : !toy.tensor<f64[4]>
}
// Names of sizes that others have as numbers are no axes of one element.
// CHECK-LABEL: @named
// CHECK-NOT: toy.reshape
// CHECK: return
func.func @named(%x: !toy.tensor<f64[N, M, 30]>, %y: !toy.tensor<f64[40, 28, 30]>) -> !toy.tensor<f64[40, 28, 30]> {
  %s = toy.sub %x, %y : (!toy.tensor<f64[N, M, 30]>, !toy.tensor<f64[40, 28, 30]>) -> !toy.tensor<f64[40, 28, 30]>
  return %s : !toy.tensor<f64[40, 28, 30]>
}
