// SPDX-License-Identifier: Apache-2.0
/// \file
/// Random functions of tensors whose sizes are not declared, called with random sizes: `fuzz-shapes COUNT SEED [VECTORS
/// [CALLS]]`. Results and errors are those of code that is made for every size alone, and the guards that are asked for
/// say the same as all decisions together.
#include "irgen/Specialize.h"
#include "runtime/Format.h"
#include "session/Session.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace toy;

namespace {

std::mt19937_64 engine;
int below(int n) { return static_cast<int>(engine() % n); }
template <size_t n> const char *oneOf(const char *const (&texts)[n]) { return texts[below(n)]; }

/// A function of x, y and z; ranks are known while it is made.
struct Program {
  std::string text;
  std::vector<int> ranks; ///< of the parameters
  std::vector<std::pair<std::string, int>> values;

  std::pair<std::string, int> pick(int rank = 0) {
    for (int tries = 0; tries < 20; ++tries)
      if (auto &v = values[below(values.size())]; rank == 0 || v.second == rank)
        return v;
    return values[0];
  }
  std::string size() {
    auto [name, rank] = pick();
    return name + ".shape[" + std::to_string(below(rank)) + "]";
  }
  std::string condition() {
    std::string k = std::to_string(below(5));
    switch (below(7)) {
    case 0:
      return size() + " > " + k;
    case 1:
      return size() + " == " + size();
    case 2:
      return size() + " % 2 == 0";
    case 3:
      return size() + " + " + size() + " < " + k;
    case 4:
      return "not (" + size() + " <= " + k + ")";
    case 5:
      return size() + " > " + k + (below(2) ? " and " : " or ") + size() + " != " + k;
    default:
      return size() + " // 2 >= " + size();
    }
  }
  void step(int i) {
    static const char *const operators[] = {" + ", " - ", " * "};
    auto [a, rank] = pick();
    auto [b, other] = pick(rank);
    std::string name = "v" + std::to_string(i), value;
    int result = rank;
    switch (below(15)) {
    case 0:
    case 1:
    case 2:
      value = a + oneOf(operators) + (other == rank ? b : a);
      break;
    case 3:
      value = a + " * 2 + 1";
      break;
    case 4:
      value = other == rank ? "cat([" + a + ", " + b + "], axis=" + std::to_string(below(rank)) + ")" : a;
      break;
    case 5:
      value = a + (rank == 1 ? "[1:]" : "[:, 1:]");
      break;
    case 6:
      value = a + "[::2]";
      break;
    case 7:
      value = a + "[:" + std::to_string(below(4)) + "]";
      break;
    case 8:
      value = "reshape(" + a + ", [-1, 2])";
      result = 2;
      break;
    case 9:
      value = "reshape(" + a + ", [-1])";
      result = 1;
      break;
    case 10:
      value = rank == 1 ? "unsqueeze(" + a + ", 0)" : a + ".T";
      result = 2;
      break;
    case 11:
      value = rank == 2 ? "sum(" + a + ", " + std::to_string(below(2)) + ")" : "cumsum(" + a + ")";
      result = 1;
      break;
    case 12:
      value = rank == 2 && other == 2 ? a + " @ " + b : a + " / " + size();
      break;
    case 13:
      value = rank == 2 ? a + "[0]" : "stack(" + a + ", " + a + ")";
      result = rank == 2 ? 1 : 2;
      break;
    default:
      text += "  var " + name + " = " + a + ";\n  if " + condition() + " { " + name + " = " + name + " + 1; }" +
              (below(2) ? " else { " + name + " = " + name + " * 3; }" : "") + "\n";
      values.emplace_back(name, rank);
      return;
    }
    text += "  var " + name + " = " + value + ";\n";
    values.emplace_back(name, result);
  }
  Program(const std::string &function) {
    int parameters = 1 + below(3);
    for (int i = 0; i < parameters; ++i) {
      ranks.push_back(1 + below(2));
      values.emplace_back(std::string(1, static_cast<char>('x' + i)), ranks.back());
    }
    for (int i = 0, n = 1 + below(5); i < n; ++i)
      step(i);
    std::string head = "def " + function + "(";
    for (int i = 0; i < parameters; ++i)
      head += (i ? ", " : "") + std::string(1, static_cast<char>('x' + i));
    text = head + ") {\n" + text + "  return (" + values.back().first + ", sum(" + pick().first + "));\n}\n";
  }
  std::string call(const std::string &function) {
    static constexpr int sizes[] = {0, 1, 1, 2, 3, 4, 4, 6};
    int shared = sizes[below(8)]; // sizes are often equal
    std::string out = function + "(";
    for (size_t i = 0; i < ranks.size(); ++i) {
      std::string shape;
      for (int axis = 0; axis < ranks[i]; ++axis)
        shape += (axis ? ", " : "") + std::to_string(below(3) ? shared : sizes[below(8)]);
      out += (i ? ", " : "") + std::string("reshape(arange(prod([") + shape + "])) + " + std::to_string(i) + ".5, [" +
             shape + "])";
    }
    return out + ")";
  }
};

/// The value of an expression, or that it is an error.
std::string resultOf(Session &session, const std::string &expression) {
  if (session.run("<call>", "var r = " + expression + ";", {}) != Session::Done)
    return "error";
  return rt::format(session.getGlobal("r.0"), {.precision = 0}) +
         rt::format(session.getGlobal("r.1"), {.precision = 0});
}

int fuzz(int count, int vectors, int callsOfProgram) {
  FILE *report = fdopen(dup(1), "w");
  for (int stream : {1, 2})
    dup2(open("/dev/null", O_WRONLY), stream);
  long calls = 0, errors = 0, specializations = 0, guards = 0, decisions = 0;
  for (int i = 0; i < count; ++i) {
    SessionOptions options;
    options.compile.cache = false;
    options.compile.jit = below(10) == 0 ? JitMode::Auto : JitMode::Never; // compiled, and with guards as machine code
    options.compile.dynamic = below(3) == 0 ? DynamicMode::On : DynamicMode::Auto;
    Session dynamic(options);
    options.compile.jit = JitMode::Never;
    options.compile.dynamic = DynamicMode::Off;
    Session fixed(options);
    Program program("f");
    dynamic.run("<program>", program.text, {});
    fixed.run("<program>", program.text, {});
    std::string history;
    for (int k = 0; k < callsOfProgram; ++k, ++calls) {
      std::string expression = program.call("f");
      history += expression + "\n";
      std::string got = resultOf(dynamic, expression), want = resultOf(fixed, expression);
      errors += want == "error";
      if (got != want || dynamic.faulted) {
        std::fprintf(report, "%s%s\ngot %s\nexpected %s\n", program.text.c_str(), history.c_str(), got.c_str(),
                     want.c_str());
        std::fflush(report);
        return 1;
      }
    }
    for (auto &[key, set] : dynamic.instances().specializations)
      for (const auto &specialization : set.entries) {
        ++specializations;
        guards += specialization->guards.size();
        decisions += specialization->decisions.size();
        if (specialization->decisions.empty())
          continue;
        mlir::MLIRContext *context = specialization->decisions[0].fact.dim.getContext();
        for (int k = 0; k < vectors; ++k) {
          std::vector<int64_t> sizes;
          for (size_t slot = 0; slot < set.slots.size(); ++slot)
            sizes.push_back(below(k % 2 ? 5 : 40));
          auto bound = specialization->bind(context, sizes);
          auto all = [&](const std::vector<SizeGuard> &list) {
            return llvm::all_of(list, [&](const SizeGuard &g) { return g.fact.holds(bound); });
          };
          bool isFixed = llvm::any_of(llvm::zip_equal(specialization->fixed, sizes), [](auto pair) {
            return std::get<0>(pair) && *std::get<0>(pair) != std::get<1>(pair);
          });
          if (all(specialization->guards) != all(specialization->decisions) ||
              (!specialization->generic &&
               specialization->accepts(sizes.data()) != (!isFixed && all(specialization->guards)))) {
            std::fprintf(report, "%sguards differ from the decisions\n", program.text.c_str());
            std::fflush(report);
            return 1;
          }
        }
      }
  }
  std::fprintf(report, "%d programs, %ld calls (%ld errors), %ld specializations, %ld decisions, %ld guards\n", count,
               calls, errors, specializations, decisions, guards);
  std::fflush(report);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 200;
  engine.seed(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  pthread_attr_t attributes; // the stack that `toy` has
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t(1) << 30);
  pthread_t thread;
  std::array<int, 3> counts = {count, argc > 3 ? std::atoi(argv[3]) : 200, argc > 4 ? std::atoi(argv[4]) : 12};
  auto body = [](void *p) -> void * {
    auto [count, vectors, calls] = *static_cast<std::array<int, 3> *>(p);
    _exit(fuzz(count, vectors, calls));
  };
  if (pthread_create(&thread, &attributes, body, &counts) == 0)
    pthread_join(thread, nullptr);
  return 2;
}
