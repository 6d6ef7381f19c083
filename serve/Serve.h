// SPDX-License-Identifier: Apache-2.0
/// \file
/// What serves other programs over standard input and output, in messages of JSON-RPC.
#pragma once

namespace toy {
class Session;
struct SessionOptions;

/// The language server protocol, for editors (docs/guides/editors.md). Gives the exit status.
int serveEditors(const SessionOptions &options);
/// A session for a notebook, by the protocol of share/jupyter/toy_session.py. Gives the exit status.
int serveNotebook(Session &session);

} // namespace toy
