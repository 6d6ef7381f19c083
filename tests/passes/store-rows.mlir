// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-store-rows))' %s | FileCheck %s

// x[i] -= f * x[k]: both rows are read where they are, in the turn that writes.
// CHECK-LABEL: @eliminated
// CHECK: ^bb2:
// CHECK-NOT: toy.slice
// CHECK: cf.br ^bb3(%[[X:.*]], %{{.*}} : !toy.tensor<f64[N, M]>, !toy.tensor<i64[]>)
// CHECK: ^bb3(%[[A:.*]]: !toy.tensor<f64[N, M]>, %[[J:.*]]: !toy.tensor<i64[]>):
// CHECK: ^bb4:
// CHECK: %[[P:.*]] = toy.element %[[A]], %arg1, %[[J]]
// CHECK: %[[Q:.*]] = toy.element %[[A]], %arg2, %[[J]]
// CHECK: %[[R:.*]] = toy.mul %arg3, %[[Q]] : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
// CHECK: %[[S:.*]] = toy.sub %[[P]], %[[R]]
// CHECK: %[[B:.*]] = toy.element_store %[[A]], %[[S]], %arg1, %[[J]]
// CHECK: cf.br ^bb3(%[[B]],
// CHECK-NOT: toy.slice
func.func @eliminated(%x: !toy.tensor<f64[N, M]>, %i: !toy.tensor<i64[]>, %k: !toy.tensor<i64[]>,
    %f: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[N, M]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %m = toy.dim %x {axis = 1 : i64} : (!toy.tensor<f64[N, M]>) -> !toy.tensor<i64[]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[N, M]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[N, M]>, %t: !toy.tensor<i64[]>):
  %less = toy.lt %t, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %p = toy.slice %a, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %q = toy.slice %a, %k, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %r = toy.mul %f, %q : (!toy.tensor<f64[]>, !toy.tensor<f64[1, M]>) -> !toy.tensor<f64[1, M]>
  %s = toy.sub %p, %r : (!toy.tensor<f64[1, M]>, !toy.tensor<f64[1, M]>) -> !toy.tensor<f64[1, M]>
  %b = toy.slice_store %a, %s, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<f64[1, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, M]>
  %u = toy.add %t, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %u : !toy.tensor<f64[N, M]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[N, M]>
}

// Two rows that change places: one loop, both are read before any is written.
// CHECK-LABEL: @swapped
// CHECK: ^bb4:
// CHECK: %[[P:.*]] = toy.element %[[A:.*]], %arg2, %[[J:.*]] :
// CHECK: %[[Q:.*]] = toy.element %[[A]], %arg1, %[[J]] :
// CHECK: %[[B:.*]] = toy.element_store %[[A]], %[[P]], %arg1, %[[J]]
// CHECK: %[[C:.*]] = toy.element_store %[[B]], %[[Q]], %arg2, %[[J]]
// CHECK: cf.br ^bb3(%[[C]],
// CHECK-NOT: toy.slice
func.func @swapped(%x: !toy.tensor<f64[N, M]>, %i: !toy.tensor<i64[]>, %k: !toy.tensor<i64[]>,
    %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[N, M]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %m = toy.dim %x {axis = 1 : i64} : (!toy.tensor<f64[N, M]>) -> !toy.tensor<i64[]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[N, M]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[N, M]>, %t: !toy.tensor<i64[]>):
  %less = toy.lt %t, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %p = toy.slice %a, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %q = toy.slice %a, %k, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, M]>
  %b = toy.slice_store %a, %q, %i, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<f64[1, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, M]>
  %d = toy.slice_store %b, %p, %k, %0, %1, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, M]>, !toy.tensor<f64[1, M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, M]>
  %u = toy.add %t, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%d, %u : !toy.tensor<f64[N, M]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[N, M]>
}

// x[1:] = 2 * x[:-1]: what a turn writes a later one would read. The row is made, then copied.
// CHECK-LABEL: @overlapping
// CHECK: %[[P:.*]] = toy.slice %{{.*}} -> !toy.tensor<f64[M]>
// CHECK: %[[Q:.*]] = toy.mul %arg1, %[[P]] : (!toy.tensor<f64[]>, !toy.tensor<f64[M]>) -> !toy.tensor<f64[M]>
// CHECK: %[[E:.*]] = toy.element %[[Q]], %[[K:.*]] :
// CHECK: %[[AT:.*]] = toy.add %{{.*}}, %[[K]] {toy.exact}
// CHECK: toy.element_store %{{.*}}, %[[E]], %[[AT]]
func.func @overlapping(%x: !toy.tensor<f64[N]>, %f: !toy.tensor<f64[]>, %m: !toy.tensor<i64[]>,
    %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[N]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[N]>, %t: !toy.tensor<i64[]>):
  %less = toy.lt %t, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %p = toy.slice %a, %0, %m {steps = array<i64: 1>} : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %q = toy.mul %f, %p : (!toy.tensor<f64[]>, !toy.tensor<f64[M]>) -> !toy.tensor<f64[M]>
  %b = toy.slice_store %a, %q, %1, %m {steps = array<i64: 1>} : (!toy.tensor<f64[N]>, !toy.tensor<f64[M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %u = toy.add %t, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %u : !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[N]>
}

// Not in a loop, in a region of several axes, of a size that may be 1: calls of the runtime.
// CHECK-LABEL: @others
// CHECK: toy.slice_store %arg0, %arg1, %{{.*}} {steps = array<i64: 1>}
// CHECK: ^bb2:
// CHECK: toy.slice_store %{{.*}}, %arg1, %{{.*}}, %arg2 {steps = array<i64: 1>}
// CHECK: toy.slice_store %arg3, %arg4, %{{.*}} {steps = array<i64: 1, 1>}
// CHECK-NOT: toy.element
func.func @others(%x: !toy.tensor<f64[N]>, %v: !toy.tensor<f64[K]>, %m: !toy.tensor<i64[]>, %y: !toy.tensor<f64[N, N]>,
    %f: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> (!toy.tensor<f64[N]>, !toy.tensor<f64[N, N]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %k = toy.dim %v {axis = 0 : i64} : (!toy.tensor<f64[K]>) -> !toy.tensor<i64[]>
  %w = toy.slice_store %x, %v, %0, %k {steps = array<i64: 1>} : (!toy.tensor<f64[N]>, !toy.tensor<f64[K]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  cf.br ^header(%w, %y, %0 : !toy.tensor<f64[N]>, !toy.tensor<f64[N, N]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[N]>, %z: !toy.tensor<f64[N, N]>, %t: !toy.tensor<i64[]>):
  %less = toy.lt %t, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.slice_store %a, %v, %1, %m {steps = array<i64: 1>} : (!toy.tensor<f64[N]>, !toy.tensor<f64[K]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %d = toy.slice_store %y, %f, %0, %0, %m, %m {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, N]>
  %u = toy.add %t, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %d, %u : !toy.tensor<f64[N]>, !toy.tensor<f64[N, N]>, !toy.tensor<i64[]>)
^exit:
  return %a, %z : !toy.tensor<f64[N]>, !toy.tensor<f64[N, N]>
}
