// SPDX-License-Identifier: Apache-2.0
/// \file
/// The syntax tree of a module: what the parser makes and IR generation reads. Nodes own their children and know their
/// source range.
#pragma once

#include "support/Source.h"

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace toy::ast {

enum class NodeKind : uint8_t {
#define TOY_NODE(NAME) NAME,
#include "ast/Nodes.def"
};
std::string_view nameOf(NodeKind kind);

/// Every node: its kind and range.
struct Node {
  NodeKind kind;
  SourceRange range;
  Node(NodeKind kind, SourceRange range) : kind(kind), range(range) {}
  virtual ~Node() = default;
};

template <typename T> bool isa(const Node *node) { return node->kind == T::nodeKind; }
template <typename T> const T *dynCast(const Node *node) {
  return node && node->kind == T::nodeKind ? static_cast<const T *>(node) : nullptr;
}
template <typename T> const T &cast(const Node &node) {
  assert(node.kind == T::nodeKind);
  return static_cast<const T &>(node);
}

struct Expr : Node {
  using Node::Node;
};
using ExprPtr = std::unique_ptr<Expr>;
struct Stmt : Node {
  using Node::Node;
};
using StmtPtr = std::unique_ptr<Stmt>;

#define TOY_AST(KIND, BASE)                                                                                            \
  static constexpr NodeKind nodeKind = NodeKind::KIND;                                                                 \
  explicit KIND(SourceRange range) : BASE(nodeKind, range) {}

// --- expressions

struct Name : Expr {
  TOY_AST(Name, Expr)
  std::string name;
};

/// A number. `a±bi` with a literal real part is one Complex; parts keep their text (with sign) so that any dtype is
/// reached with one rounding.
struct Number : Expr {
  TOY_AST(Number, Expr)
  enum Kind : uint8_t { Integer, Float, Imaginary, Complex } form = Integer;
  std::string re, im;
};

struct Bool : Expr {
  TOY_AST(Bool, Expr)
  bool value = false;
};

struct String : Expr {
  TOY_AST(String, Expr)
  std::string text;
};

/// `f"…{value[=][:spec]}…"`.
struct Format : Expr {
  TOY_AST(Format, Expr)
  struct Part {
    std::string text;       ///< as it is; of `{e=}` what is shown before the value
    ExprPtr value;          ///< null: text alone
    bool isShown = false;   ///< `{e=}`
    std::vector<Part> spec; ///< texts and values
    SourceRange specRange;
  };
  std::vector<Part> parts;
};

/// `[a, b]`, nested. Elements are expressions, or, when all are numbers, their positions in the source (10^6 elements
/// stay small).
struct Bracket : Expr {
  TOY_AST(Bracket, Expr)
  std::vector<ExprPtr> elements;
  /// The compact form: sizes, and for each element the tokens of its parts (begin offset and length; length 0: no such
  /// part).
  struct Part {
    uint32_t begin = 0;
    uint16_t length = 0;
    bool negative = false;
    bool isCall = false; ///< of the first part: the element is written `complex(re, im)`
  };
  bool named = false; ///< compact, with `nan`, `inf` or `complex`: programs may give these names another meaning
  bool compact = false, anyComplex = false, allIntegers = true, allBools = false;
  std::vector<int64_t> shape;
  std::vector<Part> re, im; ///< `im` is empty unless anyComplex
};

enum class UnaryOp : uint8_t { Neg, Plus, Not };
struct Unary : Expr {
  TOY_AST(Unary, Expr)
  UnaryOp op = UnaryOp::Neg;
  ExprPtr operand;
};

enum class BinaryOp : uint8_t { Add, Sub, Mul, Div, FloorDiv, Mod, MatMul, Pow, Eq, Ne, Lt, Le, Gt, Ge, And, Or };
std::string_view spellingOf(BinaryOp op);

/// A chain of left-associative operators of one precedence: `first op1 x1 op2 x2 …`; long chains do not nest.
struct Binary : Expr {
  TOY_AST(Binary, Expr)
  struct Step {
    BinaryOp op;
    SourceRange opRange;
    ExprPtr operand;
  };
  ExprPtr first;
  std::vector<Step> steps;
};

struct Argument {
  std::string keyword; ///< empty: positional
  SourceRange keywordRange;
  std::shared_ptr<Expr> value;
};

/// `f(a, k = b)`; a member call `x.f(a)` has `x` as first argument. Any other value that is called is `function`.
struct Call : Expr {
  TOY_AST(Call, Expr)
  std::string callee;
  SourceRange calleeRange;
  ExprPtr function; ///< null: the callee is a name
  std::vector<Argument> arguments;
  bool isMember = false;
  std::string qualified; ///< of a member call in a module: the function that is called where there is no such member
  const std::string &functionName() const { return qualified.empty() ? callee : qualified; }
};

/// One subscript: an expression, a slice, `...` or `newaxis`.
struct Subscript {
  enum Kind : uint8_t { Value, Slice, Ellipsis, NewAxis } form = Value;
  SourceRange range;
  ExprPtr value;             ///< Value
  ExprPtr start, stop, step; ///< Slice; each may be null
};
struct Index : Expr {
  TOY_AST(Index, Expr)
  ExprPtr base;
  std::vector<Subscript> subscripts;
};

struct Member : Expr {
  TOY_AST(Member, Expr)
  ExprPtr base;
  std::string member;
  SourceRange memberRange;
};

struct Adjoint : Expr {
  TOY_AST(Adjoint, Expr)
  ExprPtr operand;
};

struct Tuple : Expr {
  TOY_AST(Tuple, Expr)
  std::vector<ExprPtr> elements;
};

/// `{a, b}`: the value of a struct declaration.
struct Brace : Expr {
  TOY_AST(Brace, Expr)
  std::vector<ExprPtr> elements;
};

/// `try e else f`: the value of `f` where `e` fails.
struct TryElse : Expr {
  TOY_AST(TryElse, Expr)
  ExprPtr value, otherwise;
};

// --- types

struct TypeExpr {
  enum Kind : uint8_t { Named, Tensor, Tuple, List } form = Named;
  SourceRange range;
  std::string name;               ///< a dtype, `str`, `fn`, `list`, `_` or a struct
  std::vector<ExprPtr> sizes;     ///< Tensor: names, integers and `+ - * // %` of such; null: `_`, any size
  std::vector<TypeExpr> elements; ///< of a tuple; one of a list
};

// --- statements

struct Block : Stmt {
  TOY_AST(Block, Stmt)
  std::vector<StmtPtr> statements;
};
using BlockPtr = std::unique_ptr<Block>;

/// `var x = e`, `var x: T = e`, `var a<2, 3> = e`, `var (q, k) = e`, `S p = {…}`.
struct Var : Stmt {
  TOY_AST(Var, Stmt)
  std::vector<std::string> names;
  std::vector<SourceRange> nameRanges;
  bool isTuple = false;
  std::optional<TypeExpr> type;
  std::optional<std::vector<int64_t>> shape;
  SourceRange shapeRange;
  ExprPtr value;
};

/// `target = e` or `target op= e`; the target is a Name, Index, Member or Tuple of such.
struct Assign : Stmt {
  TOY_AST(Assign, Stmt)
  ExprPtr target;
  std::optional<BinaryOp> op;
  SourceRange opRange;
  ExprPtr value;
};

struct ExprStmt : Stmt {
  TOY_AST(ExprStmt, Stmt)
  ExprPtr value;
  bool silenced = true; ///< ended by `;`
};

struct If : Stmt {
  TOY_AST(If, Stmt)
  ExprPtr condition;
  BlockPtr thenBlock;
  StmtPtr elseBranch; ///< a Block, an If, or null
};

struct While : Stmt {
  TOY_AST(While, Stmt)
  ExprPtr condition;
  BlockPtr body;
};

/// `for i in range(a, b, s)`, `for row in x` or `for (a, b) in zip(x, y)`.
struct For : Stmt {
  TOY_AST(For, Stmt)
  std::vector<std::string> names;
  std::vector<SourceRange> nameRanges;
  bool isTuple = false;
  ExprPtr iterable;
  BlockPtr body;
};

/// `try { … } catch e { … }`.
struct Try : Stmt {
  TOY_AST(Try, Stmt)
  BlockPtr body, handler;
  std::string name; ///< of the error; empty: none
  SourceRange nameRange;
};

struct Return : Stmt {
  TOY_AST(Return, Stmt)
  ExprPtr value;
};
struct Break : Stmt {
  TOY_AST(Break, Stmt)
};
struct Continue : Stmt {
  TOY_AST(Continue, Stmt)
};

struct Assert : Stmt {
  TOY_AST(Assert, Stmt)
  ExprPtr condition, text;
};
struct Print : Stmt {
  TOY_AST(Print, Stmt)
  std::vector<Argument> arguments; ///< values, then `sep =`, `end =`, `to =`
};
struct Write : Stmt {
  TOY_AST(Write, Stmt)
  ExprPtr value;
};

// --- declarations

struct Parameter {
  std::string name;
  SourceRange range;
  std::optional<TypeExpr> type;
  ExprPtr defaultValue;
};

struct Attribute {
  std::string name;
  SourceRange range;
  std::vector<ExprPtr> arguments;
};

struct Function : Stmt {
  TOY_AST(Function, Stmt)
  std::string name;
  SourceRange nameRange;
  std::vector<Parameter> parameters;
  std::optional<TypeExpr> result;
  std::vector<ExprPtr> where;
  std::vector<Attribute> attributes;
  std::string doc;
  std::string place; ///< `@file.toy:6:36`, of lambdas and definitions inside a block; empty: of the top level
  BlockPtr body;     ///< null: extern
  std::string sharedObject, symbol;
};

/// `x => e`, `(x, y) => { … }`: a function whose name is its place.
struct Lambda : Expr {
  TOY_AST(Lambda, Expr)
  std::unique_ptr<Function> function;
};

struct Struct : Stmt {
  TOY_AST(Struct, Stmt)
  std::string name;
  SourceRange nameRange;
  std::vector<Parameter> members;
};

struct Import : Stmt {
  TOY_AST(Import, Stmt)
  std::string path;
  SourceRange pathRange;
  std::string alias; ///< `as m`; empty: its names are those of the importing file
};

/// A parsed source text: declarations and statements in order.
struct Module {
  std::vector<StmtPtr> items;
};

#undef TOY_AST

/// A type as the language writes it, from the tree: blanks and superfluous brackets of the source are gone.
std::string str(const TypeExpr &type);
/// A readable tree, one node a line (`--emit=ast`).
std::string print(const Module &module);
std::string print(const Node &node);

} // namespace toy::ast
