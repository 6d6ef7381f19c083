// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-hold-short-rows))' %s | FileCheck %s

// A row that turns hand on and one that two groups read: a loop for eight lanes, one for 32, and the loop as it was.
// CHECK-LABEL: @carried
// CHECK: %[[N:.*]] = toy.dim %arg1 {axis = 0 : i64}
// CHECK: toy.le %[[N]], %{{.*}}
// CHECK: cf.cond_br %{{.*}}, ^[[IN:bb[0-9]+]], ^[[NEXT:bb[0-9]+]]
// CHECK: ^[[IN]]:
// CHECK: %[[A:.*]] = toy.fused %arg1, %[[N]] {toy.inLoop, toy.lanes = 8 : i64}
// CHECK: cf.br ^[[SHORT:bb[0-9]+]](%[[A]],
// CHECK: ^[[NEXT]]:
// CHECK: toy.le %[[N]], %{{.*}}
// CHECK: toy.fused %arg1, %[[N]] {toy.inLoop, toy.lanes = 32 : i64}
// CHECK: ^[[WHOLE:bb[0-9]+]](%{{.*}}: !toy.tensor<f64[D]>, %{{.*}}: !toy.tensor<i64[]>):
// CHECK-NOT: toy.lanes
// CHECK: ^[[SHORT]](%[[R:.*]]: !toy.tensor<f64[D]>, %{{.*}}: !toy.tensor<i64[]>):
// CHECK: cf.cond_br %{{.*}}, ^{{.*}}, ^[[OUT:bb[0-9]+]]
// CHECK: toy.fused %arg0, %{{.*}}, %[[N]] {toy.inLoop, toy.lanes = 8 : i64}
// CHECK: toy.fused %{{.*}}, %[[N]] {toy.inLoop, toy.lanes = 8 : i64} : {{.*}} -> !toy.tensor<f64[]>
// CHECK: ^[[OUT]]:
// CHECK: %[[T:.*]] = toy.fused %[[R]], %[[N]] {toy.inLoop, toy.lanes = 8 : i64, toy.leaves_lanes}
// CHECK: cf.br ^{{.*}}(%[[T]] : !toy.tensor<f64[D]>)
func.func @carried(%x: !toy.tensor<f64[N, D]>, %y: !toy.tensor<f64[D]>, %m: !toy.tensor<i64[]>) -> !toy.tensor<f64[D]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %n = toy.dim %x {axis = 1 : i64} : (!toy.tensor<f64[N, D]>) -> !toy.tensor<i64[]>
  cf.br ^header(%y, %0 : !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[D]>, %i: !toy.tensor<i64[]>):
  %less = toy.lt %i, %m : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %d = toy.fused %x, %i, %0, %1, %n, %a : (!toy.tensor<f64[N, D]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<f64[D]>) -> !toy.tensor<f64[D]> {
  ^bb0(%p: !toy.tensor<f64[N, D]>, %q: !toy.tensor<i64[]>, %r: !toy.tensor<i64[]>, %s: !toy.tensor<i64[]>, %t: !toy.tensor<i64[]>, %u: !toy.tensor<f64[D]>):
    %v = toy.slice %p, %q, %r, %s, %t {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, D]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, D]>
    %w = toy.reshape %v, %t : (!toy.tensor<f64[1, D]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[D]>
    %z = toy.sub %w, %u : (!toy.tensor<f64[D]>, !toy.tensor<f64[D]>) -> !toy.tensor<f64[D]>
    toy.yield %z : (!toy.tensor<f64[D]>) -> ()
  }
  %f = toy.fused %d {toy.inLoop} : (!toy.tensor<f64[D]>) -> !toy.tensor<f64[]> {
  ^bb0(%p: !toy.tensor<f64[D]>):
    %q = toy.sum %p {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[D]>) -> !toy.tensor<f64[]>
    toy.yield %q : (!toy.tensor<f64[]>) -> ()
  }
  %b = toy.fused %d, %f, %a : (!toy.tensor<f64[D]>, !toy.tensor<f64[]>, !toy.tensor<f64[D]>) -> !toy.tensor<f64[D]> {
  ^bb0(%p: !toy.tensor<f64[D]>, %q: !toy.tensor<f64[]>, %r: !toy.tensor<f64[D]>):
    %s = toy.mul %p, %q : (!toy.tensor<f64[D]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[D]>
    %t = toy.add %r, %s : (!toy.tensor<f64[D]>, !toy.tensor<f64[D]>) -> !toy.tensor<f64[D]>
    toy.yield %t : (!toy.tensor<f64[D]>) -> ()
  }
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %j : !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[D]>
}

// No turn hands a row on: of two and three elements they are computed one by one.
// CHECK-LABEL: @apart
// CHECK: %[[TWO:.*]] = toy.constant {value = dense<2>
// CHECK: %[[N:.*]] = toy.dim %arg0 {axis = 0 : i64}
// CHECK: toy.eq %[[N]], %[[TWO]]
// CHECK: %[[THREE:.*]] = toy.constant {value = dense<3>
// CHECK: toy.eq %[[N]], %[[THREE]]
// CHECK: toy.le %[[N]],
// CHECK: toy.fused %arg0, %{{.*}}, %[[TWO]] {toy.elements = 2 : i64, toy.inLoop, toy.lanes = 2 : i64}
// CHECK: toy.fused %arg0, %{{.*}}, %[[THREE]] {toy.elements = 3 : i64, toy.inLoop, toy.lanes = 4 : i64}
// CHECK: toy.fused %arg0, %{{.*}}, %[[N]] {toy.inLoop, toy.lanes = 8 : i64}
func.func @apart(%x: !toy.tensor<f64[D]>, %m: !toy.tensor<i64[]>, %f: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%f, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^header(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %less = toy.lt %i, %m : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.fused %x, %s : (!toy.tensor<f64[D]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[D]> {
  ^bb0(%p: !toy.tensor<f64[D]>, %q: !toy.tensor<f64[]>):
    %r = toy.add %p, %q : (!toy.tensor<f64[D]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[D]>
    toy.yield %r : (!toy.tensor<f64[D]>) -> ()
  }
  %t = toy.element %b, %0 : (!toy.tensor<f64[D]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%t, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// Rows are only folded: loops for two and for three elements, and the loop as it was.
// CHECK-LABEL: @folded
// CHECK: toy.eq
// CHECK: toy.eq
// CHECK-NOT: toy.le
// CHECK: toy.fused %arg0 {toy.inLoop}
// CHECK: toy.fused %arg0, %{{.*}} {toy.elements = 2 : i64, toy.inLoop, toy.lanes = 2 : i64}
// CHECK: toy.fused %arg0, %{{.*}} {toy.elements = 3 : i64, toy.inLoop, toy.lanes = 4 : i64}
// CHECK-NOT: toy.lanes
// CHECK: return
func.func @folded(%x: !toy.tensor<f64[D]>, %m: !toy.tensor<i64[]>, %f: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%f, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^header(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %less = toy.lt %i, %m : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %t = toy.fused %x {toy.inLoop} : (!toy.tensor<f64[D]>) -> !toy.tensor<f64[]> {
  ^bb0(%p: !toy.tensor<f64[D]>):
    %q = toy.mul %p, %p : (!toy.tensor<f64[D]>, !toy.tensor<f64[D]>) -> !toy.tensor<f64[D]>
    %r = toy.sum %q {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[D]>) -> !toy.tensor<f64[]>
    toy.yield %r : (!toy.tensor<f64[]>) -> ()
  }
  %u = toy.add %s, %t : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%u, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// A function of the runtime computes the row: it is made in memory, and nothing stays in lanes.
// CHECK-LABEL: @functions
// CHECK-NOT: toy.lanes
func.func @functions(%y: !toy.tensor<f64[D]>, %m: !toy.tensor<i64[]>) -> !toy.tensor<f64[D]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%y, %0 : !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[D]>, %i: !toy.tensor<i64[]>):
  %less = toy.lt %i, %m : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.fused %a : (!toy.tensor<f64[D]>) -> !toy.tensor<f64[D]> {
  ^bb0(%p: !toy.tensor<f64[D]>):
    %q = toy.sin %p : (!toy.tensor<f64[D]>) -> !toy.tensor<f64[D]>
    toy.yield %q : (!toy.tensor<f64[D]>) -> ()
  }
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %j : !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[D]>
}

// What comes into the loop has another name's size: it is asked for as well.
// CHECK-LABEL: @renamed
// CHECK: %[[R:.*]] = toy.relabel %arg1
// CHECK: %[[N:.*]] = toy.dim %arg0 {axis = 0 : i64}
// CHECK: %[[LE:.*]] = toy.le %[[N]],
// CHECK: %[[M:.*]] = toy.dim %[[R]] {axis = 0 : i64}
// CHECK: %[[EQ:.*]] = toy.eq %[[N]], %[[M]]
// CHECK: toy.and %[[LE]], %[[EQ]]
// CHECK: toy.lanes = 8
func.func @renamed(%x: !toy.tensor<f64[D]>, %z: !toy.tensor<f64[E]>, %m: !toy.tensor<i64[]>) -> !toy.tensor<f64[D]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %y = toy.relabel %z : (!toy.tensor<f64[E]>) -> !toy.tensor<f64[D]>
  cf.br ^header(%y, %0 : !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[D]>, %i: !toy.tensor<i64[]>):
  %less = toy.lt %i, %m : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.fused %a, %x : (!toy.tensor<f64[D]>, !toy.tensor<f64[D]>) -> !toy.tensor<f64[D]> {
  ^bb0(%p: !toy.tensor<f64[D]>, %q: !toy.tensor<f64[D]>):
    %r = toy.add %p, %q : (!toy.tensor<f64[D]>, !toy.tensor<f64[D]>) -> !toy.tensor<f64[D]>
    toy.yield %r : (!toy.tensor<f64[D]>) -> ()
  }
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %j : !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[D]>
}

// Elements of the row are stored into: it is a tensor.
// CHECK-LABEL: @stored
// CHECK-NOT: toy.lanes
func.func @stored(%x: !toy.tensor<f64[D]>, %m: !toy.tensor<i64[]>, %f: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%f, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^header(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %less = toy.lt %i, %m : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.fused %x, %s : (!toy.tensor<f64[D]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[D]> {
  ^bb0(%p: !toy.tensor<f64[D]>, %q: !toy.tensor<f64[]>):
    %r = toy.add %p, %q : (!toy.tensor<f64[D]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[D]>
    toy.yield %r : (!toy.tensor<f64[D]>) -> ()
  }
  toy.element_set %b, %s, %i : (!toy.tensor<f64[D]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> ()
  %t = toy.element %b, %0 : (!toy.tensor<f64[D]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%t, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// A known length: the loop itself, and a fold of what lies in memory. What a product needs is stored as well.
// CHECK-LABEL: @known
// CHECK: %[[N:.*]] = toy.constant {value = dense<20> : tensor<i64>}
// CHECK: %[[A:.*]] = toy.fused %arg0, %[[N]] {toy.inLoop, toy.lanes = 32 : i64}
// CHECK: cf.br ^bb1(%[[A]],
// CHECK: %[[B:.*]] = toy.fused %{{.*}}, %arg0, %[[N]] {toy.inLoop, toy.lanes = 32 : i64}
// CHECK: %[[M:.*]] = toy.fused %[[B]], %[[N]] {toy.inLoop, toy.lanes = 32 : i64, toy.leaves_lanes}
// CHECK: toy.print %[[M]]
// CHECK: toy.fused %arg0, %[[N]] {toy.inLoop, toy.lanes = 32 : i64} : {{.*}} -> !toy.tensor<f64[]>
// CHECK-NOT: toy.le %
func.func @known(%x: !toy.tensor<f64[20]>, %m: !toy.tensor<i64[]>) -> !toy.tensor<f64[20]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[20]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[20]>, %i: !toy.tensor<i64[]>):
  %less = toy.lt %i, %m : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.fused %a, %x : (!toy.tensor<f64[20]>, !toy.tensor<f64[20]>) -> !toy.tensor<f64[20]> {
  ^bb0(%p: !toy.tensor<f64[20]>, %q: !toy.tensor<f64[20]>):
    %r = toy.add %p, %q : (!toy.tensor<f64[20]>, !toy.tensor<f64[20]>) -> !toy.tensor<f64[20]>
    toy.yield %r : (!toy.tensor<f64[20]>) -> ()
  }
  toy.print %b {echo = false, structure = "_"} : (!toy.tensor<f64[20]>) -> ()
  %f = toy.fused %x {toy.inLoop} : (!toy.tensor<f64[20]>) -> !toy.tensor<f64[]> {
  ^bb0(%p: !toy.tensor<f64[20]>):
    %q = toy.sum %p {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[20]>) -> !toy.tensor<f64[]>
    toy.yield %q : (!toy.tensor<f64[]>) -> ()
  }
  toy.print %f {echo = false, structure = "_"} : (!toy.tensor<f64[]>) -> ()
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %j : !toy.tensor<f64[20]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[20]>
}
