// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-select-kernels{halves=true}))' %s | FileCheck %s

// Halves are read as they are, and written where nothing else is read.
// CHECK-LABEL: func.func @rounded
// CHECK-NOT: toy.cast
// CHECK: toy.gemm %arg0, %arg1 {{.*}} -> !toy.tensor<bf16[2, 4]>
func.func @rounded(%a: !toy.tensor<bf16[2, 3]>, %b: !toy.tensor<bf16[3, 4]>) -> !toy.tensor<bf16[2, 4]> {
  %x = toy.cast %a {dtype = "f32"} : (!toy.tensor<bf16[2, 3]>) -> !toy.tensor<f32[2, 3]>
  %y = toy.cast %b {dtype = "f32"} : (!toy.tensor<bf16[3, 4]>) -> !toy.tensor<f32[3, 4]>
  %p = toy.matmul %x, %y : (!toy.tensor<f32[2, 3]>, !toy.tensor<f32[3, 4]>) -> !toy.tensor<f32[2, 4]>
  %r = toy.cast %p {dtype = "bf16"} : (!toy.tensor<f32[2, 4]>) -> !toy.tensor<bf16[2, 4]>
  return %r : !toy.tensor<bf16[2, 4]>
}

// A reader of f32, or of other halves, sees what was not rounded.
// CHECK-LABEL: func.func @read_in_both_ways
// CHECK: toy.gemm {{.*}} -> !toy.tensor<f32[2, 4]>
// CHECK: toy.cast
func.func @read_in_both_ways(%a: !toy.tensor<bf16[2, 3]>, %b: !toy.tensor<bf16[3, 4]>) -> (!toy.tensor<bf16[2, 4]>, !toy.tensor<f16[2, 4]>) {
  %x = toy.cast %a {dtype = "f32"} : (!toy.tensor<bf16[2, 3]>) -> !toy.tensor<f32[2, 3]>
  %y = toy.cast %b {dtype = "f32"} : (!toy.tensor<bf16[3, 4]>) -> !toy.tensor<f32[3, 4]>
  %p = toy.matmul %x, %y : (!toy.tensor<f32[2, 3]>, !toy.tensor<f32[3, 4]>) -> !toy.tensor<f32[2, 4]>
  %r = toy.cast %p {dtype = "bf16"} : (!toy.tensor<f32[2, 4]>) -> !toy.tensor<bf16[2, 4]>
  %s = toy.cast %p {dtype = "f16"} : (!toy.tensor<f32[2, 4]>) -> !toy.tensor<f16[2, 4]>
  return %r, %s : !toy.tensor<bf16[2, 4]>, !toy.tensor<f16[2, 4]>
}
