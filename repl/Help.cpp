// SPDX-License-Identifier: Apache-2.0
/// \file
/// Documentation of everything that has a name, from the tables that define it.
#include "irgen/IRGen.h"
#include "repl/Commands.h"
#include "repl/OperationTexts.h"
#include "session/Session.h"

#include <fmt/format.h>

namespace toy {
namespace {

struct Word {
  const char *name, *doc;
};
/// Operators, statements and constants; functions document themselves.
constexpr Word words[] = {
    {"+", "a + b: sum, element by element with broadcasting; strings are joined. A real operand of a complex sum adds "
          "to the real part only."},
    {"-", "a - b: difference; -a: negation of every part, also of zeros."},
    {"*", "a * b: product, element by element with broadcasting. Complex: ac-bd, ad+bc, each product rounded."},
    {"/", "a / b: quotient; integers give f64. Complex quotients never over- or underflow on the way."},
    {"//", "a // b: quotient rounded down; integer divisor 0 is an error."},
    {"%", "a % b: remainder with the divisor's sign."},
    {"@", "a @ b: matrix product with NumPy's rank rules; never conjugates. Leading axes are batches, vectors are rows "
          "or columns."},
    {"**", "a ** b: power, from right to left; -x**2 is -(x**2)."},
    {"'", "x': the adjoint, the conjugate transpose of the last two axes. x.T only transposes, x.H is the same as x'."},
    {"==", "a == b, a != b: equality, element by element; complex: of both parts."},
    {"<", "a < b, <=, >, >=: order of real values, element by element; complex values are not ordered."},
    {"and", "a and b, a or b: on bool, element by element; scalars stop as soon as the result is known."},
    {"or", "a and b, a or b: on bool, element by element; scalars stop as soon as the result is known."},
    {"not", "not a: logical not of bool."},
    {"[]", "x[i], x[a:b:s], x[..., newaxis], x[mask], x[i64([…])]: indices count from 0, negative from the end, and "
           "are checked."},
    {"if", "if c { … } else if d { … } else { … }: c is one bool; use any(x) or all(x) for tensors."},
    {"f\"\"", "f\"{x:>8.3f} {n=}\": texts of values in a string, with Python's specifications behind the colon; {x=} "
              "shows what is written, too; {{ and }} are braces."},
    {"progress", "for i in progress(range(n), \"label\") { … }: draws on the terminal how far the loop is."},
    {"while", "while c { … }: runs while the data say so; break and continue work."},
    {"for",
     "for i in range(a, b, step) { … }, for row in x { … }, for (a, b) in zip(x, y) { … }, for (i, a) in enumerate(x) "
     "{ … }: rows of tensors, elements of tuples (whose types may differ); zip ends with the shortest."},
    {"def",
     "def f(x, w: f32[N, 64], eps = 1e-5) -> f32[N] where N > 0 { … }: generic over dtypes and sizes; names of "
     "sizes compile once for all. Inside a block it is a value of the block, with copies of the variables that it "
     "mentions."},
    {"=>",
     "x => e, (x, y = 1) => e, (x, y) => { …; return e; }: a function as a value, with copies of the local variables "
     "that it mentions. Functions are held in variables, tuples and structs, passed and returned."},
    {"fn", "def apply(f: fn, x) { … }: the type of a parameter, variable or result that holds a function."},
    {"var", "var x = e;  var x: c64[N] = e;  var a<2, 3> = e;  var (q, r) = f(x);"},
    {"return", "return e;  return (a, b);"},
    {"struct", "struct P { var x; var y; }  P p = {1, 2};  p.x"},
    {"assert", "assert c, \"text\": an error with the text unless c holds."},
    {"import",
     "import \"file.toy\": the names of a file, relative to this one.  import \"file.toy\" as m: under a name of "
     "their own, m.f(x)."},
    {"as", "import \"file.toy\" as m: see ?import"},
    {"try",
     "try { … } catch e { … }: the second block runs where the first one fails, and variables are as before; e is "
     "Error{code, text, place}.  try e else f: the value of f where e fails."},
    {"catch", "try { … } catch e { … }: see ?try"},
    {"extern", "extern def f(x: c64[N]) -> c64[N] from \"libmine.so\" symbol \"f_v1\": a function of a shared library "
               "(runtime/toy_extern.h)."},
    {"pi", "3.141592653589793"},
    {"inf", "infinity"},
    {"nan", "not a number"},
    {"ans", "the last value that the prompt showed; also `_`, until a variable has that name"},
    {"args", "the script's arguments, strings: len(args), args[0]"},
    {"i", "2i and 2j are imaginary numbers; 1+2i is one complex constant."},
};

/// Words of `--emit`, remarks and :explain.
constexpr Word terms[] = {
    {"planar", "real and imaginary parts as tensors of their own. `toy.planar_gemm` is a complex matrix product of "
               "such parts, by the strategy that stands behind it."},
    {"toy.planar_gemm",
     "a complex matrix product whose factors and result are real and imaginary parts; strategies: ?matmul."},
    {"packed", "real and imaginary parts side by side on a last axis of 2: what a complex tensor is in memory. An "
               "operation with the attribute `packed` takes these operands (by number) for complex ones."},
    {"toy.pack", "real and imaginary parts put side by side; `toy.part` takes one of them."},
    {"toy.part", "the real (0) or imaginary (1) parts of pairs; `toy.pack` puts them side by side."},
    {"toy.relabel", "the same value under other names for its sizes: where paths join and where functions are called. "
                    "Nothing is computed."},
    {"toy.repacks", "how many operands and results of a product exist by parts, so that loops around it put them "
                    "together or take them apart."},
    {"toy.fused", "operations that become one loop; only what is yielded is stored."},
    {"toy.function_part",
     "the real (0) or imaginary (1) part of a complex function, computed from the parts of its arguments."},
    {"structure", "how the flattened values of a print belong together: `_` a value, `(_, _)` a tuple, `P{a: _}` a "
                  "struct; `;` stands between arguments."},
    {"cis", "complex(cos(t), sin(t)), written in any way: one function computes both parts."},
    {"__top", "the function that a statement of the top level is compiled as."},
    {"any0_0", "in `--emit`: a size that no signature declares, of axis 0 of argument 0 (both counted with the parts "
               "of tuples and structs)."},
    {"unused0_0", "in `--emit`: a size of an argument that the function does not mention."},
    {"loop", "in remarks: computed element by element, in one loop with what is around it."},
    {"evaluated",
     "in remarks: a product in a small statement, which the reference evaluator runs instead of compiling it."},
};

std::string exampleOf(const std::string &name) {
  std::string out;
  for (const Example &e : examples())
    if (e.name == name) {
      out += "\n  toy> " + e.input + "\n";
      for (size_t at = 0; at < e.output.size();) {
        size_t end = std::min(e.output.find('\n', at), e.output.size());
        out += "  " + e.output.substr(at, end - at) + "\n";
        at = end + 1;
      }
    }
  return out;
}

} // namespace

std::string textWithoutHoles(std::string_view format) {
  std::string out(format);
  for (size_t at = 0; (at = out.find('{', at)) != std::string::npos;)
    if (out.compare(at + 2, 1, "}") == 0)
      out.replace(at, 3, "…");
    else if (out.compare(at + 2, 3, ":s}") == 0)
      out.replace(at, 5, "s");
    else
      ++at;
  return out;
}

const std::vector<Example> &examples() {
  static const std::vector<Example> all = {
#define TOY_EXAMPLE(NAME, INPUT, OUTPUT) {NAME, INPUT, OUTPUT},
#include "repl/Examples.def"
  };
  return all;
}

std::string helpOn(const std::string &topic, Session *session) {
  std::string out;
  if (session) {
    if (const ast::Function *f = session->definitions().function(topic)) {
      out += "def " + topic + session->signatureOf(topic) + "\n  " +
             (f->doc.empty() ? "(no docstring: write `##` lines above the def)" : f->doc) + "\n";
      for (const std::string &text : session->specializationsOf(topic))
        out += "  compiled: " + text.substr(0, text.find('\n')) + "\n";
      return out;
    }
    if (session->definitions().structure(topic))
      return session->signatureOf(topic) + "\n";
    for (auto &[name, type] : session->variables())
      if (name == topic)
        return name + ": " + type + "\n";
  }
  for (const BuiltinInfo &info : allBuiltins())
    if (info.name == topic)
      out += fmt::format("{}({})\n  {}\n", info.name, info.parameters, info.doc);
  std::string plain = topic == "!="                                                ? "=="
                      : topic == "<=" || topic == ">" || topic == ">="             ? "<"
                      : topic == "else"                                            ? "if"
                      : topic == "j"                                               ? "i"
                      : topic == "range" || topic == "zip" || topic == "enumerate" ? "for"
                      : topic == ".T" || topic == ".H"                             ? "'"
                                                                                   : topic;
  for (const Word &word : words)
    if (word.name == plain)
      out += (out.empty() ? std::string() : "\n") + fmt::format("{}\n  {}\n", topic, word.doc);
  for (const Word &term : terms)
    if (topic == term.name || topic == "(" + std::string(term.name) + ")" ||
        topic.starts_with(std::string(term.name) + ".") || (term.name == std::string_view("toy." + topic)))
      out += (out.empty() ? std::string() : "\n") + fmt::format("{}\n  {}\n", topic, term.doc);
  if (std::string text = operationText(topic); !text.empty())
    out += out.empty() ? text : text.substr(text.find('\n') + 1);
  if (!out.empty())
    return out + exampleOf(plain);
  if (auto dtype = dtypeNamed(topic))
    return fmt::format("{}: a dtype of {} byte{}; {}(x) converts\n", topic, sizeOf(*dtype),
                       sizeOf(*dtype) == 1 ? "" : "s", topic);
  std::string command = topic.starts_with(":") ? topic.substr(1) : topic;
  for (const CommandInfo &c : commandTable())
    if (c.name == command)
      return fmt::format(":{} {}\n  {}\n", c.name, c.argument, c.help);
  if (auto id = findDiagnostic(topic)) {
    const DiagInfo &info = infoOf(*id);
    return fmt::format("{}: {}\n  {}\n", info.code, textWithoutHoles(info.format), info.explanation);
  }
  return "";
}

std::vector<std::string> helpTopics() {
  std::vector<std::string> all;
  for (const BuiltinInfo &info : allBuiltins())
    all.push_back(info.name);
  for (const Word &word : words)
    all.push_back(word.name);
  for (const CommandInfo &c : commandTable())
    all.push_back(":" + c.name);
  std::vector<std::string> operations = operationNames();
  all.insert(all.end(), operations.begin(), operations.end());
  return all;
}

std::string functionsByGroup() {
  constexpr std::pair<const char *, const char *> titles[] = {
      {"complex", "Complex numbers"},
      {"elementwise", "Element by element"},
      {"reduce", "Reductions, scans and sorting"},
      {"shape", "Shapes, indices and parts"},
      {"linear algebra", "Linear algebra"},
      {"signals", "Fourier transforms and convolutions"},
      {"functions", "Functions of functions"},
      {"trees", "Structs and tuples as trees"},
      {"random", "Random numbers"},
      {"make", "Making tensors"},
      {"data", "Files, output and checks"},
      {"pictures", "Pictures"},
      {"statistics", "Statistics"},
      {"networks", "Networks"},
      {"lists and text", "Lists and text"},
      {"process", "Process"},
      {"ranks", "Several processes"},
  };
  constexpr size_t width = 78;
  std::string out;
  for (auto [group, title] : titles) {
    out += std::string(title) + "\n";
    std::string line = " ";
    for (const BuiltinInfo &info : allBuiltins())
      if (info.group == group) {
        if (line.size() + 1 + info.name.size() > width)
          out += std::exchange(line, " ") + "\n";
        line += " " + info.name;
      }
    out += line + "\n";
  }
  return out;
}

std::string apropos(const std::string &text) {
  std::string out;
  auto lower = [](std::string s) {
    std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::tolower(c); });
    return s;
  };
  auto add = [&](const std::string &name, const std::string &doc) {
    if (lower(name + " " + doc).find(lower(text)) != std::string::npos)
      out += fmt::format("  {:<18} {}\n", name, doc);
  };
  for (const BuiltinInfo &info : allBuiltins())
    add(info.name, info.doc);
  for (const Word &word : words)
    add(word.name, word.doc);
  for (const CommandInfo &c : commandTable())
    add(":" + c.name, c.help);
  for (DiagId id : allDiagnostics())
    add(std::string(infoOf(id).code), textWithoutHoles(infoOf(id).format));
  return out;
}

} // namespace toy
