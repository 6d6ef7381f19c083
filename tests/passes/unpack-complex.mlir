// RUN: %toy-opt --toy-unpack-complex --canonicalize --cse %s | FileCheck %s

!z = !toy.tensor<c64[N]>

// CHECK-NOT: c64

// A chain: parts are taken once at the entry and packed once at the end.
// CHECK-LABEL: func.func @chain(%arg0: !toy.tensor<f32[N, 2]>, %arg1: !toy.tensor<f32[N, 2]>) -> !toy.tensor<f32[N, 2]>
// CHECK-COUNT-4: toy.part
// CHECK-NOT: toy.part
// CHECK: %[[P:.*]] = toy.pack
// CHECK-NEXT: return %[[P]]
func.func @chain(%x: !z, %y: !z) -> !z {
  %p = toy.mul %x, %y : (!z, !z) -> !z
  %q = toy.add %p, %x : (!z, !z) -> !z
  %r = toy.mul %q, %q : (!z, !z) -> !z
  return %r : !z
}

// A real factor stays real: two products.
// CHECK-LABEL: func.func @real_factor
// CHECK-COUNT-2: toy.mul
// CHECK-NOT: toy.mul
func.func @real_factor(%x: !z, %k: !toy.tensor<f32[]>) -> !z {
  %p = toy.mul %k, %x : (!toy.tensor<f32[]>, !z) -> !z
  return %p : !z
}

// Loops carry pairs.
// CHECK-LABEL: func.func @loop
// CHECK: cf.br ^bb1({{.*}} : !toy.tensor<f32[N]>, !toy.tensor<f32[N]>)
func.func @loop(%x: !z, %c: !toy.tensor<bool[]>) -> !z {
  cf.br ^bb1(%x : !z)
^bb1(%y: !z):
  %s = toy.mul %y, %x : (!z, !z) -> !z
  %t = toy.truth %c : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %t, ^bb1(%s : !z), ^bb2
^bb2:
  return %y : !z
}

// What has no expansion runs in packed form, calls and views keep the pairs.
// CHECK-LABEL: func.func @others
// CHECK: toy.function_part {{.*}} {function = "exp", part = 0 : i64}
// CHECK: toy.prod {{.*}}packed = array<i64: 0>
// CHECK: call @chain({{.*}}) : (!toy.tensor<f32[N, 2]>, !toy.tensor<f32[N, 2]>) -> !toy.tensor<f32[N, 2]>
func.func @others(%x: !z) -> (!toy.tensor<c64[]>, !z) {
  %e = toy.exp %x : (!z) -> !z
  %p = toy.prod %e {axes = array<i64: 0>, keepdims = false} : (!z) -> !toy.tensor<c64[]>
  %r = call @chain(%x, %e) : (!z, !z) -> !z
  return %p, %r : !toy.tensor<c64[]>, !z
}
