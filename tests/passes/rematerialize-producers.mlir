// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-rematerialize-producers))' %s | FileCheck %s

// Both parts are taken where they are read, by both readers.
// CHECK-LABEL: @parts
// CHECK: toy.fused %arg0, %arg1
// CHECK: toy.imag
// CHECK: toy.real
// CHECK: toy.mul
// CHECK: toy.fused
// CHECK: toy.real
// CHECK-NOT: toy.fused
// CHECK: return
func.func @parts(%x: !toy.tensor<f32[8, N]>, %w: !toy.tensor<c64[N]>) -> (!toy.tensor<f32[8, N]>, !toy.tensor<f32[8, N]>) {
  %c = toy.fused %w : (!toy.tensor<c64[N]>) -> !toy.tensor<f32[N]> {
  ^bb0(%a: !toy.tensor<c64[N]>):
    %0 = toy.real %a : (!toy.tensor<c64[N]>) -> !toy.tensor<f32[N]>
    toy.yield %0 : (!toy.tensor<f32[N]>) -> ()
  }
  %s = toy.fused %w : (!toy.tensor<c64[N]>) -> !toy.tensor<f32[N]> {
  ^bb0(%a: !toy.tensor<c64[N]>):
    %0 = toy.imag %a : (!toy.tensor<c64[N]>) -> !toy.tensor<f32[N]>
    toy.yield %0 : (!toy.tensor<f32[N]>) -> ()
  }
  %r = toy.fused %x, %c, %s : (!toy.tensor<f32[8, N]>, !toy.tensor<f32[N]>, !toy.tensor<f32[N]>) -> !toy.tensor<f32[8, N]> {
  ^bb0(%a: !toy.tensor<f32[8, N]>, %b: !toy.tensor<f32[N]>, %d: !toy.tensor<f32[N]>):
    %0 = toy.mul %a, %b : (!toy.tensor<f32[8, N]>, !toy.tensor<f32[N]>) -> !toy.tensor<f32[8, N]>
    %1 = toy.add %0, %d : (!toy.tensor<f32[8, N]>, !toy.tensor<f32[N]>) -> !toy.tensor<f32[8, N]>
    toy.yield %1 : (!toy.tensor<f32[8, N]>) -> ()
  }
  %q = toy.fused %x, %c : (!toy.tensor<f32[8, N]>, !toy.tensor<f32[N]>) -> !toy.tensor<f32[8, N]> {
  ^bb0(%a: !toy.tensor<f32[8, N]>, %b: !toy.tensor<f32[N]>):
    %0 = toy.sub %a, %b : (!toy.tensor<f32[8, N]>, !toy.tensor<f32[N]>) -> !toy.tensor<f32[8, N]>
    toy.yield %0 : (!toy.tensor<f32[8, N]>) -> ()
  }
  return %r, %q : !toy.tensor<f32[8, N]>, !toy.tensor<f32[8, N]>
}

// What is returned is stored anyway; what computes is not repeated.
// CHECK-LABEL: @stored
// CHECK-COUNT-3: toy.fused
// CHECK: return
func.func @stored(%x: !toy.tensor<f32[8, N]>, %w: !toy.tensor<c64[N]>) -> (!toy.tensor<f32[8, N]>, !toy.tensor<f32[N]>) {
  %c = toy.fused %w : (!toy.tensor<c64[N]>) -> !toy.tensor<f32[N]> {
  ^bb0(%a: !toy.tensor<c64[N]>):
    %0 = toy.real %a : (!toy.tensor<c64[N]>) -> !toy.tensor<f32[N]>
    toy.yield %0 : (!toy.tensor<f32[N]>) -> ()
  }
  %s = toy.fused %c : (!toy.tensor<f32[N]>) -> !toy.tensor<f32[N]> {
  ^bb0(%a: !toy.tensor<f32[N]>):
    %0 = toy.exp %a : (!toy.tensor<f32[N]>) -> !toy.tensor<f32[N]>
    toy.yield %0 : (!toy.tensor<f32[N]>) -> ()
  }
  %r = toy.fused %x, %s : (!toy.tensor<f32[8, N]>, !toy.tensor<f32[N]>) -> !toy.tensor<f32[8, N]> {
  ^bb0(%a: !toy.tensor<f32[8, N]>, %b: !toy.tensor<f32[N]>):
    %0 = toy.mul %a, %b : (!toy.tensor<f32[8, N]>, !toy.tensor<f32[N]>) -> !toy.tensor<f32[8, N]>
    toy.yield %0 : (!toy.tensor<f32[8, N]>) -> ()
  }
  return %r, %c : !toy.tensor<f32[8, N]>, !toy.tensor<f32[N]>
}
