// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-bound-indices))' %s | FileCheck %s

// A counter below the size needs no check, and never wraps.
// CHECK-LABEL: @counter
// CHECK-NOT: toy.check_index
// CHECK: toy.add %{{.*}} {toy.exact}
func.func @counter(%n: !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %at = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %at {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j : !toy.tensor<i64[]>)
^exit:
  return
}

// `x[j + 1]` for j below n - 1, but not `x[j + 2]`, which is only never negative.
// CHECK-LABEL: @neighbour
// CHECK: %[[TWO:.*]] = toy.add %{{.*}}, %{{.*}} {toy.exact}
// CHECK: toy.check_index %[[TWO]], %arg0 {axis = 0 : i64, nonnegative}
// CHECK-NOT: toy.check_index
func.func @neighbour(%m: !toy.tensor<i64[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %2 = toy.constant {value = dense<2> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %last = toy.sub %n, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %last : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %p = toy.add %i, %2 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %at2 = toy.check_index %p, %m {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %q = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %at1 = toy.check_index %q, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %at1, %at2 {echo = false, structure = "_;_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  cf.br ^header(%q : !toy.tensor<i64[]>)
^exit:
  return
}

// Products may wrap, so the sign of `i * i` is not known; nor is that of an argument. The second check of one index is the first.
// CHECK-LABEL: @unknown
// CHECK: toy.check_index %{{.*}}, %arg1 {axis = 0 : i64} :
// CHECK-NOT: nonnegative
// CHECK: toy.check_index %arg0, %arg1 {axis = 0 : i64} :
// CHECK-NOT: toy.check_index
func.func @unknown(%i: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>) {
  %s = toy.mul %i, %i : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %a = toy.check_index %s, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %b = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %c = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %a, %b, %c {echo = false, structure = "_;_;_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  return
}

// A step that is not known may lead anywhere.
// CHECK-LABEL: @stepping
// CHECK: toy.check_index %{{.*}} {axis = 0 : i64, nonnegative}
// CHECK: toy.add
// CHECK-NOT: toy.exact
func.func @stepping(%n: !toy.tensor<i64[]>, %step: !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.ge %i, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %at = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %at {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  %j = toy.add %i, %step : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j : !toy.tensor<i64[]>)
^exit:
  return
}
