// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-strip-loops))' %s | FileCheck %s

// Ctrl-C is looked for once in 16384 turns; the loop stays as it is.
// CHECK-LABEL: @sum
// CHECK: toy.lt %{{.*}}, %arg1
// CHECK: toy.element %arg0, %{{.*}}
// CHECK: cf.br ^bb1({{.*}}) {toy.bare, toy.strip = 16384 : i64}
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

// A header may store.
// CHECK-LABEL: @stored
// CHECK: {toy.bare, toy.strip = 16384 : i64}
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

// A loop of five turns is over before anybody could wait: it has no strips, and those of the loop around it are shorter.
// CHECK-LABEL: @nest
// CHECK: {toy.bare}
// CHECK: {toy.bare, toy.strip = 2730 : i64}
func.func @nest(%x: !toy.tensor<f64[N]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %5 = toy.constant {value = dense<5> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %z = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^outer(%z, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^outer(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^inner(%s, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>), ^exit
^inner(%r: !toy.tensor<f64[]>, %k: !toy.tensor<i64[]>):
  %u = toy.lt %k, %5 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^next
^body:
  %e = toy.element %x, %k : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %a = toy.add %r, %e : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  %l = toy.add %k, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^inner(%a, %l : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^next:
  %j = toy.add %i, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^outer(%r, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// The start of the inner loop counts up from 0, so that it has at most 5 turns; one whose start may wrap has no limit,
// and a loop around it has none either.
// CHECK-LABEL: @triangle
// CHECK: {toy.bare}
// CHECK-LABEL: @unlimited
// CHECK: {toy.bare, toy.strip = 16384 : i64}
// CHECK-NOT: toy.bare
// CHECK: return
func.func @triangle(%x: !toy.tensor<f64[N]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %5 = toy.constant {value = dense<5> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %z = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^outer(%z, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^outer(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %t = toy.ne %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  %j = toy.add %i, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.cond_br %c, ^inner(%s, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>), ^exit
^inner(%r: !toy.tensor<f64[]>, %k: !toy.tensor<i64[]>):
  %u = toy.lt %k, %5 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^outer(%r, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^body:
  %e = toy.element %x, %k : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %a = toy.add %r, %e : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  %l = toy.add %k, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^inner(%a, %l : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}
func.func @unlimited(%x: !toy.tensor<f64[N]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %5 = toy.constant {value = dense<5> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %z = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^outer(%z, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^outer(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  %w = toy.add %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.cond_br %c, ^inner(%s, %w : !toy.tensor<f64[]>, !toy.tensor<i64[]>), ^exit
^inner(%r: !toy.tensor<f64[]>, %k: !toy.tensor<i64[]>):
  %u = toy.lt %k, %5 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^next
^body:
  %e = toy.element %x, %k : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %a = toy.add %r, %e : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  %l = toy.add %k, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^inner(%a, %l : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^next:
  %j = toy.add %i, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^outer(%r, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// Four turns of a loop divide by numbers that follow from their turn: each gets code of its own. A divisor that data
// decide, or a thousand turns, change nothing.
// CHECK-LABEL: @digits
// CHECK: cf.br ^bb1({{.*}}) {toy.bare, toy.unroll}
// CHECK-LABEL: @unknown
// CHECK-NOT: toy.unroll
// CHECK-LABEL: @many
// CHECK-NOT: toy.unroll
func.func @digits(%x: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %10 = toy.constant {value = dense<10> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %n = toy.constant {value = dense<4> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0, %0, %1 : !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>, %s: !toy.tensor<i64[]>, %p: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %q = toy.floordiv %x, %p : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %u = toy.add %s, %q : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %r = toy.mul %p, %10 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %j = toy.add %i, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j, %u, %r : !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<i64[]>
}
func.func @unknown(%x: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %10 = toy.constant {value = dense<10> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %n = toy.constant {value = dense<4> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0, %0, %x : !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>, %s: !toy.tensor<i64[]>, %p: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %q = toy.floordiv %x, %p : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %u = toy.add %s, %q : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %r = toy.mul %p, %10 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %j = toy.add %i, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j, %u, %r : !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<i64[]>
}
func.func @many(%x: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %10 = toy.constant {value = dense<10> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %n = toy.constant {value = dense<1000> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0, %0, %1 : !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>, %s: !toy.tensor<i64[]>, %p: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %q = toy.floordiv %x, %p : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %u = toy.add %s, %q : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %r = toy.mul %p, %10 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %j = toy.add %i, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j, %u, %r : !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<i64[]>
}

// Appending a number is no call that takes long: short loops that do are over at once.
// CHECK-LABEL: @appended
// CHECK: toy.append
// CHECK: cf.br ^bb1({{.*}}) {toy.brief}
func.func @appended(%x: !toy.tensor<i64["a"]>) -> !toy.tensor<i64["b"]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %n = toy.constant {value = dense<6> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %first = toy.relabel %x : (!toy.tensor<i64["a"]>) -> !toy.tensor<i64["b"]>
  cf.br ^header(%first, %0 : !toy.tensor<i64["b"]>, !toy.tensor<i64[]>)
^header(%y: !toy.tensor<i64["b"]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %l = toy.append %y, %i : (!toy.tensor<i64["b"]>, !toy.tensor<i64[]>) -> !toy.tensor<i64["b+1"]>
  %z = toy.relabel %l : (!toy.tensor<i64["b+1"]>) -> !toy.tensor<i64["b"]>
  %j = toy.add %i, %1 {toy.exact} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%z, %j : !toy.tensor<i64["b"]>, !toy.tensor<i64[]>)
^exit:
  return %y : !toy.tensor<i64["b"]>
}
