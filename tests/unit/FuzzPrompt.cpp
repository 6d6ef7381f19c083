// SPDX-License-Identifier: Apache-2.0
/// \file
/// Types truncated and mutated programs, and calls of functions with odd arguments, into one session: `fuzz-prompt
/// COUNT SEED FILE...`. Whatever is typed, the prompt comes back (endless loops after Ctrl-C), no input ends in a fault
/// or an internal error, and the variables that were there before are intact. With FUZZ_LOG=FILE the inputs are written
/// there, separated by \x1e; COUNT 0 types the inputs of FILE.
#include "irgen/Builtins.h"
#include "repl/Commands.h"
#include "runtime/Format.h"
#include "runtime/Guard.h"
#include "runtime/Parallel.h"
#include "session/Session.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

using namespace toy;

namespace {

std::mt19937_64 engine;
size_t below(size_t n) { return n ? engine() % n : 0; }

std::vector<std::string> linesOf(const std::string &path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

/// Some lines of a program, cut or edited.
std::string mutant(const std::vector<std::vector<std::string>> &programs) {
  static constexpr const char *pieces[] = {"",       "(",    ")",
                                           "[",      "]",    "{",
                                           "}",      "\"",   ";",
                                           ",",      ":",    "@",
                                           "'",      "**",   "//",
                                           "1e999",  "2i",   "nan",
                                           "-1",     "0",    "9223372036854775808",
                                           "\\",     "\t",   "\xc3\xa9",
                                           "\xff",   "def ", "for ",
                                           "return", "var ", " = ",
                                           "x",      "f",    "f\"{x:>{2}.3f}\"",
                                           "::-1",   "\"{x", "@dynamic(x, 0) "};
  const auto &lines = programs[below(programs.size())];
  size_t begin = below(4) ? below(lines.size()) : 0, end = below(4) ? begin + 1 + below(6) : lines.size();
  std::string text;
  for (size_t i = begin; i < std::min(end, lines.size()); ++i)
    text += lines[i] + "\n";
  if (below(3) == 0)
    text.resize(below(text.size() + 1));
  for (size_t edits = below(5); edits--;) {
    size_t at = below(text.size() + 1), length = below(4);
    switch (below(4)) {
    case 0:
      text.erase(at, 1 + below(20));
      break;
    case 1:
      text.insert(at, text.substr(below(text.size()), below(20)));
      break;
    default:
      text.replace(at, length, pieces[below(std::size(pieces))]);
      break;
    }
  }
  return text;
}

/// A call of a function with arguments that are empty, of odd types, ranks and sizes, or functions themselves.
std::string oddCall() {
  static constexpr const char *values[] = {
      "0",           "1",       "-1",          "2",           "2.5",           "1i",       "nan",
      "inf",         "1e18",    "true",        "\"a\"",       "\"\"",          "zeros(0)", "zeros(0, 3)",
      "[1, 2, 3]",   "[1i, 2]", "ones(2, 2)",  "eye(3)",      "ones(2, 1, 3)", "x => x",   "(1, 2)",
      "[]",          "i64(3)",  "u8([1, 2])",  "f32([1, 2])", "[1, 2] > 1",    "list()",   "[\"a\"]",
      "c64([1, 2])", "0:3",     "i32([0, 7])", "firstTensor"};
  static constexpr const char *keywords[] = {"axis=", "keepdims=", "dtype=", "n=", "k=", "p=", "out=", "key="};
  const auto value = [] { return std::string(values[below(std::size(values))]); };
  static constexpr const char *operators[] = {" + ", " * ", " @ ", " ** ", " // ", " % ", " == ", " < ", " & ", " << "};
  const BuiltinRow &row = builtinRows()[below(builtinRows().size())];
  std::string call;
  for (size_t i = 0, most = below(4); i <= most; ++i)
    call += (call.empty() ? "" : ", ") + (below(8) ? "" : std::string(keywords[below(std::size(keywords))])) + value();
  if (below(4) == 0) // what is not known before it runs
    call = below(2) ? "x, n" : "x";
  call = std::string(row.name) + "(" + call + ")";
  switch (below(8)) {
  case 0:
    return call + operators[below(std::size(operators))] + value();
  case 1:
    return call + "[" + value() + "]";
  case 2: // sizes and integers that only the run knows
    return "def odd(x, n) { return " + call + "; } odd(" + value() + ", " + value() + ")";
  default:
    return call;
  }
}

std::atomic<int64_t> started{0}; ///< milliseconds; 0: nothing runs
int64_t now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace

static int fuzz(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  engine.seed(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  std::vector<std::vector<std::string>> programs;
  for (int i = 3; i < argc; ++i)
    if (auto lines = linesOf(argv[i]); !lines.empty())
      programs.push_back(std::move(lines));
  if (programs.empty())
    return 2;
  std::vector<std::string> replayed;
  if (count == 0) {
    std::ifstream in(argv[3]);
    for (std::string input; std::getline(in, input, '\x1e');)
      replayed.push_back(input);
    count = static_cast<int>(replayed.size());
  }
  FILE *report = fdopen(dup(1), "w");
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(open("/dev/null", O_WRONLY), 1); // errors stay on stderr
  rt::installFaultHandlers();
  std::string text;
  std::thread watch([&] { // Ctrl-C after 0.2 seconds; after twenty more it did not help
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (int64_t at = started; at && now() - at > 200) {
        rt::interrupt();
        if (now() - at > 20200) {
          std::fprintf(report, "no prompt after\n%s\n", text.c_str());
          std::fflush(report);
          _exit(1);
        }
      }
    }
  });
  SessionOptions options;
  options.prompt = options.join = true;
  options.compile.cache = false;
  Session session(options);
  Prompt prompt{session};
  prompt.runText("<first>", "var firstTensor = [1+2i, 3.5]; var firstText = \"toy\";");
  std::string before;
  auto kept = [&] {
    std::string all;
    for (const auto &[name, type] : session.variables())
      if (name == "firstTensor" || name == "firstText") // the programs have names of their own that begin so
        all += name + type + rt::format(session.getGlobal(name)) + "\n";
    return all;
  };
  before = kept();
  static constexpr const char *commands[] = {":type ", ":emit toy ", ":emit llvm ", ":explain ",
                                             "?",      ":guards ",   ":vars ",      ":load "};
  for (int i = 0; i < count; ++i) {
    text = !replayed.empty() ? replayed[i] : below(4) == 0 ? oddCall() : mutant(programs);
    if (replayed.empty() && below(16) == 0)
      text = commands[below(std::size(commands))] + text;
    if (const char *log = std::getenv("FUZZ_LOG"))
      std::ofstream(log, std::ios::app) << text << '\x1e';
    started = now();
    if (!text.starts_with(":!") && !prompt.run(text))
      prompt.runText("<input " + std::to_string(i) + ">", text);
    started = 0;
    rt::interruptFlag() = false;
    if (session.faulted) {
      std::fprintf(report, "a fault or an internal error after\n%s\n", text.c_str());
      std::fflush(report);
      _exit(1);
    }
  }
  bool intact = !before.empty() && kept() == before;
  std::fprintf(report, intact ? "%d programs\n" : "variables have changed\n", count);
  std::fflush(report);
  _exit(intact ? 0 : 1);
}

int main(int argc, char **argv) {
  pthread_attr_t attributes; // the stack that `toy` has
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t(1) << 30);
  std::pair<int, char **> arguments(argc, argv);
  pthread_t thread;
  auto body = [](void *p) -> void * {
    auto &[argc, argv] = *static_cast<std::pair<int, char **> *>(p);
    _exit(fuzz(argc, argv));
  };
  if (pthread_create(&thread, &attributes, body, &arguments) == 0)
    pthread_join(thread, nullptr);
  return 2;
}
