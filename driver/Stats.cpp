// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a run did, as JSON.
#include "driver/Stats.h"

#include "runtime/Device.h"
#include "runtime/Io.h"
#include "runtime/Memory.h"
#include "runtime/Parallel.h"
#include "runtime/ranks/Ranks.h"
#include "session/Session.h"

#include <fmt/format.h>

namespace toy {
namespace {

/// The guards and checks of all specializations.
std::string guardsJson(Session &session) {
  std::string out;
  const SourceManager &sources = session.getDiagnostics().getSources();
  for (auto &[key, set] : session.instances().specializations)
    for (const auto &specialization : set.entries)
      for (const auto &[kind, list] :
           {std::pair("guard", &specialization->guards), std::pair("check", &specialization->checks)})
        for (const SizeGuard &guard : *list) {
          const SourceBuffer &buffer = sources.get(guard.range.buffer);
          uint32_t line = buffer.lineOf(guard.range.begin);
          out += fmt::format(
              "{}{{\"function\": {}, \"kind\": \"{}\", \"condition\": {}, \"file\": {}, \"line\": {}, \"column\": {}}}",
              out.empty() ? "" : ", ", jsonText(set.function), kind,
              jsonText(guard.fact.str(specialization->shownNames(set.slots))), jsonText(std::string(buffer.getName())),
              line, guard.range.begin - buffer.lineBegin(line) + 1);
        }
  return out;
}

} // namespace

void writeStats(Session &session, const std::string &path) {
  rt::MemoryStats memory = rt::memoryStats();
  EngineStats &engine = session.getCompiler().engine.stats();
  std::string compiles, kernels, phases;
  for (const CompileRecord &c : session.compiles)
    compiles +=
        fmt::format("{}{{\"function\": {}, \"reason\": {}, \"milliseconds\": {:.3f}, \"dynamic\": {}}}",
                    compiles.empty() ? "" : ", ", jsonText(c.function), jsonText(c.reason), c.milliseconds, c.dynamic);
  for (auto &[name, count] : engine.kernels)
    kernels += fmt::format("{}{}: {}", kernels.empty() ? "" : ", ", jsonText(name), count);
  for (const auto &[name, ms] : session.phaseTimes().list())
    phases += fmt::format("{}{}: {:.3f}", phases.empty() ? "" : ", ", jsonText(name), ms);
  std::string recognized, missed;
  for (const RecognitionRemark &r : session.recognition()) {
    if (r.kind.empty())
      missed += fmt::format("{}{{\"line\": {}, \"column\": {}, \"reason\": {}}}", missed.empty() ? "" : ", ", r.line,
                            r.column, jsonText(r.text));
    else
      recognized +=
          fmt::format("{}{{\"kind\": {}, \"form\": {}, \"strategy\": {}, \"file\": {}, \"line\": {}, \"column\": {}}}",
                      recognized.empty() ? "" : ", ", jsonText(r.kind), jsonText(r.text), jsonText(r.strategy),
                      jsonText(r.file), r.line, r.column);
  }
  std::string collectives;
  for (const ranks::Statistics &c : ranks::statistics())
    collectives +=
        fmt::format("{}{{\"name\": {}, \"count\": {}, \"bytes\": {}, \"seconds\": {:.6f}}}",
                    collectives.empty() ? "" : ", ", jsonText(std::string(c.name)), c.count, c.bytes, c.seconds);
  std::string cuda;
  if (rt::deviceWasUsed()) {
    const rt::DeviceStats &d = rt::deviceStats();
    std::string precisions;
    for (auto &[name, count] : d.precisions)
      precisions += fmt::format("{}{}: {}", precisions.empty() ? "" : ", ", jsonText(name), count);
    cuda =
        fmt::format("\"device\": {}, \"sequences\": {}, \"launches\": {}, \"products\": {}, \"transforms\": {}, "
                    "\"collectives\": {}, "
                    "\"graph_launches\": {}, \"graphs\": {}, \"patches\": {}, \"allocations\": {}, \"waits\": {}, "
                    "\"bytes_to_device\": {}, "
                    "\"bytes_to_host\": {}, \"transfers_to_device\": {}, \"transfers_to_host\": {}, "
                    "\"arena_bytes\": {}, \"ropes\": {}, \"product_precisions\": {{{}}}",
                    jsonText(rt::deviceDescription()), d.flushes, d.launches, d.products, d.transforms, d.collectives,
                    d.graphLaunches, d.graphsBuilt, d.patches, d.allocations, d.waits, d.bytesToDevice, d.bytesToHost,
                    d.transfersToDevice, d.transfersToHost, d.arenaBytes, d.ropes, precisions);
  }
  std::string json = fmt::format(
      "{{\"version\": \"0.1.0\", \"device\": \"{}\", \"threads\": {}, \"compiles\": [{}], \"cache_hits\": {}, "
      "\"guards\": [{}], \"recognized\": [{}], "
      "\"missed\": [{}], \"kernels\": {{{}}}, \"loops\": {}, \"repacks\": {}, \"copies\": {}, \"allocations\": {}, "
      "\"peak_bytes\": {}, \"kernel_code\": {{\"made\": {}, \"kept\": {}, \"ready\": {}, \"promoted\": {}}}, "
      "\"phase_ms\": {{{}}}, \"collectives\": [{}], \"cuda\": {{{}}}}}\n",
      cuda.empty() ? "cpu" : "cuda", rt::threads(), compiles, session.cacheHits, guardsJson(session), recognized,
      missed, kernels, engine.loops, engine.repacks, memory.copies, memory.allocations, memory.peakBytes,
      session.getCompiler().kernels.made, session.getCompiler().kernels.kept, session.getCompiler().kernels.ready,
      engine.promoted, phases, collectives, cuda);
  rt::writeFile(path, {json});
}

} // namespace toy
