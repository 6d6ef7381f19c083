// SPDX-License-Identifier: Apache-2.0
/// \file
/// The options in one table: spelling, values, what they set, help.
#include "driver/Options.h"

#include "support/Diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace toy {
namespace {

struct Row {
  std::string_view name, values, help;
  std::function<bool(Options &, const std::string &)> apply; ///< false: not a value
};

bool integer(const std::string &text, int64_t low, int64_t high, int64_t &out) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > 18)
    return false;
  out = std::stoll(text);
  return out >= low && out <= high;
}

template <typename T> T &in(Options &o, T Options::*field) { return o.*field; }
template <typename T> T &in(Options &o, T CompileOptions::*field) { return o.compile.*field; }
template <typename T> T &in(Options &o, T rt::DeviceOptions::*field) { return o.device.*field; }

/// One of some words, each with what it sets.
template <typename T, typename Owner> auto choice(T Owner::*field, std::vector<std::pair<std::string_view, T>> values) {
  return [=](Options &o, const std::string &v) {
    for (const auto &[name, value] : values)
      if (v == name) {
        in(o, field) = value;
        return true;
      }
    return false;
  };
}
/// One of some words, as it is.
template <typename Owner> auto word(std::string Owner::*field, std::vector<std::string> values) {
  return [=](Options &o, const std::string &v) {
    bool known = std::find(values.begin(), values.end(), v) != values.end();
    if (known)
      in(o, field) = v;
    return known;
  };
}
auto text(std::string Options::*field) {
  return [=](Options &o, const std::string &v) {
    o.*field = v;
    return !v.empty();
  };
}
template <typename Owner> auto flag(bool Owner::*field, bool value) {
  return [=](Options &o, const std::string &) {
    in(o, field) = value;
    return true;
  };
}

auto mode(Options::Mode mode) {
  return [=](Options &o, const std::string &) {
    o.mode = mode;
    return true;
  };
}

/// A word, or the number of a CUDA device.
bool device(Options &o, const std::string &v) {
  constexpr std::string_view numbered = "cuda:";
  int64_t n = -1;
  if (v.starts_with(numbered) && !integer(v.substr(numbered.size()), 0, 1023, n))
    return false;
  o.device.ordinal = static_cast<int>(n);
  return choice(&rt::DeviceOptions::choice,
                {{"cpu", rt::DeviceChoice::Cpu}, {"cuda", rt::DeviceChoice::Cuda}, {"auto", rt::DeviceChoice::Auto}})(
      o, v.starts_with(numbered) ? "cuda" : v);
}

const std::vector<Row> &rows() {
  static const std::vector<Row> table = {
      {"--emit", "STAGE", "print a stage:"
#define TOY_PHASE(NAME, HELP) " " #NAME
#include "compile/Phases.def"
       ,
       word(&Options::emit,
            {
#define TOY_PHASE(NAME, HELP) #NAME,
#include "compile/Phases.def"
            })},
      {"--function", "NAME", "what --emit shows: of this function alone", text(&Options::function)},
      {"--check", "", "find errors without running the program, and what is doubtful", flag(&Options::check, true)},
      {"--lsp", "", "serve an editor: the language server protocol, over standard input and output",
       mode(Options::Editors)},
      {"--notebook", "", "serve the kernel of a notebook, over standard input and output", mode(Options::Notebook)},
      {"--device", "cpu|cuda|auto", "where tensors live (cuda:1: the second device); else TOY_DEVICE says it", device},
      {"--cuda-graphs", "off|auto|full|piecewise",
       "sequences on a device as CUDA graphs: never, from the second time on, always, without products",
       choice(&rt::DeviceOptions::graphs, {{"off", rt::CudaGraphs::Off},
                                           {"auto", rt::CudaGraphs::Auto},
                                           {"full", rt::CudaGraphs::Full},
                                           {"piecewise", rt::CudaGraphs::Piecewise}})},
      {"--matmul-precision", "ieee|high|medium",
       "products of f32 and c64 on a device: IEEE, three of TF32 with the digits of f32, or TF32",
       choice(&rt::DeviceOptions::precision, {{"ieee", rt::MatmulPrecision::Ieee},
                                              {"high", rt::MatmulPrecision::High},
                                              {"medium", rt::MatmulPrecision::Medium}})},
      {"--threads", "N", "threads of loops and products; 0 is all cores",
       [](Options &o, const std::string &v) {
         int64_t n;
         return integer(v, 0, 4096, n) && (o.threads = n, true);
       }},
      {"--ranks", "N", "start N processes that run the script together, by mpirun",
       [](Options &o, const std::string &v) { return integer(v, 1, 1000000, o.ranks); }},
      {"--print", "N|all", "of several processes: the one whose output is shown (0), or all, each line with its rank",
       [](Options &o, const std::string &v) {
         int64_t n;
         o.ofRanks.print = v;
         return v == "all" || integer(v, 0, 1000000, n);
       }},
      {"--collective-timeout", "SECONDS", "of several processes: how long one waits for others before all end",
       [](Options &o, const std::string &v) { return integer(v, 1, 1000000, o.ofRanks.timeout); }},
      {"--check-replicated", "", "of several processes: compare conditions and values that should be the same on all",
       flag(&CompileOptions::checkReplicated, true)},
      {"--dynamic", "auto|on|off", "sizes that no signature declares: as they come when they change, always, never",
       choice(&CompileOptions::dynamic,
              {{"auto", DynamicMode::Auto}, {"on", DynamicMode::On}, {"off", DynamicMode::Off}})},
      {"--size-profile", "FILE", "which sizes changed in earlier runs, read at the start and kept up at the end",
       text(&Options::sizeProfile)},
      {"--remarks", "", "what was recognized or missed, and why, on stderr", flag(&CompileOptions::remarks, true)},
      {"--no-recognize", "", "leave real arithmetic as it is written", flag(&CompileOptions::recognize, false)},
      {"--complex-matmul", "auto|native|four-real|gauss", "how complex matrix products are computed",
       word(&CompileOptions::complexMatmul, {"auto", "native", "four-real", "gauss"})},
      {"--fast-math", "", "recognize forms that round differently as well", flag(&CompileOptions::fastMath, true)},
      {"--unpack", "", "run complex programs as real code", flag(&CompileOptions::unpack, true)},
      {"--no-fuse", "", "one loop an operation", flag(&CompileOptions::fuse, false)},
      {"--jit", "auto|always|never", "compile, or evaluate with the reference evaluator",
       choice(&CompileOptions::jit, {{"auto", JitMode::Auto}, {"always", JitMode::Always}, {"never", JitMode::Never}})},
      {"--stats", "FILE", "JSON about the run", text(&Options::stats)},
      {"--perf", "", "write /tmp/perf-PID.map, where perf finds the names of compiled functions",
       flag(&CompileOptions::perfMap, true)},
      {"--time", "", "times of the phases, on stderr", flag(&Options::time, true)},
      {"--precision", "N|full", "digits of printed tensors",
       [](Options &o, const std::string &v) {
         int64_t n = 0;
         bool ok = v == "full" || integer(v, 1, 17, n);
         o.precision = n;
         return ok;
       }},
      {"--color", "auto|always|never", "colours in messages", word(&Options::color, {"auto", "always", "never"})},
      {"--diagnostics", "text|json", "form of messages", choice(&Options::json, {{"text", false}, {"json", true}})},
      {"--no-cache", "", "do not keep machine code in ~/.cache/toy", flag(&CompileOptions::cache, false)},
      {"--no-init", "", "do not run ~/.config/toy/init.toy at the prompt", flag(&Options::init, false)},
      {"--check-bounds", "", "watch over extern functions (indices are always checked)",
       flag(&Options::checkBounds, true)},
      {"--naive-matmul", "", "evaluator only: products in plain loops", flag(&CompileOptions::naiveMatmul, true)},
      {"--memory-limit", "BYTES", "bytes that tensors may take",
       [](Options &o, const std::string &v) { return integer(v, 1, INT64_MAX, o.memoryLimit); }},
  };
  return table;
}

std::string stageList(const char *between) {
  std::string out;
  for (const char *name : {
#define TOY_PHASE(NAME, HELP) #NAME,
#include "compile/Phases.def"
       })
    out += (out.empty() ? "" : between) + std::string(name);
  return out;
}

bool refuse(DiagId id, std::vector<std::string> args) {
  std::fprintf(stderr, "error[%s]: %s\n", std::string(infoOf(id).code).c_str(), formatDiagnostic(id, args).c_str());
  return false;
}

} // namespace

std::string helpText() {
  std::string out = "toy: an interactive compiler for tensors with complex numbers\n\n"
                    "  toy                       the prompt\n"
                    "  toy FILE.toy [ARGS]       run a script        toy -i FILE.toy   and stay at the prompt\n"
                    "  toy -e 'CODE'             run a text          toy -             run standard input\n"
                    "  toy --check FILE.toy      look for errors     toy --explain CODE   what a diagnostic means\n"
                    "  toy --version, --help\n\nOptions (before the file):\n";
  auto add = [&](const std::string &option, std::string_view help) {
    out += fmt::format("  {:<45} {}\n", option, help);
  };
  for (const Row &row : rows())
    add(std::string(row.name) + (row.values.empty() ? "" : "=" + std::string(row.values)), row.help);
  add("-O0 … -O3", "how hard LLVM tries");
  add("-o FILE", "where --emit writes");
  return out;
}

std::vector<OptionInfo> optionTable() {
  std::vector<OptionInfo> out;
  for (const Row &row : rows())
    out.push_back({std::string(row.name),
                   row.name == std::string_view("--emit") ? stageList("|") : std::string(row.values),
                   std::string(row.help)});
  return out;
}

/// What the environment chooses, before the command line does.
static bool readEnvironment(Options &options) {
  const char *chosen = std::getenv("TOY_DEVICE");
  if (!chosen || !*chosen || device(options, chosen))
    return true;
  refuse(DiagId::OptionValue, {"TOY_DEVICE", chosen});
  std::fprintf(stderr, "help: `TOY_DEVICE=cpu|cuda|cuda:N|auto`\n");
  return false;
}

bool parseOptions(int argc, char **argv, Options &options) {
  if (!readEnvironment(options))
    return false;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    auto next = [&](const char *what) {
      if (++i >= argc)
        return refuse(DiagId::OptionTakes, {arg, what});
      return true;
    };
    if (arg == "-" || arg.empty() || arg[0] != '-') {
      options.mode = arg == "-" ? Options::Stdin : Options::File;
      options.input = arg;
      options.arguments.assign(argv + i + 1, argv + argc);
      return true;
    }
    if (arg == "-e" || arg == "--explain") {
      if (!next(arg == "-e" ? "a program" : "a code, as `T0336`"))
        return false;
      options.mode = arg == "-e" ? Options::Text : Options::Explain;
      options.input = argv[i];
      if (arg == "-e") {
        options.arguments.assign(argv + i + 1, argv + argc);
        return true;
      }
      continue;
    }
    if (arg == "--generate=man" || arg == "--generate=bash" || arg == "--generate=zsh" ||
        arg == "--generate=fish") { // for the installation
      options.mode = Options::Generate;
      options.input = arg.substr(arg.find('=') + 1);
    } else if (arg == "-i")
      options.interactive = true;
    else if (arg == "--help" || arg == "-h")
      options.mode = Options::Help;
    else if (arg == "--version")
      options.mode = Options::Version;
    else if (arg.size() == 3 && arg.starts_with("-O") && arg[2] >= '0' && arg[2] <= '3')
      options.compile.optimization = arg[2] - '0';
    else if (arg == "-o") {
      if (!next("a file"))
        return false;
      options.output = argv[i];
    } else {
      if (arg.starts_with("-emit="))
        arg.insert(0, "-");
      size_t equal = arg.find('=');
      std::string name = arg.substr(0, equal), value = equal == std::string::npos ? "" : arg.substr(equal + 1);
      const Row *found = nullptr, *otherForm = nullptr;
      std::vector<std::string> names;
      for (const Row &row : rows()) {
        names.emplace_back(row.name);
        if (row.name == name)
          (row.values.empty() == (equal == std::string::npos) ? found : otherForm) = &row;
      }
      if (!found && otherForm) {
        refuse(DiagId::OptionTakes, {name, otherForm->values.empty() ? "no value" : "a value"});
        if (!otherForm->values.empty())
          std::fprintf(stderr, "help: `%s=%s`\n", name.c_str(), std::string(otherForm->values).c_str());
        return false;
      }
      if (!found) {
        refuse(DiagId::UnknownOption, {argv[i]});
        if (auto near = suggest(name, names))
          std::fprintf(stderr, "help: did you mean `%s`?\n", near->c_str());
        return false;
      }
      if (found->apply(options, value))
        continue;
      if (name != "--emit") {
        refuse(DiagId::OptionValue, {name, value});
        std::fprintf(stderr, "help: `%s=%s`\n", name.c_str(), std::string(found->values).c_str());
        return false;
      }
      refuse(DiagId::UnknownStage, {value});
      std::fprintf(stderr, "help: the stages are %s\n", stageList(", ").c_str());
      return false;
    }
  }
  return true;
}

} // namespace toy
