// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse))' %s | FileCheck %s
// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse{rows=false}))' %s | FileCheck %s --check-prefix=APART

// In a loop, sum(x[i] * y) reads the row where it lies and is code of the loop; on a device the row is a copy.
// CHECK-LABEL: @summed
// CHECK: toy.fused {{.*}} {toy.inLoop}
// CHECK: toy.slice
// CHECK: toy.reshape
// CHECK: toy.sum
// CHECK-NOT: toy.fused
// APART-LABEL: @summed
// APART-COUNT-2: toy.fused
// APART-NOT: toy.inLoop
func.func @summed(%x: !toy.tensor<f64[N, M]>, %y: !toy.tensor<f64[M]>, %i: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>,
    %c: i1) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^body
^body:
  %p = toy.slice %x, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %q = toy.reshape %p, %m : (!toy.tensor<f64[1, M]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %r = toy.mul %q, %y : (!toy.tensor<f64[M]>, !toy.tensor<f64[M]>) -> !toy.tensor<f64[M]>
  %s = toy.sum %r {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[M]>) -> !toy.tensor<f64[]>
  cf.cond_br %c, ^body, ^exit
^exit:
  return %s : !toy.tensor<f64[]>
}

// What is stored into before the sum is read before that: else all of it would be copied.
// CHECK-LABEL: @not_behind_a_store
// CHECK: toy.slice
// CHECK: toy.reshape
// CHECK-NOT: toy.slice
// CHECK: toy.element_store
// CHECK: toy.fused {{.*}} {toy.inLoop}
// CHECK-NOT: toy.slice
// CHECK: return
func.func @not_behind_a_store(%x: !toy.tensor<f64[N, M]>, %i: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>,
    %v: !toy.tensor<f64[]>, %c: i1) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^body(%x : !toy.tensor<f64[N, M]>)
^body(%a: !toy.tensor<f64[N, M]>):
  %p = toy.slice %a, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %q = toy.reshape %p, %m : (!toy.tensor<f64[1, M]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %b = toy.element_store %a, %v, %i, %0 : (!toy.tensor<f64[N, M]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, M]>
  %s = toy.sum %q {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[M]>) -> !toy.tensor<f64[]>
  cf.cond_br %c, ^body(%b : !toy.tensor<f64[N, M]>), ^exit
^exit:
  return %s : !toy.tensor<f64[]>
}

// Outside of loops a row is a copy, which the sum of a long one may share among threads.
// CHECK-LABEL: @not_outside_of_loops
// CHECK-COUNT-2: toy.fused
// CHECK-NOT: toy.inLoop
func.func @not_outside_of_loops(%x: !toy.tensor<f64[N, M]>, %i: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>)
    -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %p = toy.slice %x, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %q = toy.reshape %p, %m : (!toy.tensor<f64[1, M]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %s = toy.sum %q {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[M]>) -> !toy.tensor<f64[]>
  return %s : !toy.tensor<f64[]>
}
