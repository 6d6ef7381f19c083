// SPDX-License-Identifier: Apache-2.0
/// \file
/// Functions of the toy dialect as LLVM IR: control flow, scalars in registers, tensors as counted references, kernels
/// and runtime calls.
#pragma once

#include "passes/CountedLoops.h"
#include "passes/lowering/AliasScopes.h"
#include "passes/lowering/CarriedVectors.h"
#include "passes/lowering/CodePlaces.h"
#include "passes/lowering/KernelEmitter.h"
#include "passes/lowering/LentArguments.h"
#include "support/CallLimit.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace toy {

/// What compiled code refers to by number or address at run time.
struct EmissionTables {
  /// Places that can fail, by the number that compiled code leaves in `toy_rt_site`: counted from the first word of
  /// `toy.data`, which the code reads, so that the same code serves wherever it is loaded.
  std::vector<mlir::Location> &sites;
  /// Operations that the runtime executes; their addresses are the words behind the first.
  std::vector<mlir::Operation *> &operations;
  /// Tensors that are made when the code is loaded; the words of `toy.constants`.
  std::vector<mlir::Operation *> &constants;
  DeviceCode *device = nullptr; ///< where kernels of a device go; null: everything is done by the host
  bool valuesMoveAway = false;  ///< elements may be on a device
  CodePlaces *places = nullptr; ///< for code that says where it is
};

/// The function of the runtime for objects of a type.
std::string forObject(llvm::StringRef name, mlir::Type type);

class FunctionEmitter {
public:
  FunctionEmitter(llvm::Module &module, mlir::func::FuncOp function, EmissionTables tables)
      : module(module), function(function), tables(tables), b(module.getContext()), scalars(module, b),
        liveness(function), apart(function, liveness), isLibrary(function->hasAttr("toy.prelude")),
        tellsTurns(isOfTopLevel(function)) {
    loops.emplace(function);
    if (!tables.valuesMoveAway)
      carried = CarriedVectors(function, *loops);
  }

  /// Emits the body and an entry `symbol.entry(Tensor **arguments, Tensor **results)` that boxes scalars.
  void emit();
  static llvm::Function *declare(llvm::Module &module, mlir::func::FuncOp function);

private:
  // FunctionEmitter.cpp
  void emitEntry(llvm::Function *body);
  void setPlace(mlir::Operation *op);
  /// What the library does is done by the user's call of it.
  CodePlaces *ownPlaces() { return isLibrary ? nullptr : tables.places; }
  void emitBlock(mlir::Block &block);
  void emitTerminator(mlir::Block &block);
  /// Looks for Ctrl-C, and whether loops are to say how far they are; on the edges that close loops and where functions
  /// that call themselves begin.
  llvm::LoadInst *emitPoll(mlir::Operation *branch);
  void markTurn(mlir::Operation *branch, int64_t turns);
  llvm::SmallVector<llvm::Value *, 4> turnsAt(mlir::Operation *branch);
  llvm::BasicBlock *edge(mlir::Block *from, mlir::Block *to, mlir::ValueRange operands);
  Slot slotFromArguments(mlir::Type type, llvm::Function::arg_iterator &argument);
  void append(llvm::SmallVectorImpl<llvm::Value *> &values, mlir::Value v);
  Slot makePhi(mlir::Value argument);
  void findRowsInLanes();
  bool isObject(mlir::Value v) {
    return llvm::isa<StrType, ListType>(v.getType()) ||
           (llvm::isa<TensorType>(v.getType()) && !tensorTypeOf(v).isScalar() && !rowLanesOf.contains(v));
  }
  void release(mlir::Value v);
  void retain(mlir::Value v);
  bool isReadWhileHeld(RelabelOp op);
  /// Whether `op` uses the value for the last time in this function.
  bool diesAt(mlir::Value v, mlir::Operation *op) { return toy::diesAt(liveness, v, op); }
  void releaseDead(mlir::Operation *op);
  /// Where a value of a loop that nothing keeps is if it is small, or null.
  const FrameTensor *frameOf(mlir::Value v);
  /// Whether this function has no reference of its own: others keep theirs while it runs.
  bool isBorrowed(mlir::Value v) { return isLent(v) || borrowed.contains(v.getAsOpaquePointer()); }

  // OpEmitter.cpp
  void emitOp(mlir::Operation *op);
  /// An elementwise operation on scalars.
  void emitScalar(mlir::Operation *op);
  llvm::Value *emitMultiple(mlir::Operation *op);
  void emit(DimOp op);
  void emit(RelabelOp op);
  void emit(TruthOp op);
  void emit(CheckSizeOp op);
  void emit(CheckEqualOp op);
  llvm::Value *reusableInput(FusedOp op);
  void emit(FusedOp op);
  /// On the host: loops over the group, or over each of its groups.
  llvm::SmallVector<Slot, 1> emitLoops(FusedOp op, llvm::ArrayRef<Slot> inputs, llvm::Value *reusable,
                                       const std::string &name);
  /// The elements of a tensor object, which may be on a device, are on the host from here on.
  void bringToHost(mlir::Value v);
  void emit(mlir::func::CallOp op);
  void emitTry(mlir::func::CallOp op);
  void emit(SystemOp op);
  void emit(AbsentOp op);
  void emit(FormatOp op);
  void emit(ToStrOp op);
  void emitFormat(mlir::Operation *op, llvm::StringRef plan);
  llvm::Value *enterCall(mlir::func::CallOp op);
  /// What an operation with several results gives, part by part.
  void placeResults(mlir::Operation *op, llvm::function_ref<llvm::Value *()> next);
  llvm::BasicBlock *unwindBlock(mlir::func::CallOp op);
  std::pair<llvm::Value *, llvm::SmallVector<llvm::Value *>> passObjects(mlir::ValueRange operands, mlir::Operation *op,
                                                                         bool takesFirst);
  void emitEval(mlir::Operation *op);
  void callWithObjects(llvm::StringRef function, mlir::Operation *op, mlir::ValueRange operands, bool takesFirst,
                       llvm::ArrayRef<llvm::Value *> more = {});
  // RuntimeCalls.cpp
  bool emitRuntimeCall(mlir::Operation *op);
  bool emitDraw(DrawOp op);
  // OpEmitter.cpp
  void emitView(mlir::Operation *op);
  void emit(ConstantOp op);
  void emit(AssertOp op);
  void emit(SizeValueOp op);
  // Products.cpp
  void emit(GemmOp op);
  void emit(PlanarGemmOp op);
  llvm::Value *viewArray(llvm::ArrayRef<int64_t> axes, mlir::ValueRange bounds, llvm::ArrayRef<int64_t> steps);
  struct Factor;
  Factor factorOf(mlir::Value v, int64_t inner, int64_t outer, mlir::ValueRange bounds, llvm::ArrayRef<int64_t> steps);
  Element factorElement(const Factor &x, llvm::Value *outer, llvm::Value *inner);
  bool isSmallProduct(GemmOp op);
  void emitSums(GemmOp op, const Factor &left, const Factor &right, llvm::Value *out);
  Slot emitSmallProduct(GemmOp op, llvm::function_ref<llvm::Value *()> otherwise);
  // Elements.cpp
  /// Takes the address and the sizes of a value whose elements are read or written one by one, where it is made.
  void openElements(mlir::Value v);
  void openLanes(mlir::Value v);
  llvm::Value *dataOf(mlir::Value v, bool isWritten);
  /// The place of an element in row-major order. Indices lie inside.
  llvm::Value *linearIndex(mlir::Value tensor, mlir::ValueRange indices);
  bool isInLoopOver(mlir::Operation *op, mlir::Value v);
  /// Emits an access to an element of a tensor, which other tensors have no part in.
  void access(mlir::Value tensor, llvm::function_ref<void()> body);
  bool emitTable(ConstantOp op);
  void emit(ElementOp op);
  void emit(ElementSetOp op);
  void emit(FromElementsOp op);
  void emit(UniqueOp op);
  void emit(CheckIndexOp op);
  // Lists.cpp
  void emit(ListLenOp op);
  llvm::LoadInst *readHeader(llvm::Type *type, llvm::Value *at);
  llvm::Value *lengthOfList(llvm::Value *list);
  llvm::Value *placeOf(llvm::Value *list, llvm::Value *index, llvm::Value *items = nullptr);
  void openList(mlir::Value list);
  bool isReadWhileHeld(ListElementOp op);
  llvm::Value *guarded(ListElementOp op);
  bool isTaken(ListElementOp op);
  void emit(ListElementOp op);
  void emit(ListAppendOp op);
  void emit(ListSetOp op);
  void emit(ListUniqueOp op);
  void emit(ListOwnOp op);
  llvm::Value *ownedElement(ListOwnOp op, llvm::Value *list, llvm::Value *index, mlir::Type type);
  bool isChangedBefore(ListElementOp op, llvm::ArrayRef<mlir::Block *> blocks);
  llvm::Value *ownReference(mlir::Value v, mlir::Operation *op);
  /// A word of an object; an integer where no type is given.
  llvm::Value *loadWord(llvm::Value *object, size_t offset, llvm::Type *type = nullptr);
  llvm::Value *itemOf(mlir::Value v, mlir::Operation *op);
  // GrowingVectors.cpp
  std::pair<llvm::Value *, llvm::Value *> dataAndLength(mlir::Value v);
  void setDataAndLength(mlir::Value v, llvm::Value *data, llvm::Value *length);
  llvm::Value *roomOf(mlir::Value v, llvm::Value *object);
  void handOn(mlir::Value to, mlir::Value from);
  void storeLength(llvm::Value *object, llvm::Value *length);
  void bringHeadersUpToDate(mlir::Operation *op);
  llvm::Value *valueOfEither(llvm::PHINode *object, llvm::Value *inPlace, llvm::Value *called);
  void emit(AppendOp op);
  void emitLongerCopy(AppendOp op);
  void emit(ShortenOp op);
  llvm::Value *turnsLeft(AppendOp op);
  int64_t makeRoomBehind(AppendOp op);
  llvm::Value *appended(AppendOp op, llvm::Value *object, int64_t more = 0);
  llvm::Value *isAlone(llvm::Value *object);
  // OpEmitter.cpp
  void failUnless(llvm::Value *condition, mlir::Operation *op);
  void setSite(mlir::Operation *op, bool isRare = false);
  llvm::Value *siteNumber(mlir::Location place, bool isRare = false);
  void describeLoop(llvm::BranchInst *back, mlir::Operation *branch, mlir::Location place);
  llvm::Value *tableWord(llvm::StringRef table, int64_t index, llvm::Type *type, bool isRare = false);
  llvm::Value *sizeOf(mlir::Value tensor, int64_t axis);
  llvm::Value *stackArray(llvm::Type *type, int64_t count);
  llvm::Value *sizesArray(llvm::ArrayRef<llvm::Value *> sizes);
  llvm::Value *box(mlir::Value v);
  Slot unbox(mlir::Type type, llvm::Value *object);

  llvm::Module &module;
  mlir::func::FuncOp function;
  EmissionTables tables;
  llvm::IRBuilder<> b;
  ScalarEmitter scalars;
  mlir::Liveness liveness;
  AliasScopes apart;
  const bool isLibrary;  ///< written in Toy, but not by the user
  const bool tellsTurns; ///< its loops say how far they are, where they are asked
  mlir::DominanceInfo dominance;
  std::optional<FunctionLoops> loops;
  CarriedVectors carried;
  llvm::Function *f = nullptr;
  llvm::DenseMap<mlir::Value, Slot> slots;
  llvm::DenseMap<mlir::Block *, llvm::BasicBlock *> starts, blocks; ///< first and last LLVM block of each block
  std::map<void *, FrameTensor> frames;                             ///< of values of loops that may be there
  llvm::DenseMap<mlir::Value, int64_t> rowLanesOf;                  ///< of rows in registers: how many lanes there are
  llvm::DenseMap<mlir::Value, size_t> numbers;                      ///< of values, in the order of the text
  llvm::SmallPtrSet<void *, 4> moved;               ///< operands whose reference the current operation took
  llvm::SmallPtrSet<mlir::Operation *, 4> haveRoom; ///< appends behind one that made room for them
  llvm::SmallPtrSet<void *, 4> borrowed;            ///< what is only read, and held by the code or by another name
  llvm::DenseMap<mlir::Block *, size_t> position;   ///< of each block in the order of emission
  mlir::Block *current = nullptr;
  /// Sizes that were read where the tensor is made, by axis.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, llvm::Value *> ownSizes;
  /// Of vectors that grow: how many elements their blocks have room for.
  llvm::DenseMap<mlir::Value, llvm::Value *> rooms;
  /// Sizes that were read, by expression, each with the block that read it.
  llvm::DenseMap<Dim, llvm::SmallVector<std::pair<mlir::Block *, llvm::Value *>, 1>> sizes;
  int kernels = 0, folds = 0;
};

} // namespace toy
