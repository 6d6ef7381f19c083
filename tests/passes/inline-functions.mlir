// RUN: %toy-opt --toy-inline %s | FileCheck %s

// The callee's N is the caller's 128; its own s0 gets a name that the caller does not use.
// CHECK-LABEL: func.func @caller
// CHECK-NOT: call @square
// CHECK: toy.mul %arg0, %arg0 : {{.*}} -> !toy.tensor<f64[128]>
// CHECK: toy.mask_select {{.*}} -> !toy.tensor<f64[s0_1]>
// CHECK: call @loops
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

// More than one block: not inlined.
func.func private @loops(%n: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> attributes {toy.name = "loops"} {
  cf.br ^bb1(%n : !toy.tensor<i64[]>)
^bb1(%i: !toy.tensor<i64[]>):
  return %i : !toy.tensor<i64[]>
}

// CHECK-NOT: @unused
func.func private @unused(%n: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> attributes {toy.name = "unused"} {
  return %n : !toy.tensor<i64[]>
}
