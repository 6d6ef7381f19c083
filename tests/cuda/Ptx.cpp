// SPDX-License-Identifier: Apache-2.0
/// \file
/// Parsing PTX.
#include "Ptx.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>

namespace ptx {
namespace {

const std::map<std::string, int> &codes() {
  static const std::map<std::string, int> table = {
      {"add", Add},   {"addc", AddC},         {"sub", Sub},    {"subc", SubC}, {"mul", Mul},
      {"mad", Mad},   {"fma", Fma},           {"div", Div},    {"rem", Rem},   {"min", Min},
      {"max", Max},   {"neg", Neg},           {"abs", Abs},    {"and", And},   {"or", Or},
      {"xor", Xor},   {"not", Not},           {"shl", Shl},    {"shr", Shr},   {"sqrt", Sqrt},
      {"rcp", Rcp},   {"copysign", CopySign}, {"mov", Mov},    {"cvta", Cvta}, {"cvt", Cvt},
      {"setp", SetP}, {"selp", SelP},         {"ld", Ld},      {"st", St},     {"bra", Bra},
      {"ret", Ret},   {"exit", Exit},         {"call", Call},  {"shfl", Shfl}, {"shf", Shf},
      {"clz", Clz},   {"popc", Popc},         {"brev", Brev},  {"bfe", Bfe},   {"testp", Testp},
      {"prmt", Prmt}, {"bar", Bar},           {"barrier", Bar}};
  return table;
}

unsigned flagOf(const std::string &part) {
  static const std::map<std::string, unsigned> table = {{"rni", ToNearest},
                                                        {"rzi", ToZero},
                                                        {"rmi", Down},
                                                        {"rpi", Up},
                                                        {"NaN", KeepsNaN},
                                                        {"clamp", Clamp},
                                                        {"l", Left},
                                                        {"to", To},
                                                        {"and", WithAnd},
                                                        {"or", WithOr},
                                                        {"down", ShuffleDown},
                                                        {"idx", ShuffleFrom},
                                                        {"infinite", IsInfinite},
                                                        {"notanumber", IsNaN},
                                                        {"finite", IsFinite},
                                                        {"number", IsNumber},
                                                        {"cc", Carry},
                                                        {"wide", Wide},
                                                        {"hi", High}};
  auto found = table.find(part);
  return found == table.end() ? 0 : found->second;
}

/// Those with `u` are true of NaN, too; lo, ls, hi and hs are the ones of unsigned numbers.
unsigned char relationsOf(const std::string &comparison) {
  static const std::map<std::string, int> table = {
      {"eq", Equal},
      {"ne", Less | Greater},
      {"lt", Less},
      {"le", Less | Equal},
      {"gt", Greater},
      {"ge", Greater | Equal},
      {"lo", Less},
      {"ls", Less | Equal},
      {"hi", Greater},
      {"hs", Greater | Equal},
      {"equ", Equal | Unordered},
      {"neu", Less | Greater | Unordered},
      {"ltu", Less | Unordered},
      {"leu", Less | Equal | Unordered},
      {"gtu", Greater | Unordered},
      {"geu", Greater | Equal | Unordered},
      {"num", Less | Equal | Greater},
      {"nan", Unordered},
  };
  auto found = table.find(comparison);
  if (found == table.end())
    throw Error("PTX: comparison " + comparison);
  return static_cast<unsigned char>(found->second);
}

std::string trim(const std::string &s) {
  size_t a = s.find_first_not_of(" \t\n"), b = s.find_last_not_of(" \t\n");
  return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}

/// Splits at commas that stand outside of braces and brackets.
std::vector<std::string> splitOperands(const std::string &text) {
  std::vector<std::string> out;
  int depth = 0;
  std::string now;
  for (char c : text) {
    depth += c == '{' || c == '[' || c == '(';
    depth -= c == '}' || c == ']' || c == ')';
    if (c == ',' && depth == 0) {
      out.push_back(trim(now));
      now.clear();
    } else
      now += c;
  }
  if (!trim(now).empty())
    out.push_back(trim(now));
  return out;
}

bool typeOf(const std::string &text, char &kind, unsigned &bits) {
  if (text == "pred") {
    kind = 'p';
    bits = 1;
    return true;
  }
  if (text == "f16x2") { // a pair of halves
    kind = 'h';
    bits = 32;
    return true;
  }
  if (text == "bf16" || text == "bf16x2") {
    kind = 't';
    bits = text == "bf16" ? 16 : 32;
    return true;
  }
  if (text.size() < 2 || !std::strchr("busf", text[0]) || text.find_first_not_of("0123456789", 1) != std::string::npos)
    return false;
  kind = text[0];
  bits = std::stoul(text.substr(1));
  return true;
}

class Parser {
public:
  explicit Parser(const std::string &text) : text(text), module(std::make_unique<Module>()) {}

  std::unique_ptr<Module> run() {
    while (true) {
      skip();
      if (at >= text.size())
        return std::move(module);
      if (starts(".version") || starts(".target") || starts(".address_size"))
        line();
      else if (starts(".shared"))
        shared(until(';'));
      else if (starts(".global") || starts(".const") || starts(".visible .global") || starts(".visible .const"))
        global();
      else if (starts(".visible .entry") || starts(".func") || starts(".entry") || starts(".visible .func"))
        function();
      else
        throw Error("PTX: unexpected text: " + text.substr(at, 60));
    }
  }

private:
  void skip() {
    while (at < text.size()) {
      if (std::isspace(static_cast<unsigned char>(text[at])))
        ++at;
      else if (text.compare(at, 2, "//") == 0)
        line();
      else
        break;
    }
  }
  bool starts(const char *what) const { return text.compare(at, std::strlen(what), what) == 0; }
  void line() {
    size_t end = text.find('\n', at);
    at = end == std::string::npos ? text.size() : end + 1;
  }
  std::string until(char c) {
    size_t end = text.find(c, at);
    if (end == std::string::npos)
      throw Error(std::string("PTX: no ") + c);
    std::string out = text.substr(at, end - at);
    at = end + 1;
    return out;
  }

  /// `.global .align 8 .b8 name[160] = {…};`
  void global() {
    std::string all = until(';');
    size_t equal = all.find('='), bracket = all.find('[');
    std::string head = all.substr(0, std::min(equal, all.size())), type;
    std::string name = head.substr(0, bracket);
    name = trim(name);
    name = name.substr(name.find_last_of(" \t") + 1);
    unsigned bytes = 1;
    for (const char *candidate : {".b8", ".b16", ".b32", ".b64", ".f32", ".f64", ".u8", ".u16", ".u32", ".u64"})
      if (head.find(std::string(" ") + candidate + " ") != std::string::npos)
        bytes = std::stoul(std::string(candidate).substr(2)) / 8;
    size_t count = bracket == std::string::npos || bracket > equal ? 1 : std::stoul(all.substr(bracket + 1));
    auto data = std::make_unique<char[]>(count * bytes + 8);
    if (equal != std::string::npos) {
      std::string values = trim(all.substr(equal + 1));
      if (!values.empty() && values.front() == '{')
        values = values.substr(1, values.find_last_of('}') - 1);
      size_t i = 0;
      for (const std::string &value : splitOperands(values)) {
        uint64_t word = immediate(value);
        std::memcpy(data.get() + bytes * i++, &word, bytes);
      }
    }
    uint64_t begin = module->globals[name] = reinterpret_cast<uint64_t>(data.get());
    module->constants.emplace_back(begin, begin + count * bytes);
    module->storage.push_back(std::move(data));
  }

  /// `.shared .align 16 .b8 name[4224]`
  void shared(const std::string &text) {
    size_t bracket = text.find('['), begin = text.find_last_of(" \t", bracket) + 1;
    if (text.find(".b8 ") == std::string::npos || bracket == std::string::npos)
      throw Error("PTX: shared memory that is not bytes");
    module->globals[text.substr(begin, bracket - begin)] = sharedWindow + module->sharedBytes;
    uint64_t bytes = (std::stoul(text.substr(bracket + 1)) + 15) / 16 * 16;
    module->sharedBytes += bytes;
    sharedHere += bytes;
    if (sharedHere > mostShared)
      throw Error("PTX: too much shared memory");
  }

  static uint64_t immediate(const std::string &s) {
    if (s.starts_with("0f") || s.starts_with("0F"))
      return std::stoul(s.substr(2), nullptr, 16);
    if (s.starts_with("0d") || s.starts_with("0D"))
      return std::stoull(s.substr(2), nullptr, 16);
    bool negative = s.starts_with("-");
    std::string digits = negative ? s.substr(1) : s;
    uint64_t value = std::stoull(digits, nullptr, 0);
    return negative ? -value : value;
  }

  int registerOf(const std::string &name) {
    auto [it, isNew] = registers.try_emplace(name, static_cast<int>(registers.size()));
    return it->second;
  }
  int slotOf(const std::string &name) {
    auto [it, isNew] = slots.try_emplace(name, static_cast<int>(slots.size()));
    return it->second;
  }

  Operand operand(const std::string &s) {
    Operand o;
    if (s.front() == '{') {
      o.kind = Operand::Vector;
      for (const std::string &part : splitOperands(s.substr(1, s.size() - 2)))
        o.parts.push_back(operand(part));
      return o;
    }
    if (s.front() == '[') {
      o.kind = Operand::Address;
      std::string inside = trim(s.substr(1, s.size() - 2));
      size_t plus = inside.find('+');
      std::string base = trim(inside.substr(0, plus));
      if (plus != std::string::npos)
        o.value = immediate(trim(inside.substr(plus + 1)));
      if (base.front() == '%')
        o.reg = registerOf(base);
      else if (slots.contains(base))
        o.param = slots[base];
      else if (module->globals.contains(base))
        o.value += module->globals[base];
      else
        throw Error("PTX: unknown address " + base);
      return o;
    }
    size_t bar = s.find('|');
    std::string name = bar == std::string::npos ? s : s.substr(0, bar);
    if (name.front() == '%') {
      o.kind = Operand::Register;
      o.reg = registerOf(name);
      if (bar != std::string::npos) // a second result
        o.parts.push_back(operand(s.substr(bar + 1)));
      return o;
    }
    if (name == "_")
      return o;
    o.kind = Operand::Register;
    o.reg = registerOf(name);
    if (name.starts_with("__local_depot"))
      localRegister = o.reg;
    else
      constants[o.reg] = module->globals.contains(name) ? module->globals[name]
                         : slots.contains(name)         ? paramWindow + slots[name] * sizeof(Slot) // its address
                         : name == "true"               ? 1
                         : name == "false"              ? 0
                                                        : immediate(name);
    return o;
  }

  void function() {
    auto out = std::make_unique<Function>();
    registers.clear();
    slots.clear();
    labels.clear();
    constants.clear();
    localRegister = -1;
    sharedHere = 0;
    for (const char *special : {"%tid.x", "%ctaid.x", "%ntid.x", "%laneid"})
      registerOf(special);
    size_t brace = text.find('{', at), semicolon = text.find(';', at);
    bool isDeclaration = semicolon < brace;
    std::string head = text.substr(at, std::min(brace, semicolon) - at);
    at = std::min(brace, semicolon) + 1;
    out->isEntry = head.find(".entry") != std::string::npos;
    // The name stands before the last list of parameters, results before it in a list of their own.
    size_t open = head.find_last_of('('), nameEnd = open == std::string::npos ? head.size() : open;
    std::string before = trim(head.substr(0, nameEnd));
    before = before.substr(before.find_last_of(" \t\n)") + 1);
    out->name = before;
    if (isDeclaration)
      return;
    if (open != std::string::npos) {
      auto nameOf = [](const std::string &parameter) {
        std::string name = parameter.substr(parameter.find_last_of(" \t") + 1);
        return name.substr(0, name.find('['));
      };
      size_t close = head.find(')', open);
      for (const std::string &parameter : splitOperands(head.substr(open + 1, close - open - 1)))
        if (!parameter.empty())
          out->paramSlots.push_back(slotOf(nameOf(parameter)));
      if (size_t first = head.find('('); first != open)
        out->resultSlot = slotOf(nameOf(trim(head.substr(first + 1, head.find(')', first) - first - 1))));
    }
    body(*out);
    out->slots = static_cast<int>(slots.size());
    out->registers = static_cast<int>(registers.size());
    out->constants.assign(constants.begin(), constants.end());
    out->localRegister = localRegister;
    module->functions[out->name] = std::move(out);
  }

  void body(Function &f) {
    int depth = 1;
    std::vector<std::pair<size_t, std::string>> branches;
    while (true) {
      skip();
      if (at >= text.size())
        throw Error("PTX: a function does not end");
      if (text[at] == '}') {
        ++at;
        if (--depth == 0)
          break;
        continue;
      }
      if (text[at] == '{') {
        ++at;
        ++depth;
        continue;
      }
      // a label?
      size_t end = at;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || std::strchr("_$%.", text[end])))
        ++end;
      if (end < text.size() && text[end] == ':' && text[at] != '.') {
        labels[text.substr(at, end - at)] = static_cast<int>(f.code.size());
        at = end + 1;
        continue;
      }
      statement(f, trim(until(';')), branches);
    }
    for (auto &[index, label] : branches) {
      if (!labels.contains(label))
        throw Error("PTX: unknown label " + label);
      f.code[index].target = labels[label];
    }
    f.code.push_back({});
    f.code.back().code = Ret;
  }

  void statement(Function &f, std::string s, std::vector<std::pair<size_t, std::string>> &branches) {
    if (s.starts_with(".reg") || s.starts_with(".pragma") || s.starts_with(".loc"))
      return;
    if (s.starts_with(".local")) { // .local .align 8 .b8 __local_depot0[80]
      f.localBytes = std::stoul(s.substr(s.find('[') + 1));
      return;
    }
    if (s.starts_with(".shared"))
      return shared(s);
    if (s.starts_with(".param")) {
      std::string name = s.substr(s.find_last_of(" \t") + 1);
      slotOf(name.substr(0, name.find('[')));
      return;
    }
    Instruction i;
    if (s.front() == '@') {
      size_t space = s.find_first_of(" \t");
      std::string guard = s.substr(1, space - 1);
      i.guardNegated = guard.front() == '!';
      i.guard = registerOf(i.guardNegated ? guard.substr(1) : guard);
      s = trim(s.substr(space));
    }
    size_t space = s.find_first_of(" \t");
    std::string opcode = s.substr(0, space), rest = space == std::string::npos ? "" : trim(s.substr(space));
    std::vector<std::string> suffix;
    for (size_t from = 0; from <= opcode.size();) {
      size_t dot = opcode.find('.', from);
      std::string part = opcode.substr(from, dot == std::string::npos ? std::string::npos : dot - from);
      if (from == 0)
        i.name = part;
      else
        suffix.push_back(part);
      if (dot == std::string::npos)
        break;
      from = dot + 1;
    }
    auto code = codes().find(i.name);
    if (code == codes().end())
      throw Error("PTX: unknown instruction " + opcode);
    i.code = code->second;
    for (const std::string &part : suffix) {
      i.flags |= flagOf(part);
      char kind;
      unsigned bits;
      if (typeOf(part, kind, bits)) {
        if (i.bits) { // cvt.to.from
          i.fromKind = kind;
          i.fromBits = bits;
        } else {
          i.kind = kind;
          i.bits = bits;
        }
      } else if (part == "global")
        i.space = Space::Global;
      else if (part == "param")
        i.space = Space::Param;
      else if (part == "local")
        i.space = Space::Local;
      else if (part == "shared")
        i.space = Space::Shared;
      else if (part == "const")
        i.space = Space::Const;
      else if (part == "v2")
        i.width = 2;
      else if (part == "v4")
        i.width = 4;
    }
    f.hasBarriers |= i.code == Bar;
    if (i.code == SetP)
      i.relations = relationsOf(suffix.at(0));
    if (i.code == Mul && i.flags & Wide)
      i.code = MulWide;
    else if (i.code == Mul && i.flags & High)
      i.code = MulHi;
    else if (i.code == Mad && i.flags & Wide)
      i.code = MadWide;
    if (i.code == Bra) {
      branches.push_back({f.code.size(), rest});
      f.code.push_back(i);
      return;
    }
    if (i.code == Call) { // call[.uni] name, (params)
      std::vector<std::string> parts = splitOperands(rest);
      size_t first = parts[0].front() == '(' ? 1 : 0;
      i.callee = parts[first];
      if (first)
        i.resultSlot = slotOf(trim(parts[0].substr(1, parts[0].size() - 2)));
      if (parts.size() > first + 1)
        for (const std::string &argument : splitOperands(parts[first + 1].substr(1, parts[first + 1].size() - 2))) {
          Operand o;
          o.kind = Operand::Address;
          o.param = slotOf(argument);
          i.operands.push_back(o);
        }
      f.code.push_back(i);
      return;
    }
    for (const std::string &part : splitOperands(rest))
      i.operands.push_back(operand(part));
    f.code.push_back(i);
  }

  const std::string &text;
  size_t at = 0;
  std::unique_ptr<Module> module;
  std::map<std::string, int> registers, slots, labels;
  std::map<int, uint64_t> constants;
  int localRegister = -1;
  uint64_t sharedHere = 0; ///< by this function
};

} // namespace

/// Before PTX 7.1 half of a word is dropped into a register of a block of its own.
static std::string withSinks(std::string text) {
  constexpr std::string_view head = "{ .reg .b32 tmp; ", sink = "tmp", tail = "; }";
  for (size_t at = 0; (at = text.find(head, at)) != std::string::npos;) {
    text.erase(at, head.size());
    text.replace(text.find(sink, at), sink.size(), "_");
    text.erase(text.find(tail, at) + 1, tail.size() - 1);
  }
  return text;
}

std::unique_ptr<Module> parse(const std::string &text) { return Parser(withSinks(text)).run(); }

} // namespace ptx
