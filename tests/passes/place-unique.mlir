// RUN: %toy-opt --pass-pipeline='builtin.module(func.func(toy-place-unique))' %s | FileCheck %s

// A parameter may be somebody else's, too: it is made unique before the loop, once, and the loop no longer hands it on.
// CHECK-LABEL: @filled
// CHECK: %[[U:.*]] = toy.unique %arg0
// CHECK-NEXT: cf.br ^bb1(%{{.*}} : !toy.tensor<i64[]>)
// CHECK: ^bb2:
// CHECK-NEXT: toy.element_set %[[U]], %arg1, %{{.*}}
// CHECK-NOT: toy.unique
// CHECK: return %[[U]]
func.func @filled(%x: !toy.tensor<f64[N]>, %v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[N]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[N]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.element_store %a, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %j : !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[N]>
}

// What a group has made belongs to nobody else.
// CHECK-LABEL: @made
// CHECK-NOT: toy.unique
// CHECK: toy.element_set
// CHECK: return
func.func @made(%v: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[N]> {
  %x = toy.fused %v, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]> {
  ^bb0(%a: !toy.tensor<f64[]>, %m: !toy.tensor<i64[]>):
    %0 = toy.full %a, %m : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
    toy.yield %0 : (!toy.tensor<f64[N]>) -> ()
  }
  %y = toy.element_store %x, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  return %y : !toy.tensor<f64[N]>
}

// The old value is read later: the store is to a copy.
// CHECK-LABEL: @both
// CHECK: %[[U:.*]] = toy.unique %arg0
// CHECK: toy.element_set %[[U]]
// CHECK: return %arg0, %[[U]]
func.func @both(%x: !toy.tensor<f64[N]>, %v: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>) -> (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) {
  %y = toy.element_store %x, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  return %x, %y : !toy.tensor<f64[N]>, !toy.tensor<f64[N]>
}

// Each turn keeps the value under a second name (`b = a`): a copy a turn.
// CHECK-LABEL: @kept
// CHECK: ^bb2:
// CHECK: %[[U:.*]] = toy.unique
// CHECK: toy.element_set %[[U]]
func.func @kept(%x: !toy.tensor<f64[N]>, %v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%x, %x, %0 : !toy.tensor<f64[N]>, !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[N]>, %before: !toy.tensor<f64[N]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.element_store %a, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %a, %j : !toy.tensor<f64[N]>, !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^exit:
  return %a, %before : !toy.tensor<f64[N]>, !toy.tensor<f64[N]>
}

// Two tensors change places: both are unique before the loop, and stay arguments.
// CHECK-LABEL: @swapped
// CHECK-COUNT-2: toy.unique
// CHECK: ^bb1(%[[A:.*]]: !toy.tensor<f64[N]>, %[[B:.*]]: !toy.tensor<f64[N]>,
// CHECK-NOT: toy.unique
// CHECK: toy.element_set %[[A]]
// CHECK: cf.br ^bb1(%[[B]], %[[A]],
func.func @swapped(%x: !toy.tensor<f64[N]>, %y: !toy.tensor<f64[N]>, %v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[N]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%x, %y, %0 : !toy.tensor<f64[N]>, !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[N]>, %b: !toy.tensor<f64[N]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %s = toy.element_store %a, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %s, %j : !toy.tensor<f64[N]>, !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[N]>
}

// A function that is called while the value lives may keep it: the reference may be shared afterwards.
// CHECK-LABEL: @shown
// CHECK: ^bb2:
// CHECK: call @keep
// CHECK: %[[U:.*]] = toy.unique
// CHECK: toy.element_set %[[U]]
func.func private @keep(!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
func.func @shown(%x: !toy.tensor<f64[N]>, %v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[N]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^header(%x, %0 : !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^header(%a: !toy.tensor<f64[N]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %k = call @keep(%a) : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[N]>
  %b = toy.element_store %a, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  toy.print %k {echo = false, structure = "_"} : (!toy.tensor<f64[N]>) -> ()
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %j : !toy.tensor<f64[N]>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.tensor<f64[N]>
}

// Equal fills have become one value, of which both are stored into: each is filled.
// CHECK-LABEL: @two
// CHECK-NOT: toy.unique
// CHECK: %[[A:.*]] = toy.fused
// CHECK: toy.element_set %[[A]]
// CHECK: %[[B:.*]] = toy.fused
// CHECK: toy.element_set %[[B]]
// CHECK-NOT: toy.fused
// CHECK: return %[[A]], %[[B]]
func.func @two(%v: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>) -> (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) {
  %x = toy.fused %v, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]> {
  ^bb0(%a: !toy.tensor<f64[]>, %m: !toy.tensor<i64[]>):
    %0 = toy.full %a, %m : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
    toy.yield %0 : (!toy.tensor<f64[N]>) -> ()
  }
  %y = toy.element_store %x, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %z = toy.element_store %x, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  return %y, %z : !toy.tensor<f64[N]>, !toy.tensor<f64[N]>
}

// What is computed is copied, and so is a fill that something else reads.
// CHECK-LABEL: @reads
// CHECK: %[[X:.*]] = toy.fused
// CHECK: toy.unique %[[X]]
// CHECK: return %[[X]]
func.func @reads(%v: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>, %n: !toy.tensor<i64[]>) -> (!toy.tensor<f64[N]>, !toy.tensor<f64[N]>) {
  %x = toy.fused %v, %n : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]> {
  ^bb0(%a: !toy.tensor<f64[]>, %m: !toy.tensor<i64[]>):
    %0 = toy.full %a, %m : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
    toy.yield %0 : (!toy.tensor<f64[N]>) -> ()
  }
  %y = toy.element_store %x, %v, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  return %x, %y : !toy.tensor<f64[N]>, !toy.tensor<f64[N]>
}

// Two names of one value: sizes and elements behind the second are read by it, so that the first is given away there;
// what stands before it keeps the first.
// CHECK-LABEL: @names
// CHECK: toy.dim %arg0
// CHECK: %[[Y:.*]] = toy.relabel %arg0
// CHECK: toy.dim %[[Y]]
// CHECK: toy.element %[[Y]]
func.func @names(%x: !toy.tensor<f64[N]>, %i: !toy.tensor<i64[]>) -> (!toy.tensor<f64[M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<f64[]>) {
  %a = toy.dim %x {axis = 0 : i64} : (!toy.tensor<f64[N]>) -> !toy.tensor<i64[]>
  %y = toy.relabel %x : (!toy.tensor<f64[N]>) -> !toy.tensor<f64[M]>
  %b = toy.dim %x {axis = 0 : i64} : (!toy.tensor<f64[N]>) -> !toy.tensor<i64[]>
  %e = toy.element %x, %i : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %y, %a, %b, %e : !toy.tensor<f64[M]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<f64[]>
}

// What is stored where it was read, in a vector or a list, is there.
// CHECK-LABEL: @same
// CHECK-NOT: toy.unique %arg0
// CHECK-NOT: toy.list_set %arg1, %arg2
// CHECK: toy.list_set %arg1, %arg3
// CHECK: return
func.func @same(%x: !toy.tensor<f64[N]>, %l: !toy.list<!toy.tensor<f64[]>>, %i: !toy.tensor<i64[]>,
    %j: !toy.tensor<i64[]>) -> (!toy.tensor<f64[N]>, !toy.list<!toy.tensor<f64[]>>, !toy.list<!toy.tensor<f64[]>>) {
  %a = toy.element %x, %i : (!toy.tensor<f64[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %y = toy.element_store %x, %a, %i : (!toy.tensor<f64[N]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[N]>
  %b = toy.list_element %l, %i : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  %m = toy.list_set %l, %i, %b : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %n = toy.list_set %l, %j, %b : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  return %y, %m, %n : !toy.tensor<f64[N]>, !toy.list<!toy.tensor<f64[]>>, !toy.list<!toy.tensor<f64[]>>
}

// A row of a list changes in the list, which is made unique before the loops, the row before the loop in which it is one.
// CHECK-LABEL: @rows
// CHECK: %[[L:.*]] = toy.list_unique %arg0
// CHECK-NEXT: cf.br ^bb1
// CHECK: ^bb2:
// CHECK-NEXT: toy.list_own %[[L]], %[[I:.*]] :
// CHECK-NEXT: %[[ROW:.*]] = toy.list_element %[[L]], %[[I]] {changed, toy.guarded}
// CHECK-NEXT: cf.br ^bb4
// CHECK: toy.element_set %[[ROW]]
// CHECK-NOT: toy.list_set
func.func @rows(%m: !toy.list<!toy.tensor<f64["?"]>>, %v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> !toy.list<!toy.tensor<f64["?"]>> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^outer(%m, %0 : !toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>)
^outer(%a: !toy.list<!toy.tensor<f64["?"]>>, %i: !toy.tensor<i64[]>):
  %s = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %b = toy.truth %s : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %b, ^enter, ^exit
^enter:
  cf.br ^inner(%a, %0 : !toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>)
^exit:
  return %a : !toy.list<!toy.tensor<f64["?"]>>
^inner(%c: !toy.list<!toy.tensor<f64["?"]>>, %j: !toy.tensor<i64[]>):
  %t = toy.lt %j, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^next
^body:
  %len = toy.list_len %c : (!toy.list<!toy.tensor<f64["?"]>>) -> !toy.tensor<i64[]>
  %at = toy.check_index %i, %len {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %row = toy.list_element %c, %at : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %changed = toy.element_store %row, %v, %j : (!toy.tensor<f64[M]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %e = toy.list_set %c, %at, %changed : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>, !toy.tensor<f64[M]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %k = toy.add %j, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^inner(%e, %k : !toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>)
^next:
  %l = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^outer(%c, %l : !toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>)
}

// A row gets a second name in the loop: it is looked at in each turn.
// CHECK-LABEL: @named
// CHECK: toy.list_append
// CHECK: toy.list_own %{{.*}}, %{{.*}} {inside}
// CHECK: toy.element_set
func.func @named(%m: !toy.list<!toy.tensor<f64["?"]>>, %others: !toy.list<!toy.tensor<f64["?"]>>, %v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> (!toy.list<!toy.tensor<f64["?"]>>, !toy.list<!toy.tensor<f64["?"]>>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  cf.br ^loop(%m, %others, %0 : !toy.list<!toy.tensor<f64["?"]>>, !toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>)
^loop(%c: !toy.list<!toy.tensor<f64["?"]>>, %o: !toy.list<!toy.tensor<f64["?"]>>, %j: !toy.tensor<i64[]>):
  %t = toy.lt %j, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %d = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %d, ^body, ^exit
^body:
  %held = toy.list_element %c, %0 : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[K]>
  %p = toy.list_append %o, %held : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<f64[K]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %row = toy.list_element %c, %0 : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %changed = toy.element_store %row, %v, %j : (!toy.tensor<f64[M]>, !toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[M]>
  %e = toy.list_set %c, %0, %changed : (!toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>, !toy.tensor<f64[M]>) -> !toy.list<!toy.tensor<f64["?"]>>
  %k = toy.add %j, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^loop(%e, %p, %k : !toy.list<!toy.tensor<f64["?"]>>, !toy.list<!toy.tensor<f64["?"]>>, !toy.tensor<i64[]>)
^exit:
  return %c, %o : !toy.list<!toy.tensor<f64["?"]>>, !toy.list<!toy.tensor<f64["?"]>>
}

// Two vectors begin as one empty one, which is returned, too: what gets longer begins as one of its own, and is not
// asked who else holds it.
// CHECK-LABEL: @empty
// CHECK: %[[E:.*]] = toy.fused
// CHECK: %[[OTHER:.*]] = toy.fused
// CHECK: toy.relabel %[[OTHER]]
// CHECK: toy.append %{{.*}}, %{{.*}} {toy.owned}
// CHECK: return %{{.*}}, %[[E]]
func.func @empty(%v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> (!toy.tensor<f64[L]>, !toy.tensor<f64[0]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %none = toy.fused %v, %0 : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[0]> {
  ^bb0(%a: !toy.tensor<f64[]>, %b: !toy.tensor<i64[]>):
    %f = toy.full %a, %b : (!toy.tensor<f64[]>, !toy.tensor<i64[]>) -> !toy.tensor<f64[0]>
    toy.yield %f : (!toy.tensor<f64[0]>) -> ()
  }
  %first = toy.relabel %none : (!toy.tensor<f64[0]>) -> !toy.tensor<f64[L]>
  cf.br ^loop(%first, %0 : !toy.tensor<f64[L]>, !toy.tensor<i64[]>)
^loop(%x: !toy.tensor<f64[L]>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %longer = toy.append %x, %v : (!toy.tensor<f64[L]>, !toy.tensor<f64[]>) -> !toy.tensor<f64["L+1"]>
  %y = toy.relabel %longer : (!toy.tensor<f64["L+1"]>) -> !toy.tensor<f64[L]>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^loop(%y, %j : !toy.tensor<f64[L]>, !toy.tensor<i64[]>)
^exit:
  return %x, %none : !toy.tensor<f64[L]>, !toy.tensor<f64[0]>
}
