// SPDX-License-Identifier: Apache-2.0
/// \file
/// One pass over the bytes; every malformed piece gives one diagnostic and is skipped.
#include "lexer/Lexer.h"

#include "support/OtherSpellings.h"
#include "support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>

namespace toy {
namespace {

constexpr std::string_view names[] = {
#define TOY_TOKEN(NAME, TEXT) #NAME,
#define TOY_PUNCTUATION(NAME, TEXT) #NAME,
#define TOY_KEYWORD(NAME, TEXT) #NAME,
#define TOY_CONTEXTUAL(NAME, TEXT) #NAME,
#include "lexer/Tokens.def"
};
constexpr std::string_view texts[] = {
#define TOY_TOKEN(NAME, TEXT) TEXT,
#define TOY_PUNCTUATION(NAME, TEXT) TEXT,
#define TOY_KEYWORD(NAME, TEXT) TEXT,
#define TOY_CONTEXTUAL(NAME, TEXT) TEXT,
#include "lexer/Tokens.def"
};
struct Spelling {
  TokenKind kind;
  std::string_view text;
};
constexpr Spelling punctuation[] = {
#define TOY_PUNCTUATION(NAME, TEXT) {TokenKind::NAME, TEXT},
#include "lexer/Tokens.def"
};
constexpr Spelling words[] = {
#define TOY_KEYWORD(NAME, TEXT) {TokenKind::NAME, TEXT},
#define TOY_CONTEXTUAL(NAME, TEXT) {TokenKind::NAME, TEXT},
#include "lexer/Tokens.def"
};
constexpr TokenKind reserved[] = {
#define TOY_KEYWORD(NAME, TEXT) TokenKind::NAME,
#include "lexer/Tokens.def"
};
constexpr TokenKind contextual[] = {
#define TOY_CONTEXTUAL(NAME, TEXT) TokenKind::NAME,
#include "lexer/Tokens.def"
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isHexDigit(char c) { return isDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }

TokenKind kindOfWord(std::string_view word) {
  auto *row = std::find_if(std::begin(words), std::end(words), [&](const Spelling &s) { return s.text == word; });
  return row == std::end(words) ? TokenKind::Identifier : row->kind;
}

class Lexer {
public:
  Lexer(BufferId buffer, DiagnosticEngine &diagnostics)
      : diagnostics(diagnostics),
        out{buffer, diagnostics.getSources().get(buffer).getText(), {}, std::make_shared<FormatStrings>()} {}

  TokenBuffer run() {
    if (text().starts_with("\xEF\xBB\xBF"))
      at = 3;
    while (at < text().size() && !tooMany)
      next();
    uint32_t end = text().size();
    out.tokens.push_back({TokenKind::End, end, end});
    return std::move(out);
  }

private:
  std::string_view text() const { return out.text; }
  char peek(size_t ahead = 0) const { return at + ahead < text().size() ? text()[at + ahead] : '\0'; }

  void add(TokenKind kind, size_t begin) {
    out.tokens.push_back({kind, static_cast<uint32_t>(begin), static_cast<uint32_t>(at)});
  }

  void error(DiagId id, size_t begin, size_t end, std::vector<std::string> args = {}, std::string help = {}) {
    if (++errors > 20) {
      tooMany = true;
      id = DiagId::TooManyErrors;
    }
    SourceRange range{out.buffer, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
    Diagnostic &d = diagnostics.report(id, range, std::move(args));
    if (!help.empty())
      d.withHelp(std::move(help));
    if (std::string instead = wordInstead(text().substr(begin, end - begin)); !instead.empty())
      d.withFix(range, instead);
  }

  void next() {
    char c = peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
      ++at;
    else if (c == '#')
      comment();
    else if (isDigit(c) || (c == '.' && isDigit(peek(1))))
      number();
    else if (nameStartsAt(0))
      name();
    else if (c == '"')
      string();
    else if (c == '\'')
      quote();
    else
      symbol();
  }

  /// To the end of the line; its bytes need to be UTF-8 as well.
  void comment() {
    size_t begin = at, end = text().find('\n', at);
    end = end == std::string_view::npos ? text().size() : end;
    bool doc = text().substr(begin, 2) == "##";
    checkText(begin, end);
    at = end;
    if (doc)
      add(TokenKind::DocComment, begin);
  }

  /// Comments and strings hold any character but those that would show them other than they are.
  void checkText(size_t begin, size_t end) {
    for (size_t i = begin; i < end;) {
      size_t length = utf8Length(text().substr(i, std::min<size_t>(4, end - i)));
      if (text()[i] == '\0')
        return error(DiagId::NulByte, i, i + 1);
      if (length == 0)
        return error(DiagId::BadUtf8, i, i + 1, {fmt::format("0x{:02X}", static_cast<unsigned char>(text()[i]))});
      if (length > 1)
        if (uint32_t code = codePointAt(text().substr(i)); deceptionOf(code) == Deception::Direction)
          error(DiagId::DirectionCharacter, i, i + length, {describeCharacter(code)});
      i += length;
    }
  }

  /// The length of the character at `at + ahead` if it continues (or starts) a name, else 0.
  size_t nameLengthAt(size_t ahead, bool (*belongs)(uint32_t) = continuesName) const {
    if (at + ahead >= text().size())
      return 0;
    std::string_view rest = text().substr(at + ahead, 4);
    size_t length = utf8Length(rest);
    return length && belongs(codePointAt(rest)) ? length : 0;
  }
  bool nameStartsAt(size_t ahead) const { return nameLengthAt(ahead, startsName) > 0; }

  void name() {
    size_t begin = at;
    while (size_t length = nameLengthAt(0))
      at += length;
    if (peek() == '"' && text().substr(begin, at - begin) == "f")
      return formatString(begin);
    add(kindOfWord(text().substr(begin, at - begin)), begin);
  }

  /// digits [. digits] [e±digits] [i|j]; a dot before a name or another dot belongs to what follows.
  void number() {
    size_t begin = at;
    TokenKind kind = TokenKind::Integer;
    digits();
    bool member = peek() == '.' && (peek(1) == '.' || (nameStartsAt(1) && !exponentAt(1) && !imaginaryAt(1)));
    if (peek() == '.' && !member) {
      kind = TokenKind::Float;
      ++at;
      digits();
    }
    if (exponentAt(0)) {
      kind = TokenKind::Float;
      at += peek(1) == '+' || peek(1) == '-' ? 2 : 1;
      digits();
    }
    if (imaginaryAt(0)) {
      kind = TokenKind::Imaginary;
      ++at;
    }
    if (nameLengthAt(0)) {
      while (size_t length = peek() == '.' && isDigit(peek(1)) ? 1 : nameLengthAt(0))
        at += length;
      std::string number(text().substr(begin, std::min<size_t>(at - begin, 40)));
      error(DiagId::MalformedNumber, begin, at, {number}, helpForNumber(number));
      kind = TokenKind::Integer;
    }
    if (at - begin > 60000)
      error(DiagId::MalformedNumber, begin, at, {std::string(text().substr(begin, 20)) + "…"});
    add(kind, begin);
  }
  /// How other languages' numbers are written here.
  static std::string helpForNumber(std::string_view number) {
    return number.ends_with("im")                  ? fmt::format("write `{}i`", number.substr(0, number.size() - 2))
           : number.find('_') != std::string::npos ? "digits stand side by side: `1000000`"
           : number.find_first_of("xXoO") == 1 || number.starts_with("0b") ? "integers are decimal"
                                                                           : "";
  }

  void digits() {
    while (isDigit(peek()))
      ++at;
  }
  bool exponentAt(size_t i) const {
    if (peek(i) != 'e' && peek(i) != 'E')
      return false;
    return isDigit(peek(i + 1)) || ((peek(i + 1) == '+' || peek(i + 1) == '-') && isDigit(peek(i + 2)));
  }
  bool imaginaryAt(size_t i) const { return (peek(i) == 'i' || peek(i) == 'j') && !nameLengthAt(i + 1); }

  void string() {
    size_t begin = at++;
    while (at < text().size() && peek() != '"' && peek() != '\n')
      stringCharacter();
    checkText(begin, std::min(at, text().size()));
    if (peek() != '"' || at >= text().size())
      return error(DiagId::UnterminatedString, begin, std::min(at, text().size()));
    ++at;
    add(TokenKind::String, begin);
  }

  /// A byte of a string, or an escape.
  void stringCharacter() {
    if (peek() == '\\') {
      bool isBroken = peek(1) == 'x' && (!isHexDigit(peek(2)) || !isHexDigit(peek(3)));
      if (isBroken || std::string_view("ntr0\\\"x").find(peek(1)) == std::string_view::npos)
        error(DiagId::BadEscape, at, at + 2, {std::string(1, peek(1))});
      if (peek(1) != '\n')
        ++at;
    }
    ++at;
  }

  bool lineEnds() const { return at >= text().size() || peek() == '\n'; }
  void skipLine() { at = std::min(text().find('\n', at), text().size()); }

  /// `f"…{expression[=][:spec]}…"` on one line; `at` is at the quote.
  void formatString(size_t begin) {
    ++at;
    std::vector<FormatPart> parts;
    size_t before = errors;
    bool whole = formatParts(parts, false);
    if (whole && lineEnds()) {
      error(DiagId::UnterminatedString, begin, std::min(at, text().size()));
      whole = false;
    }
    if (!whole || errors > before)
      return skipLine(); // where the string ends is a guess
    ++at;
    add(TokenKind::Format, begin);
    out.formats->emplace(begin, std::move(parts));
  }

  /// Text and fields up to the quote, or, of a field's format, to its brace. False where the rest cannot be read.
  bool formatParts(std::vector<FormatPart> &parts, bool inSpec) {
    while (true) {
      size_t begin = at;
      while (!lineEnds() && peek() != '"' && (inSpec ? peek() != '{' && peek() != '}' : !fieldBegins()))
        if (!inSpec && peek() == '}' && peek(1) != '}') {
          error(DiagId::SingleBrace, at, at + 1, {}, "write `}}`");
          return false;
        } else if (!inSpec && (peek() == '{' || peek() == '}'))
          at += 2;
        else
          stringCharacter();
      checkText(begin, std::min(at, text().size()));
      if (at > begin)
        parts.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(at)});
      if (peek() != '{')
        return true;
      if (!field(parts))
        return false;
    }
  }
  bool fieldBegins() const { return peek() == '{' && peek(1) != '{'; }

  /// `{expression[=][:spec]}`. The expression's tokens are its own.
  bool field(std::vector<FormatPart> &parts) {
    size_t brace = at++;
    if (++fields > 100) {
      error(DiagId::NestingTooDeep, brace, brace + 1);
      return false;
    }
    auto notClosed = [&] {
      if (!tooMany)
        error(DiagId::FieldNotClosed, brace, brace + 1);
      return false;
    };
    FormatPart part{static_cast<uint32_t>(brace), 0};
    std::swap(out.tokens, part.tokens);
    bool closed = expressionOfField(part);
    size_t end = std::min(at, text().size());
    if (part.labelEnd)
      end = part.labelEnd;
    add(TokenKind::End, end);
    out.tokens.back().end += closed;
    std::swap(out.tokens, part.tokens);
    if (!closed)
      return notClosed();
    if (peek() == ':') {
      part.specBegin = ++at;
      if (!formatParts(part.spec, true))
        return false;
    }
    if (peek() != '}')
      return notClosed();
    part.end = ++at;
    parts.push_back(std::move(part));
    --fields;
    return true;
  }

  /// Whether a `=` here shows what is written before it.
  bool showsSource() const {
    size_t next = text().find_first_not_of(" \t", at + 1);
    return peek() == '=' && next != std::string_view::npos && (text()[next] == '}' || text()[next] == ':');
  }
  bool quoteCloses() const {
    for (size_t i = at + 1; i < text().size() && text()[i] != '\n'; i += text()[i] == '\\' ? 2 : 1)
      if (text()[i] == '"')
        return true;
    return false;
  }

  /// Up to the `}` or `:` that is in no bracket; false where the line ends before.
  bool expressionOfField(FormatPart &part) {
    int depth = 0;
    while (!lineEnds() && peek() != '#' && !tooMany) {
      if (depth <= 0 && (peek() == '}' || peek() == ':'))
        return true;
      if (depth <= 0 && showsSource()) {
        at = text().find_first_not_of(" \t", at + 1);
        part.labelEnd = at;
        return true;
      }
      if (peek() == '"' && !quoteCloses())
        return false;
      size_t before = out.tokens.size();
      next();
      if (out.tokens.size() == before)
        continue;
      TokenKind kind = out.tokens.back().kind;
      depth += kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace;
      depth -= kind == TokenKind::RParen || kind == TokenKind::RBracket || kind == TokenKind::RBrace;
    }
    return false;
  }

  /// The adjoint stands directly behind a value.
  void quote() {
    size_t begin = at++;
    bool behindValue = false;
    if (!out.tokens.empty() && out.tokens.back().end == begin) {
      TokenKind before = out.tokens.back().kind;
      switch (before) {
      case TokenKind::Integer:
      case TokenKind::Float:
      case TokenKind::Imaginary:
      case TokenKind::Adjoint:
      case TokenKind::RParen:
      case TokenKind::RBracket:
      case TokenKind::True:
      case TokenKind::False:
        behindValue = true;
        break;
      default:
        behindValue = isName(before);
      }
    }
    if (behindValue)
      return add(TokenKind::Adjoint, begin);
    size_t close = text().find_first_of("'\n", at);
    if (close != std::string_view::npos && text()[close] == '\'')
      at = close + 1;
    error(DiagId::SingleQuotes, begin, at);
  }

  void symbol() {
    size_t begin = at;
    for (const Spelling &p : punctuation)
      if (text().substr(at, p.text.size()) == p.text) {
        at += p.text.size();
        return add(p.kind, begin);
      }
    size_t length = utf8Length(text().substr(at, 4));
    if (peek() == '\0' || length == 0) {
      checkText(at, at + 1);
      ++at;
      return;
    }
    at += length;
    strayCharacter(begin, codePointAt(text().substr(begin)));
  }

  void strayCharacter(size_t begin, uint32_t code) {
    DiagId ids[] = {DiagId::StrayCharacter, DiagId::DirectionCharacter, DiagId::InvisibleCharacter,
                    DiagId::BlankCharacter};
    std::string shown = code < 0x20   ? fmt::format("0x{:02X}", code)
                        : code < 0x80 ? fmt::format("`{}`", static_cast<char>(code))
                                      : describeCharacter(code);
    error(ids[static_cast<size_t>(deceptionOf(code))], begin, at, {shown}, spellingHere(begin, code));
  }

  /// What operators of other languages are here; `&&` and `||` are one.
  std::string spellingHere(size_t begin, uint32_t code) {
    bool isDouble = (code == '&' || code == '|') && text().substr(begin + 1, 1) == text().substr(begin, 1);
    at += isDouble;
    return code == '!' && fields ? "`{s=}` shows the quotes of a string"
                                 : helpForOther(Other::Character, text().substr(begin, 1 + isDouble));
  }

  DiagnosticEngine &diagnostics;
  TokenBuffer out;
  size_t at = 0;
  size_t errors = 0;
  int fields = 0; ///< of format strings, that are open
  bool tooMany = false;
};

} // namespace

std::string_view nameOf(TokenKind kind) { return names[static_cast<size_t>(kind)]; }

std::string describe(TokenKind kind) {
  std::string_view text = texts[static_cast<size_t>(kind)];
  return kind <= TokenKind::Adjoint ? std::string(text) : fmt::format("`{}`", text);
}

bool isName(TokenKind kind) {
  return kind == TokenKind::Identifier ||
         std::find(std::begin(contextual), std::end(contextual), kind) != std::end(contextual);
}

bool isReserved(TokenKind kind) {
  return std::find(std::begin(reserved), std::end(reserved), kind) != std::end(reserved);
}

const std::vector<std::string_view> &keywords() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> out;
    for (const Spelling &word : words)
      out.push_back(word.text);
    return out;
  }();
  return all;
}

std::string TokenBuffer::name(const Token &token) const { return normalized(spelling(token)); }

TokenBuffer lex(BufferId buffer, DiagnosticEngine &diagnostics) { return Lexer(buffer, diagnostics).run(); }

std::string print(const TokenBuffer &tokens, const SourceManager &sources) {
  const SourceBuffer &buffer = sources.get(tokens.buffer);
  std::string out;
  for (const Token &token : tokens.tokens) {
    uint32_t line = buffer.lineOf(token.begin);
    out += fmt::format("{}:{} {} {}\n", line, buffer.columnOf(token.begin), nameOf(token.kind), tokens.spelling(token));
  }
  return out;
}

static std::string withoutEscapes(std::string_view token) {
  std::string out;
  for (size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '\\' || i + 1 == token.size()) {
      out += token[i];
      continue;
    }
    char c = token[++i];
    auto hex = [](char h) {
      return h >= '0' && h <= '9' ? h - '0' : (h | 0x20) >= 'a' && (h | 0x20) <= 'f' ? (h | 0x20) - 'a' + 10 : 0;
    };
    if (c == 'x' && i + 2 < token.size()) {
      out += static_cast<char>(hex(token[i + 1]) * 16 + hex(token[i + 2]));
      i += 2;
      continue;
    }
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == '0' ? '\0' : c;
  }
  return out;
}

std::string unescape(std::string_view token) { return withoutEscapes(token.substr(1, token.size() - 2)); }

std::string unescapeFormat(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    i += text[i] == '{' || text[i] == '}';
  }
  return withoutEscapes(out);
}

} // namespace toy
