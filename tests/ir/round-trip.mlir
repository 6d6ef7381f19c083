// RUN: %toy-opt %s | %toy-opt | FileCheck %s
// Types with symbolic sizes, constants with exact bits, and groups survive text.

// CHECK-LABEL: func.func @sizes
// CHECK-SAME: !toy.tensor<c64[2, N, "2*M+1"]>
func.func @sizes(%x: !toy.tensor<c64[2, N, "1+M*2"]>) -> !toy.tensor<c64[2, N, "2*M+1"]> {
  %r = toy.conj %x : (!toy.tensor<c64[2, N, "2*M+1"]>) -> !toy.tensor<c64[2, N, "2*M+1"]>
  return %r : !toy.tensor<c64[2, N, "2*M+1"]>
}

// CHECK-LABEL: func.func @constant
// CHECK: dense<(1.000000e+00,-0.000000e+00)>
func.func @constant() -> !toy.tensor<c128[]> {
  %r = toy.constant {value = dense<(1.0, -0.0)> : tensor<complex<f64>>} : () -> !toy.tensor<c128[]>
  return %r : !toy.tensor<c128[]>
}

// CHECK-LABEL: func.func @group
// CHECK: toy.fused
func.func @group(%x: !toy.tensor<f64[N]>) -> !toy.tensor<f64[N]> {
  %r = toy.fused %x : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]> {
  ^bb0(%a: !toy.tensor<f64[N]>):
    %b = toy.exp %a : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
    toy.yield %b : (!toy.tensor<f64[N]>) -> ()
  }
  return %r : !toy.tensor<f64[N]>
}
