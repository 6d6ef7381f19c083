// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-select-kernels{relaxed=true}))' %s | FileCheck %s
// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-select-kernels))' %s | FileCheck %s --check-prefix=EXACT

// CHECK-LABEL: @scaledOperandAndResult
// CHECK: %[[SCALE:.*]] = toy.mul %arg2, %arg3
// CHECK: toy.gemm %arg0, %arg1, %[[SCALE]]
// CHECK-NOT: toy.mul
// EXACT-LABEL: @scaledOperandAndResult
// EXACT: toy.gemm {{.*}}operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>
func.func @scaledOperandAndResult(%a: !toy.tensor<c64[N, N]>, %b: !toy.tensor<c64[N]>, %s: !toy.tensor<f32[]>, %t: !toy.tensor<f32[]>) -> !toy.tensor<c64[N]> {
  %0 = toy.mul %s, %a : (!toy.tensor<f32[]>, !toy.tensor<c64[N, N]>) -> !toy.tensor<c64[N, N]>
  %1 = toy.matmul %0, %b : (!toy.tensor<c64[N, N]>, !toy.tensor<c64[N]>) -> !toy.tensor<c64[N]>
  %2 = toy.mul %1, %t : (!toy.tensor<c64[N]>, !toy.tensor<f32[]>) -> !toy.tensor<c64[N]>
  return %2 : !toy.tensor<c64[N]>
}

// A product that something else reads too keeps its value; a scale that is no real scalar stays.
// CHECK-LABEL: @otherUses
// CHECK: toy.gemm %arg0, %arg0 {
// CHECK: toy.mul
// CHECK: toy.mul
func.func @otherUses(%a: !toy.tensor<f64[N, N]>, %t: !toy.tensor<f64[]>, %v: !toy.tensor<f64[N]>) -> (!toy.tensor<f64[N, N]>, !toy.tensor<f64[N, N]>) {
  %0 = toy.matmul %a, %a : (!toy.tensor<f64[N, N]>, !toy.tensor<f64[N, N]>) -> !toy.tensor<f64[N, N]>
  %1 = toy.mul %t, %0 : (!toy.tensor<f64[]>, !toy.tensor<f64[N, N]>) -> !toy.tensor<f64[N, N]>
  %2 = toy.mul %v, %0 : (!toy.tensor<f64[N]>, !toy.tensor<f64[N, N]>) -> !toy.tensor<f64[N, N]>
  return %1, %2 : !toy.tensor<f64[N, N]>, !toy.tensor<f64[N, N]>
}
