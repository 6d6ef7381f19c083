// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-hoist-strings))' %s | FileCheck %s

// Before the outer one of two loops, and not where there is no loop.
// CHECK-LABEL: @words
// CHECK: toy.str_constant {{.*}}"word"
// CHECK: cf.br ^bb1
// CHECK: ^bb2(
// CHECK-NOT: toy.str_constant
// CHECK: toy.list_append
// CHECK: ^bb3:
// CHECK: toy.str_constant {{.*}}"end"
func.func @words(%n: !toy.tensor<i64[]>) -> !toy.list<!toy.str> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %none = toy.list : () -> !toy.list<!toy.str>
  cf.br ^outer(%none, %0 : !toy.list<!toy.str>, !toy.tensor<i64[]>)
^outer(%xs: !toy.list<!toy.str>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^inner(%xs, %0 : !toy.list<!toy.str>, !toy.tensor<i64[]>), ^exit
^inner(%ys: !toy.list<!toy.str>, %k: !toy.tensor<i64[]>):
  %s = toy.str_constant {value = "word"} : () -> !toy.str
  %zs = toy.list_append %ys, %s : (!toy.list<!toy.str>, !toy.str) -> !toy.list<!toy.str>
  %l = toy.add %k, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %u = toy.lt %l, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.cond_br %d, ^inner(%zs, %l : !toy.list<!toy.str>, !toy.tensor<i64[]>),
                 ^outer(%zs, %j : !toy.list<!toy.str>, !toy.tensor<i64[]>)
^exit:
  %e = toy.str_constant {value = "end"} : () -> !toy.str
  %r = toy.list_append %xs, %e : (!toy.list<!toy.str>, !toy.str) -> !toy.list<!toy.str>
  return %r : !toy.list<!toy.str>
}
