// SPDX-License-Identifier: Apache-2.0
// What several processes (ranks) that run one program do together.
#ifndef TOY_COLLECTIVE_OPS
#define TOY_COLLECTIVE_OPS

include "ir/ToyInterfaces.td"

def RankOp : Toy_Op<"rank", "indexScalar", [Pure]> {
  let summary = "the number of this process among those that run the program";
  let description = "Known at run time only: code is the same for all ranks.\n```mlir\n%r = toy.rank : () -> "
      "!toy.tensor<i64[]>\n```";
  let results = (outs Toy_Index:$result);
}
def RankCountOp : Toy_Op<"rank_count", "indexScalar", [Pure]> {
  let summary = "how many processes run the program";
  let description = "1 without a launcher.\n```mlir\n%p = toy.rank_count : () -> !toy.tensor<i64[]>\n```";
  let results = (outs Toy_Index:$result);
}

// What goes on between ranks: each of them waits for others, so all meet in one order. Such operations keep their order
// and are never merged, hoisted or removed, even if nobody here reads the result.
def Toy_Network : Resource<"::toy::Network">;
class Toy_Collective<string mnemonic, string rule, string summary_, string semantics>
    : Toy_Op<mnemonic, rule, [MemoryEffects<[MemRead<Toy_Network>, MemWrite<Toy_Network>]>]> {
  let summary = summary_;
  let description = semantics;
}

def AllReduceOp : Toy_Collective<"all_reduce", "sameTensor", "the sum (or another reduction) of all ranks' values", [{
    Over a balanced tree of rank numbers: neighbours first, then pairs of pairs; the same bits on all ranks. `reduction`
    is `sum`, `prod`, `min`, `max`, `mean`, `any` or `all`. Sums of bf16 and f16 are those of f32, rounded once.

    ```mlir
    %s = toy.all_reduce %x {reduction = "sum"} : (!toy.tensor<f32[N]>) -> !toy.tensor<f32[N]>
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$x, StrAttr:$reduction);
  let results = (outs Toy_Tensor:$result);
}
def AllGatherPartsOp : Toy_Collective<"all_gather_parts", "axisOfRanks", "what `toy.all_reduce` adds up", [{
    Behind each other along axis 0: the values of all ranks, or, where those are more than 8, sums of 8 neighbours' that
    their tree has anyway; the whole sum alone where the host has it. To other ranks it is the `toy.all_reduce` that it
    was made from. The mean is left to divide.

    ```mlir
    %p = toy.all_gather_parts %x {axis = 0 : i64, reduction = "sum"} : (!toy.tensor<f32[4, 8]>)
      -> !toy.tensor<f32[s0, 8]>
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$x, I64Attr:$axis, StrAttr:$reduction);
  let results = (outs Toy_Tensor:$result);
}
def ReduceScatterOp : Toy_Collective<"reduce_scatter", "axisOfRanks", "a shard of what `toy.all_reduce` gives", [{
    Rank r keeps the elements along the axis that `shard` would give it.

    ```mlir
    %s = toy.reduce_scatter %x {axis = 0 : i64, reduction = "sum"} : (!toy.tensor<f32[N]>) -> !toy.tensor<f32[s0]>
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$x, I64Attr:$axis, StrAttr:$reduction);
  let results = (outs Toy_Tensor:$result);
}
def AllGatherOp : Toy_Collective<"all_gather", "axisOfRanks", "all ranks' values joined along an axis", [{
    In the order of ranks. Sizes along the axis may differ.

    ```mlir
    %s = toy.all_gather %x {axis = 0 : i64} : (!toy.tensor<f32[N, 3]>) -> !toy.tensor<f32[s0, 3]>
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$x, I64Attr:$axis);
  let results = (outs Toy_Tensor:$result);
}
def AllToAllOp : Toy_Collective<"all_to_all", "sameTensor", "parts along an axis exchanged between all ranks", [{
    Part j goes to rank j; what arrives is joined in the order of ranks.

    ```mlir
    %s = toy.all_to_all %x {axis = 0 : i64} : (!toy.tensor<f32[N, 3]>) -> !toy.tensor<f32[N, 3]>
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$x, I64Attr:$axis);
  let results = (outs Toy_Tensor:$result);
}
def BroadcastRanksOp : Toy_Collective<"broadcast_ranks", "sizesOfRank", "the value of one rank on all of them", [{
    With the sizes that it has there.

    ```mlir
    %s = toy.broadcast_ranks %x, %from : (!toy.tensor<f32[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f32[s0]>
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$x, Toy_Index:$from);
  let results = (outs Toy_Tensor:$result);
}
def SendOp : Toy_Collective<"send", "nothing", "a value for another rank", [{
    ```mlir
    toy.send %x, %to, %tag : (!toy.tensor<f32[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>) -> ()
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$x, Toy_Index:$to, Toy_Index:$tag);
}
def RecvOp : Toy_Collective<"recv", "sameTensor", "a value that another rank sends", [{
    Its dtype and its sizes are those of `like`, which is checked when it arrives.

    ```mlir
    %r = toy.recv %like, %from, %tag : (!toy.tensor<f32[N]>, !toy.tensor<i64[]>, !toy.tensor<i64[]>)
      -> !toy.tensor<f32[N]>
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$like, Toy_Index:$from, Toy_Index:$tag);
  let results = (outs Toy_Tensor:$result);
}
def ShiftOp : Toy_Collective<"shift", "sameTensor", "values passed on around the ring of ranks", [{
    To rank + by, from rank - by.

    ```mlir
    %s = toy.shift %x, %by : (!toy.tensor<f32[N]>, !toy.tensor<i64[]>) -> !toy.tensor<f32[N]>
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$x, Toy_Index:$by);
  let results = (outs Toy_Tensor:$result);
}
def CheckReplicatedOp : Toy_Collective<"check_replicated", "nothing", "whether a value is the same on all ranks", [{
    Fails where it is not, and says on which. `what` is what the value is to the reader of the message. Made for
    `--check-replicated`.

    ```mlir
    toy.check_replicated %x {what = "the condition"} : (!toy.tensor<bool[]>) -> ()
    ```
  }]> {
  let arguments = (ins Toy_Tensor:$x, StrAttr:$what);
}
def BarrierOp : Toy_Collective<"barrier", "nothing", "waits until all ranks are here",
                               "```mlir\ntoy.barrier : () -> ()\n```">;
#endif
