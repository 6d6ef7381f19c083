// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the ranks of a program find each other, and how they end.
#include "runtime/ranks/Ranks.h"

#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "runtime/ranks/Opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace toy::ranks {
namespace {

std::optional<int> environmentNumber(std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (const char *text = std::getenv(name)) {
      int n = 0;
      std::string_view digits(text);
      if (auto [end, error] = std::from_chars(digits.begin(), digits.end(), n);
          error == std::errc() && end == digits.end())
        return n;
    }
  return {};
}

/// Who this is, as the launcher says it.
struct Identity {
  bool launched = false;
  int rank = 0, count = 1;
  Identity() {
    auto size = environmentNumber({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
    launched = size.has_value();
    count = std::max(1, size.value_or(1));
    if (count > 1)
      rank = environmentNumber({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}).value_or(0);
  }
};
Identity &identity() {
  static Identity own;
  return own;
}

Mpi table;
bool isConnected = false;
double silence = 0;
int sharing = 1; ///< ranks on the CPUs that this one may use

/// What a rank tells others about its place, in the first opening.
struct Home {
  uint64_t host, cpus;
};

Home homeOfThis() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  Digest host, cpus;
  host.add(name, sizeof name);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  cpus.add(&allowed, sizeof allowed);
  return {host.get(), cpus.get()};
}

void initialize() {
  Identity &own = identity();
  table = openMpi(own.count);
  int provided = 0;
  table.check(table.initThread(nullptr, nullptr, table.threads, &provided));
  isConnected = true;
  table.check(table.commSetErrhandler(table.world, table.errorsReturn));
  int size = 0, number = 0;
  table.check(table.commSize(table.world, &size));
  table.check(table.commRank(table.world, &number));
  if (size != own.count)
    rt::fail(DiagId::WrongMpi, {std::to_string(own.count), table.name, std::to_string(size)});
  own.rank = number;
}

/// Rank 0 prints, or the one that is chosen, or all of them, each line with its rank.
void choosePrinter(const std::string &print) {
  if (print == "all")
    return rt::setOutput(true, count() > 1 ? fmt::format("[{}] ", rank()) : "");
  int chosen = std::atoi(print.c_str());
  if (chosen >= count())
    rt::fail(DiagId::NoSuchRank, {"--print", print, std::to_string(count())});
  rt::setOutput(chosen == rank(), "");
}

} // namespace

const Mpi &mpi() { return table; }
bool isLaunched() { return identity().launched; }
int rank() { return identity().rank; }
int count() { return identity().count; }
bool isFirst() { return rank() == 0; }
void speakAfter(double seconds) { silence = seconds; }

void start(const Options &options) {
  if (count() > 1) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // of a launcher that is gone nobody would hear that the others are
    constexpr double others = 0.5;
    silence = rank() == 0 ? 0 : others;
    initialize();
    silence = rank() == 0 ? 0 : others;
    if (options.measuresTime)
      measureTime();
    startWatch(options.timeout);
    Call call{Collective::Start, {}};
    Waiting waiting(call);
    Home own = homeOfThis();
    sharing = 0;
    for (const Opening &other : open(call, &own, sizeof own))
      sharing += std::memcmp(other.payload, &own, sizeof own) == 0;
  }
  choosePrinter(options.print);
}

int threadsPerRank() {
  if (count() == 1)
    return 0;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  return std::max(1, CPU_COUNT(&allowed) / sharing);
}

void beforeError() {
  if (count() == 1)
    return;
  usleep(static_cast<useconds_t>(silence * 1e6));
  silence = 0;
  if (rank() > 0)
    std::fprintf(stderr, "note: this is rank %d of %d\n", rank(), count());
}

/// MPICH's launcher drops what it has not read yet when a rank calls MPI_Abort. Where that call does not come to its
/// end, the launcher sees the process end.
void endAll(int status) {
  constexpr useconds_t untilRead = 100000;
  std::fflush(nullptr);
  usleep(untilRead);
  std::signal(SIGALRM, [](int) { _exit(1); });
  alarm(2);
  table.abort(table.world, status);
  _exit(status);
}

/// Says an error of the end, which has no place in the program.
static void sayAtEnd(const rt::Error &error) {
  beforeError();
  std::fprintf(stderr, "error[%s]: %s\n", std::string(infoOf(error.id).code).c_str(),
               formatDiagnostic(error.id, error.args).c_str());
}

int leave(int status) {
  if (!isConnected)
    return status;
  if (status == 0)
    try {
      Call call{Collective::End, {}};
      Waiting waiting(call);
      open(call);
      stopWatch();
      table.finalize();
      return 0;
    } catch (const rt::Error &error) {
      sayAtEnd(error);
      status = 1;
    }
  rt::writeOutFromOtherThread();
  endAll(status);
}

} // namespace toy::ranks
