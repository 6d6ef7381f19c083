// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-access-elements))' %s | FileCheck %s

// Rows that are made with one count are rows of a matrix.
// CHECK-LABEL: @rows
// CHECK: %[[N:.*]] = toy.minimum
// CHECK: %[[E:.*]] = toy.full {{.*}}, %[[N]] : {{.*}} -> !toy.tensor<f64[0, "columns$0"]>
// CHECK: %[[A:.*]] = toy.append %[[E]], {{.*}} -> !toy.tensor<f64[1, "columns$0"]>
// CHECK: %[[B:.*]] = toy.append %[[A]], {{.*}} -> !toy.tensor<f64[2, "columns$0"]>
// CHECK: %[[S:.*]] = toy.element_store %[[B]], %arg1, %arg2, %arg0
// CHECK: %[[R:.*]] = toy.element %[[S]], %arg2, %arg2
// CHECK-NOT: toy.list
// CHECK: return %[[R]], %arg0
func.func @rows(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>) -> (!toy.tensor<f64[]>, !toy.tensor<i64[]>) {
  %l = toy.list : () -> !toy.list<!toy.tensor<f64["?"]>>
  %a = toy.full %v, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[a]>
  %x = toy.list_append %l, %a : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<f64[a]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %b = toy.full %v, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[b]>
  %y = toy.list_append %x, %b : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<f64[b]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %r = toy.list_element %y, %i : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[s0]>
  %s = toy.element_store %r, %v, %n : (!toy.tensor<f64[s0]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[s0]>
  %z = toy.list_set %y, %i, %s : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>, !toy.tensor<f64[s0]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %q = toy.list_element %z, %i : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[s1]>
  %e = toy.element %q, %i : (!toy.tensor<f64[s1]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %d = toy.dim %q {axis = 0 : i64} : (!toy.tensor<f64[s1]>) -> !toy.tensor<i64[]>
  return %e, %d : !toy.tensor<f64[]>, !toy.tensor<i64[]>
}

// Rows of two counts stay in a list, and so does a list that is needed beside what it becomes.
// CHECK-LABEL: @counts
// CHECK: toy.list_append
func.func @counts(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>) -> !toy.tensor<f64[]> {
  %a = toy.full %v, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[a]>
  %b = toy.full %v, %i : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[b]>
  %x = toy.list %a : (!toy.tensor<f64[a]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %y = toy.list_append %x, %b : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<f64[b]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %q = toy.list_element %y, %i : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[s1]>
  %e = toy.element %q, %i : (!toy.tensor<f64[s1]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %e : !toy.tensor<f64[]>
}
// CHECK-LABEL: @needed
// CHECK: toy.list_append
func.func @needed(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>) -> (!toy.tensor<i64[]>, !toy.tensor<f64[]>) {
  %a = toy.full %v, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[a]>
  %x = toy.list %a : (!toy.tensor<f64[a]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %y = toy.list_append %x, %a : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<f64[a]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %q = toy.list_element %y, %i : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[s1]>
  %c = toy.list_len %x : (!toy.list<!toy.tensor<f64["?"]>>) -> !toy.tensor<i64[]>
  %e = toy.element %q, %i : (!toy.tensor<f64[s1]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %c, %e : !toy.tensor<i64[]>, !toy.tensor<f64[]>
}
// A row from before a loop is put into the list in each turn: it lies in memory once.
// CHECK-LABEL: @shared
// CHECK: toy.list_append
func.func @shared(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %a = toy.full %v, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[a]>
  %l = toy.list : () -> !toy.list<!toy.tensor<f64["?"]>>
  cf.br ^turn(%l, %n : !toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>)
^turn(%x: !toy.list<!toy.tensor<f64["?"]>>, %k: !toy.tensor<i64[]>):
  %y = toy.list_append %x, %a : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<f64[a]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %c = toy.lt %k, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %t = toy.truth %c : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %t, ^turn(%y, %k : !toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>), ^end
^end:
  %q = toy.list_element %y, %k : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[s1]>
  %e = toy.element %q, %k : (!toy.tensor<f64[s1]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %e : !toy.tensor<f64[]>
}
// Rows with as many numbers as another matrix has rows, whose length is asked otherwise by then.
// CHECK-LABEL: @lengths
// CHECK: toy.append {{.*}} -> !toy.tensor<f64[1, "columns$0"]>
// CHECK: toy.append {{.*}} -> !toy.tensor<f64[1, "columns$1"]>
// CHECK-NOT: toy.list
func.func @lengths(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>) -> (!toy.tensor<f64[]>, !toy.tensor<f64[]>) {
  %l = toy.list : () -> !toy.list<!toy.tensor<f64["?"]>>
  %a = toy.full %v, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[a]>
  %x = toy.list_append %l, %a : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<f64[a]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %c = toy.list_len %x : (!toy.list<!toy.tensor<f64["?"]>>) -> !toy.tensor<i64[]>
  %r = toy.list_element %x, %i : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[s0]>
  %e = toy.element %r, %i : (!toy.tensor<f64[s0]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %m = toy.list : () -> !toy.list<!toy.tensor<f64["?"]>>
  %b = toy.full %v, %c : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[b]>
  %y = toy.list_append %m, %b : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<f64[b]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %q = toy.list_element %y, %i : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[s1]>
  %f = toy.element %q, %i : (!toy.tensor<f64[s1]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %e, %f : !toy.tensor<f64[]>, !toy.tensor<f64[]>
}
