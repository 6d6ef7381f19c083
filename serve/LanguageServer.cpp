// SPDX-License-Identifier: Apache-2.0
/// \file
/// The language server: requests of an editor, answered from the text's tree, from the session of its check, and from
/// what the prompt shows while somebody types.
#include "repl/Commands.h"
#include "repl/Completion.h"
#include "repl/Signature.h"
#include "repl/StringTexts.h"
#include "runtime/Parallel.h"
#include "serve/Channel.h"
#include "serve/Definitions.h"
#include "serve/EditorChecks.h"
#include "serve/Hover.h"
#include "serve/Serve.h"
#include "serve/Uses.h"

#include <algorithm>

namespace toy {

namespace lsp = llvm::lsp;
using llvm::json::Value;

/// `textDocument/rename`, which LLVM's library has not.
struct RenameParams : lsp::TextDocumentPositionParams {
  std::string newName;
};
static bool fromJSON(const Value &value, RenameParams &out, llvm::json::Path path) {
  llvm::json::ObjectMapper object(value, path);
  return fromJSON(value, static_cast<lsp::TextDocumentPositionParams &>(out), path) && object &&
         object.map("newName", out.newName);
}

namespace {

/// Units of UTF-16, in which labels are counted.
unsigned unitsIn(const std::string &text) {
  SourceBuffer buffer("", text);
  return positionOf(buffer, text.size()).character;
}

lsp::CompletionItemKind kindOf(Completion::Kind kind) {
  switch (kind) {
  case Completion::Keyword:
    return lsp::CompletionItemKind::Keyword;
  case Completion::Variable:
    return lsp::CompletionItemKind::Variable;
  case Completion::Function:
    return lsp::CompletionItemKind::Function;
  case Completion::Struct:
    return lsp::CompletionItemKind::Struct;
  case Completion::DType:
    return lsp::CompletionItemKind::Class;
  case Completion::Member:
    return lsp::CompletionItemKind::Field;
  case Completion::Argument:
    return lsp::CompletionItemKind::Property;
  case Completion::Path:
    return lsp::CompletionItemKind::File;
  case Completion::Symbol:
    return lsp::CompletionItemKind::Unit;
  case Completion::Other:
    break;
  }
  return lsp::CompletionItemKind::Text;
}

lsp::SymbolKind kindOf(sema::NameKind kind) {
  return kind == sema::NameKind::Function ? lsp::SymbolKind::Function
         : kind == sema::NameKind::Struct ? lsp::SymbolKind::Struct
         : kind == sema::NameKind::Module ? lsp::SymbolKind::Module
                                          : lsp::SymbolKind::Variable;
}

class LanguageServer {
public:
  explicit LanguageServer(const SessionOptions &options)
      : options(options), checks(options), channel([this] { checks.cancel(); }, [this] { checkDue(); }),
        publish(channel.handler.outgoingNotification<Value>("textDocument/publishDiagnostics")) {
    lsp::MessageHandler &on = channel.handler;
    on.method("initialize", this, &LanguageServer::initialize);
    on.method("shutdown", this, &LanguageServer::shutdown);
    on.notification("initialized", this, &LanguageServer::initialized);
    on.notification("textDocument/didOpen", this, &LanguageServer::opened);
    on.notification("textDocument/didChange", this, &LanguageServer::changed);
    on.notification("textDocument/didClose", this, &LanguageServer::closed);
    on.method("textDocument/hover", this, &LanguageServer::hover);
    on.method("textDocument/completion", this, &LanguageServer::complete);
    on.method("textDocument/signatureHelp", this, &LanguageServer::signatureHelp);
    on.method("textDocument/definition", this, &LanguageServer::definition);
    on.method("textDocument/references", this, &LanguageServer::references);
    on.method("textDocument/prepareRename", this, &LanguageServer::prepareRename);
    on.method("textDocument/rename", this, &LanguageServer::rename);
    on.method("textDocument/documentSymbol", this, &LanguageServer::symbols);
    on.method("textDocument/codeAction", this, &LanguageServer::codeActions);
    on.method("textDocument/inlayHint", this, &LanguageServer::inlayHints);
  }

  int run() { return channel.run() && isShutDown ? 0 : 1; }

private:
  void initialize(const lsp::InitializeParams &, lsp::Callback<Value> reply) {
    llvm::json::Object capabilities{
        {"positionEncoding", "utf-16"},
        {"textDocumentSync", llvm::json::Object{{"openClose", true}, {"change", 2}, {"save", false}}},
        {"hoverProvider", true},
        {"completionProvider", llvm::json::Object{{"triggerCharacters", {".", "\\", "/"}}}},
        {"signatureHelpProvider", llvm::json::Object{{"triggerCharacters", {"(", ","}}}},
        {"definitionProvider", true},
        {"referencesProvider", true},
        {"renameProvider", llvm::json::Object{{"prepareProvider", true}}},
        {"documentSymbolProvider", true},
        {"codeActionProvider", llvm::json::Object{{"codeActionKinds", {"quickfix"}}}},
        {"inlayHintProvider", true}};
    reply(llvm::json::Object{{"capabilities", std::move(capabilities)},
                             {"serverInfo", llvm::json::Object{{"name", "toy"}}}});
  }
  void initialized(const lsp::InitializedParams &) {}
  void shutdown(const lsp::NoParams &, lsp::Callback<std::nullptr_t> reply) {
    isShutDown = true;
    reply(nullptr);
  }

  // --- texts

  void read(Document &document, std::string text) {
    texts.dropOld();
    rt::guarded([&] { document.parsed = std::make_unique<ParsedText>(document.path, std::move(text)); });
    document.isDue = true;
    document.members.clear();
  }

  void opened(const lsp::DidOpenTextDocumentParams &params) {
    Document &document = documents[params.textDocument.uri.file().str()];
    document.uri = params.textDocument.uri;
    document.path = document.uri.file();
    document.version = params.textDocument.version;
    read(document, params.textDocument.text);
  }

  void changed(const lsp::DidChangeTextDocumentParams &params) {
    Document *document = find(params.textDocument.uri);
    if (!document)
      return;
    document->version = params.textDocument.version;
    std::string text(document->parsed->buffer().getText());
    for (const lsp::TextDocumentContentChangeEvent &change : params.contentChanges) {
      if (!change.range) {
        text = change.text;
        continue;
      }
      SourceBuffer before("", text);
      uint32_t begin = offsetOf(before, change.range->start), end = offsetOf(before, change.range->end);
      text.replace(begin, std::max(begin, end) - begin, change.text);
    }
    read(*document, std::move(text));
  }

  void closed(const lsp::DidCloseTextDocumentParams &params) {
    Document *document = find(params.textDocument.uri);
    if (!document)
      return;
    publish(llvm::json::Object{{"uri", document->uri.uri().str()}, {"diagnostics", llvm::json::Array()}});
    documents.erase(document->path);
  }

  Document *find(const lsp::URIForFile &uri) {
    auto it = documents.find(uri.file().str());
    return it == documents.end() || !it->second.parsed ? nullptr : &it->second;
  }

  void checkDue() {
    for (auto &[path, document] : documents)
      if (document.isDue && document.parsed) {
        std::optional<Value> found = checks.run(document);
        if (!found) // another message waits
          return;
        publish(*found);
      }
  }

  /// What knows the names of a text: the session of its check.
  Session &sessionOf(Document &document) {
    rt::interruptFlag() = false;
    if (!document.session)
      document.session = std::make_unique<Session>(options);
    document.session->whenReported = [](const Diagnostic &) {};
    return *document.session;
  }

  /// Runs `work(document, offset)` for a position in an open text; otherwise the answer is `null` or empty.
  template <typename Work>
  void at(const lsp::TextDocumentPositionParams &params, lsp::Callback<Value> reply, const Work &work) {
    Channel::answer(std::move(reply), [&]() -> Value {
      Document *document = find(params.textDocument.uri);
      return document ? work(*document, offsetOf(document->parsed->buffer(), params.position)) : Value(nullptr);
    });
  }

  // --- what is typed

  void complete(const lsp::CompletionParams &params, lsp::Callback<Value> reply) {
    at(params, std::move(reply), [&](Document &document, uint32_t offset) -> Value {
      std::string before = document.textBefore(offset);
      size_t begin;
      std::vector<Completion> all = completionsAt(before, sessionOf(document), begin, /*isInput=*/false);
      lsp::Range word{positionOf(document.parsed->buffer(), begin), params.position};
      constexpr size_t mostWithHelp = 40;
      lsp::CompletionList out;
      for (const Completion &c : all) {
        lsp::CompletionItem &item = out.items.emplace_back(c.text, kindOf(c.kind));
        item.detail = c.detail;
        item.sortText = llvm::formatv("{0,0+5}", out.items.size());
        item.filterText = before.substr(begin, 1) == "\\" ? before.substr(begin) : c.text;
        item.textEdit = lsp::TextEdit{word, c.text};
        if (std::string help = all.size() <= mostWithHelp ? helpOn(c.text, document.session.get()) : ""; !help.empty())
          item.documentation = lsp::MarkupContent{lsp::MarkupKind::PlainText, help};
      }
      return toJSON(out);
    });
  }

  void signatureHelp(const lsp::TextDocumentPositionParams &params, lsp::Callback<Value> reply) {
    at(params, std::move(reply), [&](Document &document, uint32_t offset) -> Value {
      std::string before = document.textBefore(offset);
      Surroundings around(std::string_view(before).substr(StringTexts(before).field));
      auto call = around.isInComment() ? std::nullopt : around.call();
      auto signature = call ? signatureOf(*call, sessionOf(document)) : std::nullopt;
      if (!signature)
        return nullptr;
      lsp::SignatureInformation information;
      information.label = signature->name + "(";
      for (const CallSignature::Parameter &p : signature->parameters) {
        information.label += information.parameters.empty() ? "" : ", ";
        unsigned begin = unitsIn(information.label);
        information.label += p.text;
        information.parameters.push_back({"", std::pair(begin, unitsIn(information.label)), ""});
      }
      information.label += ")" + signature->result;
      lsp::SignatureHelp help;
      help.activeParameter = static_cast<int>(signature->current);
      help.signatures.push_back(std::move(information));
      return toJSON(help);
    });
  }

  // --- names

  static const sema::NameUse *useAt(const Document &document, uint32_t offset) {
    return document.parsed->names.at(offset);
  }

  void hover(const lsp::TextDocumentPositionParams &params, lsp::Callback<Value> reply) {
    at(params, std::move(reply), [&](Document &document, uint32_t offset) -> Value {
      SourceRange range;
      std::string text = hoverText(document, sessionOf(document), offset, texts, range);
      if (text.empty())
        return nullptr;
      lsp::Hover out(rangeOf(document.parsed->buffer(), range));
      out.contents.value = std::move(text);
      return toJSON(out);
    });
  }

  Value locationOf(const Place &place) {
    auto open = documents.find(place.path);
    std::optional<lsp::URIForFile> uri = open != documents.end() ? open->second.uri : uriOfFile(place.path);
    if (!uri)
      return nullptr;
    return toy::locationOf(*uri, place.declaration ? rangeOf(place.text->buffer(), place.range) : lsp::Range());
  }

  void definition(const lsp::TextDocumentPositionParams &params, lsp::Callback<Value> reply) {
    at(params, std::move(reply), [&](Document &document, uint32_t offset) -> Value {
      llvm::json::Array out;
      const sema::NameUse *use = useAt(document, offset);
      std::vector<Place> places = use ? placesOf(document, *use, texts) : std::vector<Place>();
      if (auto file = importAt(*document.parsed, document.path, offset, texts))
        places = {*file};
      for (const Place &place : places)
        out.push_back(locationOf(place));
      return out;
    });
  }

  /// Which struct a member is of is known when the texts are checked.
  void knowMembers(const Document &document, uint32_t offset) {
    const sema::NameUse *use = useAt(document, offset);
    std::vector<Place> places = use ? placesOf(document, *use, texts) : std::vector<Place>();
    if (llvm::any_of(places, [](const Place &place) {
          return place.declaration && place.declaration->kind == sema::NameKind::Member;
        }))
      checkDue();
  }

  void references(const lsp::ReferenceParams &params, lsp::Callback<Value> reply) {
    at(params, std::move(reply), [&](Document &document, uint32_t offset) -> Value {
      llvm::json::Array out;
      knowMembers(document, offset);
      auto meant = uses.namedAt(document, offset);
      for (const FoundUse &found : meant ? uses.of(*meant) : std::vector<FoundUse>()) {
        const auto &[where, use, places] = found;
        bool isDeclaration = where->path == meant->path && use->range.begin == meant->range.begin;
        if (!isDeclaration || params.context.includeDeclaration)
          out.push_back(toy::locationOf(where->uri, rangeOf(where->parsed->buffer(), use->range)));
      }
      return out;
    });
  }

  void prepareRename(const lsp::TextDocumentPositionParams &params, lsp::Callback<Value> reply) {
    at(params, std::move(reply), [&](Document &document, uint32_t offset) -> Value {
      knowMembers(document, offset);
      auto meant = uses.namedAt(document, offset);
      return meant && documents.count(meant->path)
                 ? toJSON(rangeOf(document.parsed->buffer(), useAt(document, offset)->range))
                 : Value(nullptr);
    });
  }

  void rename(const RenameParams &params, lsp::Callback<Value> reply) {
    std::string refusal = "no name of an open text stands here";
    lsp::WorkspaceEdit edit;
    std::optional<rt::Error> error = rt::guarded([&] {
      Document *document = find(params.textDocument.uri);
      if (!document)
        return;
      uint32_t offset = offsetOf(document->parsed->buffer(), params.position);
      knowMembers(*document, offset);
      refusal.clear();
      edit = uses.rename(*document, offset, params.newName, refusal);
    });
    if (error)
      refusal = formatDiagnostic(error->id, error->args);
    if (refusal.empty())
      return reply(toJSON(edit));
    reply(llvm::make_error<lsp::LSPError>(refusal, lsp::ErrorCode::InvalidParams));
  }

  // --- the whole text

  lsp::DocumentSymbol symbolOf(const ParsedText &text, const sema::DeclaredName &d) {
    SourceRange whole = d.node ? d.node->range : d.range;
    lsp::DocumentSymbol out(d.name, kindOf(d.kind), rangeOf(text.buffer(), whole), rangeOf(text.buffer(), d.range));
    if (auto *f = ast::dynCast<ast::Function>(d.node)) {
      for (const ast::Parameter &p : f->parameters)
        out.detail += (out.detail.empty() ? "(" : ", ") + p.name;
      out.detail += out.detail.empty() ? "()" : ")";
    }
    if (auto *structure = ast::dynCast<ast::Struct>(d.node))
      for (const ast::Parameter &m : structure->members)
        out.children.emplace_back(m.name, lsp::SymbolKind::Field, rangeOf(text.buffer(), m.range),
                                  rangeOf(text.buffer(), m.range));
    return out;
  }

  void symbols(const lsp::DocumentSymbolParams &params, lsp::Callback<Value> reply) {
    Channel::answer(std::move(reply), [&]() -> Value {
      llvm::json::Array out;
      Document *document = find(params.textDocument.uri);
      for (size_t i = 0; document && i < document->parsed->names.topCount; ++i)
        out.push_back(toJSON(symbolOf(*document->parsed, document->parsed->names.declarations[i])));
      return out;
    });
  }

  void codeActions(const lsp::CodeActionParams &params, lsp::Callback<Value> reply) {
    Channel::answer(std::move(reply), [&]() -> Value {
      llvm::json::Array out;
      Document *document = find(params.textDocument.uri);
      for (const Document::Proposal &proposal : document ? document->proposals : std::vector<Document::Proposal>())
        if (!(proposal.range.end < params.range.start) && !(params.range.end < proposal.range.start)) {
          lsp::CodeAction action;
          action.title = "write `" + proposal.fix.text + "`";
          action.kind = lsp::CodeAction::kQuickFix.str();
          action.isPreferred = true;
          action.edit.emplace().changes[document->uri.uri().str()] = {{proposal.place, proposal.fix.text}};
          out.push_back(toJSON(action));
        }
      return out;
    });
  }

  /// The types of variables of the top level that are declared without one.
  void inlayHints(const lsp::InlayHintsParams &params, lsp::Callback<Value> reply) {
    Channel::answer(std::move(reply), [&]() -> Value {
      llvm::json::Array out;
      Document *document = find(params.textDocument.uri);
      for (size_t i = 0; document && document->knowsText && i < document->parsed->names.topCount; ++i) {
        const sema::DeclaredName &d = document->parsed->names.declarations[i];
        auto *var = ast::dynCast<ast::Var>(d.node);
        const ValueType *type = var && !var->type ? sessionOf(*document).global(d.name) : nullptr;
        if (!type || type->kind == ValueType::Function)
          continue;
        lsp::InlayHint hint(lsp::InlayHintKind::Type, rangeOf(document->parsed->buffer(), d.range).end);
        hint.label = ": " + type->str();
        if (!(hint.position < params.range.start) && !(params.range.end < hint.position))
          out.push_back(toJSON(hint));
      }
      return out;
    });
  }

  SessionOptions options;
  std::map<std::string, Document> documents; ///< by path
  Texts texts{documents};
  Uses uses{documents, texts};
  EditorChecks checks;
  Channel channel;
  lsp::OutgoingNotification<Value> publish;
  bool isShutDown = false;
};

} // namespace

int serveEditors(const SessionOptions &options) { return LanguageServer(options).run(); }

} // namespace toy
