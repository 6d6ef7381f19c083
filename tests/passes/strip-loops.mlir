// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-strip-loops))' %s | FileCheck %s

// The inner loop has at most 16384 turns, and its way back is bare.
// CHECK-LABEL: @sum
// CHECK: toy.constant {value = dense<16384>
// CHECK: %[[LEFT:.*]] = toy.sub %arg1, %[[FROM:.*]] :
// CHECK: %[[LAST:.*]] = toy.lt %[[LEFT]]
// CHECK: %[[END:.*]] = toy.where %[[LAST]], %arg1, %{{.*}}
// CHECK: toy.lt %[[I:.*]], %[[END]]
// CHECK: toy.lt %[[I]], %arg1
// CHECK: toy.element %arg0, %[[I]]
// CHECK: {toy.bare}
func.func @sum(%x: !toy.tensor<f64[N]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %z = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^header(%z, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^header(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %e = toy.element %x, %i : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %a = toy.add %s, %e : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%a, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// Printing takes its time, and a loop without a bound has no strips: Ctrl-C is looked for at each turn.
// CHECK-LABEL: @printed
// CHECK-NOT: toy.bare
// CHECK-NOT: dense<16384>
func.func @printed(%n: !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^second(%0 : !toy.tensor<i64[]>)
^body:
  toy.print %i {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j : !toy.tensor<i64[]>)
^second(%k: !toy.tensor<i64[]>):
  %u = toy.ne %k, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  %l = toy.add %k, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.cond_br %d, ^second(%l : !toy.tensor<i64[]>), ^exit
^exit:
  return
}

// A header that stores may not run twice for one turn.
// CHECK-LABEL: @stored
// CHECK-NOT: toy.bare
// CHECK-NOT: dense<16384>
func.func @stored(%x: !toy.tensor<f64[N]>, %v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  toy.element_set %x, %v, %0 : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> ()
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j : !toy.tensor<i64[]>)
^exit:
  return
}
