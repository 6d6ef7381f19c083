// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-fuse))' %s | FileCheck %s

// Halves are read and written as they are: one group, no f32 tensor between views.
// CHECK-LABEL: @halves
// CHECK-COUNT-1: toy.fused %arg0, %arg1 : (!toy.tensor<bf16[S, 4, 2]>, !toy.tensor<c64[4]>) -> !toy.tensor<bf16[S, 4, 2]>
// CHECK-NOT: toy.fused
// CHECK: return
func.func @halves(%x: !toy.tensor<bf16[S, 4, 2]>, %w: !toy.tensor<c64[4]>) -> !toy.tensor<bf16[S, 4, 2]> {
  %f = toy.cast %x {dtype = "f32"} : (!toy.tensor<bf16[S, 4, 2]>) -> !toy.tensor<f32[S, 4, 2]>
  %z = toy.view_as_complex %f : (!toy.tensor<f32[S, 4, 2]>) -> !toy.tensor<c64[S, 4]>
  %p = toy.mul %z, %w : (!toy.tensor<c64[S, 4]>, !toy.tensor<c64[4]>) -> !toy.tensor<c64[S, 4]>
  %v = toy.view_as_real %p : (!toy.tensor<c64[S, 4]>) -> !toy.tensor<f32[S, 4, 2]>
  %r = toy.cast %v {dtype = "bf16"} : (!toy.tensor<f32[S, 4, 2]>) -> !toy.tensor<bf16[S, 4, 2]>
  return %r : !toy.tensor<bf16[S, 4, 2]>
}

// Casts between other types stay where they are: views of them are free.
// CHECK-LABEL: @wide
// CHECK: toy.view_as_complex
// CHECK: toy.view_as_real
// CHECK: return
func.func @wide(%x: !toy.tensor<f64[S, 4, 2]>, %w: !toy.tensor<c64[4]>) -> !toy.tensor<f64[S, 4, 2]> {
  %f = toy.cast %x {dtype = "f32"} : (!toy.tensor<f64[S, 4, 2]>) -> !toy.tensor<f32[S, 4, 2]>
  %z = toy.view_as_complex %f : (!toy.tensor<f32[S, 4, 2]>) -> !toy.tensor<c64[S, 4]>
  %p = toy.mul %z, %w : (!toy.tensor<c64[S, 4]>, !toy.tensor<c64[4]>) -> !toy.tensor<c64[S, 4]>
  %v = toy.view_as_real %p : (!toy.tensor<c64[S, 4]>) -> !toy.tensor<f32[S, 4, 2]>
  %r = toy.cast %v {dtype = "f64"} : (!toy.tensor<f32[S, 4, 2]>) -> !toy.tensor<f64[S, 4, 2]>
  return %r : !toy.tensor<f64[S, 4, 2]>
}

// A slice of which only the size is asked is not made, also without its axes of 1; another reshape may fail.
// CHECK-LABEL: @asked
// CHECK-NOT: toy.slice
// CHECK-NOT: toy.reshape
// CHECK: toy.add %arg3, %arg3
// CHECK: return
func.func @asked(%x: !toy.tensor<f64[M, 8]>, %i: !toy.tensor<i64[]>, %one: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %s = toy.slice %x, %i, %i, %one, %n {steps = array<i64: 1, 1>} : (!toy.tensor<f64[M, 8]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[1, N]>
  %r = toy.reshape %s, %n : (!toy.tensor<f64[1, N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %d = toy.dim %s {axis = 1 : i64} : (!toy.tensor<f64[1, N]>) -> !toy.tensor<i64[]>
  %e = toy.dim %r {axis = 0 : i64} : (!toy.tensor<f64[N]>) -> !toy.tensor<i64[]>
  %sum = toy.add %d, %e : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  return %sum : !toy.tensor<i64[]>
}

// CHECK-LABEL: @other
// CHECK: toy.reshape
func.func @other(%x: !toy.tensor<f64[M]>, %n: !toy.tensor<i64[]>, %k: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %r = toy.reshape %x, %n, %k : (!toy.tensor<f64[M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N, K]>
  %d = toy.dim %r {axis = 0 : i64} : (!toy.tensor<f64[N, K]>) -> !toy.tensor<i64[]>
  return %d : !toy.tensor<i64[]>
}

// Sums of all elements that go across the rows of a transpose read it where it has been written once: two groups. Of
// integers, along one axis, of few elements and of what is not turned over there is one.
// CHECK-LABEL: @across
// CHECK-COUNT-2: toy.fused
// CHECK-NOT: toy.fused
// CHECK: return
func.func @across(%x: !toy.tensor<f64[50, 60]>) -> !toy.tensor<f64[]> {
  %t = toy.permute %x {permutation = array<i64: 1, 0>} : (!toy.tensor<f64[50, 60]>) -> !toy.tensor<f64[60, 50]>
  %s = toy.sum %t {axes = array<i64: 0, 1>, keepdims = false} : (!toy.tensor<f64[60, 50]>) -> !toy.tensor<f64[]>
  return %s : !toy.tensor<f64[]>
}
// So do folds of any kind along rows, beside an operand that is not turned over.
// CHECK-LABEL: @beside
// CHECK: toy.fused %arg0 :
// CHECK: toy.fused %{{.*}}, %arg1
// CHECK-NOT: toy.fused
// CHECK: return
func.func @beside(%x: !toy.tensor<f32[50, 60]>, %y: !toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[60]> {
  %t = toy.permute %x {permutation = array<i64: 1, 0>} : (!toy.tensor<f32[50, 60]>) -> !toy.tensor<f32[60, 50]>
  %d = toy.sub %t, %y : (!toy.tensor<f32[60, 50]>, !toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[60, 50]>
  %a = toy.abs %d : (!toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[60, 50]>
  %m = toy.max %a {axes = array<i64: 1>, keepdims = false} : (!toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[60]>
  return %m : !toy.tensor<f32[60]>
}
// CHECK-LABEL: @others
// CHECK-COUNT-4: toy.fused
// CHECK-NOT: toy.fused
// CHECK: return
func.func @others(%x: !toy.tensor<f64[50, 60]>, %i: !toy.tensor<i64[50, 60]>, %c: !toy.tensor<f64[30, 40, 7]>, %d: !toy.tensor<f64[4, 6]>) -> (!toy.tensor<f64[50]>, !toy.tensor<i64[]>, !toy.tensor<f64[]>, !toy.tensor<f64[]>) {
  %t = toy.permute %x {permutation = array<i64: 1, 0>} : (!toy.tensor<f64[50, 60]>) -> !toy.tensor<f64[60, 50]>
  %s = toy.sum %t {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[60, 50]>) -> !toy.tensor<f64[50]>
  %u = toy.permute %i {permutation = array<i64: 1, 0>} : (!toy.tensor<i64[50, 60]>) -> !toy.tensor<i64[60, 50]>
  %v = toy.sum %u {axes = array<i64: 0, 1>, keepdims = false} : (!toy.tensor<i64[60, 50]>) -> !toy.tensor<i64[]>
  %p = toy.permute %c {permutation = array<i64: 1, 0, 2>} : (!toy.tensor<f64[30, 40, 7]>) -> !toy.tensor<f64[40, 30, 7]>
  %q = toy.sum %p {axes = array<i64: 0, 1, 2>, keepdims = false} : (!toy.tensor<f64[40, 30, 7]>) -> !toy.tensor<f64[]>
  %e = toy.permute %d {permutation = array<i64: 1, 0>} : (!toy.tensor<f64[4, 6]>) -> !toy.tensor<f64[6, 4]>
  %f = toy.sum %e {axes = array<i64: 0, 1>, keepdims = false} : (!toy.tensor<f64[6, 4]>) -> !toy.tensor<f64[]>
  return %s, %v, %q, %f : !toy.tensor<f64[50]>, !toy.tensor<i64[]>, !toy.tensor<f64[]>, !toy.tensor<f64[]>
}

// Functions in a fold over columns read every third element of a copy; along rows, and without functions, in place.
// CHECK-LABEL: @spaced
// CHECK-COUNT-2: toy.fused
// CHECK-NOT: toy.fused
// CHECK: return
func.func @spaced(%x: !toy.tensor<f32[60, 150]>, %z: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>) -> !toy.tensor<f32[50]> {
  %t = toy.slice %x, %z, %z, %n, %m {steps = array<i64: 1, 3>} : (!toy.tensor<f32[60, 150]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f32[60, 50]>
  %e = toy.exp %t : (!toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[60, 50]>
  %s = toy.sum %e {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[50]>
  return %s : !toy.tensor<f32[50]>
}
// CHECK-LABEL: @in_place
// CHECK-COUNT-2: toy.fused
// CHECK-NOT: toy.fused
// CHECK: return
func.func @in_place(%x: !toy.tensor<f32[60, 150]>, %z: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>) -> (!toy.tensor<f32[50]>, !toy.tensor<f32[60]>) {
  %t = toy.slice %x, %z, %z, %n, %m {steps = array<i64: 1, 3>} : (!toy.tensor<f32[60, 150]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f32[60, 50]>
  %a = toy.abs %t : (!toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[60, 50]>
  %s = toy.sum %a {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[50]>
  %e = toy.exp %t : (!toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[60, 50]>
  %r = toy.sum %e {axes = array<i64: 1>, keepdims = false} : (!toy.tensor<f32[60, 50]>) -> !toy.tensor<f32[60]>
  return %s, %r : !toy.tensor<f32[50]>, !toy.tensor<f32[60]>
}

// A fold over rows of a few elements is vectors of rows, unless functions are called in it: these are a group of their own.
// CHECK-LABEL: @narrow
// CHECK-COUNT-2: toy.fused
// CHECK-NOT: toy.fused
// CHECK: return
func.func @narrow(%x: !toy.tensor<f64[900, 7]>) -> !toy.tensor<f64[7]> {
  %a = toy.abs %x : (!toy.tensor<f64[900, 7]>) -> !toy.tensor<f64[900, 7]>
  %e = toy.exp %a : (!toy.tensor<f64[900, 7]>) -> !toy.tensor<f64[900, 7]>
  %n = toy.neg %e : (!toy.tensor<f64[900, 7]>) -> !toy.tensor<f64[900, 7]>
  %s = toy.sum %n {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[900, 7]>) -> !toy.tensor<f64[7]>
  return %s : !toy.tensor<f64[7]>
}

// Places in short rows are sought in registers: a function's elements are a group of their own. Beside them, what is code
// in a loop over a long row stays in it.
// CHECK-LABEL: @places
// CHECK-COUNT-3: toy.fused
// CHECK-NOT: toy.fused
// CHECK: return
func.func @places(%x: !toy.tensor<f32[S, 20]>, %z: !toy.tensor<c64[S, 2000]>) -> (!toy.tensor<i64[S]>, !toy.tensor<i64[S]>) {
  %e = toy.exp %x : (!toy.tensor<f32[S, 20]>) -> !toy.tensor<f32[S, 20]>
  %i = toy.argmax %e {axes = array<i64: 1>, keepdims = false} : (!toy.tensor<f32[S, 20]>) -> !toy.tensor<i64[S]>
  %a = toy.abs %z : (!toy.tensor<c64[S, 2000]>) -> !toy.tensor<f32[S, 2000]>
  %j = toy.argmin %a {axes = array<i64: 1>, keepdims = false} : (!toy.tensor<f32[S, 2000]>) -> !toy.tensor<i64[S]>
  return %i, %j : !toy.tensor<i64[S]>, !toy.tensor<i64[S]>
}
