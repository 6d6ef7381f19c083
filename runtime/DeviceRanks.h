// SPDX-License-Identifier: Apache-2.0
/// \file
/// What ranks do together with values on their devices: NCCL moves them, and sums are those of the host, bit for bit.
/// runtime/ranks opens each collective and decides, alike on all ranks, who carries it.
#pragma once

#include "runtime/ranks/Opening.h"

namespace toy::rt {

/// Whether this rank would have its device do a collective of x: with --device=cuda always, with --device=auto where x
/// is there. Opens nothing.
bool offersDevice(const Tensor &x);
/// Connects the devices at the first call, in which all ranks are; false, on all of them, where that cannot be. Says
/// why once.
bool connectDevices();

// All ranks call these alike, behind an opening. They do not wait: what they give is on the device, or on its way.
TensorRef deviceAllReduce(const ranks::Call &call);
TensorRef deviceAllReduceParts(const ranks::Call &call);
TensorRef deviceReduceScatter(const ranks::Call &call, int64_t axis);
/// `sizes`: of all ranks along the axis.
TensorRef deviceAllGather(const ranks::Call &call, int64_t axis, std::span<const int64_t> sizes);
TensorRef deviceAllToAll(const ranks::Call &call, int64_t axis);
/// `sizes`: those of the rank that has the value.
TensorRef deviceBroadcast(const ranks::Call &call, int64_t from, std::span<const int64_t> sizes);
TensorRef deviceShift(const ranks::Call &call, int64_t step);

/// At the end of the program, or, from any thread, of a rank that fails.
void disconnectDevices(bool isWell);

} // namespace toy::rt
