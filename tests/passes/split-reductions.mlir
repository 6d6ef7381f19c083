// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-split-reductions))' %s | FileCheck %s

// Of up to 8 parts, which lie behind each other, those that are there are added.
// CHECK-LABEL: @sum
// CHECK: %[[P:.*]] = toy.all_gather_parts %arg0 {axis = 0 : i64, reduction = "sum"} : {{.*}} -> !toy.tensor<f32["?", 8]>
// CHECK: %[[N:.*]] = toy.dim %[[P]]
// CHECK: toy.slice %[[P]]
// CHECK: %[[S:.*]] = toy.minimum
// CHECK: toy.slice %[[P]], %[[S]]
// CHECK: %[[C:.*]] = toy.gt %[[N]]
// CHECK: %[[A:.*]] = toy.add
// CHECK: toy.where %[[C]], %[[A]]
// CHECK-COUNT-6: toy.slice %[[P]]
// CHECK-NOT: toy.all_reduce
// CHECK: return
func.func @sum(%x: !toy.tensor<f32[4, 8]>) -> !toy.tensor<f32[4, 8]> {
  %s = toy.all_reduce %x {reduction = "sum"} : (!toy.tensor<f32[4, 8]>) -> !toy.tensor<f32[4, 8]>
  return %s : !toy.tensor<f32[4, 8]>
}

// Halves are added in f32 and rounded once.
// CHECK-LABEL: @halves
// CHECK: toy.all_gather_parts {{.*}} -> !toy.tensor<bf16["?"]>
// CHECK: toy.cast {{.*}} : (!toy.tensor<bf16[64]>) -> !toy.tensor<f32[64]>
// CHECK: toy.add {{.*}} -> !toy.tensor<f32[64]>
// CHECK: %[[R:.*]] = toy.cast {{.*}} : (!toy.tensor<f32[64]>) -> !toy.tensor<bf16[64]>
// CHECK: return %[[R]]
func.func @halves(%x: !toy.tensor<bf16[64]>) -> !toy.tensor<bf16[64]> {
  %s = toy.all_reduce %x {reduction = "sum"} : (!toy.tensor<bf16[64]>) -> !toy.tensor<bf16[64]>
  return %s : !toy.tensor<bf16[64]>
}

// A mean is divided by the number of ranks.
// CHECK-LABEL: @mean
// CHECK: toy.all_gather_parts {{.*}} reduction = "mean"
// CHECK: %[[P:.*]] = toy.rank_count
// CHECK: %[[F:.*]] = toy.cast %[[P]]
// CHECK: toy.div %{{.*}}, %[[F]] : (!toy.tensor<c64[20]>, !toy.tensor<f32[]>)
func.func @mean(%x: !toy.tensor<c64[20]>) -> !toy.tensor<c64[20]> {
  %s = toy.all_reduce %x {reduction = "mean"} : (!toy.tensor<c64[20]>) -> !toy.tensor<c64[20]>
  return %s : !toy.tensor<c64[20]>
}

// Openings carry the first, ranks exchange parts of the second, nobody knows how large the third is; the others are
// summed in any order, or not alike everywhere.
// CHECK-LABEL: @not_these
// CHECK-COUNT-7: toy.all_reduce
// CHECK-NOT: toy.all_gather_parts
// CHECK: return
func.func @not_these(%a: !toy.tensor<f64[14]>, %b: !toy.tensor<f64[8193]>, %c: !toy.tensor<f64[N]>, %d: !toy.tensor<i64[99]>,
    %e: !toy.tensor<f64[99]>, %f: !toy.tensor<f16[99]>) {
  %0 = toy.all_reduce %a {reduction = "sum"} : (!toy.tensor<f64[14]>) -> !toy.tensor<f64[14]>
  %1 = toy.all_reduce %b {reduction = "sum"} : (!toy.tensor<f64[8193]>) -> !toy.tensor<f64[8193]>
  %2 = toy.all_reduce %c {reduction = "sum"} : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  %3 = toy.all_reduce %d {reduction = "sum"} : (!toy.tensor<i64[99]>) -> !toy.tensor<i64[99]>
  %4 = toy.all_reduce %e {reduction = "max"} : (!toy.tensor<f64[99]>) -> !toy.tensor<f64[99]>
  %5 = toy.all_reduce %e {reduction = "prod"} : (!toy.tensor<f64[99]>) -> !toy.tensor<f64[99]>
  %6 = toy.all_reduce %f {reduction = "mean"} : (!toy.tensor<f16[99]>) -> !toy.tensor<f16[99]>
  return
}
