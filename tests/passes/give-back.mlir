// RUN: %toy-opt --pass-pipeline='builtin.module(toy-give-back)' %s | FileCheck %s

// What was compared with zero gets zero again: the copy of the function returns the argument, and whoever goes on with
// it goes on with what is returned. The function itself, which others may call, calls the copy.
// CHECK-LABEL: func.func @kept(
// CHECK: call @kept.back
// CHECK-LABEL: func.func private @kept.back(
// CHECK-SAME: -> (!toy.tensor<i64[]>, !toy.tensor<i64[N]>)
// CHECK: %[[Y:.*]] = toy.element_store %arg0, %arg2, %arg1
// CHECK-NEXT: %[[R:.*]]:2 = call @kept.back(%[[Y]], %arg1, %arg2)
// CHECK-NEXT: %[[Z:.*]] = toy.element_store %[[R]]#1, %{{.*}}, %arg1
// CHECK-NEXT: cf.br ^[[END:.*]](%[[R]]#0, %[[Z]]
// CHECK: ^[[END]](%[[S:.*]]: !toy.tensor<i64[]>, %[[B:.*]]: !toy.tensor<i64[N]>):
// CHECK-NEXT: return %[[S]], %[[B]]
func.func @kept(%b: !toy.tensor<i64[N]>, %i: !toy.tensor<i64[]>, %p: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %x = toy.element %b, %i : (!toy.tensor<i64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %t = toy.eq %x, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^free, ^end(%x : !toy.tensor<i64[]>)
^free:
  %y = toy.element_store %b, %p, %i : (!toy.tensor<i64[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[N]>
  %r = call @kept(%y, %i, %p) : (!toy.tensor<i64[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %z = toy.element_store %y, %0, %i : (!toy.tensor<i64[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[N]>
  cf.br ^end(%r : !toy.tensor<i64[]>)
^end(%s: !toy.tensor<i64[]>):
  return %s : !toy.tensor<i64[]>
}

// Nobody goes on with the argument: nothing is given back.
// CHECK-LABEL: func.func @dropped(
// CHECK-NOT: @dropped.back
func.func @dropped(%b: !toy.tensor<i64[N]>, %i: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %x = toy.element %b, %i : (!toy.tensor<i64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %y = toy.element_store %b, %i, %i : (!toy.tensor<i64[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[N]>
  %r = call @dropped(%y, %x) : (!toy.tensor<i64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  return %r : !toy.tensor<i64[]>
}
