// SPDX-License-Identifier: Apache-2.0
/// \file
/// The kernel emitter: a `toy.fused` group becomes an LLVM function of one loop nest. Every element of the result is
/// computed from its index; index maps only change the index, so a group has no temporaries.
#pragma once

#include "passes/lowering/CodePlaces.h"
#include "passes/lowering/FoldSizes.h"
#include "passes/lowering/FrameTensors.h"
#include "passes/lowering/ScalarEmitter.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Sequence.h"

#include <map>

namespace toy {

/// A value of a function while it is emitted: a tensor or string object, or a scalar's parts.
struct Slot {
  llvm::Value *object = nullptr;
  Element scalar;
  llvm::Value *data = nullptr; ///< where an object's elements are, if they are read and written one by one
  bool inLanes = false;        ///< a short row: the parts are vectors, and there is no object
};

/// The axes of a reduction's operand, split.
struct ReductionAxes {
  explicit ReductionAxes(mlir::Operation *op);
  llvm::SmallVector<int64_t> outer, reduced;
  bool alongLast; ///< the last axis is reduced, or there is none
};
/// How many elements each fold of a reduction has, if that is known.
std::optional<int64_t> knownFoldLength(mlir::Operation *op);
/// Where kernels for a device go while the functions of a module are emitted; compiled code refers to the i-th by word
/// i of `toy.kernels`.
struct DeviceCode {
  llvm::Module &module;
  std::vector<std::string> kernels;
  int64_t region = 1; ///< operations for the device in the block that is emitted, more in loops
};

/// Whether an instruction is a call of a function that there is for vectors, too.
bool hasVectorForm(const llvm::Instruction &i);

class KernelEmitter {
public:
  /// `reusable`: the object of an aligned input that is not needed afterwards, or null.
  KernelEmitter(llvm::Module &module, FusedOp op, llvm::IRBuilder<> &caller, llvm::ArrayRef<Slot> inputs,
                llvm::Value *reusable, const std::string &name, CodePlaces *places = nullptr);
  static llvm::SmallVector<unsigned> alignedInputs(FusedOp op);

  /// Whether its loop may wait for others of its group of groups, which go over the same rows (runtime/RowLoops.h).
  bool isInRows = false;
  /// Folds of short rows are code of the caller, of which there is not much yet.
  bool foldsHere = true;
  /// Memory for the result if it is small.
  const FrameTensor *frame = nullptr;

  /// Emits the kernel and, in the caller, the allocation of the result and the call. The slot is the owned result.
  Slot emit();
  /// Emits a group whose rows are in lanes (passes/RowLanes.h) as code of the caller, or one by one, of `elements`.
  Slot emitInLanes(int64_t lanes, int64_t elements, bool leaves);

  /// An input that a group reads across the rows of the result.
  struct Transposed {
    mlir::BlockArgument argument;
    std::vector<int64_t> axes; ///< of the result, for each of its own axes; -1 for none
    llvm::Value *buffer = nullptr;
    int64_t pitch = 0; ///< elements from one row of the buffer to the next
  };

  // DeviceKernels.cpp, DeviceReductions.cpp
  /// Whether the group can be a kernel of a device: all but checked arithmetic of integers, whose errors have a place.
  static bool isForDevice(FusedOp op);
  /// Whether a group of groups is one kernel whatever its sizes.
  static bool isAlwaysByRows(FusedOp op);
  /// Emits the group as kernels of a device and, in the caller, their launch: the result's object, or null where the
  /// host should compute it. Objects of further results are stored to `others`.
  llvm::Value *emitLaunch(DeviceCode &code, llvm::Value *site, llvm::Value *others);

private:
  struct Lanes;
  using Indices = llvm::SmallVector<llvm::Value *, 4>;

  // In the caller: sizes of any value of the group.
  llvm::Value *callerSize(mlir::Value value, int64_t axis);
  llvm::SmallVector<llvm::Value *> callerSizesOf(mlir::Value value, llvm::ArrayRef<int64_t> axes) {
    return llvm::map_to_vector(axes, [&](int64_t axis) { return callerSize(value, axis); });
  }
  llvm::SmallVector<llvm::Value *> sizesOf(mlir::Value value) {
    return callerSizesOf(value, llvm::to_vector(llvm::seq<int64_t>(0, tensorTypeOf(value).getRank())));
  }
  llvm::SmallVector<llvm::Value *> resultSizes() { return sizesOf(root); }
  llvm::Value *callerInteger(mlir::Value scalar);

  // In the kernel.
  llvm::Value *parameter(llvm::Value *callerValue);
  llvm::Value *capture(llvm::Value *callerValue); ///< constants as they are
  llvm::SmallVector<llvm::Value *> captureAll(llvm::ArrayRef<llvm::Value *> callerValues) {
    return llvm::map_to_vector(callerValues, [&](llvm::Value *v) { return capture(v); });
  }
  bool isAnyNumber(mlir::Value scalar, llvm::Value *part) const;
  llvm::Value *size(mlir::Value value, int64_t axis) { return capture(callerSize(value, axis)); }
  llvm::Value *integer(mlir::Value scalar) { return capture(callerInteger(scalar)); }
  Element elementAt(mlir::Value value, const Indices &indices);
  Element computeElement(mlir::Value value, const Indices &indices);
  /// What a value in a group of groups stands for: an inner group's root, for its argument the operand, or null.
  mlir::Value behind(mlir::Value value);
  Element asWord(Element x);
  bool onlyMoves(mlir::Value value);
  Element loadInput(mlir::Value value, const Indices &indices);
  llvm::Value *dataOf(mlir::Value input);
  llvm::Value *offsetOf(mlir::Value input, const Indices &indices);
  Element concatAt(ConcatOp op, const Indices &indices);
  llvm::SmallVector<ConcatOp> joinsAtOwnIndex(int64_t &axis);
  void loopOverRow(llvm::Value *begin, llvm::Value *end, const Indices &outer,
                   llvm::function_ref<void(llvm::Value *)> body);
  struct Decision;
  mlir::Operation *decidedByRow();
  Decision padDecision(PadOp pad, const Indices &outer);
  Decision comparisonDecision(mlir::Operation *comparison, const Indices &outer);
  void loopOverDecided(llvm::Value *begin, llvm::Value *end, const Indices &outer,
                       llvm::function_ref<void(llvm::Value *)> body);
  Element padAt(PadOp op, const Indices &indices);
  llvm::Value *i64(int64_t n) { return k.getInt64(n); }
  /// Indices of an operand that broadcasts to a result.
  Indices stretched(BroadcastOp op, const Indices &indices);
  /// An input of one element beside others of many, whatever its rank.
  bool isOneElement(mlir::Value value);
  Indices aligned(mlir::Value operand, int64_t resultRank, const Indices &indices);
  void loop(llvm::Value *begin, llvm::Value *end, llvm::function_ref<void(llvm::Value *)> body);
  /// A value of `then` if the condition holds, `otherwise` else, each computed only when needed.
  Element choose(llvm::Value *condition, DType dtype, llvm::function_ref<Element()> then,
                 llvm::function_ref<Element()> otherwise);
  Indices decode(llvm::Value *linear, llvm::ArrayRef<llvm::Value *> sizes);
  llvm::Value *quotient(llvm::Value *n, llvm::Value *size);
  llvm::Value *product(llvm::ArrayRef<llvm::Value *> values);

  // Groups without a reduction: one element (of a pair, both parts) for an index of the axes that are counted.
  struct Map {
    llvm::SmallVector<llvm::Value *> sizes; ///< of those axes, in the caller
    int64_t bytes;                          ///< of an element
  };
  Map beginMap();
  Element mapElement(mlir::Value value, const Indices &indices);
  void storeMapElement(mlir::Value value, llvm::Value *out, llvm::Value *at, Element element);
  bool isTinyRow(llvm::Value *size);
  llvm::SmallVector<mlir::Value> exponentsOfIntegers();
  void loopBySmallExponents(llvm::function_ref<void()> loops);
  void emitMap();
  // RowStrips.cpp
  struct Stretched;
  bool findStretched(mlir::Value value, Stretched &found);
  void fillStrip(mlir::Value value, Lanes &strip, Lanes &perRow, llvm::Value *first, llvm::Value *here, int64_t count,
                 const llvm::SmallVector<llvm::Value *> &sizes);
  void finishRows(llvm::ArrayRef<llvm::Value *> sizes, int64_t bytes);
  bool emitRowStrips();
  bool emitRowsAsVectors();
  bool emitRowsByHalves();
  bool emitJoin();
  bool isJoinOfCopies(ConcatOp concat);
  void emitCopies(llvm::Value *out, ConcatOp concat);
  void copyParts(llvm::Value *out, mlir::ValueRange joined, int64_t axis);
  // TiledEmitter.cpp
  static int64_t tileEdge(DType dtype);
  static int64_t tilePitch(int64_t edge);
  llvm::Value *tileBuffer(DType dtype, int64_t rows, int64_t edge);
  static llvm::SmallVector<Transposed> transposedOperands(mlir::Value root, int64_t rank, bool &othersGoAlong);
  static bool readsAcross(mlir::Value value, int64_t rank);
  /// The buffer that holds an input's element, and its place there, or null.
  llvm::Value *transposedElement(mlir::Value value, const Indices &indices, llvm::Value *&offset);
  std::pair<llvm::Value *, llvm::Value *> placeAcross(const Transposed &t, const Indices &start);
  llvm::Value *streamsTiles();
  void endStream(llvm::Value *streams);
  void fillTile(const Transposed &t, const Indices &start, llvm::Value *rows, llvm::Value *columns);
  bool findTransposed(int64_t rank);
  bool emitTiledMap();
  bool emitShortSides();
  llvm::Value *placeOf(const Indices &indices, llvm::ArrayRef<llvm::Value *> sizes);
  void emitShortRowsOfResult(int64_t across);
  void emitShortRowsOfInput(int64_t across);
  // PermutedMap.cpp
  struct Permuted;
  bool findPermuted(Permuted &p);
  std::pair<llvm::Value *, llvm::Value *> tileBefore(Permuted &p, const Indices &start, llvm::Value *rows,
                                                     llvm::Value *columns, llvm::Value *buffer);
  bool emitPermutedMap();
  bool emitSmallTransposes(), emitInterleaved(); // SmallTransposes.cpp
  // SpacedElements.cpp
  llvm::SmallVector<llvm::Value *> loadApart(llvm::Type *part, llvm::Value *first, int64_t number, int64_t step,
                                             int64_t parts);
  using Gathered = std::pair<SliceOp, llvm::Value *>; ///< and a buffer of as many elements as there are lanes
  std::vector<Gathered> startGather(mlir::Operation *reduction, int64_t width);
  void gather(const Gathered &gathered, const Indices &from, int64_t width);
  void loopOverLanes(llvm::function_ref<Indices(llvm::Value *)> indices, int64_t width,
                     llvm::ArrayRef<Gathered> gathered, llvm::function_ref<void(llvm::Value *)> step);
  // ReductionEmitter.cpp
  void emitReduction(mlir::Operation *op);
  Element combine(mlir::Operation *op, Element a, Element b, DType dtype);
  Element identityOf(mlir::Operation *op, DType dtype);
  static bool isFloatExtremum(mlir::Operation *op, DType dtype);
  static bool isOfBytes(mlir::Operation *op, DType dtype);
  Indices reductionIndices(mlir::Operation *op, const Indices &outer, llvm::Value *j);
  Element reductionElement(mlir::Operation *op, const Indices &outer, llvm::Value *j);
  Element reductionElementAt(mlir::Operation *op, const Indices &indices);
  void loopOverRuns(mlir::Operation *op, const Indices &outer, llvm::Value *begin, llvm::Value *end,
                    llvm::ArrayRef<Gathered> gathered, llvm::function_ref<void(llvm::Value *, const Indices &)> put);
  Element emitBlock(mlir::Operation *op, const Indices &outer, llvm::Value *begin, llvm::Value *end);
  /// What is known of the elements so far: one or two parts, of floats' extrema more.
  using Fold = llvm::SmallVector<llvm::Value *, 3>;
  struct Lanes {
    Lanes(KernelEmitter &emitter, llvm::ArrayRef<llvm::Value *> parts, int64_t count);
    Fold read(llvm::Value *lane);
    void write(llvm::Value *lane, const Fold &fold);
    KernelEmitter &emitter;
    llvm::SmallVector<llvm::Type *, 3> types; ///< null for a part that there is not
    llvm::SmallVector<llvm::Value *, 3> arrays;
  };
  Fold startFold(mlir::Operation *op, DType dtype);
  Fold foldOf(mlir::Operation *op, Element x, DType dtype);
  Fold mergeFolds(mlir::Operation *op, const Fold &a, const Fold &b, DType dtype);
  Element finishFold(mlir::Operation *op, const Fold &fold, DType dtype);
  Element foldTinyRow(mlir::Operation *op, const Indices &outer, llvm::Value *base, int64_t count);
  llvm::Value *decisive(mlir::Operation *op, DType dtype);
  Element foldUnlessDecided(mlir::Operation *op, llvm::Value *isFirst, llvm::Value *before,
                            llvm::function_ref<Element()> block);
  struct Rows {
    llvm::Value *number; ///< in the caller
    llvm::Value *out;
    llvm::SmallVector<llvm::Value *, 4> sizes;
  };
  Rows beginRows(mlir::Operation *op);
  void emitTinyRows(mlir::Operation *op, int64_t count);
  void emitShortRows(mlir::Operation *op, int64_t count);
  static bool areRowsInLanes(mlir::Operation *op);
  Fold rowLanesOf(mlir::Operation *op, const Indices &outer, int64_t count);
  Fold mergeLanes(mlir::Operation *op, const Fold &a, const Fold &b);
  Element finishLanes(mlir::Operation *op, const Fold &fold);
  Fold halvedLanes(mlir::Operation *op, const Fold &lanes);
  Fold foldTogether(mlir::Operation *op, int64_t together, int64_t longest, int64_t segment, int64_t number,
                    llvm::function_ref<Fold(int64_t)> row);
  void emitRowsInLanes(mlir::Operation *op, int64_t count);
  void combineTile(mlir::Operation *op, Lanes &tile, Lanes &sums, int64_t together, int64_t pitch);
  void emitLaneReduction(mlir::Operation *op);
  std::pair<llvm::Value *, llvm::Value *> allocatePartials(llvm::Value *blocks);
  // ColumnEmitter.cpp
  struct Columns;
  static bool isInAnyOrder(mlir::Operation *op, DType dtype);
  void foldRows(mlir::Operation *op, const Columns &columns, llvm::Value *from, llvm::Value *to);
  void foldRunsOfRows(mlir::Operation *op, const Columns &columns, llvm::Value *n);
  bool findTransposedRows(mlir::Operation *op);
  struct PartialRows;
  PartialRows allocatePartialRows(llvm::Value *count, llvm::Value *columns, llvm::Value *groups);
  std::pair<llvm::Value *, llvm::Value *> groupsOfRows(llvm::Value *rows, llvm::Value *columns);
  void placePartials(const PartialRows &partial, llvm::Value *group, llvm::Value *width, Columns &columns);
  void foldGroups(llvm::Value *groups, llvm::Value *work, llvm::Value *columns, llvm::Value *width,
                  llvm::function_ref<void(llvm::Value *, llvm::Value *, llvm::Value *)> fold);
  void emitColumnReduction(mlir::Operation *op);
  // NarrowColumns.cpp
  static bool areColumnsNarrow(mlir::Operation *op);
  Fold narrowRow(mlir::Operation *op, const Indices &outer, llvm::Value *row, llvm::Value *mask);
  Lanes foldSideBySide(mlir::Operation *op, llvm::Value *rounds, int64_t number,
                       llvm::function_ref<Fold(llvm::Value *, int64_t)> row);
  Fold mergeRows(mlir::Operation *op, const Fold &a, const Fold &b);
  Element foldNarrowRows(mlir::Operation *op, const Indices &outer, llvm::Value *n, int64_t together,
                         llvm::Value *mask);
  Element foldNarrowRuns(mlir::Operation *op, const Indices &outer, llvm::Value *n, int64_t together,
                         llvm::Value *mask);
  void emitNarrowColumns(mlir::Operation *op);
  // StridedRows.cpp
  bool areRowsStrided(mlir::Operation *op);
  void foldStridedRows(mlir::Operation *op, const Indices &outer, int64_t across, llvm::Value *number, llvm::Value *n,
                       Lanes &lanes, Lanes &totals);
  void emitStridedRows(mlir::Operation *op);
  // RowFolds.cpp
  /// Where the lanes of a row begin in a value: lane 0's indices, the axis along which they lie (none: all have one
  /// element), and how many of its indices one is from the next: in memory, times the elements of the axes behind.
  struct LaneIndices {
    Indices first;
    std::optional<int64_t> row;
    int64_t step = 1;
  };
  void beginInCaller(llvm::BasicBlock *block);
  void emitRowFold(mlir::Operation *op);
  void emitFoldCall(mlir::Operation *op, int64_t row, llvm::Value *length, int64_t mostOfFew);
  using LanesFrom = llvm::function_ref<Element(llvm::Value *first, llvm::Value *mask)>;
  Fold foldRowBlock(mlir::Operation *op, llvm::Value *begin, llvm::Value *end, LanesFrom lanes);
  Fold foldLanes(mlir::Operation *op, Fold lanes);
  Fold identityLanes(mlir::Operation *op);
  Fold stepOfLanes(mlir::Operation *op, Element lanes, llvm::Value *mask, const Fold &before);
  Element lanesOfFold(mlir::Operation *op, const LaneIndices &at, llvm::Value *mask);
  Element foldByBuffer(mlir::Operation *op, const Indices &outer, llvm::Value *begin, llvm::Value *end);
  llvm::Value *firstLanes(llvm::Value *count);
  Element foldMasked(mlir::Operation *op, int64_t row, llvm::Value *mask);
  Element foldFew(mlir::Operation *op, int64_t row, llvm::Value *count);
  Element foldLanesInOrder(mlir::Operation *op, llvm::Value *mask);
  Element computeByElement(int64_t lanes, int64_t elements);
  Element foldInOrder(mlir::Operation *op, int64_t row, llvm::Value *count);
  void finishRowFold(mlir::Operation *op, llvm::Value *length);
  Element laneElements(mlir::Value value, const LaneIndices &at, llvm::Value *mask);
  Element computeLanes(mlir::Operation *def, const LaneIndices &at, llvm::Value *mask);
  void prefetchRow(llvm::Value *first, int64_t ahead, int64_t bytes);
  Element loadLanes(mlir::Value input, const LaneIndices &at, llvm::Value *mask);
  LaneIndices throughReshape(ReshapeOp op, const LaneIndices &at);
  LaneIndices throughSlice(SliceOp op, const LaneIndices &at);
  Indices sliceIndices(SliceOp op, const Indices &indices);
  // ScanEmitter.cpp
  void emitScan(CumSumOp op);
  Element scanLanes(CumSumOp op, const LaneIndices &at, llvm::Value *mask);
  // PositionEmitter.cpp
  llvm::Value *isBetter(mlir::Operation *op, llvm::Value *a, llvm::Value *b, DType dtype);
  Fold better(mlir::Operation *op, const Fold &a, const Fold &b, DType dtype);
  Fold firstBest(mlir::Operation *op, const Fold &a, const Fold &b, DType dtype);
  llvm::Value *worst(mlir::Operation *op, DType dtype);
  llvm::Value *emitPositionInRow(mlir::Operation *op, const Indices &outer, llvm::Value *n, llvm::Type *position);
  llvm::Value *emitPositionInOrder(mlir::Operation *op, const Indices &outer, llvm::Value *n, llvm::Type *position);
  llvm::Value *emitPositionInLanes(mlir::Operation *op, const Indices &outer, llvm::Value *n, llvm::Type *position);
  llvm::Value *lanesOfRow(mlir::Operation *op, const Indices &outer, llvm::Value *base);
  llvm::Value *bestOfBlock(mlir::Operation *op, const Indices &outer, llvm::Value *begin, llvm::Value *end);
  llvm::Value *emitPositionByBlocks(mlir::Operation *op, const Indices &outer, llvm::Value *n);
  llvm::Value *emitPositionInShortRow(mlir::Operation *op, const Indices &outer, int64_t count);
  llvm::Value *positionInLanes(mlir::Operation *op, int64_t row, llvm::Value *mask);
  void emitPositionsOfColumns(mlir::Operation *op, const Indices &outer, llvm::Value *base, llvm::Value *out,
                              llvm::Value *n);
  void emitArgReduction(mlir::Operation *op);
  void emitCombine(mlir::Operation *op, llvm::Value *partials, llvm::Value *count);
  // DeviceKernels.cpp, DeviceReductions.cpp
  struct LaunchResult {
    DType dtype;
    llvm::SmallVector<llvm::Value *> sizes; ///< in the caller; as many for each result
  };
  /// A value that a kernel computes, and the address that it is stored to.
  using Output = std::pair<mlir::Value, llvm::Value *>;
  void prefetch(mlir::Value value, const Indices &indices);
  void storeNeighbours(llvm::ArrayRef<Output> outputs, llvm::Value *first, const Indices &indices, int64_t number);
  llvm::Value *launchMap(llvm::Value *site);
  llvm::Value *launchMap(llvm::Value *site, llvm::ArrayRef<llvm::Value *> sizes, int64_t width, bool sameRow);
  llvm::Value *launchEither(llvm::Value *size, int64_t width, llvm::function_ref<llvm::Value *()> wide,
                            llvm::function_ref<llvm::Value *()> narrow);
  void captureMultiple(Dim dim, llvm::Value *size, int64_t width);
  llvm::Value *launchRows(llvm::Value *site);
  llvm::Value *launchRows(llvm::Value *site, int64_t width, int64_t shared);
  void stage(mlir::Operation *op, const Indices &outer, llvm::Value *thread, llvm::Value *number, llvm::Value *buffer,
             int64_t width, llvm::function_ref<llvm::Value *(llvm::Value *)> source);
  static int64_t stepsAtOnce(llvm::BasicBlock *inside);
  Element stagedFold(mlir::Operation *op, const Indices &outer, llvm::Value *thread, llvm::Value *begin,
                     llvm::Value *end, llvm::Value *buffer, int64_t most, llvm::Value *result, int64_t width);
  Element foldOfStaged(mlir::Operation *op, const Indices &outer, llvm::Value *thread, llvm::Value *number,
                       llvm::Value *buffer, int64_t lanes, const Element &before);
  Element stagedRowFold(mlir::Operation *op, const Indices &outer, llvm::Value *thread, llvm::Value *n,
                        llvm::Value *buffer, int64_t bytes, int64_t width);
  bool isStaged(mlir::Value value, const Indices &indices) const;
  Element blockFold(mlir::Operation *op, const Indices &outer, llvm::Value *thread, llvm::Value *from, llvm::Value *to);
  Element lanesFold(mlir::Operation *op, const Indices &outer, llvm::Value *thread, llvm::Value *begin,
                    llvm::Value *end, llvm::Value *first, int64_t share);
  llvm::Value *either(llvm::Value *a, llvm::Value *b);
  llvm::Value *oneOf(llvm::Value *condition, llvm::function_ref<llvm::Value *()> then,
                     llvm::function_ref<llvm::Value *()> otherwise);
  llvm::Value *onlyIf(llvm::Value *condition, llvm::function_ref<llvm::Value *()> make);
  llvm::Value *launchReduction(mlir::Operation *op, llvm::Value *site);
  llvm::Value *launchReductionOfBlocks(mlir::Operation *op, llvm::Value *site, llvm::Value *rows, llvm::Value *count);
  llvm::Value *launchLanes(mlir::Operation *op, llvm::Value *blocks, llvm::Value *count, int64_t share,
                           llvm::Value *site);
  llvm::Value *launchCombined(mlir::Operation *op, llvm::Value *partials, llvm::Value *rows, llvm::Value *blocks,
                              bool ofLanes, llvm::Value *site);
  llvm::Value *launchFolds(mlir::Operation *op, DType dtype, int64_t lanes, llvm::Value *site,
                           llvm::function_ref<Element(const Indices &outer, llvm::Value *lane, llvm::Value *n)> fold);
  Element foldInTurn(mlir::Operation *op, llvm::Value *first, llvm::Value *end, Element before, int64_t together,
                     llvm::function_ref<Element(llvm::Value *)> part);
  Element orderedFold(mlir::Operation *op, llvm::Value *in, llvm::Value *thread, llvm::Value *first,
                      llvm::Value *number, bool ofLanes);
  // DeviceColumns.cpp
  Element columnFold(mlir::Operation *op, const Indices &outer, llvm::Value *n);
  llvm::Value *launchColumns(mlir::Operation *op, llvm::Value *site);
  llvm::Value *launchRuns(mlir::Operation *op, llvm::Value *site);
  llvm::Value *launchOrdered(mlir::Operation *op, llvm::Value *partials, llvm::Value *number, llvm::Value *each,
                             llvm::Value *results, LaunchResult result, llvm::Value *site);
  // DeviceTiles.cpp
  llvm::Value *launchTiles(llvm::Value *site, llvm::ArrayRef<llvm::Value *> callerSizes);
  void shareTiles();
  llvm::Value *sharedMemory(int64_t bytes);
  void meetInBlock();
  Indices insideTile(const Indices &tile, llvm::ArrayRef<llvm::Value *> sizes, llvm::Value *row, llvm::Value *column);
  void fillSharedTiles(const Indices &tile, llvm::ArrayRef<llvm::Value *> sizes, llvm::Value *lane, llvm::Value *first);
  void computeTile(const Indices &tile, llvm::ArrayRef<llvm::Value *> sizes, llvm::Value *lane, llvm::Value *first,
                   llvm::Value *out);
  // DevicePositions.cpp
  llvm::Value *launchPosition(mlir::Operation *op, llvm::Value *site);
  llvm::Value *launchPositionOfBlocks(mlir::Operation *op, llvm::Value *site);
  Element bestOfLanes(mlir::Operation *op, Element best, int64_t lanes);
  llvm::Value *blockPosition(mlir::Operation *op, llvm::Value *thread, llvm::Value *begin, llvm::Value *end,
                             llvm::function_ref<Element(llvm::Value *)> candidate);
  llvm::Value *warpPosition(mlir::Operation *op, llvm::Value *lane, llvm::Value *begin, llvm::Value *end,
                            llvm::function_ref<Element(llvm::Value *)> candidate);
  Element threadPosition(mlir::Operation *op, llvm::Value *first, llvm::Value *end, int64_t stride,
                         llvm::function_ref<Element(llvm::Value *)> candidate);
  Element betterPosition(mlir::Operation *op, Element a, Element b);
  void storePositions(llvm::Value *number, int64_t lanes,
                      llvm::function_ref<std::pair<llvm::Value *, llvm::Value *>(llvm::Value *, llvm::Value *)> find);
  llvm::Value *finishFromPartials(llvm::Value *partials, llvm::Value *threads, LaunchResult result, llvm::Value *site);
  llvm::Value *launchKernel(const std::string &name, llvm::ArrayRef<LaunchResult> results,
                            llvm::ArrayRef<llvm::Value *> objects, llvm::ArrayRef<llvm::Value *> words,
                            llvm::Value *threads, llvm::Value *site, int64_t leastBlock);
  llvm::Value *launchRope(llvm::Value *site, bool &matched); // RopeKernel.cpp
  void guarded(llvm::Value *condition, llvm::function_ref<void()> body);
  llvm::Value *special(llvm::Intrinsic::ID which);
  /// Blocks of a fold's kernel may be smaller, that few threads are on all multiprocessors; those of a map are whole.
  llvm::Value *threadNumber(bool isAnyBlock = true);
  std::pair<llvm::Value *, llvm::Value *> warpAndLane();
  std::pair<llvm::Value *, llvm::Value *> blockAndThread();
  Element shuffled(Element x, llvm::Intrinsic::ID how, llvm::Value *lane);
  /// What a round of a loop gives, how far the index goes on, and how far beyond its index it looked.
  struct Round {
    Element value;
    int64_t step, reach;
  };
  Element strided(llvm::Value *first, llvm::Value *end, Element start, llvm::Value *&left,
                  llvm::function_ref<Round(llvm::Value *, Element)> body);
  llvm::Value *variable(DType type);
  Element rowFold(mlir::Operation *op, const Indices &outer, llvm::Value *lane, llvm::Value *n);
  Element warpFold(mlir::Operation *op, const Indices &outer, llvm::Value *lane, llvm::Value *begin, llvm::Value *end);
  Element threadFold(mlir::Operation *op, const Indices &outer, llvm::Value *first, llvm::Value *end, int64_t stride,
                     int64_t known, const Element *start = nullptr);
  Element foldOfLanes(mlir::Operation *op, Element total);
  llvm::Value *finishLaunch(llvm::Value *threads, llvm::ArrayRef<LaunchResult> results, llvm::Value *site);
  bool isAllElementwise(mlir::Value root);

  /// Starts a kernel function; parameters are added as values are captured.
  void begin();
  void describeLoops(llvm::Function *work);
  void tellElements(llvm::Value *callerRange, llvm::Value *callerWork);
  /// Ends it and calls it from the caller over [0, range), a step of which reads or writes `work` elements: on all
  /// cores, `leastGrain` steps or more at a time, where that is worth it.
  void finish(llvm::Value *callerRange, llvm::Value *callerWork, llvm::Value *leastGrain = nullptr,
              llvm::Value *callerStepBytes = nullptr);
  llvm::Function *finishWork();
  bool isZeros();
  llvm::Value *pieceOf();
  void emitBytes(int64_t mostBytes, llvm::function_ref<void(llvm::Value *)> byLibc);
  void callDirectly(llvm::Function *work, llvm::Value *callerRange);
  void callByRows(llvm::Value *context, llvm::Value *callerRange, llvm::Value *callerGrain, llvm::Value *callerWork);
  void callInParallel(llvm::Function *work, llvm::Value *callerRange, llvm::Value *callerGrain,
                      llvm::Value *callerStepBytes, bool oneByOne = false);
  void callOneByOne(llvm::Function *work, llvm::SmallVector<llvm::Value *> arguments, llvm::IRBuilder<> &t);
  void callByPieces(llvm::Function *work, llvm::ArrayRef<llvm::Value *> arguments, llvm::IRBuilder<> &t,
                    llvm::Value *steps, llvm::Value *stepBytes);

  llvm::Module &module; ///< of the kernels
  FusedOp op;
  llvm::IRBuilder<> &caller;
  llvm::ArrayRef<Slot> inputs;
  llvm::Value *reusable;
  bool isByRows = false;                          ///< the steps of the loop are rows, or elements in their order
  llvm::Value *rowWork = nullptr;                 ///< of such a loop that waits
  llvm::SmallVector<llvm::Instruction *> latches; ///< of the kernel's loops
  std::string name;
  CodePlaces *places; ///< for code that says where it is, or null
  mlir::Value root;
  TensorType rootType;

  llvm::IRBuilder<> k; ///< in the kernel
  ScalarEmitter scalars;
  llvm::Function *kernel = nullptr;
  llvm::Value *rangeBegin = nullptr, *rangeEnd = nullptr;
  int64_t leastBlock = threadsOfBlock; ///< of a device's kernel
  llvm::Value *staged = nullptr;       ///< elements of the fold that is emitted, in shared memory
  struct {
    mlir::Value value; ///< of groups of groups: what was folded last, whose row is in shared memory
    Indices outer;
    llvm::Value *buffer = nullptr;
  } stagedRow;
  llvm::SmallVector<llvm::Value *> captured;
  llvm::DenseMap<llvm::Value *, llvm::Value *> captures;
  std::map<std::pair<void *, std::vector<llvm::Value *>>, Element> memo;
  llvm::DenseMap<llvm::Value *, llvm::Value *> dataPointers;
  std::map<std::pair<void *, int64_t>, llvm::Value *> callerSizes;
  llvm::DenseMap<mlir::Value, Element> rowValues; ///< what inner groups give for the row at hand
  llvm::Value *callerOut = nullptr;
  Element folded;                                       ///< a result that is in registers and not there
  llvm::SmallVector<llvm::Value *> otherOuts;           ///< of a launch with several results
  llvm::Value *others = nullptr;                        ///< where their objects go
  bool flat = false, isOfCaller = false;                ///< all axes are one; there is no kernel
  int64_t lanesKnown = 0;                               ///< how many lanes a row has, 0 if that is not known
  int64_t lanesAtOnce = reductionLanes;                 ///< of a row that is folded in a loop
  llvm::SmallPtrSet<mlir::Operation *, 4> splitConcats; ///< whose part is known in the current loop
  size_t splitPart = 0;
  llvm::Value *splitIndex = nullptr, *splitBegin = nullptr;
  mlir::Operation *decided = nullptr;            ///< what the current loop over a row knows at `splitIndex`
  bool decidedValue = false, movesWords = false; ///< the latter: the elements of a map are words of two parts
  llvm::SmallVector<Transposed> transposed;      ///< while a tile is computed
  Indices tileIndices;
  llvm::Value *tileRow = nullptr, *tileColumn = nullptr; ///< where it begins
  llvm::Value *divisorWasZero = nullptr; ///< a flag in memory, once there is a divisor that is not known
  int parts = 0;
  DeviceCode *device = nullptr;
};

} // namespace toy
