// SPDX-License-Identifier: Apache-2.0
/// \file
/// The tree as text, one node a line, children indented.
#include "ast/AST.h"

#include <fmt/format.h>

namespace toy::ast {

std::string_view nameOf(NodeKind kind) {
  static constexpr std::string_view names[] = {
#define TOY_NODE(NAME) #NAME,
#include "ast/Nodes.def"
  };
  return names[static_cast<size_t>(kind)];
}

std::string_view spellingOf(BinaryOp op) {
  static constexpr std::string_view names[] = {"+",  "-",  "*", "/",  "//", "%",  "@",   "**",
                                               "==", "!=", "<", "<=", ">",  ">=", "and", "or"};
  return names[static_cast<size_t>(op)];
}

static bool isSum(const Expr &size) {
  auto *binary = dynCast<Binary>(&size);
  return binary && (binary->steps[0].op == BinaryOp::Add || binary->steps[0].op == BinaryOp::Sub);
}

static std::string sizeText(const Expr &size) {
  if (auto *name = dynCast<Name>(&size))
    return name->name;
  if (auto *number = dynCast<Number>(&size))
    return number->re;
  auto operand = [](const Expr &e, bool needsBrackets) {
    return needsBrackets ? "(" + sizeText(e) + ")" : sizeText(e);
  };
  auto &binary = cast<Binary>(size);
  std::string out = operand(*binary.first, !isSum(binary) && isSum(*binary.first));
  for (const Binary::Step &step : binary.steps) {
    bool nested = step.operand->kind == NodeKind::Binary;
    out +=
        std::string(spellingOf(step.op)) + operand(*step.operand, nested && (!isSum(binary) || isSum(*step.operand)));
  }
  return out;
}

std::string str(const TypeExpr &type) {
  std::vector<std::string> parts;
  if (type.form == TypeExpr::Tuple) {
    for (const TypeExpr &element : type.elements)
      parts.push_back(str(element));
    return fmt::format("({})", fmt::join(parts, ", "));
  }
  if (type.form == TypeExpr::List)
    return "list[" + str(type.elements[0]) + "]";
  for (const ExprPtr &size : type.sizes)
    parts.push_back(size ? sizeText(*size) : "_");
  return type.form == TypeExpr::Tensor ? fmt::format("{}[{}]", type.name, fmt::join(parts, ", ")) : type.name;
}

namespace {

class TreePrinter {
public:
  std::string out;

  void print(const Node *node, const char *role = "") {
    if (!node)
      return;
    std::string label = details(*node);
    out += fmt::format("{:{}}{}{}{}{}\n", "", indent * 2, role, nameOf(node->kind), label.empty() ? "" : " ", label);
    ++indent;
    children(*node);
    --indent;
  }

private:
  int indent = 0;

  static std::string details(const Node &node) {
    switch (node.kind) {
    case NodeKind::Name:
      return cast<Name>(node).name;
    case NodeKind::Number:
      return cast<Number>(node).re + (cast<Number>(node).im.empty() ? "" : " " + cast<Number>(node).im + "i");
    case NodeKind::Bool:
      return cast<Bool>(node).value ? "true" : "false";
    case NodeKind::String:
      return fmt::format("\"{}\"", cast<String>(node).text);
    case NodeKind::Bracket: {
      auto &bracket = cast<Bracket>(node);
      return bracket.compact ? fmt::format("{} numbers <{}>", bracket.re.size(), fmt::join(bracket.shape, ", ")) : "";
    }
    case NodeKind::Unary:
      return cast<Unary>(node).op == UnaryOp::Neg ? "-" : cast<Unary>(node).op == UnaryOp::Plus ? "+" : "not";
    case NodeKind::Call:
      return cast<Call>(node).callee;
    case NodeKind::Lambda:
      return signature(*cast<Lambda>(node).function);
    case NodeKind::Member:
      return "." + cast<Member>(node).member;
    case NodeKind::Try:
      return cast<Try>(node).name;
    case NodeKind::Var: {
      auto &var = cast<Var>(node);
      std::string text = fmt::format("{}", fmt::join(var.names, ", "));
      if (var.shape)
        text += fmt::format("<{}>", fmt::join(*var.shape, ", "));
      return text + (var.type ? ": " + str(*var.type) : "");
    }
    case NodeKind::Assign:
      return cast<Assign>(node).op ? fmt::format("{}=", spellingOf(*cast<Assign>(node).op)) : "=";
    case NodeKind::ExprStmt:
      return cast<ExprStmt>(node).silenced ? "" : "echo";
    case NodeKind::For:
      return fmt::format("{}", fmt::join(cast<For>(node).names, ", "));
    case NodeKind::Function:
      return signature(cast<Function>(node));
    case NodeKind::Struct:
      return cast<Struct>(node).name + "{" + list(cast<Struct>(node).members) + "}";
    case NodeKind::Import:
      return cast<Import>(node).path;
    default:
      return "";
    }
  }

  static std::string list(const std::vector<Parameter> &parameters) {
    std::string out;
    for (const Parameter &p : parameters)
      out += (out.empty() ? "" : ", ") + p.name + (p.type ? ": " + str(*p.type) : "") + (p.defaultValue ? " = …" : "");
    return out;
  }

  static std::string signature(const Function &function) {
    return function.name + "(" + list(function.parameters) + ")" +
           (function.result ? " -> " + str(*function.result) : "");
  }

  void parts(const std::vector<Format::Part> &all) {
    for (const Format::Part &part : all) {
      if (!part.text.empty() || !part.value)
        out += fmt::format("{:{}}\"{}\"\n", "", indent * 2, part.text);
      print(part.value.get());
      if (!part.spec.empty()) {
        out += fmt::format("{:{}}format\n", "", indent * 2);
        ++indent;
        parts(part.spec);
        --indent;
      }
    }
  }

  void arguments(const std::vector<Argument> &all) {
    for (const Argument &argument : all)
      print(argument.value.get(), argument.keyword.empty() ? "" : (argument.keyword + " = ").c_str());
  }

  void all(const std::vector<ExprPtr> &nodes) {
    for (const ExprPtr &node : nodes)
      print(node.get());
  }

  void children(const Node &node) {
    switch (node.kind) {
    case NodeKind::Format:
      return parts(cast<Format>(node).parts);
    case NodeKind::Bracket:
      return all(cast<Bracket>(node).elements);
    case NodeKind::Tuple:
      return all(cast<Tuple>(node).elements);
    case NodeKind::Brace:
      return all(cast<Brace>(node).elements);
    case NodeKind::Print:
      return arguments(cast<Print>(node).arguments);
    case NodeKind::Unary:
      return print(cast<Unary>(node).operand.get());
    case NodeKind::Adjoint:
      return print(cast<Adjoint>(node).operand.get());
    case NodeKind::Binary:
      print(cast<Binary>(node).first.get());
      for (const auto &step : cast<Binary>(node).steps)
        print(step.operand.get(), (std::string(spellingOf(step.op)) + " ").c_str());
      return;
    case NodeKind::Lambda:
      return print(cast<Lambda>(node).function->body.get());
    case NodeKind::TryElse:
      print(cast<TryElse>(node).value.get());
      return print(cast<TryElse>(node).otherwise.get(), "else ");
    case NodeKind::Call:
      print(cast<Call>(node).function.get(), "callee ");
      return arguments(cast<Call>(node).arguments);
    case NodeKind::Index:
      print(cast<Index>(node).base.get());
      for (const Subscript &s : cast<Index>(node).subscripts)
        subscript(s);
      return;
    case NodeKind::Member:
      return print(cast<Member>(node).base.get());
    case NodeKind::Block:
      for (const StmtPtr &statement : cast<Block>(node).statements)
        print(statement.get());
      return;
    case NodeKind::Var:
      return print(cast<Var>(node).value.get());
    case NodeKind::Assign:
      print(cast<Assign>(node).target.get());
      return print(cast<Assign>(node).value.get());
    case NodeKind::ExprStmt:
      return print(cast<ExprStmt>(node).value.get());
    case NodeKind::If:
      print(cast<If>(node).condition.get());
      print(cast<If>(node).thenBlock.get());
      return print(cast<If>(node).elseBranch.get(), "else ");
    case NodeKind::While:
      print(cast<While>(node).condition.get());
      return print(cast<While>(node).body.get());
    case NodeKind::For:
      print(cast<For>(node).iterable.get());
      return print(cast<For>(node).body.get());
    case NodeKind::Try:
      print(cast<Try>(node).body.get());
      return print(cast<Try>(node).handler.get(), "catch ");
    case NodeKind::Return:
      return print(cast<Return>(node).value.get());
    case NodeKind::Assert:
      print(cast<Assert>(node).condition.get());
      return print(cast<Assert>(node).text.get());
    case NodeKind::Write:
      return print(cast<Write>(node).value.get());
    case NodeKind::Function:
      return print(cast<Function>(node).body.get());
    default:
      return;
    }
  }

  void subscript(const Subscript &s) {
    if (s.form == Subscript::Value)
      return print(s.value.get());
    const char *text = s.form == Subscript::Ellipsis ? "..." : s.form == Subscript::NewAxis ? "newaxis" : "slice";
    out += fmt::format("{:{}}{}\n", "", indent * 2, text);
    ++indent;
    print(s.start.get(), "start ");
    print(s.stop.get(), "stop ");
    print(s.step.get(), "step ");
    --indent;
  }
};

} // namespace

std::string print(const Module &module) {
  TreePrinter printer;
  for (const StmtPtr &item : module.items)
    printer.print(item.get());
  return std::move(printer.out);
}

std::string print(const Node &node) {
  TreePrinter printer;
  printer.print(&node);
  return std::move(printer.out);
}

} // namespace toy::ast
