// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs programs and compares what they say with what they announce, many in one process: `toy-check [--json]
/// [--timeout=S] [--config='FLAGS']... [FLAGS] FILE...`.
///
/// Lines `# -----` cut a file into parts. Each runs in a session of its own, once for every line `# CONFIG: FLAGS`
/// (they hold until a part has others; without any, for every --config). A part says what it wants in comments: `#
/// expect: TEXT`, a line of output; `# error: CODE LINE:COLUMN`, an error, its place in the file; `# help: TEXT`, in
/// the messages; `# recognized: N`, `# compiles: N` and `# copies: N`. With --json nothing is compared: each run is one
/// line, for the tests that are written in Python.
///
/// A child process runs the parts one after the other; when one ends it, the next parts run in a new one.
#include "driver/Run.h"

#include "runtime/Memory.h"
#include "runtime/Watch.h"
#include "session/Session.h"
#include "support/Sanitizers.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace toy;

namespace {

struct Job {
  std::string file, text, config; ///< `text` keeps the lines of the file: those before the part are empty
  int line;
};
struct Result {
  int status = 0;
  int recognized = 0, missed = 0, compiles = 0, copies = 0;
  std::string kinds, out, err;
};

struct CommandLine {
  bool json = false;
  int seconds = 120;
  std::vector<std::string> configs, flags, files;
};

std::string trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == text.npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

/// What stands behind `# KEY:` in the lines of a part.
std::vector<std::string> wanted(const std::string &text, const std::string &key) {
  std::vector<std::string> out;
  for (const std::string &line : linesOf(text))
    if (size_t at = line.find("# " + key + ":"); at != line.npos)
      out.push_back(trimmed(std::string_view(line).substr(at + key.size() + 3)));
  return out;
}

bool hasCode(const std::string &text) {
  for (const std::string &line : linesOf(text))
    if (std::string t = trimmed(line); !t.empty() && t[0] != '#')
      return true;
  return false;
}

bool addJobs(const CommandLine &command, const std::string &file, std::vector<Job> &jobs) {
  std::ifstream in(file);
  if (!in)
    return false;
  std::stringstream whole;
  whole << in.rdbuf();
  std::vector<std::string> configs = command.configs.empty() ? std::vector<std::string>{""} : command.configs;
  std::string text;
  int line = 0, first = 1;
  auto finish = [&] {
    if (auto own = wanted(text, "CONFIG"); !own.empty())
      configs = own;
    if (hasCode(text))
      for (const std::string &config : configs)
        jobs.push_back({file, text, config, first});
    text.assign(line, '\n');
    first = line + 1;
  };
  for (const std::string &next : linesOf(whole.str())) {
    ++line;
    if (next.starts_with("# -----"))
      finish();
    else
      text += next + "\n";
  }
  finish();
  return true;
}

/// Runs one job in this process and gives what only the session knows.
Result run(const Job &job, const CommandLine &command) {
  std::vector<std::string> words = command.flags;
  std::istringstream split(job.config);
  for (std::string word; split >> word;)
    words.push_back(word);
  std::vector<char *> arguments{const_cast<char *>("toy-check")};
  for (std::string &word : words)
    arguments.push_back(word.data());
  Options options;
  Result result;
  if (!parseOptions(static_cast<int>(arguments.size()), arguments.data(), options)) {
    result.status = 2;
    return result;
  }
  options.mode = Options::File;
  options.input = job.file;
  options.text = job.text;
  rt::resetMemoryStats();
  result.status = runToy(options, [&](Session &session) {
    result.compiles = static_cast<int>(session.compiles.size());
    result.copies = static_cast<int>(rt::memoryStats().copies);
    for (const RecognitionRemark &r : session.recognition()) {
      (r.kind.empty() ? result.missed : result.recognized)++;
      result.kinds += r.kind.empty() ? "" : (result.kinds.empty() ? "" : " ") + r.kind;
    }
  });
  // The session is gone: what it held should be.
  static int64_t leftBefore = 0;
  int64_t left = rt::liveObjects() - std::exchange(leftBefore, rt::liveObjects());
  if (hasAddressSanitizer && result.status == 0 && left > 0) {
    std::fprintf(stderr, "leak: %lld tensors and strings were not freed\n", static_cast<long long>(left));
    result.status = 71;
  }
  std::fflush(stderr);
  return result;
}

/// A child process that runs jobs; its standard output and errors are files in memory.
struct Worker {
  const std::vector<Job> &jobs;
  const CommandLine &command;
  pid_t pid = 0;
  int results = -1, orders = -1, out = memfd_create("out", 0), err = memfd_create("err", 0);

  void start(size_t next) {
    int toParent[2], toChild[2];
    if (pipe(toParent) || pipe(toChild))
      std::exit(70);
    pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL); // who stops the parent stops a run without an end too
      close(toParent[0]);
      close(toChild[1]);
      dup2(out, STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
      runFrom(next, toParent[1], toChild[0]);
    }
    close(toParent[1]);
    close(toChild[0]);
    results = toParent[0];
    orders = toChild[1];
  }

  void stop() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    close(results);
    close(orders);
    pid = 0;
  }

  /// On a thread with the stack that `toy` has; waits after each job until its output was taken.
  [[noreturn]] void runFrom(size_t next, int answer, int order) {
    auto body = [&] {
      for (; next < jobs.size(); ++next) {
        Result r = run(jobs[next], command);
        std::string text =
            fmt::format("{} {} {} {} {} {}\n", r.status, r.recognized, r.missed, r.compiles, r.copies, r.kinds);
        char go;
        if (write(answer, text.data(), text.size()) < 0 || read(order, &go, 1) != 1)
          _exit(0);
      }
      _exit(0);
    };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t(1) << 30);
    pthread_t thread;
    if (pthread_create(
            &thread, &attributes, [](void *p) -> void * { return (*static_cast<decltype(body) *>(p))(), nullptr; },
            &body) == 0)
      pthread_join(thread, nullptr);
    _exit(70);
  }

  std::string take(int file) {
    std::string text(lseek(file, 0, SEEK_END), '\0');
    text.resize(std::max<ssize_t>(pread(file, text.data(), text.size(), 0), 0));
    if (ftruncate(file, 0) == 0)
      lseek(file, 0, SEEK_SET);
    return text;
  }

  Result next(size_t job) {
    if (!pid)
      start(job);
    std::string line;
    bool late = false;
    for (char c = 0; c != '\n'; line += c) {
      pollfd waits{results, POLLIN, 0};
      late = poll(&waits, 1, command.seconds * 1000) == 0;
      if (late || read(results, &c, 1) != 1)
        break;
    }
    Result r;
    if (line.empty() || line.back() != '\n') {
      int status = 0;
      if (late)
        kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      r.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      r.err = take(err) + (late ? fmt::format("no end after {} s\n", command.seconds)
                                : fmt::format("the process ended with status {}\n", r.status));
      r.status = r.status ? r.status : 70; // a program that leaves like that did not come to its end
      close(results);
      close(orders);
      pid = 0;
    } else {
      std::istringstream in(line);
      in >> r.status >> r.recognized >> r.missed >> r.compiles >> r.copies >> std::ws;
      std::getline(in, r.kinds);
      r.err = take(err);
    }
    r.out = take(out);
    if (pid && r.status == 70) // what a fault left behind is no ground for another session
      stop();
    else if (pid && write(orders, "", 1) != 1)
      stop();
    return r;
  }
};

/// `CODE LINE:COLUMN` of every error in the messages.
std::vector<std::string> errorsIn(const std::string &text) {
  std::vector<std::string> out, lines = linesOf(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("error["))
      continue;
    std::string place = "?:?";
    for (size_t j = i; j < lines.size() && place == "?:?"; ++j)
      if (lines[j].find("--> ") != std::string::npos)
        if (size_t column = lines[j].rfind(':'), line = lines[j].rfind(':', column - 1); line != std::string::npos)
          place = lines[j].substr(line + 1);
    out.push_back(lines[i].substr(6, lines[i].find(']') - 6) + " " + place);
  }
  return out;
}

std::string difference(const std::vector<std::string> &want, const std::vector<std::string> &got) {
  std::string out;
  for (size_t i = 0; i < std::max(want.size(), got.size()); ++i)
    if (std::string w = i < want.size() ? want[i] : "<nothing>", g = i < got.size() ? got[i] : "<nothing>"; w != g)
      out += fmt::format("  {}: expected `{}`, got `{}`\n", i + 1, w, g);
  return out;
}

/// What is not as the part says; empty: everything is.
std::string problemOf(const Job &job, const Result &r) {
  struct Number {
    const char *what;
    int got;
    std::string more;
    std::vector<std::string> want;
  };
  std::vector<Number> numbers = {{"recognized", r.recognized, " (" + r.kinds + ")", {}},
                                 {"compiles", r.compiles, "", {}},
                                 {"copies", r.copies, "", {}}};
  auto expected = wanted(job.text, "expect"), errors = wanted(job.text, "error");
  bool onlyOutput = errors.empty();
  for (Number &number : numbers) {
    number.want = wanted(job.text, number.what);
    onlyOutput &= number.want.empty();
  }
  if (expected.empty() && onlyOutput)
    return "  the part expects nothing\n";
  std::string out;
  if (int status = errors.empty() ? 0 : 1; r.status != status)
    out += fmt::format("  exit status {}, expected {}\n", r.status, status);
  if (!expected.empty() || onlyOutput) {
    auto got = linesOf(r.out);
    for (std::string &line : got)
      line = trimmed(line);
    out += difference(expected, got);
  }
  if (!errors.empty())
    out += difference(errors, errorsIn(r.err));
  for (const std::string &help : wanted(job.text, "help"))
    if (r.err.find(help) == std::string::npos)
      out += fmt::format("  no help `{}`\n", help);
  for (const Number &number : numbers)
    if (!number.want.empty() && number.want[0] != std::to_string(number.got))
      out += fmt::format("  expected {} {}, got {}{}\n", number.want[0], number.what, number.got, number.more);
  return out.empty() || r.err.empty() ? out : out + r.err;
}

} // namespace

int main(int argc, char **argv) {
  CommandLine command;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--json")
      command.json = true;
    else if (word.starts_with("--timeout="))
      command.seconds = std::atoi(word.c_str() + 10);
    else if (word.starts_with("--config="))
      command.configs.push_back(word.substr(9));
    else
      (word.starts_with("-") ? command.flags : command.files).push_back(word);
  }
  std::vector<Job> jobs;
  for (const std::string &file : command.files)
    if (!addJobs(command, file, jobs)) {
      std::fprintf(stderr, "toy-check: %s cannot be read\n", file.c_str());
      return 2;
    }
  std::signal(SIGPIPE, SIG_IGN);
  Worker worker{jobs, command};
  int passed = 0, failed = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Job &job = jobs[i];
    Result r = worker.next(i);
    if (command.json) {
      fmt::print("{{\"file\": {}, \"line\": {}, \"config\": {}, \"status\": {}, \"stdout\": {}, \"stderr\": {}, "
                 "\"recognized\": {}, \"missed\": {}, \"compiles\": {}, \"copies\": {}}}\n",
                 jsonText(job.file), job.line, jsonText(job.config), r.status, jsonText(r.out), jsonText(r.err),
                 jsonText(r.kinds), r.missed, r.compiles, r.copies);
      continue;
    }
    std::string problem = problemOf(job, r);
    (problem.empty() ? passed : failed)++;
    if (!problem.empty())
      fmt::print("FAIL {}:{} {}\n{}", job.file, job.line, job.config, problem);
  }
  if (worker.pid)
    worker.stop();
  if (!command.json)
    fmt::print("{} passed, {} failed\n", passed, failed);
  return failed || jobs.empty() ? 1 : 0;
}
