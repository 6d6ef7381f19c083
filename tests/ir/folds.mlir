// RUN: %toy-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @known_size
// CHECK: dense<6>
// CHECK-NOT: toy.dim
func.func @known_size(%x: !toy.tensor<f64[2, 3]>) -> !toy.tensor<i64[]> {
  %a = toy.dim %x {axis = 0 : i64} : (!toy.tensor<f64[2, 3]>) -> !toy.tensor<i64[]>
  %b = toy.dim %x {axis = 1 : i64} : (!toy.tensor<f64[2, 3]>) -> !toy.tensor<i64[]>
  %r = toy.mul %a, %b : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  return %r : !toy.tensor<i64[]>
}

// CHECK-LABEL: func.func @views_undo_each_other
// CHECK-NEXT: return %arg0
func.func @views_undo_each_other(%x: !toy.tensor<f32[N, 2]>) -> !toy.tensor<f32[N, 2]> {
  %z = toy.view_as_complex %x : (!toy.tensor<f32[N, 2]>) -> !toy.tensor<c64[N]>
  %r = toy.view_as_real %z : (!toy.tensor<c64[N]>) -> !toy.tensor<f32[N, 2]>
  return %r : !toy.tensor<f32[N, 2]>
}

// -0 + 0 is +0: floating sums are not folded.
// CHECK-LABEL: func.func @not_when_floating
// CHECK: toy.add
func.func @not_when_floating(%x: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %z = toy.constant {value = dense<0.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  %r = toy.add %x, %z : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  return %r : !toy.tensor<f64[]>
}

// A check that fails stays.
// CHECK-LABEL: func.func @failing_check
// CHECK: toy.floordiv
func.func @failing_check() {
  %a = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %z = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %r = toy.floordiv %a, %z : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  return
}

// CHECK-LABEL: func.func @axes_in_their_own_order
// CHECK-NEXT: return %arg0
func.func @axes_in_their_own_order(%x: !toy.tensor<f64[N, 2]>) -> !toy.tensor<f64[N, 2]> {
  %r = toy.permute %x {permutation = array<i64: 0, 1>} : (!toy.tensor<f64[N, 2]>) -> !toy.tensor<f64[N, 2]>
  return %r : !toy.tensor<f64[N, 2]>
}

// CHECK-LABEL: func.func @other_axes_stay
// CHECK: toy.permute
func.func @other_axes_stay(%x: !toy.tensor<f64[2, 2]>) -> !toy.tensor<f64[2, 2]> {
  %r = toy.permute %x {permutation = array<i64: 1, 0>} : (!toy.tensor<f64[2, 2]>) -> !toy.tensor<f64[2, 2]>
  return %r : !toy.tensor<f64[2, 2]>
}

// Numbers of a key are a value; those of the program move it on.
// CHECK-LABEL: func.func @unused_numbers
// CHECK-NOT: toy.sample
// CHECK: toy.draw
func.func @unused_numbers(%k: !toy.tensor<i64[2]>, %a: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) {
  %s = toy.sample %k, %a, %a, %n {distribution = "normal", dtype = "f64"} : (!toy.tensor<i64[2]>, !toy.tensor<f64[]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %d = toy.draw %a, %a {distribution = "normal", dtype = "f64"} : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  return
}

// 1.0 * x is x, of floating and complex numbers; another number stays, and a product with another type.
// CHECK-LABEL: @times_one
// CHECK-SAME: (%[[X:.*]]: !toy.tensor<f32[n]>, %[[Z:.*]]: !toy.tensor<c128[n]>
// CHECK: %[[P:.*]] = toy.mul %[[X]]
// CHECK: %[[Q:.*]] = toy.mul %[[X]]
// CHECK-NOT: toy.mul
// CHECK: return %[[X]], %[[Z]], %[[P]], %[[Q]]
func.func @times_one(%x: !toy.tensor<f32[n]>, %z: !toy.tensor<c128[n]>, %y: !toy.tensor<f32[n]>)
    -> (!toy.tensor<f32[n]>, !toy.tensor<c128[n]>, !toy.tensor<f32[n]>, !toy.tensor<c64[n]>) {
  %f = toy.constant {value = dense<1.0> : tensor<f32>} : () -> !toy.tensor<f32[]>
  %g = toy.constant {value = dense<1.5> : tensor<f32>} : () -> !toy.tensor<f32[]>
  %h = toy.constant {value = dense<(1.0, 0.0)> : tensor<complex<f32>>} : () -> !toy.tensor<c64[]>
  %d = toy.constant {value = dense<1.0> : tensor<f64>} : () -> !toy.tensor<f64[]>
  %a = toy.mul %f, %x : (!toy.tensor<f32[]>, !toy.tensor<f32[n]>) -> !toy.tensor<f32[n]>
  %c = toy.mul %z, %d : (!toy.tensor<c128[n]>, !toy.tensor<f64[]>) -> !toy.tensor<c128[n]>
  %e = toy.mul %x, %g : (!toy.tensor<f32[n]>, !toy.tensor<f32[]>) -> !toy.tensor<f32[n]>
  %i = toy.mul %x, %h : (!toy.tensor<f32[n]>, !toy.tensor<c64[]>) -> !toy.tensor<c64[n]>
  return %a, %c, %e, %i : !toy.tensor<f32[n]>, !toy.tensor<c128[n]>, !toy.tensor<f32[n]>, !toy.tensor<c64[n]>
}
