// SPDX-License-Identifier: Apache-2.0
/// \file
/// mpirun with this program and its arguments.
#include "driver/Launch.h"

#include "support/Diagnostics.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace toy {

static void refuse(DiagId id, const std::vector<std::string> &args) {
  std::fprintf(stderr, "error[%s]: %s\n", std::string(infoOf(id).code).c_str(), formatDiagnostic(id, args).c_str());
}

/// Open MPI wants to be told that there may be more ranks than cores; others do not look at it.
int launch(const Options &options, char **argv) {
  if (options.mode == Options::Prompt) {
    refuse(DiagId::RanksWithoutProgram, {});
    std::fputs("help: `toy --ranks=4 script.toy`\n", stderr);
    return 2;
  }
  const char *chosen = std::getenv("TOY_MPIRUN");
  std::string launcher = chosen && *chosen ? chosen : "mpirun", number = std::to_string(options.ranks);
  std::string self = "/proc/self/exe";
  if (char path[4096]; ssize_t length = readlink(self.c_str(), path, sizeof path))
    self.assign(path, length > 0 ? length : 0);
  std::vector<char *> command = {launcher.data(), const_cast<char *>("-n"), number.data(), self.data()};
  for (char **word = argv + 1; *word; ++word) // a rank does not look at --ranks
    command.push_back(*word);
  command.push_back(nullptr);
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
  execvp(command[0], command.data());
  refuse(DiagId::CannotLaunch, {number, launcher, std::strerror(errno)});
  return 2;
}

} // namespace toy
