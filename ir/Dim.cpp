// SPDX-License-Identifier: Apache-2.0
/// \file
/// Sizes: storage, order, walks over their trees.
#include "ir/DimPoly.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace llvm;

MLIR_DEFINE_EXPLICIT_TYPE_ID(toy::DimAttr)

namespace toy {
using detail::DimKey;
using detail::Poly;
using Kind = Dim::Kind;

//===--- Storage ---===//

hash_code detail::DimStorage::hashKey(const DimKey &key) {
  hash_code hash = hash_combine(static_cast<int>(key.kind), key.constant, key.name);
  for (const DimTerm &term : key.terms)
    hash = hash_combine(hash, term.factor, term.dim);
  for (Dim operand : key.operands)
    hash = hash_combine(hash, operand);
  return hash;
}

detail::DimStorage *detail::DimStorage::construct(mlir::AttributeStorageAllocator &allocator, const DimKey &key) {
  auto *storage = new (allocator.allocate<DimStorage>())
      DimStorage({key.kind, key.constant, allocator.copyInto(key.name), allocator.copyInto(key.terms),
                  allocator.copyInto(key.operands)});
  auto contain = [&](Dim inner) {
    const DimStorage &other = storageOf(inner);
    storage->nodes = std::min(storage->nodes + other.nodes, 1u << 20);
    storage->levels = std::max(storage->levels, other.levels);
  };
  if (key.kind == Kind::Product)
    storage->degree = 0;
  for (const DimTerm &term : key.terms) {
    contain(term.dim);
    if (key.kind == Kind::Product)
      storage->degree += term.factor;
  }
  for (Dim operand : key.operands)
    contain(operand);
  storage->levels += !key.operands.empty();
  storage->range = rangeOfNode(key);
  return storage;
}

/// Whether an expression has more different nodes than allowed.
static bool isTooLarge(Dim dim) {
  SmallPtrSet<const void *, 16> seen;
  SmallVector<Dim> pending = {dim};
  while (!pending.empty() && seen.size() <= Dim::mostNodes) {
    Dim next = pending.pop_back_val();
    if (!seen.insert(next.getAttr().getAsOpaquePointer()).second)
      continue;
    for (const DimTerm &term : detail::keyOf(next).terms)
      pending.push_back(term.dim);
    append_range(pending, next.operands());
  }
  return seen.size() > Dim::mostNodes;
}

/// The node itself; unknown where it is beyond the limits.
Dim detail::nodeOf(mlir::MLIRContext *context, const DimKey &key) {
  Dim dim(mlir::detail::AttributeUniquer::get<DimAttr>(context, key));
  const detail::DimStorage &storage = detail::storageOf(dim);
  bool isWithin = storage.levels <= Dim::mostLevels && storage.degree <= Dim::mostDegree &&
                  key.terms.size() <= Dim::mostTerms && (storage.nodes <= Dim::mostNodes || !isTooLarge(dim));
  return isWithin ? dim : Dim::unknown(context);
}

//===--- Order ---===//

static int compareNumbers(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

int Dim::compare(Dim a, Dim b) {
  if (a == b)
    return 0;
  const DimKey &x = detail::keyOf(a), &y = detail::keyOf(b);
  if (x.kind != y.kind)
    return x.kind < y.kind ? -1 : 1;
  if (x.kind == Kind::Product) // longer products first
    if (unsigned p = detail::storageOf(a).degree, q = detail::storageOf(b).degree; p != q)
      return p > q ? -1 : 1;
  if (int order = x.name.compare(y.name))
    return order;
  for (auto [p, q] : zip(x.operands, y.operands))
    if (p != q)
      return compare(p, q);
  for (auto [p, q] : zip(x.terms, y.terms)) {
    if (p.dim != q.dim)
      return compare(p.dim, q.dim);
    if (p.factor != q.factor)
      return compareNumbers(p.factor, q.factor);
  }
  if (x.terms.size() != y.terms.size())
    return compareNumbers(x.terms.size(), y.terms.size());
  if (x.operands.size() != y.operands.size())
    return compareNumbers(x.operands.size(), y.operands.size());
  return compareNumbers(x.constant, y.constant);
}

//===--- Dim ---===//

Dim Dim::number(mlir::MLIRContext *context, int64_t value) { return detail::nodeOf(context, {Kind::Constant, value}); }
Dim Dim::unknown(mlir::MLIRContext *context) {
  return Dim(mlir::detail::AttributeUniquer::get<DimAttr>(context, DimKey{Kind::Unknown}));
}
Dim Dim::symbol(mlir::MLIRContext *context, StringRef name) {
  return name == "?" ? unknown(context) : detail::nodeOf(context, {Kind::Symbol, 0, name});
}

bool Dim::isDim(mlir::Attribute attr) { return isa<DimAttr>(attr); }
const detail::DimStorage &Dim::storage() const { return detail::storageOf(*this); }
Kind Dim::kind() const { return storage().key.kind; }
int64_t Dim::value() const { return storage().key.constant; }
int64_t Dim::constant() const { return storage().key.constant; }
StringRef Dim::symbolName() const { return storage().key.name; }
SizeRange Dim::range() const { return storage().range; }
ArrayRef<Dim> Dim::operands() const { return storage().key.operands; }

void Dim::forEachTerm(function_ref<void(int64_t, Dim)> visit) const {
  if (kind() == Kind::Sum)
    for (const DimTerm &term : storage().key.terms)
      visit(term.factor, term.dim);
  else if (!isNumber())
    visit(1, *this);
}

void Dim::forEachAtom(function_ref<void(int64_t, Dim)> visit) const {
  if (kind() != Kind::Product)
    return visit(1, *this);
  for (const DimTerm &term : storage().key.terms)
    visit(term.factor, term.dim);
}

void Dim::collectSymbols(function_ref<void(StringRef)> visit) const {
  SmallPtrSet<const void *, 8> seen;
  auto walk = [&](auto &self, Dim dim) -> void {
    if (!seen.insert(dim.getAttr().getAsOpaquePointer()).second)
      return;
    if (dim.kind() == Kind::Symbol)
      visit(dim.symbolName());
    for (const DimTerm &term : detail::keyOf(dim).terms)
      self(self, term.dim);
    for (Dim operand : dim.operands())
      self(self, operand);
  };
  walk(walk, *this);
}

namespace {
/// Builds a size again from what its symbols become; nodes that occur several times are done once.
struct Rebuilder {
  Rebuilder(mlir::MLIRContext *context, function_ref<Dim(StringRef)> symbolFor)
      : context(context), symbolFor(symbolFor) {}

  mlir::MLIRContext *context;
  function_ref<Dim(StringRef)> symbolFor;
  DenseMap<Dim, Dim> done;

  Dim rebuild(Dim dim) {
    if (auto it = done.find(dim); it != done.end())
      return it->second;
    Dim out = build(dim);
    done[dim] = out;
    return out;
  }

  Dim build(Dim dim) {
    ArrayRef<Dim> operands = dim.operands();
    switch (dim.kind()) {
    case Kind::Unknown:
      return Dim::unknown(context);
    case Kind::Constant:
      return Dim::number(context, dim.value());
    case Kind::Symbol:
      return symbolFor(dim.symbolName());
    case Kind::FloorDiv:
      return rebuild(operands[0]).floorDiv(rebuild(operands[1]));
    case Kind::Min:
    case Kind::Max: {
      SmallVector<Poly> members = map_to_vector(operands, [&](Dim member) { return Poly(rebuild(member)); });
      return detail::dimOf(detail::extremum(dim.kind(), std::move(members)));
    }
    case Kind::Product:
    case Kind::Sum:
      break;
    }
    Poly sum(context, dim.constant());
    dim.forEachTerm([&](int64_t factor, Dim monomial) {
      Poly product(context, 1);
      monomial.forEachAtom([&](int64_t power, Dim atom) {
        for (; power > 0 && product.isValid; --power)
          product = product * Poly(rebuild(atom));
      });
      sum.add(product, factor);
    });
    return detail::dimOf(std::move(sum));
  }
};
} // namespace

Dim Dim::substitute(const StringMap<Dim> &values) const {
  bool changes = false;
  if (!isNumber() && !values.empty())
    collectSymbols([&](StringRef name) { changes |= values.count(name) > 0; });
  if (!changes)
    return *this;
  auto symbolFor = [&](StringRef name) {
    auto it = values.find(name);
    return it == values.end() ? symbol(getContext(), name) : it->second;
  };
  return Rebuilder(getContext(), symbolFor).rebuild(*this);
}

Dim Dim::in(mlir::MLIRContext *other) const {
  return Rebuilder(other, [&](StringRef name) { return symbol(other, name); }).rebuild(*this);
}

namespace {
struct Evaluation : DimComputation<std::optional<int64_t>> {
  using Value = std::optional<int64_t>;
  explicit Evaluation(function_ref<Value(StringRef)> valueOf) : valueOf(valueOf) {}
  Value constant(int64_t n) override { return n; }
  Value symbol(StringRef name) override { return valueOf(name); }
  Value combine(Operation op, Value a, Value b) override {
    if (!a || !b)
      return std::nullopt;
    switch (op) {
    case Add:
      return checked::add(*a, *b);
    case Subtract:
      return checked::subtract(*a, *b);
    case Multiply:
      return checked::multiply(*a, *b);
    case FloorDivide:
      return checked::floorDivide(*a, *b);
    case Minimum:
      return std::min(*a, *b);
    case Maximum:
      return std::max(*a, *b);
    }
    llvm_unreachable("all operations are listed");
  }
  function_ref<Value(StringRef)> valueOf;
};
} // namespace

std::optional<int64_t> Dim::evaluate(function_ref<std::optional<int64_t>(StringRef)> valueOf) const {
  return isUnknown() ? std::nullopt : Evaluation(valueOf).compute(*this);
}

std::optional<int64_t> Dim::evaluate(const StringMap<Dim> &values) const {
  return evaluate([&](StringRef name) {
    auto it = values.find(name);
    return it == values.end() ? std::nullopt : it->second.asNumber();
  });
}

static Dim sumOf(Dim a, Dim b, int64_t sign) {
  Poly sum(a);
  sum.add(Poly(b), sign);
  return detail::dimOf(std::move(sum));
}

static Dim extremumOf(Kind kind, Dim a, Dim b) {
  if (a == b)
    return a;
  if (a.isNumber() && b.isNumber()) // their difference may leave 64 bits
    return (a.value() < b.value()) == (kind == Kind::Min) ? a : b;
  SmallVector<Poly> members = {Poly(a), Poly(b)};
  return detail::dimOf(detail::extremum(kind, std::move(members)));
}

Dim Dim::operator+(Dim other) const { return sumOf(*this, other, 1); }
Dim Dim::operator-(Dim other) const { return sumOf(*this, other, -1); }
Dim Dim::operator*(Dim other) const { return detail::dimOf(Poly(*this) * Poly(other)); }
Dim Dim::floorDiv(Dim other) const { return detail::dimOf(detail::quotient(Poly(*this), Poly(other))); }
Dim Dim::mod(Dim other) const { return *this - other * floorDiv(other); }
Dim Dim::min(Dim other) const { return extremumOf(Kind::Min, *this, other); }
Dim Dim::max(Dim other) const { return extremumOf(Kind::Max, *this, other); }

} // namespace toy
