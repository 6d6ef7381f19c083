// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-access-elements))' %s | FileCheck %s

// Rows of two numbers lie in one vector: a row is appended by its numbers, and one number of it changes.
// CHECK-LABEL: @pairs
// CHECK: %[[X:.*]] = toy.from_elements %arg0, %arg0, %arg1, %arg0 {{.*}} -> !toy.tensor<i64[4]>
// CHECK: %[[P:.*]] = toy.mul %arg2, {{.*}} {toy.exact}
// CHECK: %[[Q:.*]] = toy.add %[[P]], %arg0 {toy.exact}
// CHECK: %[[Y:.*]] = toy.element_store %[[X]], %arg1, %[[Q]]
// CHECK: %[[A:.*]] = toy.append %[[Y]], %arg1 : {{.*}} -> !toy.tensor<i64[5]>
// CHECK: %[[B:.*]] = toy.append %[[A]], %arg1 : {{.*}} -> !toy.tensor<i64[6]>
// CHECK: toy.element %[[B]], %[[Q]]
// CHECK-NOT: toy.list
// CHECK: return
func.func @pairs(%v: !toy.tensor<i64[]>, %w: !toy.tensor<i64[]>, %i: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %a = toy.from_elements %v, %v {sizes = array<i64: 2>} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[2]>
  %b = toy.from_elements %w, %v {sizes = array<i64: 2>} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[2]>
  %n = toy.constant {value = dense<2> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %full = toy.full %w, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[2]>
  %x = toy.list %a, %b : (!toy.tensor<i64[2]>, !toy.tensor<i64[2]>) -> !toy.list<!toy.tensor<i64["?"]>>
  %r = toy.list_element %x, %i : (!toy.list<!toy.tensor<i64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<i64[s0]>
  %s = toy.element_store %r, %w, %v : (!toy.tensor<i64[s0]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[s0]>
  %y = toy.list_set %x, %i, %s : (!toy.list<!toy.tensor<i64["?"]>>, !toy.tensor<i64[]>, !toy.tensor<i64[s0]>) -> !toy.list<!toy.tensor<i64["?"]>>
  %z = toy.list_append %y, %full : (!toy.list<!toy.tensor<i64["?"]>>, !toy.tensor<i64[2]>) -> !toy.list<!toy.tensor<i64["?"]>>
  %q = toy.list_element %z, %i : (!toy.list<!toy.tensor<i64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<i64[s1]>
  %e = toy.element %q, %v : (!toy.tensor<i64[s1]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  return %e : !toy.tensor<i64[]>
}

// Rows of different lengths, a row that is asked for as such, and a list that comes from elsewhere stay.
// CHECK-LABEL: @lengths
// CHECK: toy.list_append
func.func @lengths(%v: !toy.tensor<i64[]>, %i: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %a = toy.from_elements %v, %v {sizes = array<i64: 2>} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[2]>
  %b = toy.from_elements %v {sizes = array<i64: 1>} : (!toy.tensor<i64[]>) -> !toy.tensor<i64[1]>
  %x = toy.list %a : (!toy.tensor<i64[2]>) -> !toy.list<!toy.tensor<i64["?"]>>
  %y = toy.list_append %x, %b : (!toy.list<!toy.tensor<i64["?"]>>, !toy.tensor<i64[1]>) -> !toy.list<!toy.tensor<i64["?"]>>
  %r = toy.list_element %y, %i : (!toy.list<!toy.tensor<i64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<i64[s0]>
  %e = toy.element %r, %v : (!toy.tensor<i64[s0]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  return %e : !toy.tensor<i64[]>
}
// CHECK-LABEL: @whole
// CHECK: toy.list_element
func.func @whole(%v: !toy.tensor<i64[]>, %i: !toy.tensor<i64[]>) -> !toy.tensor<i64[s0]> {
  %a = toy.from_elements %v, %v {sizes = array<i64: 2>} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[2]>
  %x = toy.list %a : (!toy.tensor<i64[2]>) -> !toy.list<!toy.tensor<i64["?"]>>
  %r = toy.list_element %x, %i : (!toy.list<!toy.tensor<i64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<i64[s0]>
  return %r : !toy.tensor<i64[s0]>
}
// CHECK-LABEL: @given
// CHECK: toy.list_element
func.func @given(%x: !toy.list<!toy.tensor<i64["?"]>>, %v: !toy.tensor<i64[]>, %i: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %r = toy.list_element %x, %i : (!toy.list<!toy.tensor<i64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<i64[s0]>
  %e = toy.element %r, %v : (!toy.tensor<i64[s0]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  return %e : !toy.tensor<i64[]>
}
