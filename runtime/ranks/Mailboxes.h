// SPDX-License-Identifier: Apache-2.0
/// \file
/// Steps of openings between ranks of one machine: what a rank shows its partner lies in memory that both have. MPI
/// matches, queues and copies messages that may come from anybody in any order; at a step there is one partner, and one
/// message each way.
#pragma once

#include <cstdint>

namespace toy::ranks {

struct Call;

/// At step k the partner of a rank is `rank() ^ 1 << k`. At later ones more is shown than mailboxes hold.
constexpr int mostMailboxes = 6;
constexpr int64_t mailboxBytes = 16 + (4 << 10);

/// All ranks call it, once: partners that find each other's memory use it from then on. With `isCrowded` there are more
/// ranks than processors, so that who waits lets others run. TOY_RANKS_MAILBOXES=0 leaves all to MPI, for tests.
void connectMailboxes(const Call &call, bool isCrowded);
/// Whether a step goes by mailboxes; it is the same for both partners.
bool hasMailbox(int step);
/// Where the next message of a step is written, up to `mailboxBytes`.
char *letterTo(int step);
/// Shows it, and waits for the partner's, which stays until the next exchange at this step.
const char *exchangeLetters(int step);

} // namespace toy::ranks
