// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-pad-to-buckets))' %s 2>&1 | FileCheck %s
// Padded: products of rows. The bucket is chosen by comparisons, arguments get zeros, results their rows back, scalars keep the true size.

// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+2]]:{{.*}}remark: `N` is not padded to buckets: it sums over this size
func.func @contracted(%x: !toy.tensor<f64[N, 4]>, %y: !toy.tensor<f64[4, N]>) -> !toy.tensor<f64[4, 4]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %0 = toy.matmul %y, %x : (!toy.tensor<f64[4, N]>, !toy.tensor<f64[N, 4]>) -> !toy.tensor<f64[4, 4]>
  return %0 : !toy.tensor<f64[4, 4]>
}

// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+2]]:{{.*}}remark: `N` is not padded to buckets: it mixes what stands along this size
func.func @summed(%x: !toy.tensor<f64[N, 4]>) -> !toy.tensor<f64[4]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %0 = toy.sum %x {axes = array<i64: 0>, keepdims = false} : (!toy.tensor<f64[N, 4]>) -> !toy.tensor<f64[4]>
  return %0 : !toy.tensor<f64[4]>
}

// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+2]]:{{.*}}remark: `N` is not padded to buckets: it mixes what stands along this size
func.func @joined(%x: !toy.tensor<f64[N, 4]>) -> !toy.tensor<f64["2*N", 4]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %0 = toy.concat %x, %x {axis = 0 : i64} : (!toy.tensor<f64[N, 4]>, !toy.tensor<f64[N, 4]>) -> !toy.tensor<f64["2*N", 4]>
  return %0 : !toy.tensor<f64["2*N", 4]>
}

// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+3]]:{{.*}}remark: `N` is not padded to buckets: it mixes what stands along this size
func.func @otherRows(%x: !toy.tensor<f64[N, 4]>) -> !toy.tensor<f64[4, N]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %n = toy.dim %x {axis = 0 : i64} : (!toy.tensor<f64[N, 4]>) -> !toy.tensor<i64[]>  %four = toy.constant {value = dense<4> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %0 = toy.reshape %x, %four, %n : (!toy.tensor<f64[N, 4]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[4, N]>
  return %0 : !toy.tensor<f64[4, N]>
}

// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+2]]:{{.*}}remark: `N` is not padded to buckets: it mixes what stands along this size
func.func @scanned(%x: !toy.tensor<f64[4, N]>) -> !toy.tensor<f64[4, N]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %0 = toy.cumsum %x {axis = 1 : i64} : (!toy.tensor<f64[4, N]>) -> !toy.tensor<f64[4, N]>
  return %0 : !toy.tensor<f64[4, N]>
}

// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+4]]:{{.*}}remark: `N` is not padded to buckets: it mixes what stands along this size
func.func @reversed(%x: !toy.tensor<f64[N]>) -> !toy.tensor<f64[N]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %n = toy.dim %x {axis = 0 : i64} : (!toy.tensor<f64[N]>) -> !toy.tensor<i64[]>  %one = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %last = toy.sub %n, %one : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.slice %x, %last, %n {steps = array<i64: -1>} : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  return %0 : !toy.tensor<f64[N]>
}

// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+2]]:{{.*}}remark: `N` is not padded to buckets: it may fail for elements that are padding
func.func @mayFail(%x: !toy.tensor<i64[N]>, %y: !toy.tensor<i64[N]>) -> !toy.tensor<i64[N]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %0 = toy.mod %x, %y : (!toy.tensor<i64[N]>, !toy.tensor<i64[N]>) -> !toy.tensor<i64[N]>
  return %0 : !toy.tensor<i64[N]>
}

// Equal by a check, of another name: the other operand is not padded.
// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+2]]:{{.*}}remark: `N` is not padded to buckets: it mixes what stands along this size
func.func @otherName(%x: !toy.tensor<f64[N]>, %y: !toy.tensor<f64[M]>) -> !toy.tensor<f64[N]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %0 = toy.add %x, %y : (!toy.tensor<f64[N]>, !toy.tensor<f64[M]>) -> !toy.tensor<f64[N]>
  return %0 : !toy.tensor<f64[N]>
}

// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+2]]:{{.*}}remark: `N` is not padded to buckets: it is not known to compute rows on their own
func.func @unknown(%x: !toy.tensor<f64[N, 4, 4]>) -> !toy.tensor<f64[N, 4, 4]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %0 = toy.call_library %x {function = "inv", parameters = array<i64>} : (!toy.tensor<f64[N, 4, 4]>) -> !toy.tensor<f64[N, 4, 4]>
  return %0 : !toy.tensor<f64[N, 4, 4]>
}

// CHECK-DAG: pad-to-buckets.mlir:[[@LINE+1]]:{{.*}}remark: `N` is not padded to buckets: nothing in it is bound to a size: kernels take any
func.func @kernelsOnly(%x: !toy.tensor<f64[N]>) -> !toy.tensor<f64[N]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %0 = toy.exp %x : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  return %0 : !toy.tensor<f64[N]>
}

// CHECK-LABEL: func.func @rows(
// CHECK: %[[N:.*]] = toy.dim %arg0 {axis = 0
// CHECK-COUNT-4: toy.where
// CHECK: %[[REST:.*]] = toy.sub %{{.*}}, %[[N]]
// CHECK: %[[ZEROS:.*]] = toy.full {{.*}} -> !toy.tensor<c64[N_rest, 4]>
// CHECK: %[[JOINED:.*]] = toy.concat %arg0, %[[ZEROS]]
// CHECK: %[[X:.*]] = toy.relabel %[[JOINED]] : {{.*}} -> !toy.tensor<c64[N_bucket, 4]>
// CHECK: %[[COUNT:.*]] = toy.dim %[[X]]
// CHECK: %[[Y:.*]] = toy.matmul %[[X]], %arg1
// CHECK: %[[TRUE:.*]] = toy.cast %[[N]]
// CHECK: %[[Z:.*]] = toy.div %[[Y]], %[[TRUE]] {{.*}} -> !toy.tensor<c64[N_bucket, 5]>
// CHECK: %[[WIDE:.*]] = toy.reshape %[[Z]], %[[COUNT]], %{{.*}} -> !toy.tensor<c64[N_bucket, 5, 1]>
// CHECK: %[[RESULT:.*]] = toy.slice %[[WIDE]], {{.*}} -> !toy.tensor<c64[N, 5, 1]>
// CHECK: return %[[RESULT]], %[[N]]
func.func @rows(%x: !toy.tensor<c64[N, 4]>, %w: !toy.tensor<c64[4, 5]>) -> (!toy.tensor<c64[N, 5, 1]>, !toy.tensor<i64[]>) attributes {toy.buckets = {N = array<i64: 8, 16>}} {
  %0 = toy.matmul %x, %w : (!toy.tensor<c64[N, 4]>, !toy.tensor<c64[4, 5]>) -> !toy.tensor<c64[N, 5]>
  %n = toy.dim %0 {axis = 0 : i64} : (!toy.tensor<c64[N, 5]>) -> !toy.tensor<i64[]>
  %f = toy.cast %n {dtype = "c64"} : (!toy.tensor<i64[]>) -> !toy.tensor<c64[]>
  %1 = toy.div %0, %f : (!toy.tensor<c64[N, 5]>, !toy.tensor<c64[]>) -> !toy.tensor<c64[N, 5]>
  %five = toy.constant {value = dense<5> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %one = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %2 = toy.reshape %1, %n, %five, %one : (!toy.tensor<c64[N, 5]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<c64[N, 5, 1]>
  return %2, %n : !toy.tensor<c64[N, 5, 1]>, !toy.tensor<i64[]>
}

// Loops carry padded values; their conditions know the true size only.
// CHECK-LABEL: func.func @loop(
// CHECK: %[[N:.*]] = toy.dim %arg0 {axis = 0
// CHECK: cf.br ^bb1(%{{.*}}, %{{.*}} : !toy.tensor<f64[N_bucket, 4]>, !toy.tensor<i64[]>)
// CHECK: ^bb1(%[[Y:.*]]: !toy.tensor<f64[N_bucket, 4]>, %[[I:.*]]: !toy.tensor<i64[]>):
// CHECK: toy.lt %[[I]], %[[N]]
// CHECK: toy.matmul %[[Y]], %arg1 {{.*}} -> !toy.tensor<f64[N_bucket, 4]>
// CHECK: toy.slice %[[Y]], {{.*}} -> !toy.tensor<f64[N, 4]>
func.func @loop(%x: !toy.tensor<f64[N, 4]>, %w: !toy.tensor<f64[4, 4]>) -> !toy.tensor<f64[N, 4]> attributes {toy.buckets = {N = array<i64: 8>}} {
  %zero = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %one = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^head(%x, %zero : !toy.tensor<f64[N, 4]>, !toy.tensor<i64[]>)
^head(%y: !toy.tensor<f64[N, 4]>, %i: !toy.tensor<i64[]>):
  %n = toy.dim %y {axis = 0 : i64} : (!toy.tensor<f64[N, 4]>) -> !toy.tensor<i64[]>
  %less = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %less : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^end
^body:
  %0 = toy.matmul %y, %w : (!toy.tensor<f64[N, 4]>, !toy.tensor<f64[4, 4]>) -> !toy.tensor<f64[N, 4]>
  %1 = toy.add %i, %one : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^head(%0, %1 : !toy.tensor<f64[N, 4]>, !toy.tensor<i64[]>)
^end:
  return %y : !toy.tensor<f64[N, 4]>
}
