// SPDX-License-Identifier: Apache-2.0
/// \file
/// Values as text: printing and format strings.
#include "reference/EvaluatorImpl.h"

#include "runtime/Format.h"
#include "runtime/FormatField.h"
#include "runtime/List.h"
#include "runtime/Output.h"

using namespace mlir;

namespace toy {

/// `6:fn sin` is a text of 6 bytes.
static std::string countedText(StringRef &structure) {
  size_t length = 0;
  structure.consumeInteger(10, length);
  std::string text = structure.substr(1, length).str();
  structure = structure.drop_front(1 + length);
  return text;
}

static rt::Value rebuild(StringRef &structure, ArrayRef<rt::Value> &leaves);

/// A list of trees from a tree of lists.
static rt::Value rebuildList(StringRef &structure, ArrayRef<rt::Value> &leaves) {
  auto list = std::make_shared<rt::Aggregate>();
  list->typeName = countedText(structure);
  list->isList = true;
  StringRef tree = structure;
  ArrayRef<rt::Value> before = leaves;
  rebuild(structure, leaves);       // says where it ends
  if (structure.consume_front("_")) // what counts elements that show no leaf
    leaves = leaves.drop_front();
  ArrayRef<rt::Value> lists = before.drop_back(leaves.size());
  int64_t count = lists.empty() ? 0 : std::get<rt::ListRef>(lists[0])->count;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<rt::Value> element;
    for (const rt::Value &leaf : lists)
      element.push_back(rt::valueOf(*std::get<rt::ListRef>(leaf), i));
    StringRef form = tree;
    ArrayRef<rt::Value> rest(element);
    list->elements.push_back(rebuild(form, rest));
    rt::poll();
  }
  structure.consume_front("]");
  return list;
}

/// Rebuilds tuples, structs and lists of them from leaves, following the structure text.
static rt::Value rebuild(StringRef &structure, ArrayRef<rt::Value> &leaves) {
  if (structure.consume_front("_")) {
    rt::Value v = leaves.front();
    leaves = leaves.drop_front();
    return v;
  }
  if (structure.consume_front("["))
    return rebuildList(structure, leaves);
  auto aggregate = std::make_shared<rt::Aggregate>();
  if (structure.consume_front("$")) {
    aggregate->typeName = countedText(structure);
    aggregate->isText = true;
    return aggregate;
  }
  char close = ')';
  if (!structure.consume_front("(")) {
    size_t brace = structure.find('{');
    aggregate->typeName = structure.take_front(brace).str();
    structure = structure.drop_front(brace + 1);
    close = '}';
  }
  while (!structure.empty() && structure.front() != close) {
    structure.consume_front(", ");
    if (close == '}') {
      size_t colon = structure.find(": ");
      aggregate->names.push_back(structure.take_front(colon).str());
      structure = structure.drop_front(colon + 2);
    }
    aggregate->elements.push_back(rebuild(structure, leaves));
  }
  structure = structure.drop_front();
  return aggregate;
}

std::string renderPrint(StringRef structure, bool echo, ArrayRef<rt::Value> leaves) {
  std::string out;
  bool first = true;
  rt::PrintOptions options = rt::printOptions();
  if (echo && options.screenHeight) {
    options.width = options.screenWidth;
    options.height = options.screenHeight;
  }
  while (!structure.empty()) {
    structure.consume_front(";");
    rt::Value v = rebuild(structure, leaves);
    if (echo && rt::printOptions().header && !rt::isText(v))
      out += rt::typeName(v) + "\n";
    else if (!first)
      out += " ";
    first = false;
    out += rt::formatEcho(v, options);
  }
  return out + "\n";
}

template <> void Frame::evaluate(ToStrOp o) { setText(o.getResult(), rt::format(values[o.getValue()])); }

/// A value as part of a line: its type where it is longer than that allows.
static std::string shownShort(const rt::Value &v) {
  std::string text = rt::format(v);
  if (std::holds_alternative<rt::StrRef>(v))
    text = '"' + text + '"';
  return text.size() > 60 || text.find('\n') != std::string::npos ? rt::typeName(v) : text;
}
/// `f(x = 1)`, or `-> 2`, as far to the right as calls are deep.
static std::string traceLine(bool isCall, StringRef structure, ArrayRef<rt::Value> leaves, int depth) {
  std::string line(2 * std::clamp(depth, 0, 30), ' ');
  if (!isCall)
    return line + "->" + (structure.empty() ? "" : " " + shownShort(rebuild(structure, leaves))) + "\n";
  rt::Value call = rebuild(structure, leaves);
  const rt::Aggregate &parameters = *std::get<std::shared_ptr<rt::Aggregate>>(call);
  line += parameters.typeName + "(";
  for (size_t i = 0; i < parameters.names.size(); ++i)
    line += (i ? ", " : "") + parameters.names[i] + " = " + shownShort(parameters.elements[i]);
  return line + ")\n";
}

template <> void Frame::evaluate(PrintOp o) {
  std::vector<rt::Value> leaves;
  for (Value v : o.getValues())
    leaves.push_back(values[v]);
  if (auto stop = o->getAttrOfType<IntegerAttr>("number"))
    return environment().stopAt(stop.getInt(), o.getLoc(), leaves);
  if (auto trace = o.getTrace()) {
    const bool isCall = *trace == "call";
    if (auto depth = environment().traceDepth(o.getLoc(), isCall))
      rt::output(traceLine(isCall, o.getStructure(), leaves, *depth));
    return;
  }
  (o.getEcho() ? rt::echo : rt::output)(renderPrint(o.getStructure(), o.getEcho(), leaves));
}

template <> void Frame::evaluate(FormatOp o) {
  SmallVector<rt::Value> all;
  for (Value v : o.getValues())
    all.push_back(values[v]);
  ArrayRef<rt::Value> leaves(all);
  StringRef structure = o.getStructure();
  std::string out;
  for (auto [i, piece] : llvm::enumerate(o.getPieces().getAsValueRange<StringAttr>())) {
    out += piece;
    if (i >= o.getSpecs().size())
      break;
    StringRef spec = cast<StringAttr>(o.getSpecs()[i]).getValue();
    structure.consume_front(";");
    rt::Value value = rebuild(structure, leaves);
    SmallVector<int64_t> numbers;
    for (size_t k = spec.count("{}"); k-- > 0; leaves = leaves.drop_front())
      numbers.push_back(*static_cast<int64_t *>(rt::onHost(*std::get<rt::TensorRef>(leaves.front()))));
    out += rt::formatField(value, {spec.data(), spec.size()}, {numbers.data(), numbers.size()});
  }
  setText(o.getResult(), std::move(out));
}

} // namespace toy
