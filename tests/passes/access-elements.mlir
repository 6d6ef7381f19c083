// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-access-elements))' %s | FileCheck %s

// A slice of one element that becomes a scalar, and one that is stored.
// CHECK-LABEL: @moved
// CHECK: %[[E:.*]] = toy.element %arg0, %arg1, %arg2
// CHECK-NEXT: %[[S:.*]] = toy.element_store %arg0, %[[E]], %arg2, %arg1
// CHECK-NEXT: return %[[S]]
func.func @moved(%x: !toy.tensor<f64[N, N]>, %i: !toy.tensor<i64[]>, %j: !toy.tensor<i64[]>) -> !toy.tensor<f64[N, N]> {
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %s = toy.slice %x, %i, %j, %1, %1 {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, 1]>
  %e = toy.reshape %s : (!toy.tensor<f64[1, 1]>) -> !toy.tensor<f64[]>
  %y = toy.slice_store %x, %e, %j, %i, %1, %1 {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, N]>
  return %y : !toy.tensor<f64[N, N]>
}

// A row is not an element.
// CHECK-LABEL: @row
// CHECK-NOT: toy.element
// CHECK: toy.slice
func.func @row(%x: !toy.tensor<f64[4, 3]>, %i: !toy.tensor<i64[]>) -> !toy.tensor<f64[3]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %3 = toy.constant {value = dense<3> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %s = toy.slice %x, %i, %0, %1, %3 {steps = array<i64: 1, 1>} : (!toy.tensor<f64[4, 3]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, 3]>
  %r = toy.reshape %s, %3 : (!toy.tensor<f64[1, 3]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  return %r : !toy.tensor<f64[3]>
}

// Parts of pairs are read from the pairs, and the size is asked of the first value that has it.
// CHECK-LABEL: @views
// CHECK: toy.dim %arg0
// CHECK: %[[Z:.*]] = toy.element %arg0, %arg1
// CHECK: toy.imag %[[Z]]
// CHECK-NOT: toy.dim
func.func @views(%z: !toy.tensor<c128[N]>, %i: !toy.tensor<i64[]>) -> (!toy.tensor<f64[]>, !toy.tensor<i64[]>) {
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %p = toy.view_as_real %z : (!toy.tensor<c128[N]>) -> !toy.tensor<f64[N, 2]>
  %n = toy.dim %p {axis = 0 : i64} : (!toy.tensor<f64[N, 2]>) -> !toy.tensor<i64[]>
  %s = toy.slice %p, %i, %1, %1, %1 {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, 2]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, 1]>
  %e = toy.reshape %s : (!toy.tensor<f64[1, 1]>) -> !toy.tensor<f64[]>
  return %e, %n : !toy.tensor<f64[]>, !toy.tensor<i64[]>
}

// What is relabelled has the names of the loop's next turn: its size is its own.
// CHECK-LABEL: @turns
// CHECK: %[[R:.*]] = toy.relabel
// CHECK: ^bb1(%[[A:[0-9]+]]: !toy.tensor<f64[s0]>,
// CHECK: %[[D:.*]] = toy.dim %[[A]]
// CHECK: toy.lt %{{.*}}, %[[D]]
func.func @turns(%x: !toy.tensor<f64[4]>, %i: !toy.tensor<i64[]>) -> !toy.tensor<f64[]> {
  %r = toy.relabel %x : (!toy.tensor<f64[4]>) -> !toy.tensor<f64[s0]>
  cf.br ^header(%r, %i : !toy.tensor<f64[s0]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[s0]>, %j: !toy.tensor<i64[]>):
  %n = toy.dim %a {axis = 0 : i64} : (!toy.tensor<f64[s0]>) -> !toy.tensor<i64[]>
  %t = toy.lt %j, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %2 = toy.constant {value = dense<2> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %s = toy.slice %a, %0, %2 {steps = array<i64: 1>} : (!toy.tensor<f64[s0]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[2]>
  %next = toy.relabel %s : (!toy.tensor<f64[2]>) -> !toy.tensor<f64[s0]>
  cf.br ^header(%next, %j : !toy.tensor<f64[s0]>, !toy.tensor<i64[]>)
^exit:
  %e = toy.element %a, %j : (!toy.tensor<f64[s0]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %e : !toy.tensor<f64[]>
}

// Blocks that read elements of different tensors stay two: a tensor as an argument of one would be counted at each turn.
// CHECK-LABEL: @either
// CHECK: toy.element %arg0
// CHECK: toy.element %arg1
func.func @either(%x: !toy.tensor<i64[N]>, %y: !toy.tensor<i64[N]>, %i: !toy.tensor<i64[]>, %c: i1) -> !toy.tensor<i64[]> {
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.cond_br %c, ^first, ^second
^first:
  %s = toy.slice %x, %i, %1 {steps = array<i64: 1>} : (!toy.tensor<i64[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[1]>
  %a = toy.reshape %s : (!toy.tensor<i64[1]>) -> !toy.tensor<i64[]>
  cf.br ^join(%a : !toy.tensor<i64[]>)
^second:
  %t = toy.slice %y, %i, %1 {steps = array<i64: 1>} : (!toy.tensor<i64[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[1]>
  %b = toy.reshape %t : (!toy.tensor<i64[1]>) -> !toy.tensor<i64[]>
  cf.br ^join(%b : !toy.tensor<i64[]>)
^join(%r: !toy.tensor<i64[]>):
  return %r : !toy.tensor<i64[]>
}

// An element of a row is one of what the row is taken from, from where it begins and by its steps.
// CHECK-LABEL: @element_of_row
// CHECK-DAG: %[[TWO:.*]] = toy.constant {value = dense<2> : tensor<i64>}
// CHECK-DAG: %[[BY:.*]] = toy.mul %arg2, %[[TWO]] {toy.exact}
// CHECK: %[[AT:.*]] = toy.add %arg1, %[[BY]] {toy.exact}
// CHECK: %[[E:.*]] = toy.element %arg0, %arg1, %[[AT]]
// CHECK: return %[[E]]
func.func @element_of_row(%x: !toy.tensor<f64[4, 6]>, %i: !toy.tensor<i64[]>, %k: !toy.tensor<i64[]>) -> !toy.tensor<f64[]> {
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %2 = toy.constant {value = dense<2> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %s = toy.slice %x, %i, %i, %1, %2 {steps = array<i64: 1, 2>} : (!toy.tensor<f64[4, 6]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, 2]>
  %r = toy.reshape %s, %2 : (!toy.tensor<f64[1, 2]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[2]>
  %e = toy.element %r, %k : (!toy.tensor<f64[2]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %e : !toy.tensor<f64[]>
}

// Not of what is stored into: it would live twice, and be copied.
// CHECK-LABEL: @element_of_stored
// CHECK: %[[R:.*]] = toy.reshape
// CHECK: toy.element_store %arg0
// CHECK: toy.element %[[R]], %arg1
func.func @element_of_stored(%x: !toy.tensor<f64[4, 3]>, %i: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>) -> (!toy.tensor<f64[4, 3]>, !toy.tensor<f64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %3 = toy.constant {value = dense<3> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %s = toy.slice %x, %i, %0, %1, %3 {steps = array<i64: 1, 1>} : (!toy.tensor<f64[4, 3]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, 3]>
  %r = toy.reshape %s, %3 : (!toy.tensor<f64[1, 3]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  %y = toy.element_store %x, %v, %i, %i : (!toy.tensor<f64[4, 3]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[4, 3]>
  %e = toy.element %r, %i : (!toy.tensor<f64[3]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %y, %e : !toy.tensor<f64[4, 3]>, !toy.tensor<f64[]>
}
