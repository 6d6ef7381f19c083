// SPDX-License-Identifier: Apache-2.0
/// \file
/// How the ranks of a program find each other, and how they end.
#include "runtime/ranks/Ranks.h"

#include "runtime/Device.h"
#include "runtime/DeviceRanks.h"
#include "runtime/Output.h"
#include "runtime/Parallel.h"
#include "runtime/ranks/Mailboxes.h"
#include "runtime/ranks/Opening.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sched.h>
#include <sstream>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

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
std::optional<int> printing = 0;
int sharing = 1; ///< ranks on the CPUs that this one may use

/// What a rank tells others about its place, in the first opening.
struct Home {
  uint64_t host, cpus;
  uint64_t kind;      ///< of processor, as far as BLAS chooses kernels by it
  uint64_t hasDevice; ///< or a driver, and may use it
  char processor[80]; ///< its name, for messages
};
static_assert(sizeof(Home) <= Opening::payloadBytes);

/// The first processor of /proc/cpuinfo, and a kernel that the user has chosen for all.
void describeProcessor(Home &home) {
  Digest kind;
  std::string line, name;
  std::ifstream file("/proc/cpuinfo");
  while (std::getline(file, line) && !line.empty()) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos)
      continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    if (key == "model name" || (key == "CPU part" && name.empty()))
      name = value;
    if (key == "vendor_id" || key == "cpu family" || key == "model" || key == "CPU implementer" || key == "CPU part")
      kind.add(value.data(), value.size());
    if (key != "flags" && key != "Features")
      continue;
    std::istringstream words(value); // of many, those that name vector instructions
    for (std::string word; words >> word;)
      if (word.starts_with("avx") || word.starts_with("fma") || word.starts_with("sve") || word.starts_with("amx"))
        kind.add(word.data(), word.size());
  }
  if (const char *chosen = std::getenv("OPENBLAS_CORETYPE")) {
    kind.add(chosen, std::strlen(chosen));
    name += std::string(name.empty() ? "" : ", ") + "OPENBLAS_CORETYPE=" + chosen;
  }
  home.kind = kind.get();
  name.copy(home.processor, sizeof home.processor - 1);
}

Home homeOfThis() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  Digest host, cpus;
  host.add(name, sizeof name);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  cpus.add(&allowed, sizeof allowed);
  Home home{host.get(), cpus.get(), 0, rt::deviceIsWanted(), {}};
  describeProcessor(home);
  return home;
}

int allowedProcessors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  return CPU_COUNT(&allowed);
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

/// Products of matrices are those of the kernel that BLAS chooses by the processor, so what all ranks compute alike may
/// differ in its last bits.
void warnOfOtherProcessor(const Home &first, const Home &other, int rank) {
  std::fprintf(
      stderr, "warning[%s]: %s\n", std::string(infoOf(DiagId::OtherProcessors).code).c_str(),
      formatDiagnostic(DiagId::OtherProcessors, {first.processor, std::to_string(rank), other.processor}).c_str());
}

/// The first opening: who shares processors with this rank, and whether all have the same kind.
void meet(const Call &call) {
  Home own = homeOfThis();
  bool isWarned = rank() != 0;
  sharing = 0;
  std::span<const Opening> all = open(call, &own, sizeof own);
  for (size_t r = 0; r < all.size(); ++r) {
    Home other;
    std::memcpy(&other, all[r].payload, sizeof other);
    sharing += other.host == own.host && other.cpus == own.cpus;
    if (other.hasDevice)
      devicesMayBeUsed();
    if (other.kind != own.kind && !std::exchange(isWarned, true))
      warnOfOtherProcessor(own, other, static_cast<int>(r));
  }
}

/// Rank 0 prints, or the one that is chosen, or all of them, each line with its rank.
void choosePrinter(const std::string &print) {
  printing.reset();
  if (print == "all")
    return rt::setOutput(true, count() > 1 ? fmt::format("[{}] ", rank()) : "");
  int chosen = std::atoi(print.c_str());
  printing = chosen;
  if (chosen >= count())
    rt::fail(DiagId::NoSuchRank, {"--print", print, std::to_string(count())});
  rt::setOutput(chosen == rank(), "");
}

} // namespace

const Mpi &mpi() { return table; }
bool isLaunched() { return identity().launched; }
int rank() { return identity().rank; }
int count() { return identity().count; }
int localRank() {
  return environmentNumber({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}).value_or(rank());
}
std::optional<int> printer() { return printing; }
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
    meet(call);
    connectMailboxes(call, sharing > allowedProcessors());
  }
  choosePrinter(options.print);
}

int threadsPerRank() { return count() == 1 ? 0 : std::max(1, allowedProcessors() / sharing); }

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
  rt::disconnectDevices(false);
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
      meetAtEnd(call);
      stopWatch();
      rt::disconnectDevices(true);
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
