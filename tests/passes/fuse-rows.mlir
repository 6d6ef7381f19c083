// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse))' %s | FileCheck %s
// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse{rows=false}))' %s | FileCheck %s --check-prefix=APART

// In a loop, sum(x[i] * y) reads the row where it lies and is code of the loop; on a device it is a group like others.
// CHECK-LABEL: @summed
// CHECK: toy.fused {{.*}} {toy.inLoop}
// CHECK: toy.slice
// CHECK: toy.reshape
// CHECK: toy.sum
// CHECK-NOT: toy.fused
// APART-LABEL: @summed
// APART-COUNT-1: toy.fused
// APART-NOT: toy.fused
// APART-NOT: toy.inLoop
// APART: return
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

// A row of a loop that is needed as a tensor is one, and no view of another.
// CHECK-LABEL: @kept
// CHECK: toy.fused
// CHECK-NEXT: ^bb0
// CHECK-NEXT: toy.slice
// CHECK-NEXT: toy.reshape
// CHECK-NEXT: toy.yield
// CHECK-NOT: toy.reshape
// CHECK: return
func.func @kept(%x: !toy.tensor<f64[N, M]>, %i: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>, %c: i1)
    -> !toy.tensor<f64[M]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^body
^body:
  %p = toy.slice %x, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %q = toy.reshape %p, %m : (!toy.tensor<f64[1, M]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  cf.cond_br %c, ^body, ^exit
^exit:
  return %q : !toy.tensor<f64[M]>
}

// Outside of a loop it is a group as well.
// CHECK-LABEL: @outside_of_loops
// CHECK-COUNT-1: toy.fused
// CHECK-NOT: toy.fused
// CHECK: return
func.func @outside_of_loops(%x: !toy.tensor<f64[N, M]>, %i: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>)
    -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %p = toy.slice %x, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %q = toy.reshape %p, %m : (!toy.tensor<f64[1, M]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %s = toy.sum %q {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[M]>) -> !toy.tensor<f64[]>
  return %s : !toy.tensor<f64[]>
}

// Outside of loops, too: a column that one group reads, or whose elements are near each other.
// CHECK-LABEL: @columns
// CHECK-COUNT-1: toy.fused
// CHECK-NOT: toy.fused
// CHECK: return
func.func @columns(%x: !toy.tensor<f64[N, 3]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[N]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %a = toy.slice %x, %0, %0, %n, %1 {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, 3]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, 1]>
  %p = toy.reshape %a, %n : (!toy.tensor<f64[N, 1]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %b = toy.slice %x, %0, %1, %n, %1 {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, 3]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, 1]>
  %q = toy.reshape %b, %n : (!toy.tensor<f64[N, 1]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %r = toy.mul %p, %q : (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  return %r : !toy.tensor<f64[N]>
}

// A column far apart that two groups read is copied once.
// CHECK-LABEL: @shared_column
// CHECK-COUNT-3: toy.fused
// CHECK: return
func.func @shared_column(%x: !toy.tensor<f64[N, 100]>, %n: !toy.tensor<i64[]>) -> (!toy.tensor<f64[N]>, !toy.tensor<f64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %a = toy.slice %x, %0, %0, %n, %1 {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, 100]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, 1]>
  %p = toy.reshape %a, %n : (!toy.tensor<f64[N, 1]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %r = toy.mul %p, %p : (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  %s = toy.sum %p {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[]>
  return %r, %s : !toy.tensor<f64[N]>, !toy.tensor<f64[]>
}

// Sums along a row are code of the loop, which reads the row where it lies. Of truth the type changes, and outside of
// loops a call is as good.
// CHECK-LABEL: @along
// CHECK: toy.cumsum %arg1
// CHECK: ^bb1:
// CHECK: %[[Y:.*]] = toy.fused %arg0, {{.*}} {toy.inLoop}
// CHECK: toy.slice
// CHECK: toy.reshape
// CHECK: toy.neg
// CHECK: toy.cumsum
// CHECK: toy.yield
// CHECK: toy.cumsum %arg2
// CHECK: toy.element %[[Y]]
// APART-LABEL: @along
// APART-NOT: toy.inLoop
// APART: return
func.func @along(%x: !toy.tensor<f64[N, M]>, %w: !toy.tensor<f64[M]>, %t: !toy.tensor<bool[M]>, %i: !toy.tensor<i64[]>,
    %m: !toy.tensor<i64[]>, %c: i1) -> (!toy.tensor<f64[]>, !toy.tensor<i64[M]>, !toy.tensor<f64[M]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %v = toy.cumsum %w {axis = 0 : i64} : (!toy.tensor<f64[M]>) -> !toy.tensor<f64[M]>
  cf.br ^body
^body:
  %p = toy.slice %x, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %q = toy.reshape %p, %m : (!toy.tensor<f64[1, M]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %r = toy.neg %q : (!toy.tensor<f64[M]>) -> !toy.tensor<f64[M]>
  %s = toy.cumsum %r {axis = 0 : i64} : (!toy.tensor<f64[M]>) -> !toy.tensor<f64[M]>
  %u = toy.cumsum %t {axis = 0 : i64} : (!toy.tensor<bool[M]>) -> !toy.tensor<i64[M]>
  %e = toy.element %s, %i : (!toy.tensor<f64[M]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  cf.cond_br %c, ^body, ^exit
^exit:
  return %e, %u, %v : !toy.tensor<f64[]>, !toy.tensor<i64[M]>, !toy.tensor<f64[M]>
}
