// RUN: %toy-opt --pass-pipeline='builtin.module(toy-lists-as-tensors)' %s | FileCheck %s

// A list that grows in a loop: its size has a name where turns meet, and is one more behind the append.
// CHECK-LABEL: @grown
// CHECK: %[[E:.*]] = toy.full {{.*}} -> !toy.tensor<f64[0]>
// CHECK: %[[R:.*]] = toy.relabel %[[E]] : (!toy.tensor<f64[0]>) -> !toy.tensor<f64["[[N:list.0]]"]>
// CHECK: cf.br ^bb1(%[[R]],
// CHECK: ^bb1(%[[A:[0-9]+]]: !toy.tensor<f64["[[N]]"]>,
// CHECK: %[[B:.*]] = toy.append %[[A]], %arg0 : {{.*}} -> !toy.tensor<f64["[[N]]+1"]>
// CHECK: %[[C:.*]] = toy.relabel %[[B]] : {{.*}} -> !toy.tensor<f64["[[N]]"]>
// CHECK: cf.br ^bb1(%[[C]],
// CHECK: toy.dim %[[A]] {axis = 0 : i64}
// CHECK: toy.element %[[A]],
// CHECK-NOT: toy.list
func.func @grown(%v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> (!toy.tensor<i64[]>, !toy.tensor<f64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<2> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %x = toy.list : () -> !toy.list<!toy.tensor<f64[]>>
  cf.br ^header(%x, %0 : !toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>)
^header(%a: !toy.list<!toy.tensor<f64[]>>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.list_append %a, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %j : !toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>)
^exit:
  %m = toy.list_len %a : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  %e = toy.list_element %a, %0 : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %m, %e : !toy.tensor<i64[]>, !toy.tensor<f64[]>
}

// A loop that stores changes no size: all turns have that of the list that enters, and nothing is renamed.
// CHECK-LABEL: @stored
// CHECK: toy.from_elements %arg0, %arg0 {{.*}} -> !toy.tensor<f64[2]>
// CHECK: ^bb1(%[[A:[0-9]+]]: !toy.tensor<f64[2]>,
// CHECK: %[[B:.*]] = toy.element_store %[[A]], %arg0, {{.*}} -> !toy.tensor<f64[2]>
// CHECK: cf.br ^bb1(%[[B]],
// CHECK-NOT: toy.relabel
// CHECK-NOT: toy.list
func.func @stored(%v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<f64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %x = toy.list %v, %v : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  cf.br ^header(%x, %0 : !toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>)
^header(%a: !toy.list<!toy.tensor<f64[]>>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.list_set %a, %i, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^header(%b, %j : !toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>)
^exit:
  %e = toy.list_element %a, %0 : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[]>
  return %e : !toy.tensor<f64[]>
}

// Where two ways meet with different sizes, a way that has a choice gets a block of its own for the name.
// CHECK-LABEL: @joined
// CHECK: cf.cond_br %{{.*}}, ^bb1, ^[[WAY:bb[0-9]]]
// CHECK: ^bb1:
// CHECK: %[[B:.*]] = toy.append {{.*}} -> !toy.tensor<f64[2]>
// CHECK: toy.relabel %[[B]]
// CHECK: ^[[WAY]]:
// CHECK: toy.relabel %{{.*}} : (!toy.tensor<f64[1]>) -> !toy.tensor<f64["list$0"]>
func.func @joined(%v: !toy.tensor<f64[]>, %c: i1) -> !toy.tensor<i64[]> {
  %x = toy.list %v : (!toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  cf.cond_br %c, ^longer, ^join(%x : !toy.list<!toy.tensor<f64[]>>)
^longer:
  %y = toy.list_append %x, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  cf.br ^join(%y : !toy.list<!toy.tensor<f64[]>>)
^join(%a: !toy.list<!toy.tensor<f64[]>>):
  %m = toy.list_len %a : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  return %m : !toy.tensor<i64[]>
}

// The beginning of a list takes its place; any other part is a list of its own.
// CHECK-LABEL: @taken
// CHECK: %[[X:.*]] = toy.from_elements
// CHECK: toy.shorten %[[X]], %arg1 : {{.*}} -> !toy.tensor<f64["list$0"]>
// CHECK: %[[Z:.*]] = toy.list_slice
// CHECK: %[[K:.*]] = toy.list_len %[[Z]]
// CHECK: return %arg1, %[[K]]
func.func @taken(%v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> (!toy.tensor<i64[]>, !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %x = toy.list %v, %v : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %y = toy.list_slice %x, %0, %n, %1 : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %m = toy.list_len %y : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  %z = toy.list %v, %v : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %w = toy.list_slice %z, %1, %n, %1 : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %k = toy.list_len %w : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  return %m, %k : !toy.tensor<i64[]>, !toy.tensor<i64[]>
}

// Lists that come in, go out or are compared stay lists, and so does what is handed on to them; texts do, too.
// CHECK-LABEL: @left
// CHECK: toy.list_append %arg0
// CHECK: %[[X:.*]] = toy.list %arg1
// CHECK: toy.list_set %[[X]]
// CHECK: toy.list_len
// CHECK: toy.list_eq
// CHECK: toy.list_append
// CHECK-NOT: toy.element
func.func @left(%l: !toy.list<!toy.tensor<f64[]>>, %v: !toy.tensor<f64[]>, %i: !toy.tensor<i64[]>, %s: !toy.str)
    -> (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<bool[]>, !toy.list<!toy.str>) {
  %a = toy.list_append %l, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %x = toy.list %v : (!toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %y = toy.list_set %x, %i, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %m = toy.list_len %y : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  %e = toy.list_eq %x, %y : (!toy.list<!toy.tensor<f64[]>>, !toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<bool[]>
  %t = toy.list %s : (!toy.str) -> !toy.list<!toy.str>
  %u = toy.list_append %t, %s : (!toy.list<!toy.str>, !toy.str) -> !toy.list<!toy.str>
  return %a, %m, %e, %u : !toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<bool[]>, !toy.list<!toy.str>
}

// The length of a list that became longer is asked for before it does, where nothing keeps it alive, and of what was
// cut it is what it was cut to.
// CHECK-LABEL: @lengths
// CHECK: %[[N:.*]] = toy.dim %[[A:.*]] {axis = 0 : i64}
// CHECK: %[[M:.*]] = toy.add %[[N]],
// CHECK: toy.append %[[A]],
// CHECK: toy.element_store
// CHECK: toy.shorten %{{.*}}, %arg2
// CHECK-NOT: toy.dim
// CHECK: return %[[M]], %arg2
func.func @lengths(%v: !toy.tensor<f64[]>, %c: i1, %k: !toy.tensor<i64[]>) -> (!toy.tensor<i64[]>, !toy.tensor<i64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %x = toy.list %v : (!toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %y = toy.list %v, %v : (!toy.tensor<f64[]>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  cf.cond_br %c, ^join(%x : !toy.list<!toy.tensor<f64[]>>), ^join(%y : !toy.list<!toy.tensor<f64[]>>)
^join(%a: !toy.list<!toy.tensor<f64[]>>):
  %b = toy.list_append %a, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %s = toy.list_set %b, %0, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %m = toy.list_len %s : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  %t = toy.list_slice %s, %0, %k, %1 : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %l = toy.list_len %t : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  return %m, %l : !toy.tensor<i64[]>, !toy.tensor<i64[]>
}

// A function that is given a list by code that has none in its signature gets a copy for vectors, which calls itself;
// the function itself, which nobody calls any more, goes.
// CHECK-LABEL: func.func private @longer.vectors(
// CHECK-SAME: %[[A:.*]]: !toy.tensor<f64["[[N:list.*]]"]>, %{{.*}}: !toy.tensor<f64[]>, %{{.*}}: i1) -> !toy.tensor<f64["[[G:given.*]]"]>
// CHECK: %[[B:.*]] = toy.append %[[A]],
// CHECK: %[[C:.*]] = toy.relabel %[[B]] : {{.*}} -> !toy.tensor<f64["[[N]]"]>
// CHECK: %[[D:.*]] = call @longer.vectors(%[[C]],
// CHECK: toy.relabel %[[D]] : (!toy.tensor<f64["[[G]]"]>) -> !toy.tensor<f64["[[O:list.*]]"]>
// CHECK: return %{{.*}} : !toy.tensor<f64["[[G]]"]>
// CHECK-NOT: @longer(
func.func private @longer(%x: !toy.list<!toy.tensor<f64[]>>, %v: !toy.tensor<f64[]>, %c: i1) -> !toy.list<!toy.tensor<f64[]>> {
  cf.cond_br %c, ^end(%x : !toy.list<!toy.tensor<f64[]>>), ^more
^more:
  %y = toy.list_append %x, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %z = call @longer(%y, %v, %c) : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>, i1) -> !toy.list<!toy.tensor<f64[]>>
  cf.br ^end(%z : !toy.list<!toy.tensor<f64[]>>)
^end(%r: !toy.list<!toy.tensor<f64[]>>):
  return %r : !toy.list<!toy.tensor<f64[]>>
}
// CHECK-LABEL: @calls
// CHECK: %[[X:.*]] = toy.from_elements
// CHECK: %[[E:.*]] = toy.relabel %[[X]]
// CHECK: %[[R:.*]] = call @longer.vectors(%[[E]],
// CHECK: %[[L:.*]] = toy.relabel %[[R]]
// CHECK: toy.dim %[[L]]
func.func @calls(%v: !toy.tensor<f64[]>, %c: i1) -> !toy.tensor<i64[]> {
  %x = toy.list %v : (!toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %y = call @longer(%x, %v, %c) : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>, i1) -> !toy.list<!toy.tensor<f64[]>>
  %n = toy.list_len %y : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  return %n : !toy.tensor<i64[]>
}

// One that another module may call keeps its lists, and the functions that it calls theirs; so do those whose result is
// printed, and those of blocks whose errors are caught.
// CHECK-LABEL: @open
// CHECK-SAME: !toy.list
// CHECK: call @shown(%{{.*}}) : (!toy.list
// CHECK-NOT: vectors
func.func @open(%x: !toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]> {
  %y = call @shown(%x) : (!toy.list<!toy.tensor<f64[]>>) -> !toy.list<!toy.tensor<f64[]>>
  %n = toy.list_len %y : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  return %n : !toy.tensor<i64[]>
}
func.func private @shown(%x: !toy.list<!toy.tensor<f64[]>>) -> !toy.list<!toy.tensor<f64[]>> {
  return %x : !toy.list<!toy.tensor<f64[]>>
}
func.func private @tried(%x: !toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]> {
  %n = toy.list_len %x : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  return %n : !toy.tensor<i64[]>
}
func.func @prints(%v: !toy.tensor<f64[]>) {
  %x = toy.list %v : (!toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %y = call @shown(%x) : (!toy.list<!toy.tensor<f64[]>>) -> !toy.list<!toy.tensor<f64[]>>
  toy.print %y {echo = false, structure = "_"} : (!toy.list<!toy.tensor<f64[]>>) -> ()
  %z = toy.list %v : (!toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %n = call @tried(%z) {toy.try} : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  return
}

// A list of lists holds vectors: a row that is read has a size of its own, one that was made longer is put back.
// CHECK-LABEL: @rows
// CHECK: %[[A:.*]] = toy.from_elements %arg0
// CHECK: %[[X:.*]] = toy.list %[[A]] : (!toy.tensor<f64[1]>) -> !toy.list<!toy.tensor<f64["?"]>>
// CHECK: %[[R:.*]] = toy.list_element %[[X]], %{{.*}} -> !toy.tensor<f64["[[N:list.0]]"]>
// CHECK: %[[B:.*]] = toy.append %[[R]], %arg0 : {{.*}} -> !toy.tensor<f64["[[N]]+1"]>
// CHECK: %[[Y:.*]] = toy.list_set %[[X]], %{{.*}}, %[[B]] : {{.*}} -> !toy.list<!toy.tensor<f64["?"]>>
// CHECK: call @held.vectors(%[[Y]]) : (!toy.list<!toy.tensor<f64["?"]>>) -> !toy.list<!toy.tensor<f64["?"]>>
func.func @rows(%v: !toy.tensor<f64[]>) -> !toy.tensor<i64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %a = toy.list %v : (!toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %x = toy.list %a : (!toy.list<!toy.tensor<f64[]>>) -> !toy.list<!toy.list<!toy.tensor<f64[]>>>
  %r = toy.list_element %x, %0 : (!toy.list<!toy.list<!toy.tensor<f64[]>>>, !toy.tensor<i64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %b = toy.list_append %r, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %y = toy.list_set %x, %0, %b : (!toy.list<!toy.list<!toy.tensor<f64[]>>>, !toy.tensor<i64[]>, !toy.list<!toy.tensor<f64[]>>) -> !toy.list<!toy.list<!toy.tensor<f64[]>>>
  %z = call @held(%y) : (!toy.list<!toy.list<!toy.tensor<f64[]>>>) -> !toy.list<!toy.list<!toy.tensor<f64[]>>>
  %n = toy.list_len %z : (!toy.list<!toy.list<!toy.tensor<f64[]>>>) -> !toy.tensor<i64[]>
  return %n : !toy.tensor<i64[]>
}
func.func private @held(%x: !toy.list<!toy.list<!toy.tensor<f64[]>>>) -> !toy.list<!toy.list<!toy.tensor<f64[]>>> {
  return %x : !toy.list<!toy.list<!toy.tensor<f64[]>>>
}

// Where a row, or the list of them, is printed, all stay lists.
// CHECK-LABEL: @shownRows
// CHECK-NOT: toy.append
// CHECK-NOT: ["?"]
// CHECK: return
func.func @shownRows(%v: !toy.tensor<f64[]>) {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %a = toy.list %v : (!toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %b = toy.list_append %a, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %x = toy.list %b : (!toy.list<!toy.tensor<f64[]>>) -> !toy.list<!toy.list<!toy.tensor<f64[]>>>
  %r = toy.list_element %x, %0 : (!toy.list<!toy.list<!toy.tensor<f64[]>>>, !toy.tensor<i64[]>) -> !toy.list<!toy.tensor<f64[]>>
  toy.print %r {echo = false, structure = "_"} : (!toy.list<!toy.tensor<f64[]>>) -> ()
  return
}

// Complex numbers whose parts are apart are elements of lists as they are.
// CHECK-LABEL: @parts
// CHECK: toy.list %arg0 {packed
// CHECK: toy.list_append
// CHECK: toy.list_element
func.func @parts(%v: !toy.tensor<f64[2]>) -> !toy.tensor<f64[2]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %a = toy.list %v {packed = array<i64: 0>} : (!toy.tensor<f64[2]>) -> !toy.list<!toy.tensor<c128[]>>
  %b = toy.list_append %a, %v {packed = array<i64: 1>} : (!toy.list<!toy.tensor<c128[]>>, !toy.tensor<f64[2]>) -> !toy.list<!toy.tensor<c128[]>>
  %r = toy.list_element %b, %0 {packed = array<i64>} : (!toy.list<!toy.tensor<c128[]>>, !toy.tensor<i64[]>) -> !toy.tensor<f64[2]>
  return %r : !toy.tensor<f64[2]>
}

// A vector to which each turn of a counted loop appends is made with its length; one of a loop that may fail is not.
// CHECK-LABEL: @filled
// CHECK: %[[N:.*]] = toy.maximum %arg1
// CHECK: toy.full %{{.*}}, %[[N]]
// CHECK: toy.element_store
// CHECK-NOT: toy.append
// CHECK-LABEL: @mayFail
// CHECK: toy.append
func.func @filled(%v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %x = toy.list  : () -> !toy.list<!toy.tensor<f64[]>>
  cf.br ^loop(%x, %0 : !toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>)
^loop(%a: !toy.list<!toy.tensor<f64[]>>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %b = toy.list_append %a, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^loop(%b, %j : !toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>)
^exit:
  %r = toy.list_len %a : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  return %r : !toy.tensor<i64[]>
}
func.func @mayFail(%v: !toy.tensor<f64[]>, %n: !toy.tensor<i64[]>, %m: !toy.tensor<i64[]>) -> !toy.tensor<i64[]> {
  %0 = toy.constant {value = dense<0> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %1 = toy.constant {value = dense<1> : tensor<i64>} : () -> !toy.tensor<i64[]>
  %x = toy.list  : () -> !toy.list<!toy.tensor<f64[]>>
  cf.br ^loop(%x, %0 : !toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>)
^loop(%a: !toy.list<!toy.tensor<f64[]>>, %i: !toy.tensor<i64[]>):
  %t = toy.lt %i, %n : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<bool[]>
  %c = toy.truth %t : (!toy.tensor<bool[]>) -> i1
  cf.cond_br %c, ^body, ^exit
^body:
  %k = toy.check_index %i, %m {axis = 0 : i64} : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  %b = toy.list_append %a, %v : (!toy.list<!toy.tensor<f64[]>>, !toy.tensor<f64[]>) -> !toy.list<!toy.tensor<f64[]>>
  %j = toy.add %i, %1 : (!toy.tensor<i64[]>, !toy.tensor<i64[]>) -> !toy.tensor<i64[]>
  cf.br ^loop(%b, %j : !toy.list<!toy.tensor<f64[]>>, !toy.tensor<i64[]>)
^exit:
  %r = toy.list_len %a : (!toy.list<!toy.tensor<f64[]>>) -> !toy.tensor<i64[]>
  return %r : !toy.tensor<i64[]>
}
