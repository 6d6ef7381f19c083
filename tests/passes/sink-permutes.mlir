// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-sink-permutes))' %s | FileCheck %s

// One value is permuted in the place of two.
// CHECK-LABEL: @added
// CHECK: %[[S:.*]] = toy.add %arg0, %arg1 : {{.*}} -> !toy.tensor<f64[N, 8]>
// CHECK: toy.permute %[[S]] {permutation = array<i64: 1, 0>}
// CHECK-NOT: toy.permute
func.func @added(%x: !toy.tensor<f64[N, 8]>, %y: !toy.tensor<f64[N, 8]>) -> !toy.tensor<f64[8, N]> {
  %a = toy.permute %x {permutation = array<i64: 1, 0>} : (!toy.tensor<f64[N, 8]>) -> !toy.tensor<f64[8, N]>
  %b = toy.permute %y {permutation = array<i64: 1, 0>} : (!toy.tensor<f64[N, 8]>) -> !toy.tensor<f64[8, N]>
  %r = toy.add %a, %b : (!toy.tensor<f64[8, N]>, !toy.tensor<f64[8, N]>) -> !toy.tensor<f64[8, N]>
  return %r : !toy.tensor<f64[8, N]>
}

// One operand lies along the result; two are permuted differently; two operations read the result.
// CHECK-LABEL: @mixed
// CHECK: toy.permute
// CHECK: toy.permute
// CHECK: toy.permute
// CHECK: toy.add
// CHECK: toy.add
// CHECK: toy.neg
// CHECK: toy.mul
// CHECK: toy.sub
// CHECK: toy.mul
// CHECK-NEXT: return
func.func @mixed(%x: !toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]> {
  %a = toy.permute %x {permutation = array<i64: 1, 0, 2>} : (!toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]>
  %b = toy.permute %x {permutation = array<i64: 2, 1, 0>} : (!toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]>
  %c = toy.permute %x {permutation = array<i64: 1, 0, 2>} : (!toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]>
  %s = toy.add %a, %x : (!toy.tensor<f64[N, N, N]>, !toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]>
  %t = toy.add %b, %c : (!toy.tensor<f64[N, N, N]>, !toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]>
  %n = toy.neg %a : (!toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]>
  %u = toy.mul %n, %s : (!toy.tensor<f64[N, N, N]>, !toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]>
  %v = toy.sub %n, %t : (!toy.tensor<f64[N, N, N]>, !toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]>
  %w = toy.mul %u, %v : (!toy.tensor<f64[N, N, N]>, !toy.tensor<f64[N, N, N]>) -> !toy.tensor<f64[N, N, N]>
  return %w : !toy.tensor<f64[N, N, N]>
}

// The greatest elements are the same in any order, and the axes that stay are in the order of the result.
// CHECK-LABEL: @greatest
// CHECK: toy.gt %arg0
// CHECK: %[[M:.*]] = toy.any {{.*}} {axes = array<i64: 2>, keepdims = false} {{.*}} -> !toy.tensor<bool[N, 8]>
// CHECK: toy.permute %[[M]] {permutation = array<i64: 1, 0>}
func.func @greatest(%x: !toy.tensor<f64[N, 8, M]>, %c: !toy.tensor<f64[]>) -> !toy.tensor<bool[8, N]> {
  %p = toy.permute %x {permutation = array<i64: 1, 2, 0>} : (!toy.tensor<f64[N, 8, M]>) -> !toy.tensor<f64[8, M, N]>
  %g = toy.gt %p, %c : (!toy.tensor<f64[8, M, N]>, !toy.tensor<f64[]>) -> !toy.tensor<bool[8, M, N]>
  %m = toy.any %g {axes = array<i64: 1>, keepdims = false} : (!toy.tensor<bool[8, M, N]>) -> !toy.tensor<bool[8, N]>
  return %m : !toy.tensor<bool[8, N]>
}

// Sums along the last axis have another order than those along others: only the second one moves.
// CHECK-LABEL: @sums
// CHECK: %[[P:.*]] = toy.permute %arg0
// CHECK: toy.sum %[[P]] {axes = array<i64: 0>
// CHECK: toy.sum %arg0 {axes = array<i64: 1>, keepdims = true} {{.*}} -> !toy.tensor<f64[4, 1, M]>
// CHECK: toy.permute {{.*}} -> !toy.tensor<f64[1, 4, M]>
func.func @sums(%x: !toy.tensor<f64[4, 8, M]>) -> (!toy.tensor<f64[8, 4]>, !toy.tensor<f64[1, 4, M]>) {
  %p = toy.permute %x {permutation = array<i64: 2, 1, 0>} : (!toy.tensor<f64[4, 8, M]>) -> !toy.tensor<f64[M, 8, 4]>
  %r = toy.sum %p {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[M, 8, 4]>) -> !toy.tensor<f64[8, 4]>
  %q = toy.permute %x {permutation = array<i64: 1, 0, 2>} : (!toy.tensor<f64[4, 8, M]>) -> !toy.tensor<f64[8, 4, M]>
  %s = toy.sum %q {axes = array<i64: 0>, keepdims = true} : (!toy.tensor<f64[8, 4, M]>) -> !toy.tensor<f64[1, 4, M]>
  return %r, %s : !toy.tensor<f64[8, 4]>, !toy.tensor<f64[1, 4, M]>
}

// Rows that lie together are sorted where they lie; the others are permuted before. Two permutations are one.
// CHECK-LABEL: @sorted
// CHECK: toy.sort %arg0 {axis = 1 : i64
// CHECK: toy.sort {{.*}} {axis = 1 : i64
// CHECK: toy.permute %arg1 {permutation = array<i64: 1, 2, 0>}
func.func @sorted(%x: !toy.tensor<f64[4, 4]>, %y: !toy.tensor<f64[4, 4, 4]>)
    -> (!toy.tensor<f64[4, 4]>, !toy.tensor<f64[4, 4]>, !toy.tensor<f64[4, 4, 4]>) {
  %p = toy.permute %x {permutation = array<i64: 1, 0>} : (!toy.tensor<f64[4, 4]>) -> !toy.tensor<f64[4, 4]>
  %s = toy.sort %p {axis = 0 : i64, descending = false} : (!toy.tensor<f64[4, 4]>) -> !toy.tensor<f64[4, 4]>
  %t = toy.sort %p {axis = 1 : i64, descending = false} : (!toy.tensor<f64[4, 4]>) -> !toy.tensor<f64[4, 4]>
  %q = toy.permute %y {permutation = array<i64: 1, 0, 2>} : (!toy.tensor<f64[4, 4, 4]>) -> !toy.tensor<f64[4, 4, 4]>
  %r = toy.permute %q {permutation = array<i64: 0, 2, 1>} : (!toy.tensor<f64[4, 4, 4]>) -> !toy.tensor<f64[4, 4, 4]>
  return %s, %t, %r : !toy.tensor<f64[4, 4]>, !toy.tensor<f64[4, 4]>, !toy.tensor<f64[4, 4, 4]>
}

// A slice takes its parts before the axes are permuted, unless another operation reads the permuted value, or a loop
// reads its rows.
// CHECK-LABEL: @sliced
// CHECK: %[[S:.*]] = toy.slice %arg0, %arg4, %arg2, %arg3, %arg5, %arg1, %arg6 {steps = array<i64: 3, -1, 2>} {{.*}} -> !toy.tensor<f64[5, 4, 2]>
// CHECK: toy.permute %[[S]] {permutation = array<i64: 1, 2, 0>} {{.*}} -> !toy.tensor<f64[4, 2, 5]>
func.func @sliced(%x: !toy.tensor<f64[N, M, 8]>, %n: !toy.tensor<i64[]>, %a: !toy.tensor<i64[]>, %b: !toy.tensor<i64[]>,
                  %c: !toy.tensor<i64[]>, %k: !toy.tensor<i64[]>, %l: !toy.tensor<i64[]>) -> !toy.tensor<f64[4, 2, 5]> {
  %p = toy.permute %x {permutation = array<i64: 1, 2, 0>} : (!toy.tensor<f64[N, M, 8]>) -> !toy.tensor<f64[M, 8, N]>
  %s = toy.slice %p, %a, %b, %c, %n, %l, %k {steps = array<i64: -1, 2, 3>} : (!toy.tensor<f64[M, 8, N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[4, 2, 5]>
  return %s : !toy.tensor<f64[4, 2, 5]>
}
// CHECK-LABEL: @kept
// CHECK: %[[P:.*]] = toy.permute %arg0
// CHECK: toy.slice %[[P]]
func.func @kept(%x: !toy.tensor<f64[N, N]>, %a: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>)
    -> (!toy.tensor<f64[N, N]>, !toy.tensor<f64[4, 4]>) {
  %p = toy.permute %x {permutation = array<i64: 1, 0>} : (!toy.tensor<f64[N, N]>) -> !toy.tensor<f64[N, N]>
  %s = toy.slice %p, %a, %a, %n, %n {steps = array<i64: 1, 1>} : (!toy.tensor<f64[N, N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[4, 4]>
  return %p, %s : !toy.tensor<f64[N, N]>, !toy.tensor<f64[4, 4]>
}
