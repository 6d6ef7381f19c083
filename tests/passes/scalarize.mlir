// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-scalarize))' %s | FileCheck %s

// Three differences and products; lanes are added to zero and combined by halving: 0 with 2, then with 1.
// CHECK-LABEL: @distance
// CHECK: ^bb2:
// CHECK-DAG: %[[X0:.*]] = toy.element %arg0, %{{.*}}, %{{.*}}
// CHECK: %[[D0:.*]] = toy.sub %[[X0]], %arg2 :
// CHECK: %[[D1:.*]] = toy.sub %{{.*}}, %arg2 :
// CHECK: %[[D2:.*]] = toy.sub %{{.*}}, %arg2 :
// CHECK: %[[Q0:.*]] = toy.mul %[[D0]], %[[D0]] :
// CHECK: %[[Q1:.*]] = toy.mul %[[D1]], %[[D1]] :
// CHECK: %[[Q2:.*]] = toy.mul %[[D2]], %[[D2]] :
// CHECK: %[[L0:.*]] = toy.add %{{.*}}, %[[Q0]] :
// CHECK: %[[L1:.*]] = toy.add %{{.*}}, %[[Q1]] :
// CHECK: %[[L2:.*]] = toy.add %{{.*}}, %[[Q2]] :
// CHECK: %[[H0:.*]] = toy.add %[[L0]], %[[L2]] :
// CHECK: %[[S:.*]] = toy.add %[[H0]], %[[L1]] :
// CHECK: toy.add %{{.*}}, %[[S]] :
// CHECK-NOT: tensor<f64[3]>
// CHECK: return
func.func @distance(%x: !toy.tensor<f64[N, 3]>, %n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %3 = toy.constant {value = dense<3> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %z = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^header(%z, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^header(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %r = toy.slice %x, %i, %0, %1, %3 {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, 3]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, 3]>
  %row = toy.reshape %r, %3 : (!toy.tensor<f64[1, 3]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  %b = toy.full %v, %3 : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  %d = toy.sub %row, %b : (!toy.tensor<f64[3]>, !toy.tensor<f64[3]>) -> !toy.tensor<f64[3]>
  %q = toy.mul %d, %d : (!toy.tensor<f64[3]>, !toy.tensor<f64[3]>) -> !toy.tensor<f64[3]>
  %sum = toy.sum %q {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[3]>) -> !toy.tensor<f64[]>
  %a = toy.add %s, %sum : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%a, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// What a loop hands on is handed on by elements, and a tensor again behind it.
// CHECK-LABEL: @power
// CHECK: cf.br ^bb1(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
// CHECK: ^bb1(%{{.*}}: !toy.tensor<i64[]>, %[[A:.*]]: !toy.tensor<f64[]>, %[[B:.*]]: !toy.tensor<f64[]>, %[[C:.*]]: !toy.tensor<f64[]>, %[[D:.*]]: !toy.tensor<f64[]>):
// CHECK-NOT: toy.matmul
// CHECK: ^bb3:
// CHECK: %[[U:.*]] = toy.from_elements %[[A]], %[[B]], %[[C]], %[[D]] {sizes = array<i64: 2, 2>}
// CHECK: return %[[U]]
func.func @power(%m: !toy.tensor<f64[2, 2]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[2, 2]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%m, %0 : !toy.tensor<f64[2, 2]>, !toy.tensor<i64[]>)
^header(%u: !toy.tensor<f64[2, 2]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %p = toy.matmul %u, %m : (!toy.tensor<f64[2, 2]>, !toy.tensor<f64[2, 2]>) -> !toy.tensor<f64[2, 2]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%p, %j : !toy.tensor<f64[2, 2]>, !toy.tensor<i64[]>)
^exit:
  return %u : !toy.tensor<f64[2, 2]>
}

// Not outside of loops: a kernel is as good there.
// CHECK-LABEL: @straight
// CHECK: toy.mul %arg0, %arg0 : (!toy.tensor<f64[3]>
func.func @straight(%x: !toy.tensor<f64[3]>) -> !toy.tensor<f64[3]> {
  %y = toy.mul %x, %x : (!toy.tensor<f64[3]>, !toy.tensor<f64[3]>) -> !toy.tensor<f64[3]>
  return %y : !toy.tensor<f64[3]>
}

// Not where the tensor is needed as often as something is computed with it, nor with more than sixteen elements, nor a
// complex product (1 times an element may differ from it).
// CHECK-LABEL: @kept
// CHECK: toy.mul %arg0, %arg0 : (!toy.tensor<f64[3]>
// CHECK: toy.mul %arg1, %arg1 : (!toy.tensor<f64[17]>
// CHECK: toy.prod %arg2
// CHECK-NOT: toy.from_elements
func.func @kept(%x: !toy.tensor<f64[3]>, %y: !toy.tensor<f64[17]>, %z: !toy.tensor<c64[2]>, %n: !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %a = toy.mul %x, %x : (!toy.tensor<f64[3]>, !toy.tensor<f64[3]>) -> !toy.tensor<f64[3]>
  toy.print %a {echo = false, structure = "_"} : (!toy.tensor<f64[3]>) -> ()
  %b = toy.mul %y, %y : (!toy.tensor<f64[17]>, !toy.tensor<f64[17]>) -> !toy.tensor<f64[17]>
  %s = toy.sum %b {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[17]>) -> !toy.tensor<f64[]>
  %p = toy.prod %z {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<c64[2]>) -> !toy.tensor<c64[]>
  toy.print %s, %p {echo = false, structure = "_"} : (!toy.tensor<f64[]>, !toy.tensor<c64[]>) -> ()
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j : !toy.tensor<i64[]>)
^exit:
  return
}

// A function of eight complex elements stays in lanes; of two elements each is computed alone, and so are cheap
// operations of eight.
// CHECK-LABEL: @functions
// CHECK: ^bb2:
// CHECK-NOT: toy.exp %arg0
// CHECK-DAG: toy.exp %{{.*}} : (!toy.tensor<c128[]>) -> !toy.tensor<c128[]>
// CHECK-DAG: toy.exp %arg1 : (!toy.tensor<c128[8]>) -> !toy.tensor<c128[8]>
// CHECK-NOT: toy.mul %arg2, %arg2
// CHECK: return
func.func @functions(%x: !toy.tensor<c128[2]>, %y: !toy.tensor<c128[8]>, %z: !toy.tensor<c128[8]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<c128[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %none = toy.constant {value = dense<(0.0, 0.0)> : tensor<complex<f64>>} : () -> !toy.tensor<c128[]>
  cf.br ^header(%none, %0 : !toy.tensor<c128[]>, !toy.tensor<i64[]>)
^header(%s: !toy.tensor<c128[]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %e = toy.exp %x : (!toy.tensor<c128[2]>) -> !toy.tensor<c128[2]>
  %f = toy.exp %y : (!toy.tensor<c128[8]>) -> !toy.tensor<c128[8]>
  %q = toy.mul %z, %z : (!toy.tensor<c128[8]>, !toy.tensor<c128[8]>) -> !toy.tensor<c128[8]>
  %u = toy.sum %e {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<c128[2]>) -> !toy.tensor<c128[]>
  %v = toy.sum %f {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<c128[8]>) -> !toy.tensor<c128[]>
  %w = toy.sum %q {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<c128[8]>) -> !toy.tensor<c128[]>
  %a = toy.add %s, %u : (!toy.tensor<c128[]>, !toy.tensor<c128[]>) -> !toy.tensor<c128[]>
  %b = toy.add %a, %v : (!toy.tensor<c128[]>, !toy.tensor<c128[]>) -> !toy.tensor<c128[]>
  %d = toy.add %b, %w : (!toy.tensor<c128[]>, !toy.tensor<c128[]>) -> !toy.tensor<c128[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%d, %j : !toy.tensor<c128[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<c128[]>
}

// Not a sum of what is computed from a window whose size only a check says: both are one group.
// CHECK-LABEL: @window
// CHECK: toy.sum
// CHECK-NOT: toy.element
func.func @window(%x: !toy.tensor<f64[s]>, %w: !toy.tensor<f64[3]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %zero = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^header(%0, %zero : !toy.tensor<i64[]>, !toy.tensor<f64[]>)
^header(%i: !toy.tensor<i64[]>, %s: !toy.tensor<f64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %k = toy.slice %x, %i, %n {steps = array<i64: 1>} : (!toy.tensor<f64[s]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[k]>
  %m = toy.mul %k, %w : (!toy.tensor<f64[k]>, !toy.tensor<f64[3]>) -> !toy.tensor<f64[3]>
  %r = toy.sum %m {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[3]>) -> !toy.tensor<f64[]>
  %u = toy.add %s, %r : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j, %u : !toy.tensor<i64[]>, !toy.tensor<f64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// A loop of three turns that stores at its counter is written out: no tensor and no loop is left of it.
// CHECK-LABEL: @written
// CHECK: toy.truth
// CHECK-NOT: toy.truth
// CHECK-NOT: tensor<f64[3]>
// CHECK: return
func.func @written(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %3 = toy.constant {value = dense<3> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %z = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^outer(%z, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^outer(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^make, ^exit
^make:
  %x = toy.full %s, %3 : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[3]>, !toy.tensor<i64[]>)
^header(%y: !toy.tensor<f64[3]>, %k: !toy.tensor<i64[]>):
  %u = toy.lt %k, %3 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^behind
^body:
  %w = toy.slice_store %y, %v, %k, %1 {steps = array<i64: 1>} : (!toy.tensor<f64[3]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  %m = toy.add %k, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%w, %m : !toy.tensor<f64[3]>, !toy.tensor<i64[]>)
^behind:
  %e = toy.sum %y {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[3]>) -> !toy.tensor<f64[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^outer(%e, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// An index that only the run knows: the loop stays.
// CHECK-LABEL: @unknown
// CHECK: toy.truth
// CHECK: toy.truth
// CHECK: return
func.func @unknown(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %3 = toy.constant {value = dense<3> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %z = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^outer(%z, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^outer(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^make, ^exit
^make:
  %x = toy.full %s, %3 : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[3]>, !toy.tensor<i64[]>)
^header(%y: !toy.tensor<f64[3]>, %k: !toy.tensor<i64[]>):
  %u = toy.lt %k, %3 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^behind
^body:
  %w = toy.slice_store %y, %v, %i, %1 {steps = array<i64: 1>} : (!toy.tensor<f64[3]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  %m = toy.add %k, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%w, %m : !toy.tensor<f64[3]>, !toy.tensor<i64[]>)
^behind:
  %e = toy.sum %y {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[3]>) -> !toy.tensor<f64[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^outer(%e, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// A loop that may end before its last turn stays.
// CHECK-LABEL: @leaves
// CHECK: toy.truth
// CHECK: toy.truth
// CHECK: return
func.func @leaves(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %3 = toy.constant {value = dense<3> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %z = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  cf.br ^outer(%z, %0 : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^outer(%s: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^make, ^exit
^make:
  %x = toy.full %s, %3 : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[3]>, !toy.tensor<i64[]>)
^header(%y: !toy.tensor<f64[3]>, %k: !toy.tensor<i64[]>):
  %u = toy.lt %k, %3 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^behind
^body:
  %w = toy.slice_store %y, %v, %k, %1 {steps = array<i64: 1>} : (!toy.tensor<f64[3]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[3]>
  %m = toy.add %k, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %f = toy.lt %s, %v : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<bool[]>
  %g = toy.truth %f : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %g, ^header(%w, %m : !toy.tensor<f64[3]>, !toy.tensor<i64[]>), ^behind
^behind:
  %e = toy.sum %y {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[3]>) -> !toy.tensor<f64[]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^outer(%e, %j : !toy.tensor<f64[]>, !toy.tensor<i64[]>)
^exit:
  return %s : !toy.tensor<f64[]>
}

// Each turn makes a large tensor of the last one's, element by element: written out, it is one pass over memory.
// CHECK-LABEL: @fused_turns
// CHECK-COUNT-3: toy.mul
// CHECK-NOT: cf.
// CHECK: return
func.func @fused_turns(%x: !toy.tensor<f64[1000]>, %c: !toy.tensor<f64[3]>) -> !toy.tensor<f64[1000]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %3 = toy.constant {value = dense<3> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[1000]>, !toy.tensor<i64[]>)
^header(%y: !toy.tensor<f64[1000]>, %k: !toy.tensor<i64[]>):
  %u = toy.lt %k, %3 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^exit
^body:
  %e = toy.slice %c, %k, %1 {steps = array<i64: 1>} : (!toy.tensor<f64[3]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1]>
  %f = toy.reshape %e : (!toy.tensor<f64[1]>) -> !toy.tensor<f64[]>
  %p = toy.mul %y, %x : (!toy.tensor<f64[1000]>, !toy.tensor<f64[1000]>) -> !toy.tensor<f64[1000]>
  %q = toy.add %p, %f : (!toy.tensor<f64[1000]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[1000]>
  %m = toy.add %k, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%q, %m : !toy.tensor<f64[1000]>, !toy.tensor<i64[]>)
^exit:
  return %y : !toy.tensor<f64[1000]>
}

// What each turn makes of all elements cannot be one pass: the loop stays.
// CHECK-LABEL: @running_sums
// CHECK: toy.truth
// CHECK: return
func.func @running_sums(%x: !toy.tensor<f64[1000]>) -> !toy.tensor<f64[1000]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %3 = toy.constant {value = dense<3> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[1000]>, !toy.tensor<i64[]>)
^header(%y: !toy.tensor<f64[1000]>, %k: !toy.tensor<i64[]>):
  %u = toy.lt %k, %3 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^exit
^body:
  %p = toy.cumsum %y {axis = 0 : i64} : (!toy.tensor<f64[1000]>) -> !toy.tensor<f64[1000]>
  %q = toy.mul %p, %y : (!toy.tensor<f64[1000]>, !toy.tensor<f64[1000]>) -> !toy.tensor<f64[1000]>
  %m = toy.add %k, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%q, %m : !toy.tensor<f64[1000]>, !toy.tensor<i64[]>)
^exit:
  return %y : !toy.tensor<f64[1000]>
}
