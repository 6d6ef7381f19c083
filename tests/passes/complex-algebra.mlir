// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-complex-algebra,cse))' %s | FileCheck %s
// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-complex-algebra{relaxed=true},cse))' %s | FileCheck %s --check-prefix=RELAXED

!z = !toy.tensor<c64[N]>
!r = !toy.tensor<f32[N]>

// CHECK-LABEL: func.func @conj_of_conj
// CHECK-NEXT: return %arg0
func.func @conj_of_conj(%z: !z) -> !z {
  %c = toy.conj %z : (!z) -> !z
  %d = toy.conj %c : (!z) -> !z
  return %d : !z
}

// CHECK-LABEL: func.func @real_of_z_times_conj_z
// CHECK: toy.abs2 %arg0
// CHECK-NOT: toy.mul
func.func @real_of_z_times_conj_z(%z: !z) -> !r {
  %c = toy.conj %z : (!z) -> !z
  %p = toy.mul %z, %c : (!z, !z) -> !z
  %r = toy.real %p : (!z) -> !r
  return %r : !r
}

// CHECK-LABEL: func.func @parts_of_a_product
// CHECK-NOT: toy.complex
// CHECK: %[[AC:.*]] = toy.mul %arg0, %arg2
// CHECK: %[[BD:.*]] = toy.mul %arg1, %arg3
// CHECK: toy.sub %[[AC]], %[[BD]]
func.func @parts_of_a_product(%a: !r, %b: !r, %c: !r, %d: !r) -> (!r, !r) {
  %x = toy.complex %a, %b : (!r, !r) -> !z
  %y = toy.complex %c, %d : (!r, !r) -> !z
  %z = toy.mul %x, %y : (!z, !z) -> !z
  %re = toy.real %z : (!z) -> !r
  %im = toy.imag %z : (!z) -> !r
  return %re, %im : !r, !r
}

// Whoever needs the whole value gets it, and its parts are taken from there.
// CHECK-LABEL: func.func @not_when_the_whole_is_used
// CHECK: %[[Z:.*]] = toy.mul
// CHECK: toy.real %[[Z]]
func.func @not_when_the_whole_is_used(%x: !z, %y: !z) -> (!z, !r) {
  %z = toy.mul %x, %y : (!z, !z) -> !z
  %re = toy.real %z : (!z) -> !r
  return %z, %re : !z, !r
}

// Side by side on a new last axis they are what is in memory.
// CHECK-LABEL: func.func @stack_of_parts
// CHECK: toy.view_as_real %arg0
// CHECK-NOT: toy.concat
func.func @stack_of_parts(%z: !toy.tensor<c64[4]>) -> !toy.tensor<f32[4, 2]> {
  %four = toy.constant {value = dense<4> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %one = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %re = toy.real %z : (!toy.tensor<c64[4]>) -> !toy.tensor<f32[4]>
  %im = toy.imag %z : (!toy.tensor<c64[4]>) -> !toy.tensor<f32[4]>
  %a = toy.reshape %re, %four, %one : (!toy.tensor<f32[4]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f32[4, 1]>
  %b = toy.reshape %im, %four, %one : (!toy.tensor<f32[4]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f32[4, 1]>
  %s = toy.concat %a, %b {axis = 1 : i64} : (!toy.tensor<f32[4, 1]>, !toy.tensor<f32[4, 1]>) -> !toy.tensor<f32[4, 2]>
  return %s : !toy.tensor<f32[4, 2]>
}

// CHECK-LABEL: func.func @complex_of_parts
// CHECK-NEXT: return %arg0
func.func @complex_of_parts(%z: !z) -> !z {
  %re = toy.real %z : (!z) -> !r
  %im = toy.imag %z : (!z) -> !r
  %w = toy.complex %re, %im : (!r, !r) -> !z
  return %w : !z
}

// The parts of two values are no value.
// CHECK-LABEL: func.func @not_complex_of_parts_of_others
// CHECK: toy.complex
func.func @not_complex_of_parts_of_others(%z: !z, %w: !z) -> !z {
  %re = toy.real %z : (!z) -> !r
  %im = toy.imag %w : (!z) -> !r
  %v = toy.complex %re, %im : (!r, !r) -> !z
  return %v : !z
}

// Log and exp do not cancel: log(exp z) is not z beyond pi.
// CHECK-LABEL: func.func @not_log_of_exp
// CHECK: toy.exp
// CHECK: toy.log
func.func @not_log_of_exp(%z: !z) -> !z {
  %e = toy.exp %z : (!z) -> !z
  %l = toy.log %e : (!z) -> !z
  return %l : !z
}

// The square of c128 is its product with itself; that of c64 is computed in double and rounded once.
// CHECK-LABEL: func.func @squares
// CHECK: toy.mul %arg0, %arg0
// CHECK: toy.pow %arg1
// RELAXED-LABEL: func.func @squares
// RELAXED: toy.mul %arg1, %arg1
func.func @squares(%z: !toy.tensor<c128[N]>, %w: !toy.tensor<c64[N]>) -> (!toy.tensor<c128[N]>, !toy.tensor<c64[N]>) {
  %two = toy.constant {value = dense<2> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %x = toy.pow %z, %two : (!toy.tensor<c128[N]>, !toy.tensor<i64[]>) -> !toy.tensor<c128[N]>
  %y = toy.pow %w, %two : (!toy.tensor<c64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<c64[N]>
  return %x, %y : !toy.tensor<c128[N]>, !toy.tensor<c64[N]>
}

// i * z is an exchange of parts only where infinities and signs of zeros do not count.
// CHECK-LABEL: func.func @times_i
// CHECK: toy.mul
// RELAXED-LABEL: func.func @times_i
// RELAXED-NOT: toy.mul
// RELAXED: toy.neg
// RELAXED: toy.complex
func.func @times_i(%z: !toy.tensor<c128[N]>) -> !toy.tensor<c128[N]> {
  %i = toy.constant {value = dense<(0.0, 1.0)> : tensor<complex<f64>>} : () -> !toy.tensor<c128[]>
  %w = toy.mul %i, %z : (!toy.tensor<c128[]>, !toy.tensor<c128[N]>) -> !toy.tensor<c128[N]>
  return %w : !toy.tensor<c128[N]>
}

// z * conj z has an imaginary part that is 0 unless something is infinite.
// CHECK-LABEL: func.func @squared_magnitude
// CHECK: toy.mul
// RELAXED-LABEL: func.func @squared_magnitude
// RELAXED-NOT: toy.conj
// RELAXED: toy.complex
func.func @squared_magnitude(%z: !toy.tensor<c128[N]>) -> !toy.tensor<c128[N]> {
  %c = toy.conj %z : (!toy.tensor<c128[N]>) -> !toy.tensor<c128[N]>
  %w = toy.mul %z, %c : (!toy.tensor<c128[N]>, !toy.tensor<c128[N]>) -> !toy.tensor<c128[N]>
  return %w : !toy.tensor<c128[N]>
}
