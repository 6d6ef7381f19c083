// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse-row-reductions{behind-sums=true}))' %s | FileCheck %s

// The residual and the norm behind a sum over ranks are one group with two results.
// CHECK-LABEL: @residual
// CHECK: %[[S:.*]] = toy.all_reduce
// CHECK: %[[R:.*]]:2 = toy.fused %arg0, %[[S]]
// CHECK-COUNT-3: toy.fused
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @residual(%x: !toy.tensor<f32[N, 64]>, %y: !toy.tensor<f32[N, 64]>) -> (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 64]>) {
  %a = toy.all_reduce %y {reduction = "sum"} : (!toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 64]>
  %h = toy.fused %x, %a : (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 64]> {
  ^bb0(%p: !toy.tensor<f32[N, 64]>, %q: !toy.tensor<f32[N, 64]>):
    %0 = toy.add %p, %q : (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 64]>
    toy.yield %0 : (!toy.tensor<f32[N, 64]>) -> ()
  }
  %s = toy.fused %h : (!toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 1]> {
  ^bb0(%p: !toy.tensor<f32[N, 64]>):
    %0 = toy.mul %p, %p : (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 64]>
    %1 = toy.sum %0 {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 1]>
    toy.yield %1 : (!toy.tensor<f32[N, 1]>) -> ()
  }
  %r = toy.fused %h, %s : (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 1]>) -> !toy.tensor<f32[N, 64]> {
  ^bb0(%p: !toy.tensor<f32[N, 64]>, %q: !toy.tensor<f32[N, 1]>):
    %0 = toy.div %p, %q : (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 1]>) -> !toy.tensor<f32[N, 64]>
    toy.yield %0 : (!toy.tensor<f32[N, 64]>) -> ()
  }
  return %r, %h : !toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 64]>
}

// What reads no sum over ranks stays as it is.
// CHECK-LABEL: @alone
// CHECK: %[[S:.*]] = toy.fused %arg0
// CHECK: %[[R:.*]] = toy.fused %arg0, %[[S]]
// CHECK: return %[[R]]
func.func @alone(%x: !toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 64]> {
  %s = toy.fused %x : (!toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 1]> {
  ^bb0(%p: !toy.tensor<f32[N, 64]>):
    %1 = toy.sum %p {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 1]>
    toy.yield %1 : (!toy.tensor<f32[N, 1]>) -> ()
  }
  %r = toy.fused %x, %s : (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 1]>) -> !toy.tensor<f32[N, 64]> {
  ^bb0(%p: !toy.tensor<f32[N, 64]>, %q: !toy.tensor<f32[N, 1]>):
    %0 = toy.div %p, %q : (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 1]>) -> !toy.tensor<f32[N, 64]>
    toy.yield %0 : (!toy.tensor<f32[N, 64]>) -> ()
  }
  return %r : !toy.tensor<f32[N, 64]>
}

// A sum over ranks in between needs all rows before it: nothing goes across.
// CHECK-LABEL: @summedNorms
// CHECK: %[[S:.*]] = toy.fused %{{.*}}
// CHECK: %[[A:.*]] = toy.all_reduce %[[S]]
// CHECK: toy.fused %{{.*}}, %[[A]]
// CHECK-NOT: toy.fused
// CHECK: return
func.func @summedNorms(%x: !toy.tensor<f32[N, 64]>, %y: !toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 64]> {
  %a = toy.all_reduce %y {reduction = "sum"} : (!toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 64]>
  %s = toy.fused %a : (!toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 1]> {
  ^bb0(%p: !toy.tensor<f32[N, 64]>):
    %1 = toy.sum %p {axes = array<i64: 1>, keepdims = true} : (!toy.tensor<f32[N, 64]>) -> !toy.tensor<f32[N, 1]>
    toy.yield %1 : (!toy.tensor<f32[N, 1]>) -> ()
  }
  %t = toy.all_reduce %s {reduction = "sum"} : (!toy.tensor<f32[N, 1]>) -> !toy.tensor<f32[N, 1]>
  %r = toy.fused %x, %t : (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 1]>) -> !toy.tensor<f32[N, 64]> {
  ^bb0(%p: !toy.tensor<f32[N, 64]>, %q: !toy.tensor<f32[N, 1]>):
    %0 = toy.div %p, %q : (!toy.tensor<f32[N, 64]>, !toy.tensor<f32[N, 1]>) -> !toy.tensor<f32[N, 64]>
    toy.yield %0 : (!toy.tensor<f32[N, 64]>) -> ()
  }
  return %r : !toy.tensor<f32[N, 64]>
}
