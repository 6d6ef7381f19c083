// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse-row-reductions))' %s | FileCheck %s

// CHECK-LABEL: @softmax
// CHECK: %[[R:.*]] = toy.fused %arg0 : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 64]> {
// CHECK-COUNT-4: toy.fused
// CHECK: return %[[R]]
func.func @softmax(%x: !toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 64]> {
  %m = toy.fused %x : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>):
    %0 = toy.max %a {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]>
    toy.yield %0 : (!toy.tensor<f64[N, 1]>) -> ()
  }
  %e = toy.fused %x, %m : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>, %b: !toy.tensor<f64[N, 1]>):
    %0 = toy.sub %a, %b : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]>
    %1 = toy.exp %0 : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 64]>
    toy.yield %1 : (!toy.tensor<f64[N, 64]>) -> ()
  }
  %s = toy.fused %e : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>):
    %0 = toy.sum %a {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]>
    toy.yield %0 : (!toy.tensor<f64[N, 1]>) -> ()
  }
  %r = toy.fused %e, %s : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>, %b: !toy.tensor<f64[N, 1]>):
    %0 = toy.div %a, %b : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]>
    toy.yield %0 : (!toy.tensor<f64[N, 64]>) -> ()
  }
  return %r : !toy.tensor<f64[N, 64]>
}

// A sum that is also returned is a second result.
// CHECK-LABEL: @usedElsewhere
// CHECK: %[[R:.*]]:2 = toy.fused %arg0 : (!toy.tensor<f64[N, 64]>) -> (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) {
// CHECK: %[[S:.*]] = toy.fused
// CHECK: %[[D:.*]] = toy.fused
// CHECK: toy.yield %[[D]], %[[S]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @usedElsewhere(%x: !toy.tensor<f64[N, 64]>) -> (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) {
  %s = toy.fused %x : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>):
    %0 = toy.sum %a {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]>
    toy.yield %0 : (!toy.tensor<f64[N, 1]>) -> ()
  }
  %r = toy.fused %x, %s : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>, %b: !toy.tensor<f64[N, 1]>):
    %0 = toy.div %a, %b : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]>
    toy.yield %0 : (!toy.tensor<f64[N, 64]>) -> ()
  }
  return %r, %s : !toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>
}

// A residual sum that is read later is a second result.
// CHECK-LABEL: @residual
// CHECK: %[[R:.*]]:2 = toy.fused %arg0, %arg1
// CHECK-COUNT-3: toy.fused
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @residual(%x: !toy.tensor<f64[N, 64]>, %y: !toy.tensor<f64[N, 64]>) -> (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 64]>) {
  %h = toy.fused %x, %y : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 64]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>, %b: !toy.tensor<f64[N, 64]>):
    %0 = toy.add %a, %b : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 64]>
    toy.yield %0 : (!toy.tensor<f64[N, 64]>) -> ()
  }
  %s = toy.fused %h : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>):
    %0 = toy.sum %a {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]>
    toy.yield %0 : (!toy.tensor<f64[N, 1]>) -> ()
  }
  %r = toy.fused %h, %s : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>, %b: !toy.tensor<f64[N, 1]>):
    %0 = toy.div %a, %b : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]>
    toy.yield %0 : (!toy.tensor<f64[N, 64]>) -> ()
  }
  return %r, %h : !toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 64]>
}

// One that is read before the rows are done is a kernel before.
// CHECK-LABEL: @readBefore
// CHECK: %[[H:.*]] = toy.fused %arg0, %arg1
// CHECK: toy.neg %[[H]]
// CHECK: %{{.*}} = toy.fused %[[H]] : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 64]> {
// CHECK-COUNT-2: toy.fused
func.func @readBefore(%x: !toy.tensor<f64[N, 64]>, %y: !toy.tensor<f64[N, 64]>) -> (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 64]>) {
  %h = toy.fused %x, %y : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 64]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>, %b: !toy.tensor<f64[N, 64]>):
    %0 = toy.add %a, %b : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 64]>
    toy.yield %0 : (!toy.tensor<f64[N, 64]>) -> ()
  }
  %v = toy.neg %h : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 64]>
  %s = toy.fused %h : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>):
    %0 = toy.sum %a {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f64[N, 64]>) -> !toy.tensor<f64[N, 1]>
    toy.yield %0 : (!toy.tensor<f64[N, 1]>) -> ()
  }
  %r = toy.fused %h, %s : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]> {
  ^bb0(%a: !toy.tensor<f64[N, 64]>, %b: !toy.tensor<f64[N, 1]>):
    %0 = toy.div %a, %b : (!toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 1]>) -> !toy.tensor<f64[N, 64]>
    toy.yield %0 : (!toy.tensor<f64[N, 64]>) -> ()
  }
  return %r, %v : !toy.tensor<f64[N, 64]>, !toy.tensor<f64[N, 64]>
}

// Rows of other sums: an index map stands between.
// CHECK-LABEL: @otherRows
// CHECK-COUNT-2: {{^}}    %{{.*}} = toy.fused
// CHECK-NOT: toy.fused
func.func @otherRows(%x: !toy.tensor<f64[64, 64]>) -> !toy.tensor<f64[64, 64]> {
  %s = toy.fused %x : (!toy.tensor<f64[64, 64]>) -> !toy.tensor<f64[64, 1]> {
  ^bb0(%a: !toy.tensor<f64[64, 64]>):
    %0 = toy.sum %a {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f64[64, 64]>) -> !toy.tensor<f64[64, 1]>
    toy.yield %0 : (!toy.tensor<f64[64, 1]>) -> ()
  }
  %r = toy.fused %x, %s : (!toy.tensor<f64[64, 64]>, !toy.tensor<f64[64, 1]>) -> !toy.tensor<f64[64, 64]> {
  ^bb0(%a: !toy.tensor<f64[64, 64]>, %b: !toy.tensor<f64[64, 1]>):
    %0 = toy.permute %b {permutation = array<i64: 1, 0>} : (!toy.tensor<f64[64, 1]>) -> !toy.tensor<f64[1, 64]>
    %1 = toy.div %a, %0 : (!toy.tensor<f64[64, 64]>, !toy.tensor<f64[1, 64]>) -> !toy.tensor<f64[64, 64]>
    toy.yield %1 : (!toy.tensor<f64[64, 64]>) -> ()
  }
  return %r : !toy.tensor<f64[64, 64]>
}

// A vector of any length is one row: a warp would fold it alone.
// CHECK-LABEL: @anyLength
// CHECK-COUNT-2: {{^}}    %{{.*}} = toy.fused
// CHECK-NOT: toy.fused
func.func @anyLength(%x: !toy.tensor<f64[M]>) -> !toy.tensor<f64[M]> {
  %s = toy.fused %x : (!toy.tensor<f64[M]>) -> !toy.tensor<f64[1]> {
  ^bb0(%a: !toy.tensor<f64[M]>):
    %0 = toy.sum %a {axes = array<i64: 0>, keepdims = true} : (!toy.tensor<f64[M]>) -> !toy.tensor<f64[1]>
    toy.yield %0 : (!toy.tensor<f64[1]>) -> ()
  }
  %r = toy.fused %x, %s : (!toy.tensor<f64[M]>, !toy.tensor<f64[1]>) -> !toy.tensor<f64[M]> {
  ^bb0(%a: !toy.tensor<f64[M]>, %b: !toy.tensor<f64[1]>):
    %0 = toy.div %a, %b : (!toy.tensor<f64[M]>, !toy.tensor<f64[1]>) -> !toy.tensor<f64[M]>
    toy.yield %0 : (!toy.tensor<f64[M]>) -> ()
  }
  return %r : !toy.tensor<f64[M]>
}
