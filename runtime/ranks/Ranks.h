// SPDX-License-Identifier: Apache-2.0
/// \file
/// Several processes that run one program (ranks): who they are, what they do together, and how they end. MPI moves the
/// bytes. Without a launcher there is one rank, and nothing of it is opened.
#pragma once

#include "runtime/Error.h"
#include "runtime/Value.h"

#include <functional>
#include <optional>
#include <string_view>

namespace toy::ranks {

/// Whether a launcher such as mpirun started this process; it says so in the environment.
bool isLaunched();
/// The number of this process, from 0, and how many there are.
int rank();
int count();
/// Its number among those on its machine.
int localRank();

struct Options {
  std::string print = "0";   ///< whose output is shown: a rank, or `all`
  int64_t timeout = 0;       ///< seconds that a rank waits for others; 0: for ever
  bool measuresTime = false; ///< of collectives, for `statistics`
};
/// Connects the ranks, if there are several; on the thread that will run the program. Throws rt::Error.
void start(const Options &options);
/// The rank that shows what it prints; none where all do.
std::optional<int> printer();
/// Threads for a rank that shares its CPUs with others on the machine; 0: as many as there are.
int threadsPerRank();
/// The end of the program, on the thread that ran it: after an error all ranks end, else they do when all are here. The
/// exit status.
int leave(int status);
/// Before an error is said: of several ranks that fail the lowest one speaks, others wait a moment, in which they are
/// usually ended. The rank, where a reader has to know it.
void beforeError();
/// Whether this rank shows warnings and remarks, and writes files of its own about the run.
bool isFirst();

/// Where a collective stands in the program.
struct Place {
  std::string_view file;
  unsigned line = 0, column = 0;
};

enum class Reduction : uint8_t { Sum, Prod, Min, Max, Mean, Any, All };
Reduction reductionNamed(std::string_view name);

// All ranks call these alike: that is checked, and explained by DiagId::RanksDisagree where they do not.
void barrier(Place place);
/// Throws DiagId::NotReplicated where a value, which `what` names, has other sizes or bits on other ranks.
void checkReplicated(Place place, const rt::Tensor &x, std::string_view what);
rt::TensorRef allReduce(Place place, const rt::Tensor &x, Reduction reduction);
/// The same to other ranks, of which the last additions are left: behind each other along axis 0, up to 8 values whose
/// sum over their tree it is, not divided for a mean.
rt::TensorRef allReduceParts(Place place, const rt::Tensor &x, Reduction reduction);
rt::TensorRef reduceScatter(Place place, const rt::Tensor &x, int64_t axis, Reduction reduction);
rt::TensorRef allGather(Place place, const rt::Tensor &x, int64_t axis);
rt::TensorRef allToAll(Place place, const rt::Tensor &x, int64_t axis);
rt::TensorRef broadcast(Place place, const rt::Tensor &x, int64_t from);
rt::TensorRef shift(Place place, const rt::Tensor &x, int64_t by);
/// A text that rank 0 makes.
std::string shareText(Place place, const std::function<std::string()> &make);
/// Where all ranks write to the same path, rank 0 does it for them, and its error is that of all.
void writeTogether(Place place, const std::string &path, const std::function<void()> &write);

/// Does not wait for the rank that receives, unless too much is on its way.
void send(Place place, const rt::Tensor &x, int64_t to, int64_t tag);
/// Goes on with what was sent and is still on its way; whether something is. MPI does that in its calls alone, so
/// whatever takes long calls this now and then.
bool carryOn();
rt::TensorRef receive(Place place, const rt::Tensor &like, int64_t from, int64_t tag);

struct Statistics {
  std::string_view name;
  int64_t count = 0, bytes = 0;
  double seconds = 0;
};
/// A row for each collective that was called.
std::vector<Statistics> statistics();

} // namespace toy::ranks
