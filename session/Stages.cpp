// SPDX-License-Identifier: Apache-2.0
/// \file
/// Stages of a module, with errors at the places of the program.
#include "session/Stages.h"

#include "compile/Upstream.h"

using namespace mlir;

namespace toy {

/// The program's place: of what was inlined, the outermost call, where the innermost is in the library.
static SourceRange rangeIn(const SourceManager &sources, Location location) {
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    SourceRange inner = rangeIn(sources, call.getCallee());
    const bool ownText = inner.valid() && !sources.isLibrary(inner);
    return ownText ? inner : rangeIn(sources, call.getCaller());
  }
  if (auto fused = dyn_cast<FusedLoc>(location))
    return rangeIn(sources, fused.getLocations().front());
  auto range = dyn_cast<FileLineColRange>(location);
  BufferId id = range ? sources.find(std::string_view(range.getFilename().getValue())) : noBuffer;
  if (id == noBuffer)
    return {};
  const SourceBuffer &buffer = sources.get(id);
  return {id, buffer.offsetOf(range.getStartLine(), range.getStartColumn()),
          buffer.offsetOf(range.getEndLine(), range.getEndColumn())};
}

std::string emitStage(Session &session, ModuleOp module, const std::string &stage, const std::string &function) {
  DiagnosticEngine &diagnostics = session.getDiagnostics();
  const SourceManager &sources = diagnostics.getSources();
  std::string error, text;
  std::vector<std::pair<Location, std::string>> missing;
  text = stage == "linalg" ? emitUpstream(session.getCompiler(), module, function, sources, error, missing)
                           : session.getCompiler().emit(module, stage, error, sources, function);
  for (auto &[place, what] : missing)
    diagnostics.report(DiagId::NotSupported, rangeIn(sources, place), {"`" + what + "` in the stage linalg"})
        .withHelp("docs/guides/upstream-mlir.md lists what upstream dialects have no form for; `--function=NAME` shows "
                  "one function");
  if (!error.empty())
    diagnostics.report(DiagId::Internal, {}, {error});
  return text;
}

} // namespace toy
