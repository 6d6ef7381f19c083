// RUN: %toy-opt --split-input-file --verify-diagnostics %s
// The verifier asks the same rules as IR generation.

func.func @inner(%a: !toy.tensor<f64[2, 3]>) {
  // expected-error @+1 {{cannot multiply f64[2, 3] @ f64[2, 3]: inner sizes 3 and 2 differ}}
  %r = toy.matmul %a, %a : (!toy.tensor<f64[2, 3]>, !toy.tensor<f64[2, 3]>) -> !toy.tensor<f64[2, 3]>
  return
}

// -----
func.func @ordered(%a: !toy.tensor<c64[2]>) {
  // expected-error @+1 {{complex values are not ordered}}
  %r = toy.lt %a, %a : (!toy.tensor<c64[2]>, !toy.tensor<c64[2]>) -> !toy.tensor<bool[2]>
  return
}

// -----
func.func @result(%a: !toy.tensor<f64[2]>) {
  // expected-error @+1 {{has result type f64[3] where its rule gives f64[2]}}
  %r = toy.neg %a : (!toy.tensor<f64[2]>) -> !toy.tensor<f64[3]>
  return
}

// -----
func.func @mixed(%a: !toy.tensor<f64[2]>, %b: !toy.tensor<f32[2]>) {
  // expected-error @+1 {{the dtypes differ}}
  %r = toy.add %a, %b : (!toy.tensor<f64[2]>, !toy.tensor<f32[2]>) -> !toy.tensor<f64[2]>
  return
}

// -----
func.func @axis(%a: !toy.tensor<f64[2]>) {
  // expected-error @+1 {{axis 1 is out of range for f64[2]}}
  %r = toy.sum %a {axes = array<i64: 1>, keepdims = false} : (!toy.tensor<f64[2]>) -> !toy.tensor<f64[2]>
  return
}

// -----
func.func @view(%a: !toy.tensor<f64[3]>) {
  // expected-error @+1 {{needs a last axis of size 2}}
  %r = toy.view_as_complex %a : (!toy.tensor<f64[3]>) -> !toy.tensor<c128[]>
  return
}

// -----
func.func @real_with_complex(%a: !toy.tensor<f32[N]>, %b: !toy.tensor<c64[N]>) -> !toy.tensor<c64[N]> {
  %r = toy.mul %a, %b : (!toy.tensor<f32[N]>, !toy.tensor<c64[N]>) -> !toy.tensor<c64[N]>
  return %r : !toy.tensor<c64[N]>
}

// -----
func.func @key(%k: !toy.tensor<i64[3]>, %a: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) {
  // expected-error @+1 {{`key` must be an i64[2], as `key(7)` gives, got i64[3]}}
  %r = toy.sample %k, %a, %a, %n {distribution = "normal", dtype = "f64"} : (!toy.tensor<i64[3]>, !toy.tensor<f64[]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  return
}

// -----
func.func @distribution(%a: !toy.tensor<f64[]>) {
  // expected-error @+1 {{`cauchy`}}
  %r = toy.draw %a, %a {distribution = "cauchy", dtype = "f64"} : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  return
}

// -----
func.func @parameter(%a: !toy.tensor<f64[]>) {
  // expected-error @+1 {{a parameter must be a scalar, or as large as the result, of i64, got f64}}
  %r = toy.draw %a, %a {distribution = "integers", dtype = "i64"} : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<i64[]>
  return
}

// -----
func.func @counts(%a: !toy.tensor<f64[]>) {
  // expected-error @+1 {{`poisson` cannot make f64 values}}
  %r = toy.draw %a, %a {distribution = "poisson", dtype = "f64"} : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<f64[]>
  return
}
