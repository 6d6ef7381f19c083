// RUN: %toy-opt --toy-inline %s | FileCheck %s

// The callee's N is the caller's 128; its own s0 gets a name that the caller does not use.
// CHECK-LABEL: func.func @caller
// CHECK-NOT: call @square
// CHECK: toy.mul %arg0, %arg0 : {{.*}} -> !toy.tensor<f64[128]>
// CHECK: toy.mask_select {{.*}} -> !toy.tensor<f64[s0_1]>
// CHECK: %[[N:.*]] = toy.dim
// CHECK-NOT: call @loops
// CHECK: cf.br ^bb1(%[[N]] : !toy.tensor<i64[]>)
// CHECK: ^bb1(%[[I:.*]]: !toy.tensor<i64[]>):
// CHECK: cf.br ^bb2(%[[I]] : !toy.tensor<i64[]>)
// CHECK: ^bb2(%[[L:.*]]: !toy.tensor<i64[]>):
// CHECK-NEXT: return %[[L]]
func.func @caller(%x: !toy.tensor<f64[128]>, %y: !toy.tensor<f64[s0]>) -> !toy.tensor<i64[]> attributes {toy.name = "caller"} {
  %a = toy.relabel %x : (!toy.tensor<f64[128]>) -> !toy.tensor<f64[N]>
  %r = call @square(%a) : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[s0]>
  %q = toy.relabel %r : (!toy.tensor<f64[s0]>) -> !toy.tensor<f64[M]>
  %n = toy.dim %q {axis = 0 : i64} : (!toy.tensor<f64[M]>) -> !toy.tensor<i64[]>
  %l = call @loops(%n) : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  return %l : !toy.tensor<i64[]>
}

// The top level (no toy.name) keeps its calls, and with them the functions.
// CHECK-LABEL: func.func @top
// CHECK: call @square
func.func @top(%x: !toy.tensor<f64[N]>) -> !toy.tensor<f64[s0]> {
  %r = call @square(%x) : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[s0]>
  return %r : !toy.tensor<f64[s0]>
}

// CHECK-LABEL: func.func private @square
func.func private @square(%x: !toy.tensor<f64[N]>) -> !toy.tensor<f64[s0]> attributes {toy.name = "square"} {
  %p = toy.mul %x, %x : (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  %m = toy.gt %x, %p : (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) -> !toy.tensor<bool[N]>
  %s = toy.mask_select %p, %m : (!toy.tensor<f64[N]>, !toy.tensor<bool[N]>) -> !toy.tensor<f64[s0]>
  return %s : !toy.tensor<f64[s0]>
}

// Several blocks that call nothing: they are copied, and what is behind the call follows their returns.
func.func private @loops(%n: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> attributes {toy.name = "loops"} {
  cf.br ^bb1(%n : !toy.tensor<i64[]>)
^bb1(%i: !toy.tensor<i64[]>):
  return %i : !toy.tensor<i64[]>
}

// Two returns: what is behind the call is handed one of them, of the caller's size, and gets the names of its type.
// CHECK-LABEL: func.func @chooses
// CHECK: cf.cond_br %{{.*}}, ^bb2, ^bb1
// CHECK: ^bb1:
// CHECK: toy.neg %arg0 : {{.*}} -> !toy.tensor<f64[4]>
// CHECK: cf.br ^bb3(%{{.*}} : !toy.tensor<f64[4]>)
// CHECK: ^bb2:
// CHECK: cf.br ^bb3(%arg0 : !toy.tensor<f64[4]>)
// CHECK: ^bb3(%[[R:.*]]: !toy.tensor<f64[4]>):
// CHECK-NEXT: %[[N:.*]] = toy.relabel %[[R]]
// CHECK-NEXT: return %[[N]]
func.func @chooses(%x: !toy.tensor<f64[4]>, %c: !toy.tensor<bool[]>) -> !toy.tensor<f64[N]> attributes {toy.name = "chooses"} {
  %a = toy.relabel %x : (!toy.tensor<f64[4]>) -> !toy.tensor<f64[N]>
  %r = call @choice(%a, %c) : (!toy.tensor<f64[N]>, !toy.tensor<bool[]>) -> !toy.tensor<f64[N]>
  return %r : !toy.tensor<f64[N]>
}
func.func private @choice(%x: !toy.tensor<f64[N]>, %c: !toy.tensor<bool[]>) -> !toy.tensor<f64[N]> attributes {toy.name = "choice"} {
  %t = toy.truth %c : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %t, ^bb1, ^bb2
^bb1:
  return %x : !toy.tensor<f64[N]>
^bb2:
  %y = toy.neg %x : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  return %y : !toy.tensor<f64[N]>
}

// What calls itself counts its calls: neither it nor several blocks in it are copied.
// CHECK-LABEL: func.func @calls
// CHECK: call @again
// CHECK-LABEL: func.func private @again
// CHECK: call @choice
// CHECK: call @again
func.func @calls(%x: !toy.tensor<f64[N]>, %c: !toy.tensor<bool[]>) -> !toy.tensor<f64[N]> attributes {toy.name = "calls"} {
  %r = call @again(%x, %c) : (!toy.tensor<f64[N]>, !toy.tensor<bool[]>) -> !toy.tensor<f64[N]>
  return %r : !toy.tensor<f64[N]>
}
func.func private @again(%x: !toy.tensor<f64[N]>, %c: !toy.tensor<bool[]>) -> !toy.tensor<f64[N]> attributes {toy.name = "again"} {
  %t = toy.truth %c : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %t, ^bb1, ^bb2
^bb1:
  return %x : !toy.tensor<f64[N]>
^bb2:
  %y = call @choice(%x, %c) : (!toy.tensor<f64[N]>, !toy.tensor<bool[]>) -> !toy.tensor<f64[N]>
  %r = call @again(%y, %c) : (!toy.tensor<f64[N]>, !toy.tensor<bool[]>) -> !toy.tensor<f64[N]>
  return %r : !toy.tensor<f64[N]>
}

// CHECK-NOT: @unused
func.func private @unused(%n: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> attributes {toy.name = "unused"} {
  return %n : !toy.tensor<i64[]>
}
