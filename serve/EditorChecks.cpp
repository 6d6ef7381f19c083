// SPDX-License-Identifier: Apache-2.0
#include "serve/EditorChecks.h"

#include "runtime/Guard.h"
#include "runtime/Parallel.h"

#include <chrono>
#include <condition_variable>
#include <thread>

namespace toy {
namespace {

namespace lsp = llvm::lsp;

/// Interrupts what the thread that made it does, when a time is over.
class TimeLimit {
public:
  explicit TimeLimit(int seconds)
      : watch([this, seconds](std::stop_token stop) {
          std::unique_lock lock(mutex);
          isOver = !ended.wait_for(lock, stop, std::chrono::seconds(seconds), [&] { return stop.stop_requested(); });
          if (isOver)
            rt::interrupt();
        }) {}
  /// Whether it is over; the watch ends.
  bool end() {
    watch.request_stop();
    watch.join();
    return isOver;
  }

private:
  std::mutex mutex;
  std::condition_variable_any ended;
  bool isOver = false;
  std::jthread watch;
};

lsp::DiagnosticSeverity severityOf(Severity severity) {
  return severity == Severity::Error     ? lsp::DiagnosticSeverity::Error
         : severity == Severity::Warning ? lsp::DiagnosticSeverity::Warning
                                         : lsp::DiagnosticSeverity::Information;
}

/// Messages as the protocol has them. What is wrong in another file is shown where the text imports one.
class Converter {
public:
  Converter(Document &document, const SourceManager &sources) : document(document), sources(sources) {}

  llvm::json::Value convert(const Diagnostic &d) {
    lsp::Diagnostic out;
    bool isHere = d.range.valid() && sources.get(d.range.buffer).getName() == document.path;
    out.range = isHere ? rangeOf(sources.get(d.range.buffer), d.range) : placeOfImports();
    out.severity = severityOf(infoOf(d.id).severity);
    out.source = "toy";
    out.message = d.message;
    if (d.id == DiagId::UnusedVariable || d.id == DiagId::UnreachableStatement)
      out.tags = {lsp::DiagnosticTag::Unnecessary};
    related.clear();
    if (!isHere)
      relate(d.range, d.message, out);
    if (!d.rangeLabel.empty())
      out.message += ": " + d.rangeLabel;
    for (const Label &label : d.labels)
      relate(label.range, label.text, out);
    for (const Label &note : d.notes)
      relate(note.range, note.text, out);
    for (const std::string &help : d.help)
      out.message += "\nhelp: " + help;
    for (const Fix &fix : d.fixes)
      if (isHere && fix.range.buffer == d.range.buffer)
        document.proposals.push_back({out.range, fix, rangeOf(sources.get(fix.range.buffer), fix.range)});
    llvm::json::Value json = toJSON(out);
    (*json.getAsObject())["code"] = llvm::StringRef(infoOf(d.id).code);
    (*json.getAsObject())["relatedInformation"] = std::move(related);
    return json;
  }

private:
  lsp::Range placeOfImports() const {
    for (const ast::StmtPtr &s : document.parsed->module.items)
      if (auto *import = ast::dynCast<ast::Import>(s.get()))
        return rangeOf(document.parsed->buffer(), import->pathRange);
    return {};
  }
  void relate(SourceRange range, const std::string &text, lsp::Diagnostic &out) {
    const SourceBuffer *buffer = range.valid() ? &sources.get(range.buffer) : nullptr;
    std::optional<lsp::URIForFile> uri;
    if (buffer)
      uri = buffer->getName() == document.path ? document.uri : uriOfFile(buffer->getName());
    if (uri)
      related.push_back(llvm::json::Object{{"location", locationOf(*uri, rangeOf(*buffer, range))},
                                           {"message", text.empty() ? out.message : text}});
    else if (!text.empty() && text != out.message)
      out.message += "\nnote: " + text;
  }

  Document &document;
  const SourceManager &sources;
  llvm::json::Array related;
};

} // namespace

/// Keeps what the members are that a text names.
static void noteMembers(Document &document, Session &session) {
  const SourceManager &sources = session.getDiagnostics().getSources();
  for (const auto &[use, declared, structure, name] : session.memberUses) {
    if (sources.get(use.buffer).getName() != document.path)
      continue;
    std::string path = declared.valid() ? std::string(sources.get(declared.buffer).getName()) : "";
    std::string ownName = structure.substr(structure.rfind('.') + 1); // without the module's
    document.members[use.begin].insert({path, ownName, name});
  }
}

void EditorChecks::cancel() {
  if (isRunning) {
    isCancelled = true;
    rt::interrupt();
  }
}

std::optional<llvm::json::Value> EditorChecks::run(Document &document) {
  document.isDue = false;
  document.proposals.clear();
  document.members.clear();
  rt::interruptFlag() = false;
  isCancelled = false;
  isRunning = true;
  TimeLimit limit(limitInSeconds);
  auto session = std::make_unique<Session>(options);
  llvm::json::Array found;
  Converter converter(document, session->getDiagnostics().getSources());
  session->whenReported = [&](const Diagnostic &d) { found.push_back(converter.convert(d)); };
  rt::guarded([&] { session->check(document.path, std::string(document.parsed->buffer().getText()), {}); });
  isRunning = false;
  if (!isCancelled)
    noteMembers(document, *session);
  bool isOver = limit.end();
  rt::interruptFlag() = false;
  session->whenReported = [](const Diagnostic &) {};
  if (isCancelled) {
    document.isDue = true;
    return std::nullopt;
  }
  if (isOver) {
    lsp::Diagnostic note;
    note.severity = lsp::DiagnosticSeverity::Information;
    note.source = "toy";
    note.message = llvm::formatv("the check took more than {0} seconds and was given up", limitInSeconds);
    found = llvm::json::Array{toJSON(note)};
  }
  if (session->faulted)
    static_cast<void>(session.release()); // nothing of it may be used again
  else if (!document.session || document.parsed->isWhole || !document.knowsText) {
    document.session = std::move(session);
    document.knowsText = document.parsed->isWhole;
  }
  return llvm::json::Object{
      {"uri", document.uri.uri().str()}, {"version", document.version}, {"diagnostics", std::move(found)}};
}

} // namespace toy
