// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-bound-indices))' %s | FileCheck %s

// A counter below the size needs no check, and never wraps.
// CHECK-LABEL: @counter
// CHECK-NOT: toy.check_index
// CHECK: toy.add %{{.*}} {toy.exact}
func.func @counter(%n: !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %at = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %at {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j : !toy.tensor<i64[]>)
^exit:
  return
}

// `x[j + 1]` for j below n - 1, but not `x[j + 2]`, which is only never negative.
// CHECK-LABEL: @neighbour
// CHECK: %[[TWO:.*]] = toy.add %{{.*}}, %{{.*}} {toy.exact}
// CHECK: toy.check_index %[[TWO]], %arg0 {axis = 0 : i64, nonnegative}
// CHECK-NOT: toy.check_index
func.func @neighbour(%m: !toy.tensor<i64[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %2 = toy.constant {value = dense<2> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %last = toy.sub %n, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %last : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %p = toy.add %i, %2 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %at2 = toy.check_index %p, %m {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %q = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %at1 = toy.check_index %q, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %at1, %at2 {echo = false, structure = "_;_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  cf.br ^header(%q : !toy.tensor<i64[]>)
^exit:
  return
}

// Products may wrap, so the sign of `i * i` is not known; nor is that of an argument. The second check of one index is the first.
// CHECK-LABEL: @unknown
// CHECK: toy.check_index %{{.*}}, %arg1 {axis = 0 : i64} :
// CHECK-NOT: nonnegative
// CHECK: toy.check_index %arg0, %arg1 {axis = 0 : i64} :
// CHECK-NOT: toy.check_index
func.func @unknown(%i: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>) {
  %s = toy.mul %i, %i : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %a = toy.check_index %s, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %b = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %c = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %a, %b, %c {echo = false, structure = "_;_;_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  return
}

// A step that is not known may lead anywhere.
// CHECK-LABEL: @stepping
// CHECK: toy.check_index %{{.*}} {axis = 0 : i64, nonnegative}
// CHECK: toy.add
// CHECK-NOT: toy.exact
func.func @stepping(%n: !toy.tensor<i64[]>, %step: !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.ge %i, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %at = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %at {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  %j = toy.add %i, %step : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j : !toy.tensor<i64[]>)
^exit:
  return
}

// A counter that goes down from `i` stays below what `i` is below: `x[j]` and `x[j - 1]` while `0 < j`.
// CHECK-LABEL: @insertion
// CHECK-NOT: toy.check_index
// CHECK: return
func.func @insertion(%n: !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^outer(%1 : !toy.tensor<i64[]>)
^outer(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^enter, ^exit
^enter:
  cf.br ^inner(%i : !toy.tensor<i64[]>)
^inner(%j: !toy.tensor<i64[]>):
  %u = toy.gt %j, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^next
^body:
  %a = toy.check_index %j, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %k = toy.sub %j, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %b = toy.check_index %k, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %a, %b {echo = false, structure = "_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  cf.br ^inner(%k : !toy.tensor<i64[]>)
^next:
  %m = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^outer(%m : !toy.tensor<i64[]>)
^exit:
  return
}

// Rows that change places have one size if both were made with it, `max(0, n + 1)` or `n + 1` that was checked; not if one is shorter.
// CHECK-LABEL: @rows
// CHECK-NOT: toy.check_index
// CHECK: toy.element
// CHECK: return
func.func @rows(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %m = toy.add %n, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %s = toy.size_value %m {expr = #toy.dim<"max(0,$$0)">} : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %p = toy.size_value %n {expr = #toy.dim<"$$0+1">} : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %q = toy.check_size %p : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %x = toy.fused %v, %s : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[A]> {
  ^bb0(%a0: !toy.tensor<f64[]>, %a1: !toy.tensor<i64[]>):
    %f = toy.full %a0, %a1 : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[A]>
    toy.yield %f : (!toy.tensor<f64[A]>) -> ()
  }
  %y = toy.fused %v, %q : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[B]> {
  ^bb0(%a0: !toy.tensor<f64[]>, %a1: !toy.tensor<i64[]>):
    %f = toy.full %a0, %a1 : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[B]>
    toy.yield %f : (!toy.tensor<f64[B]>) -> ()
  }
  %x0 = toy.relabel %x : (!toy.tensor<f64[A]>) -> !toy.tensor<f64[C]>
  %y0 = toy.relabel %y : (!toy.tensor<f64[B]>) -> !toy.tensor<f64[D]>
  cf.br ^header(%x0, %y0, %0 : !toy.tensor<f64[C]>, !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[C]>, %b: !toy.tensor<f64[D]>, %i: !toy.tensor<i64[]>):
  %c = toy.dim %a {axis = 0 : i64} : (!toy.tensor<f64[C]>) -> !toy.tensor<i64[]>
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %tt = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %tt, ^body, ^exit
^body:
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %k = toy.check_index %j, %c {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %e = toy.element %a, %k : (!toy.tensor<f64[C]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  toy.print %e {echo = false, structure = "_"} : (!toy.tensor<f64[]>) -> ()
  %b1 = toy.relabel %b : (!toy.tensor<f64[D]>) -> !toy.tensor<f64[C]>
  %a1 = toy.relabel %a : (!toy.tensor<f64[C]>) -> !toy.tensor<f64[D]>
  cf.br ^header(%b1, %a1, %j : !toy.tensor<f64[C]>, !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^exit:
  return %v : !toy.tensor<f64[]>
}

// The other row has `n` elements.
// CHECK-LABEL: @unequal
// CHECK: toy.check_index
func.func @unequal(%n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %r = toy.check_size %n : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %p = toy.size_value %n {expr = #toy.dim<"$$0+1">} : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %q = toy.check_size %p : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %x = toy.fused %v, %q : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[A]> {
  ^bb0(%a0: !toy.tensor<f64[]>, %a1: !toy.tensor<i64[]>):
    %f = toy.full %a0, %a1 : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[A]>
    toy.yield %f : (!toy.tensor<f64[A]>) -> ()
  }
  %y = toy.fused %v, %r : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[B]> {
  ^bb0(%a0: !toy.tensor<f64[]>, %a1: !toy.tensor<i64[]>):
    %f = toy.full %a0, %a1 : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[B]>
    toy.yield %f : (!toy.tensor<f64[B]>) -> ()
  }
  %x0 = toy.relabel %x : (!toy.tensor<f64[A]>) -> !toy.tensor<f64[C]>
  %y0 = toy.relabel %y : (!toy.tensor<f64[B]>) -> !toy.tensor<f64[D]>
  cf.br ^header(%x0, %y0, %0 : !toy.tensor<f64[C]>, !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[C]>, %b: !toy.tensor<f64[D]>, %i: !toy.tensor<i64[]>):
  %c = toy.dim %a {axis = 0 : i64} : (!toy.tensor<f64[C]>) -> !toy.tensor<i64[]>
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %tt = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %tt, ^body, ^exit
^body:
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %k = toy.check_index %j, %c {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %e = toy.element %a, %k : (!toy.tensor<f64[C]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  toy.print %e {echo = false, structure = "_"} : (!toy.tensor<f64[]>) -> ()
  %b1 = toy.relabel %b : (!toy.tensor<f64[D]>) -> !toy.tensor<f64[C]>
  %a1 = toy.relabel %a : (!toy.tensor<f64[C]>) -> !toy.tensor<f64[D]>
  cf.br ^header(%b1, %a1, %j : !toy.tensor<f64[C]>, !toy.tensor<f64[D]>, !toy.tensor<i64[]>)
^exit:
  return %v : !toy.tensor<f64[]>
}

// A check on one path does not serve the other, nor what follows both.
// CHECK-LABEL: @elsewhere
// CHECK: toy.check_index
// CHECK: toy.check_index
// CHECK: toy.check_index
// CHECK: return
func.func @elsewhere(%i: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>, %c: i1) {
  cf.cond_br %c, ^one, ^other
^one:
  %a = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %a {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  cf.br ^both
^other:
  %b = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %b {echo = true, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  cf.br ^both
^both:
  %d = toy.check_index %i, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %d {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  return
}

// The middle of a range that halves is never negative: both ends go to what the sizes around it allow, not to all numbers.
// CHECK-LABEL: @halving
// CHECK: toy.check_index {{.*}}nonnegative
func.func @halving(%x: !toy.tensor<f64[N]>, %n: !toy.tensor<i64[]>, %v: !toy.tensor<f64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %2 = toy.constant {value = dense<2> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %size = toy.dim %x {axis = 0 : i64} : (!toy.tensor<f64[N]>) -> !toy.tensor<i64[]>
  cf.br ^outer(%0 : !toy.tensor<i64[]>)
^outer(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %size : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %tt = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %tt, ^start, ^exit
^start:
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^inner(%0, %j : !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^inner(%low: !toy.tensor<i64[]>, %high: !toy.tensor<i64[]>):
  %u = toy.lt %low, %high : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %uu = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %uu, ^halve, ^outer(%j : !toy.tensor<i64[]>)
^halve:
  %sum = toy.add %low, %high : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %middle = toy.floordiv %sum, %2 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %k = toy.check_index %middle, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %e = toy.element %x, %k : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %w = toy.le %e, %v : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.tensor<bool[]>
  %ww = toy.truth %w : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %ww, ^up, ^inner(%low, %middle : !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^up:
  %above = toy.add %middle, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^inner(%above, %high : !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^exit:
  return
}

// What loops hand on: `best` begins below the size, and only counters below it are assigned to it.
// CHECK-LABEL: @handed_on
// CHECK-NOT: toy.check_index
// CHECK: return
func.func @handed_on(%m: !toy.tensor<i64[]>, %x: !toy.tensor<bool[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %any = toy.lt %0, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %a = toy.truth %any : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %a, ^enter, ^exit
^enter:
  cf.br ^header(%0, %0 : !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>, %best: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %at = toy.check_index %best, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %at {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  %d = toy.truth %x : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^next(%i : !toy.tensor<i64[]>), ^next(%best : !toy.tensor<i64[]>)
^next(%b: !toy.tensor<i64[]>):
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j, %b : !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^exit:
  return
}

// Not if one way gives it something else: `best + 1` may be the size.
// CHECK-LABEL: @handed_on_more
// CHECK: toy.check_index %{{.*}} {axis = 0 : i64, nonnegative}
func.func @handed_on_more(%m: !toy.tensor<i64[]>, %x: !toy.tensor<bool[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %any = toy.lt %0, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %a = toy.truth %any : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %a, ^enter, ^exit
^enter:
  cf.br ^header(%0, %0 : !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>, %best: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %at = toy.check_index %best, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %at {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %d = toy.truth %x : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^next(%j : !toy.tensor<i64[]>), ^next(%best : !toy.tensor<i64[]>)
^next(%b: !toy.tensor<i64[]>):
  cf.br ^header(%j, %b : !toy.tensor<i64[]>, !toy.tensor<i64[]>)
^exit:
  return
}

// The smaller of two is below what one of them is below, the larger above 0 if one is; a remainder is below its
// divisor. The sum of two is neither.
// CHECK-LABEL: @choices
// CHECK: %[[SUM:.*]] = toy.add %arg0, %
// CHECK: toy.check_index %[[SUM]], %
// CHECK-NOT: toy.check_index
// CHECK: return
func.func @choices(%i: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %any = toy.lt %0, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %a = toy.truth %any : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %a, ^body, ^exit
^body:
  %last = toy.sub %n, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %sum = toy.add %i, %last : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %p = toy.check_index %sum, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %max = toy.maximum %i, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %clamped = toy.minimum %max, %last : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %q = toy.check_index %clamped, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %min = toy.minimum %i, %last : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %other = toy.maximum %min, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %r = toy.check_index %other, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %around = toy.mod %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %s = toy.check_index %around, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %p, %q, %r, %s {echo = false, structure = "_;_;_;_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  cf.br ^exit
^exit:
  return
}

// Remainders of what goes around once at most need no division: of neighbours of an index, nor of what goes around twice,
// as twice an index and two; by a number that may be negative they do.
// CHECK-LABEL: @around
// CHECK: toy.mod %[[I:.*]], %[[N:.*]] {toy.around_twice, toy.unsigned} :
// CHECK: toy.mod %{{.*}}, %[[N]] {toy.around, toy.unsigned} :
// CHECK: toy.mod %{{.*}}, %[[N]] {toy.around} :
// CHECK: toy.mod %{{.*}}, %arg1 :
func.func @around(%m: !toy.tensor<i64[]>, %any: !toy.tensor<i64[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %2 = toy.constant {value = dense<2> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %d = toy.mul %i, %2 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %e = toy.add %d, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %f = toy.add %e, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %p = toy.mod %f, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %q = toy.mod %j, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %h = toy.sub %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %r = toy.mod %h, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %s = toy.mod %j, %any : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %p, %q, %r, %s {echo = false, structure = "_;_;_;_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  cf.br ^header(%j : !toy.tensor<i64[]>)
^exit:
  return
}

// A size is positive where a counter that is never negative lies below a difference from it; a number that is true or
// false is one at most.
// CHECK-LABEL: @positive
// CHECK: toy.mod %{{.*}}, %{{.*}} {toy.around, toy.unsigned} :
// CHECK: toy.mod %{{.*}}, %{{.*}} {toy.around_twice, toy.unsigned} :
func.func @positive(%m: !toy.tensor<i64[]>, %more: !toy.tensor<bool[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %number = toy.cast %more {dtype = "i64"} : (!toy.tensor<bool[]>) -> !toy.tensor<i64[]>
  %last = toy.sub %n, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %last : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %p = toy.mod %j, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %k = toy.add %j, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %l = toy.add %k, %number : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %q = toy.mod %l, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %p, %q {echo = false, structure = "_;_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  cf.br ^header(%j : !toy.tensor<i64[]>)
^exit:
  return
}

// `if i < n and c`: where both hold the first is known. The block that asks again is passed by on the way on which the
// answer is known.
// CHECK-LABEL: @both
// CHECK: cf.cond_br %{{.*}}, ^bb1, ^bb4
// CHECK: ^bb1:
// CHECK: cf.br ^bb2(%arg2 :
// CHECK: ^bb2(%[[C:.*]]: !toy.tensor<bool[]>):
// CHECK: ^bb3:
// CHECK-NOT: toy.check_index
// CHECK: return
func.func @both(%i: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>, %other: !toy.tensor<bool[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %k = toy.maximum %i, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %a = toy.lt %k, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %t = toy.truth %a : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %t, ^second, ^ask(%a : !toy.tensor<bool[]>)
^second:
  cf.br ^ask(%other : !toy.tensor<bool[]>)
^ask(%c: !toy.tensor<bool[]>):
  %u = toy.truth %c : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %u, ^body, ^exit
^body:
  %p = toy.check_index %k, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %p {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  cf.br ^exit
^exit:
  return
}

// A block that does more than ask is not passed by, and after `or` nothing is known.
// CHECK-LABEL: @prints
// CHECK: cf.cond_br %{{.*}}, ^bb2(%{{.*}} : !toy.tensor<bool[]>), ^bb1
// CHECK: toy.check_index
func.func @prints(%i: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>, %other: !toy.tensor<bool[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %k = toy.maximum %i, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %a = toy.lt %k, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %t = toy.truth %a : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %t, ^ask(%a : !toy.tensor<bool[]>), ^second
^second:
  cf.br ^ask(%other : !toy.tensor<bool[]>)
^ask(%c: !toy.tensor<bool[]>):
  toy.print %c {echo = false, structure = "_"} : (!toy.tensor<bool[]>) -> ()
  %u = toy.truth %c : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %u, ^body, ^exit
^body:
  %p = toy.check_index %k, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %p {echo = false, structure = "_"} : (!toy.tensor<i64[]>) -> ()
  cf.br ^exit
^exit:
  return
}

// `range(0, n, step)` of a step that is positive: each number is below n. By another step, or of one that may be
// negative, nothing is known.
// CHECK-LABEL: @strides
// CHECK: toy.mul %{{.*}}, %[[S:.*]] {toy.exact}
// CHECK-NOT: toy.check_index
// CHECK: toy.mul %{{.*}}, %arg1 :
// CHECK: toy.check_index
// CHECK: return
func.func @strides(%m: !toy.tensor<i64[]>, %by: !toy.tensor<i64[]>) {
  %n = toy.check_size %m : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %step = toy.maximum %by, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %way = toy.sub %0, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %q = toy.floordiv %way, %step : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %count = toy.sub %0, %q : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %ahead = toy.lt %0, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %turns = toy.where %ahead, %count, %0 : (!toy.tensor<bool[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%0 : !toy.tensor<i64[]>)
^header(%i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %turns : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %at = toy.mul %i, %step : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %p = toy.check_index %at, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %other = toy.mul %i, %by : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %r = toy.check_index %other, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %p, %r {echo = false, structure = "_;_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%j : !toy.tensor<i64[]>)
^exit:
  return
}

// A size is not negative, and behind a check of its last element not 0: minima and maxima are what that leaves of them.
// Of any integer nothing is known, and it may be too small to take 1 away.
// CHECK-LABEL: @beginnings
// CHECK: %[[N:.*]] = toy.dim
// CHECK: toy.size_value %[[N]] {expr = #toy.dim<"max(0,$$0-1)">, toy.exact}
// CHECK: toy.check_index
// CHECK: toy.size_value %[[N]] {expr = #toy.dim<"$$0-1">, toy.exact}
// CHECK: toy.size_value %[[N]] {expr = #toy.dim<"max(0,$$0-2)">, toy.exact}
// CHECK: toy.size_value %arg1 {expr = #toy.dim<"max(0,min(max(0,$$0-1),$$0))">} :
func.func @beginnings(%x: !toy.tensor<f64[N]>, %any: !toy.tensor<i64[]>) {
  %n = toy.dim %x {axis = 0 : i64} : (!toy.tensor<f64[N]>) -> !toy.tensor<i64[]>
  %last = toy.constant {value = dense<-1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %a = toy.size_value %n {expr = #toy.dim<"max(0,min(max(0,$$0-1),$$0))">} : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %i = toy.check_index %last, %n {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %b = toy.size_value %n {expr = #toy.dim<"max(0,min(max(0,$$0-1),$$0))">} : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %c = toy.size_value %n {expr = #toy.dim<"max(0,min(max(0,$$0-2),$$0))">} : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %d = toy.size_value %any {expr = #toy.dim<"max(0,min(max(0,$$0-1),$$0))">} : (!toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  toy.print %a, %b, %c, %d, %i {echo = false, structure = "_;_;_;_;_"} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
  return
}

// Behind the join the vector may be a longer one. Where nothing was appended, check and element are known; where
// something was, both are done on the way there.
// CHECK-LABEL: @joined
// CHECK: ^bb2:
// CHECK: %[[AT:.*]] = toy.check_index %[[I:.*]], %{{.*}} {axis = 0 : i64}
// CHECK: %[[E:.*]] = toy.element %{{.*}}, %[[AT]]
// CHECK: cf.cond_br %{{.*}}, ^bb3, ^bb4
// CHECK: ^bb3:
// CHECK: toy.append
// CHECK: toy.check_index %[[I]]
// CHECK: toy.element
// CHECK: cf.br ^bb5
// CHECK: ^bb4:
// CHECK-NEXT: cf.br ^bb5({{.*}}, %[[E]] :
// CHECK: ^bb5(
// CHECK-NOT: toy.element
// CHECK: cf.br ^bb1
func.func @joined(%x: !toy.tensor<i64["a"]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<i64["a"]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%x, %0 : !toy.tensor<i64["a"]>, !toy.tensor<i64[]>)
^header(%y: !toy.tensor<i64["a"]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %size = toy.dim %y {axis = 0 : i64} : (!toy.tensor<i64["a"]>) -> !toy.tensor<i64[]>
  %at = toy.check_index %i, %size {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %e = toy.element %y, %at : (!toy.tensor<i64["a"]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %u = toy.lt %e, %0 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %u : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^longer, ^same
^longer:
  %l = toy.append %y, %0 : (!toy.tensor<i64["a"]>, !toy.tensor<i64[]>) -> !toy.tensor<i64["a+1"]>
  %z = toy.relabel %l : (!toy.tensor<i64["a+1"]>) -> !toy.tensor<i64["a"]>
  cf.br ^join(%z : !toy.tensor<i64["a"]>)
^same:
  cf.br ^join(%y : !toy.tensor<i64["a"]>)
^join(%w: !toy.tensor<i64["a"]>):
  %more = toy.dim %w {axis = 0 : i64} : (!toy.tensor<i64["a"]>) -> !toy.tensor<i64[]>
  %k = toy.check_index %i, %more {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %j = toy.element %w, %k : (!toy.tensor<i64["a"]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%w, %j : !toy.tensor<i64["a"]>, !toy.tensor<i64[]>)
^exit:
  return %y : !toy.tensor<i64["a"]>
}
