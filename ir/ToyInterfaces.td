// SPDX-License-Identifier: Apache-2.0
// The interfaces and op classes that every toy operation is built from.
#ifndef TOY_INTERFACES
#define TOY_INTERFACES

include "ir/ToyTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Toy_TypeRule : OpInterface<"TypeRuleOpInterface"> {
  let cppNamespace = "::toy";
  let description = [{
    The one place that knows which operand types an operation takes and what its results are. IR generation asks before
    it creates the operation, the verifier asks again, and passes that change operand types (specialisation, unpacking)
    ask for the new results.
  }];
  let methods = [StaticInterfaceMethod<[{
      Sets `ctx.results` from operands and attributes, or reports why not through `ctx.fail`.
    }], "::llvm::LogicalResult", "inferTypes", (ins "::toy::RuleContext &":$ctx)>];
  let verify = [{ return ::toy::verifyTypeRule($_op); }];
}

// An operation of the dialect whose results are computed by `::toy::rules::<rule>(ctx)`.
class Toy_Op<string mnemonic, string rule, list<Trait> traits = []> : Op<Toy_Dialect, mnemonic, traits
    # [Toy_TypeRule]> {
  string ruleMethod = "static ::llvm::LogicalResult inferTypes(::toy::RuleContext &ctx) { return ::toy::rules::" # rule
      # "(ctx); }\n";
  let extraClassDeclaration = ruleMethod;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

// May fail at run time or acts on the world: neither removed, repeated nor reordered with its like.
defvar Toy_Effect = MemoryEffects<[MemRead, MemWrite]>;
// The same of some operands, of others none.
defvar Toy_ElementEffect = DeclareOpInterfaceMethods<MemoryEffectsOpInterface>;

// Marks: computes with element values. Operands of bf16 and f16, which are storage types, are widened to f32 before it
// and results rounded
// after it, so no such operand reaches it.
def Toy_Computes : NativeOpTrait<"Computes"> { let cppNamespace = "::toy::OpTrait"; }
// Marks: computed element by element from operands of the same (broadcast) index.
def Toy_Elementwise : NativeOpTrait<"Elementwise"> { let cppNamespace = "::toy::OpTrait"; }
// Marks: an element of the result is an element of the operands (index maps): fuses into consumers without cost.
/// Acts on real and imaginary parts alike, each on its own.
def Toy_PartWise : NativeOpTrait<"PartWise"> { let cppNamespace = "::toy::OpTrait"; }
def Toy_IndexMap : NativeOpTrait<"IndexMap"> { let cppNamespace = "::toy::OpTrait"; }
// Marks: folds one or more axes with an associative operation.
def Toy_Reduction : NativeOpTrait<"Reduction"> { let cppNamespace = "::toy::OpTrait"; }
#endif
