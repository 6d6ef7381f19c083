// RUN: %toy-opt --convert-toy-to-linalg --split-input-file --verify-diagnostics %s | FileCheck %s

// Scalars are read from around the loop; a name is `?`.
// CHECK-LABEL: func.func @scaled(%arg0: tensor<?xf64>, %arg1: f64) -> tensor<?xf64>
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<?xf64>)
// CHECK: arith.mulf %in, %arg1
func.func @scaled(%x: !toy.tensor<f64[N]>, %s: !toy.tensor<f64[]>) -> !toy.tensor<f64[N]> {
  %r = toy.mul %x, %s : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[N]>
  return %r : !toy.tensor<f64[N]>
}

// A column and a row.
// CHECK-LABEL: func.func @table
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN:.*]], #[[ROW:.*]], #{{.*}}]
func.func @table(%x: !toy.tensor<f64[3, 1]>, %y: !toy.tensor<f64[4]>) -> !toy.tensor<f64[3, 4]> {
  %r = toy.add %x, %y : (!toy.tensor<f64[3, 1]>, !toy.tensor<f64[4]>) -> !toy.tensor<f64[3, 4]>
  return %r : !toy.tensor<f64[3, 4]>
}

// CHECK-LABEL: func.func @product
// CHECK: linalg.fill
// CHECK: linalg.matmul ins(%arg0, %arg1 : tensor<2x3xf32>, tensor<3x4xf32>)
func.func @product(%x: !toy.tensor<f32[2, 3]>, %y: !toy.tensor<f32[3, 4]>) -> !toy.tensor<f32[2, 4]> {
  %r = toy.matmul %x, %y : (!toy.tensor<f32[2, 3]>, !toy.tensor<f32[3, 4]>) -> !toy.tensor<f32[2, 4]>
  return %r : !toy.tensor<f32[2, 4]>
}

// Blocks become a branch; an index is checked.
// CHECK-LABEL: func.func @at
// CHECK: cf.assert {{.*}} "index out of range"
// CHECK: scf.if
// CHECK-NOT: cf.cond_br
func.func @at(%i: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>, %c: !toy.tensor<bool[]>) -> !toy.tensor<i64[]> {
  %k = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %t = toy.truth %c : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %t, ^a, ^b(%k : !toy.tensor<i64[]>)
^a:
  %d = toy.add %k, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^b(%d : !toy.tensor<i64[]>)
^b(%r: !toy.tensor<i64[]>):
  return %r : !toy.tensor<i64[]>
}

// -----

// What has no row is named.
func.func @sorted(%x: !toy.tensor<f64[N]>) -> !toy.tensor<f64[N]> {
  // expected-error@+1 {{toy.sort}}
  %r = toy.sort %x {axis = 0 : i64, descending = false} : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  return %r : !toy.tensor<f64[N]>
}
