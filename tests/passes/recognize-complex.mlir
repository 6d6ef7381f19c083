// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(cse,toy-recognize-complex,cse))' %s | FileCheck %s

!v = !toy.tensor<f64[N]>
!m = !toy.tensor<f32[2, 2]>

// CHECK-LABEL: func.func @elementwise
// CHECK: %[[X:.*]] = toy.complex %arg0, %arg1
// CHECK: %[[Y:.*]] = toy.complex %arg2, %arg3
// CHECK: %[[Z:.*]] = toy.mul %[[X]], %[[Y]]
// CHECK-DAG: %[[RE:.*]] = toy.real %[[Z]]
// CHECK-DAG: %[[IM:.*]] = toy.imag %[[Z]]
// CHECK: return %[[RE]], %[[IM]]
func.func @elementwise(%a: !v, %b: !v, %c: !v, %d: !v) -> (!v, !v) {
  %ac = toy.mul %a, %c : (!v, !v) -> !v
  %bd = toy.mul %d, %b : (!v, !v) -> !v
  %re = toy.sub %ac, %bd : (!v, !v) -> !v
  %bc = toy.mul %b, %c : (!v, !v) -> !v
  %ad = toy.mul %a, %d : (!v, !v) -> !v
  %im = toy.add %bc, %ad : (!v, !v) -> !v
  return %re, %im : !v, !v
}

// The conjugate of the right factor.
// CHECK-LABEL: func.func @matrices
// CHECK: %[[Y:.*]] = toy.complex %arg2, %arg3
// CHECK: %[[C:.*]] = toy.conj %[[Y]]
// CHECK: toy.matmul {{.*}}, %[[C]]
func.func @matrices(%a: !m, %b: !m, %c: !m, %d: !m) -> (!m, !m) {
  %ac = toy.matmul %a, %c : (!m, !m) -> !m
  %bd = toy.matmul %b, %d : (!m, !m) -> !m
  %re = toy.add %ac, %bd : (!m, !m) -> !m
  %bc = toy.matmul %b, %c : (!m, !m) -> !m
  %ad = toy.matmul %a, %d : (!m, !m) -> !m
  %im = toy.sub %bc, %ad : (!m, !m) -> !m
  return %re, %im : !m, !m
}

// Matrix products do not commute.
// CHECK-LABEL: func.func @not_when_operands_swapped
// CHECK-NOT: toy.complex
func.func @not_when_operands_swapped(%a: !m, %b: !m, %c: !m, %d: !m) -> (!m, !m) {
  %ac = toy.matmul %a, %c : (!m, !m) -> !m
  %bd = toy.matmul %b, %d : (!m, !m) -> !m
  %re = toy.sub %ac, %bd : (!m, !m) -> !m
  %cb = toy.matmul %c, %b : (!m, !m) -> !m
  %ad = toy.matmul %a, %d : (!m, !m) -> !m
  %im = toy.add %cb, %ad : (!m, !m) -> !m
  return %re, %im : !m, !m
}

// One part a sum and the other a difference, or it is no product.
// CHECK-LABEL: func.func @not_when_both_are_differences
// CHECK-NOT: toy.complex
func.func @not_when_both_are_differences(%a: !v, %b: !v, %c: !v, %d: !v) -> (!v, !v) {
  %ac = toy.mul %a, %c : (!v, !v) -> !v
  %bd = toy.mul %b, %d : (!v, !v) -> !v
  %re = toy.sub %ac, %bd : (!v, !v) -> !v
  %bc = toy.mul %b, %c : (!v, !v) -> !v
  %ad = toy.mul %a, %d : (!v, !v) -> !v
  %im = toy.sub %ad, %bc : (!v, !v) -> !v
  return %re, %im : !v, !v
}

// A product that something else uses stays.
// CHECK-LABEL: func.func @keeps_products_with_other_uses
// CHECK: %[[P:.*]] = toy.mul %arg0, %arg2
// CHECK: toy.complex
// CHECK: return {{.*}}, {{.*}}, %[[P]]
func.func @keeps_products_with_other_uses(%a: !v, %b: !v, %c: !v, %d: !v) -> (!v, !v, !v) {
  %ac = toy.mul %a, %c : (!v, !v) -> !v
  %bd = toy.mul %b, %d : (!v, !v) -> !v
  %re = toy.sub %ac, %bd : (!v, !v) -> !v
  %bc = toy.mul %b, %c : (!v, !v) -> !v
  %ad = toy.mul %a, %d : (!v, !v) -> !v
  %im = toy.add %ad, %bc : (!v, !v) -> !v
  return %re, %im, %ac : !v, !v, !v
}

// The second product takes the parts of the first one; nothing of the real arithmetic stays.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: toy.sub
// CHECK-NOT: toy.add
// CHECK: return
func.func @chain(%a: !v, %b: !v, %c: !v, %d: !v) -> (!v, !v) {
  %ac = toy.mul %a, %c : (!v, !v) -> !v
  %bd = toy.mul %d, %b : (!v, !v) -> !v
  %re = toy.sub %ac, %bd : (!v, !v) -> !v
  %bc = toy.mul %b, %c : (!v, !v) -> !v
  %ad = toy.mul %a, %d : (!v, !v) -> !v
  %im = toy.add %bc, %ad : (!v, !v) -> !v
  %rc = toy.mul %re, %c : (!v, !v) -> !v
  %id = toy.mul %im, %d : (!v, !v) -> !v
  %re2 = toy.sub %rc, %id : (!v, !v) -> !v
  %rd = toy.mul %re, %d : (!v, !v) -> !v
  %ic = toy.mul %im, %c : (!v, !v) -> !v
  %im2 = toy.add %rd, %ic : (!v, !v) -> !v
  return %re2, %im2 : !v, !v
}
