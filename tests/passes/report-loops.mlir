// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-report-loops))' %s 2>&1 | FileCheck %s

// The inner loop looks at an index and is not counted; the outer one copies. What stands outside of loops, and what runs in strips, costs nothing.
// CHECK-NOT: remark
// CHECK: :[[#@LINE+15]]:{{.*}} remark: the tensor is copied here in each turn
// CHECK: :[[#@LINE+17]]:{{.*}} remark: the index is compared with the size in each turn: nothing says that it lies inside
// CHECK: :[[#@LINE+17]]:{{.*}} remark: the index is compared with the size in each turn: nothing says that it is below it
// CHECK: remark: no vector code
// CHECK-NOT: remark
func.func @costs(%x: !toy.tensor<f64[N]>, %v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>, %k: !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %first = toy.check_index %k, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^outer(%0 : !toy.tensor<i64[]>)
^outer(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit

^body:
  %u = toy.unique %x : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  cf.br ^inner(%i : !toy.tensor<i64[]>)
^inner(%j: !toy.tensor<i64[]>):
  %a = toy.check_index %j, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %b = toy.check_index %k, %n {axis = 0 : i64, nonnegative} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.element_set %u, %v, %a : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> ()
  %s = toy.lt %b, %a : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %s : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^inner(%b : !toy.tensor<i64[]>), ^outer(%a : !toy.tensor<i64[]>)
^exit:
  cf.br ^strips(%0 : !toy.tensor<i64[]>)
^strips(%m: !toy.tensor<i64[]>):
  %e = toy.element %x, %m : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %w = toy.lt %e, %v : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<bool[]>
  %y = toy.truth %w : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %y, ^again, ^end
^again:
  cf.br ^strips(%m : !toy.tensor<i64[]>) {toy.bare}
^end:
  return
}
