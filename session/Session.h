// SPDX-License-Identifier: Apache-2.0
/// \file
/// The state of a running program: variables, functions, compiled instances. Scripts, `-e` and the prompt are inputs to
/// one session.
#pragma once

#include "compile/Compile.h"
#include "irgen/InstanceTable.h"
#include "parser/Parser.h"
#include "passes/VaryingGlobals.h"
#include "reference/Evaluator.h"
#include "runtime/Error.h"
#include "sema/Qualify.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <array>
#include <mutex>

namespace toy {

struct SessionOptions {
  CompileOptions compile;
  bool color = false;
  bool json = false;   ///< diagnostics are JSON
  bool prompt = false; ///< inputs can be undone, and those that fail change nothing
  bool join = false;   ///< statements in a row may become one function, so that what belongs together is seen together
};

/// One compile, for --stats.
struct CompileRecord {
  std::string function, reason;
  double milliseconds;
  bool dynamic; ///< some sizes are dynamic
};

/// A place where complex arithmetic was recognized (`kind` and form) or just missed (no kind, the reason).
struct RecognitionRemark {
  std::string kind, text, strategy, file;
  uint32_t line, column;
  SourceRange range;
};

/// What a loop pays in each turn, at the user's place.
struct LoopRemark {
  std::string text, file;
  uint32_t line, column;
  SourceRange range;
};

class Session : public IRGenHost, public Environment {
public:
  explicit Session(SessionOptions options);
  ~Session() override;

  enum Outcome : uint8_t { Done, Incomplete, Failed };
  /// Runs a text. Errors are written to stderr; a failed statement changes nothing, and the statements behind it do not
  /// run. At the prompt an unfinished text gives Incomplete and does nothing.
  Outcome run(std::string name, std::string text, ParseOptions options);
  /// The same of a text that ran before: the files that it imports are read and run again, too.
  Outcome runAgain(std::string name, std::string text, ParseOptions options);
  /// Runs what may end in any way. An exception or a fault is reported as an error of `name`, and the session goes on:
  /// false.
  bool protect(const std::string &name, const std::function<void()> &body);
  /// Reads, and types in its order, a text that is not run, with what it imports; says all that is wrong or doubtful.
  /// False after errors. Of its definitions and variables the session then knows what they are, and can be asked for
  /// the types of expressions; it cannot run anything any more.
  bool check(std::string name, std::string text, ParseOptions options);
  /// Where a text that was checked names a member of a struct, and where that is declared; nowhere: it is built in.
  struct MemberUse {
    SourceRange use, declared;
    std::string structure, member;
  };
  std::vector<MemberUse> memberUses;
  /// The toy IR of a whole script as one module, for --emit; null after errors.
  mlir::OwningOpRef<mlir::ModuleOp> lower(std::string name, std::string text, ParseOptions options = {});

  std::vector<std::string> scriptArguments;
  int errorsShown = 0;
  std::optional<int> exitStatus; ///< the program called `exit`
  bool faulted = false;          ///< a fault or an internal error ended an input
  DiagnosticEngine &getDiagnostics() { return diagnostics; }
  /// Writes and drops what was reported.
  void showDiagnostics();
  /// Gets what is reported, in place of standard error.
  std::function<void(const Diagnostic &)> whenReported;
  std::vector<std::pair<std::string, std::string>> variables() const; ///< names and types
  std::vector<std::string> functionNames() const;
  /// The file that an import names, for a text with a name of its own: its canonical path.
  static std::string pathOfImport(const ast::Import &item, const std::string &importer);
  /// The names of a module as they are called in the session, by how they follow `m.`; null where there is none.
  const std::map<std::string, std::string> *namesOfModule(const std::string &alias) const;
  const PhaseTimes &phaseTimes() const { return compiler.times; }
  std::vector<CompileRecord> compiles;
  int64_t cacheHits = 0;
  Compiler &getCompiler() { return compiler; }
  /// What the first statement needs, and the first compiled one; may run on another thread while the first line is
  /// typed.
  void prepare();
  /// Every place once, in the order of the text.
  std::vector<RecognitionRemark> recognition();
  std::vector<LoopRemark> loopCosts();
  /// Whether a place is in the text that was lowered last without being run, or inside a function that it names or
  /// calls, also through others.
  bool isInspected(const std::string &text, SourceRange range);

  /// The type of an expression, which is not run; null after errors.
  const ValueType *typeOf(const std::string &text);
  /// The value of an expression that is being typed, in a line, where computing it takes no time and changes nothing;
  /// else nothing. Throws what goes wrong in it.
  std::string preview(const std::string &text);
  /// Whether the parser asks for more at the end of a text of the prompt.
  bool isUnfinished(const std::string &text);
  /// The tokens or the tree of a text.
  std::string frontEnd(const std::string &stage, const std::string &text);
  /// Takes back what the last input changed, and gives its text; nothing when there is none.
  std::optional<std::string> undo();
  /// Forgets all variables, functions and structs.
  void reset();
  /// A script that makes all functions and variables again; large tensors lie in a folder beside it. Throws rt::Error.
  void saveScript(const std::string &path);
  /// The text of a function's definition, or nothing.
  std::string definitionOf(const std::string &name);
  /// What a name of the top level calls, if that has a tree: the function of a variable, or the function of the name.
  const ast::Function *functionOf(const std::string &name);
  /// Its parameters, result type and clauses as they were written: `(x: f64[N]) -> f64[N]`.
  std::string signatureOf(const std::string &name);
  /// Runs an expression again and again for about `seconds`.
  struct Benchmark {
    double compileMs = 0;
    std::vector<double> seconds; ///< of each run, in order
    double flops = 0, bytes = 0; ///< of one run; 0: not known
    int64_t peakBytes = 0;
  };
  bool benchmark(const std::string &text, double seconds, Benchmark &out);
  /// While it lives, what runs is generated anew, with what an option adds (lines for calls, stops), and evaluated.
  class Evaluating {
  public:
    Evaluating(Session &session, bool CompileOptions::*option);
    ~Evaluating();

  private:
    Session &session;
    bool CompileOptions::*const option;
    InstanceTable aside;
    JitMode jit;
  };
  /// Where the time of a run went, in samples that are `Profiler::interval` apart; the longest functions first.
  struct Profile {
    struct Time {
      int64_t own = 0, all = 0; ///< `all`: with what was called
    };
    struct Function {
      std::string name, file;
      uint32_t firstLine; ///< of `text`
      std::vector<std::string> text;
      Time time;
      std::map<uint32_t, Time> lines;
    };
    std::vector<Function> functions;
    int64_t samples = 0, lost = 0;
  };
  /// While it lives, what runs is compiled anew, as for a long run, and watched.
  class Profiling {
  public:
    explicit Profiling(Session &session);
    ~Profiling();
    Profile result();

  private:
    Session &session;
    InstanceTable aside;
    JitMode jit;
    Profiler profiler;
  };
  /// Where a program has stopped at a `breakpoint()`, at a statement behind one, or where it failed.
  struct Stop {
    bool isBreakpoint;
    std::vector<std::pair<std::string, ValueType>> locals;
    std::vector<SourceRange> calls = {}; ///< the place itself first
    int depth = 0;
  };
  enum class After : uint8_t { Continue, Step, Next, Quit };
  /// Asked at stops, while local variables can be used in inputs like those of the top level; nothing of what these
  /// change stays. Without it `breakpoint()` does nothing.
  std::function<After(const Stop &)> whenStopped;
  /// At a stop: the local variables become those of a caller (-1) or of what it calls (1). Gives the place there, and
  /// nothing where there is none.
  std::optional<SourceRange> showFrame(int by);
  /// At a stop: a local variable that the newest input has changed; nothing where it has changed none.
  std::string changedLocal() const;
  /// Runs an input by the evaluator; where it fails, the program stops as at a `breakpoint()`.
  Outcome debug(std::string name, std::string text, ParseOptions options);
  /// The text of the newest input that failed.
  std::string lastFailed;
  /// Where inputs stop without a `breakpoint()`: at the first statement of a function, or at a line of the text that it
  /// stands in.
  struct Break {
    std::string function;
    std::optional<uint32_t> line;
    bool operator==(const Break &) const = default;
  };
  std::vector<Break> breaks;
  /// The line of a break, as :where shows it; nothing where no statement begins there.
  std::string placeOfBreak(const Break &wanted);
  /// Functions whose calls are shown in every input.
  std::set<std::string> traced;
  bool tracesAll = false; ///< `:trace INPUT` runs
  /// What an input of the prompt showed, as the variable `_N`.
  struct Result {
    int number;
    std::string name, input;
    int64_t bytes;
  };
  /// Keeps what the newest input showed, if it did; the oldest ones go.
  void keepResult(int number);
  /// Those that are kept, the oldest first.
  std::vector<Result> keptResults() const;
  std::string describe(SourceRange place);
  /// Real operations of one run and bytes of what it reads and makes, where all sizes are known; else 0.
  void cost(mlir::ModuleOp module, double &flops, double &bytes);
  /// The module of the last compiled instance of a function, or of an expression.
  mlir::OwningOpRef<mlir::ModuleOp> moduleOf(const std::string &name);
  /// The specializations of a function: a paragraph each, with its guards and checks and where they come from.
  std::vector<std::string> specializationsOf(const std::string &name);
  CompileOptions &settings() { return options.compile; }

  // IRGenHost
  const ValueType *global(const std::string &name) override;
  SourceRange placeOfGlobal(const std::string &name) override;
  std::optional<int64_t> globalInteger(const std::string &name) override;
  const sema::Definitions &definitions() override { return defined; }
  sema::CallGraph &callGraph() override { return graph; }
  void define(const ast::Stmt &declaration) override;
  InstanceTable &instances() override { return instanceTable; }
  /// Lines `key slot...`. What cannot be read is left out; the file is replaced as a whole.
  void readSizeProfile(const std::string &path);
  void writeSizeProfile(const std::string &path);
  const CompileOptions &compileOptions() override { return options.compile; }
  void isUsedAgain(Specialization &specialization) override;
  bool isInterrupted() override;
  bool usesDevice() override;
  std::string loadNow(const ast::Expr &path, const ast::Expr *member, const CsvOptions &csv, ValueType &type,
                      llvm::function_ref<void(DiagId, std::vector<std::string>)> failed) override;
  bool typeOfFile(const std::string &path, const std::string &member, const CsvOptions &csv, ValueType &type) override;
  bool evaluateText(const ast::Expr &e, std::string &text, const char *what);
  std::vector<std::string> names() override;
  void usesMember(const std::string &structure, const std::string &member, SourceRange range) override;
  int64_t noteBreakpoint(bool isBreakpoint, std::vector<std::pair<std::string, ValueType>> locals) override;
  // Environment
  void stopAt(int64_t number, mlir::Location place, llvm::ArrayRef<rt::Value> leaves) override;
  std::optional<int> traceDepth(mlir::Location function, bool isCall) override;
  void tellTurns(mlir::Block *block, llvm::function_ref<std::optional<int64_t>(mlir::Value)> integerOf) override;
  rt::Value getGlobal(const std::string &name) override;
  void setGlobal(const std::string &name, rt::Value value) override;
  void releaseGlobal(const std::string &name) override;
  const std::vector<std::string> &arguments() override { return scriptArguments; }
  rt::RandomState &random() override { return randomState; }
  std::vector<const void *> heldObjects() override;
  void beginAttempt() override;
  void endAttempt(bool failed) override;
  void noteCaught(const rt::Error &error, llvm::ArrayRef<int64_t> sites, llvm::ArrayRef<mlir::Location> chain) override;
  std::string caught(int64_t part) override;
  bool isCompiled(const std::string &symbol) override;
  std::vector<rt::Value> callExternal(const std::string &symbol, std::vector<rt::Value> arguments) override;

private:
  struct CompiledModule;
  /// What a text and its imports define, before any of it runs: files are read, what is defined twice is reported, and
  /// names that mean nothing yet get their first definition. The others follow when they are reached.
  bool declare(ast::Module &module);
  bool readImports(ast::Module &module, sema::ModuleNames &names);
  void forgetFile(const std::string &path);
  bool readImport(const ast::Import &item, const std::string &path, const std::string &key,
                  const sema::ModuleNames &importer);
  std::string findImport(const ast::Import &item, std::string &path) const;
  bool checkNames(const ast::Module &module);
  void defineUnknown(const ast::Module &module);
  bool import(const ast::Import &item);
  const ast::Module *importOnce(const ast::Import &item);
  std::vector<const ast::Stmt *> withImports(const ast::Module &module);
  const ast::Stmt *callOfMain(const ast::Module &module);
  /// Runs statements as one function; `generated` tells errors of types from errors of running.
  bool execute(llvm::ArrayRef<const ast::Stmt *> statements, bool *generated = nullptr);
  bool executeNow(llvm::ArrayRef<const ast::Stmt *> statements, bool *generated);
  bool executeAll(const ast::Module &module);
  bool executeJoined(llvm::ArrayRef<const ast::Stmt *> statements, unsigned factors);
  bool isSimple(const ast::Stmt &s, const sema::Summary &summary);
  bool runTop(std::shared_ptr<CompiledModule> module, const TopLevel &top, bool wait = false);
  std::shared_ptr<CompiledModule> prepare(llvm::ArrayRef<const ast::Stmt *> statements, TopLevel &top, bool always,
                                          bool *generated);
  const ast::Module *parseStatement(const std::string &text);
  void reportRuntimeError(const rt::Error &error, llvm::ArrayRef<mlir::Location> chain);
  SourceRange rangeOf(mlir::Location location, bool whole = false);
  std::vector<SourceRange> userRanges(llvm::ArrayRef<mlir::Location> chain);
  void showRemarks();
  void showDeviceWarnings();
  mlir::func::FuncOp bodyOf(llvm::StringRef symbol);
  bool checkDefinitions(const ast::Module &module);
  std::string instancesOf(const std::string &name);
  bool generateOnly(mlir::ModuleOp module, llvm::ArrayRef<const ast::Stmt *> statements, TopLevel &top);
  void own(std::shared_ptr<CompiledModule> owner, const InstanceTable::Unit &added);
  bool allRanksMeet(mlir::ModuleOp module);
  bool allRanksMeetForAnySize(mlir::ModuleOp module, llvm::ArrayRef<const ast::Stmt *> statements);
  bool reportVaryingCollectives(mlir::ModuleOp module);
  ValueType withNamedSizes(const std::string &name, ValueType type) const;
  void warnOfHiddenPrints(mlir::ModuleOp module);
  std::optional<int64_t> storedInteger(const std::string &name);
  bool compileModule(CompiledModule &owner, const std::string &evaluated);
  bool leadTo(llvm::ArrayRef<const ast::Stmt *> statements, llvm::function_ref<bool(const sema::NameSet &)> names);
  bool mayStop(llvm::ArrayRef<const ast::Stmt *> statements);
  const ast::Stmt *statementOf(const Break &wanted);
  void setLocals(const Stop &stop, llvm::ArrayRef<rt::Value> leaves);
  After stopWith(Stop stop);
  void inspectFailure(llvm::ArrayRef<mlir::Location> chain);
  class StopState;
  /// What a function that runs had come to: its newest statement, and the values of its variables there.
  struct FrameAt {
    int64_t stop;
    mlir::Location place;
    std::vector<rt::Value> leaves;
    std::optional<mlir::Location> caller;
    SourceRange outer; ///< the outermost statement around it that was come to before
  };
  bool isActive(int depth) const;
  std::vector<std::optional<FrameAt>> frames; ///< by depth of calls, while the input may stop
  StopState *stopState = nullptr;
  Stop shownStop = {};
  int shownFrame = 0;
  bool debugging = false;
  std::vector<int> tracedCalls; ///< depths of those that run and are shown
  std::vector<Stop> stops;      ///< of the input that runs, by number
  After stepping = After::Continue;
  int stepDepth = 0; ///< of calls, where `:next` was said
  bool stopped = false;
  void rollback(std::map<std::string, std::optional<rt::Value>> &journal);

  SessionOptions options;
  SourceManager sources;
  DiagnosticEngine diagnostics;
  std::once_flag contextMade;
  std::unique_ptr<mlir::MLIRContext> context; ///< see ir()
  Compiler compiler;
  std::vector<std::unique_ptr<ast::Module>> modules;
  std::set<std::string> remarked; ///< places that --remarks has shown
  sema::Definitions defined;
  std::map<std::string, ValueType> globalTypes;
  std::map<std::string, SourceRange> globalPlaces; ///< where they got their values
  std::map<std::string, rt::Value> globals;
  std::map<std::string, std::optional<rt::Value>> *journal =
      nullptr; ///< old values of what the running statement changes
  InstanceTable instanceTable;
  std::vector<std::string> loadedNow; ///< variables for what the statement loads
  void forgetLoaded(size_t from);     ///< at its end
  void forgetHidden(const std::string &name);
  std::map<std::string, std::shared_ptr<CompiledModule>> symbolModules;
  sema::CallGraph graph{defined};
  std::vector<std::string> importing;                   ///< canonical paths, the outermost first
  std::set<std::string> imported;                       ///< canonical paths
  bool runsAgain = false;                               ///< the next text is a file that ran before
  sema::ModuleNames mainNames;                          ///< of the program itself
  std::map<std::string, sema::ModuleNames> moduleNames; ///< of the files that were imported, by canonical path
  std::map<std::string, const ast::Module *>
      importedModules;    ///< by canonical path: read, whether or not they have taken effect
  bool isOfRanks = false; ///< the program asks which of several ranks it is, or what others have
  VaryingGlobals varyingGlobals;
  bool namesVaryingSizes = false;              ///< types of variables have names for sizes that differ between ranks
  std::map<std::string, ValueType> namedTypes; ///< those that were asked for so
  rt::RandomState randomState;
  Evaluator *runningEvaluator = nullptr;
  /// Blocks that run and may fail: old values of variables, and how long the evaluator's chain of calls was.
  struct Attempt {
    std::map<std::string, std::optional<rt::Value>> changes;
    std::set<std::string> journaled; ///< what the statement's journal did not have before
    size_t chain;
  };
  std::vector<Attempt> attempts;
  /// The last error that was caught; its text is made when it is asked for.
  struct Caught {
    rt::Error error = {};
    std::vector<mlir::Location> places; ///< innermost first
  } caughtError;
  /// What an input changed: the state before it.
  /// The names that a script gives modules, by what they are called in the tables.
  using ModuleAliases = std::map<std::string, std::string>;
  std::string definitionOf(const std::string &name, const ModuleAliases &aliases);
  std::string importsOfScript(ModuleAliases &aliases);
  bool isChangedInModule(const std::string &name) const;
  struct Change {
    std::map<std::string, std::optional<rt::Value>> values;
    std::map<std::string, ValueType> types;
    std::map<std::string, SourceRange> places;
    sema::Definitions definitions;
    std::set<std::string> imported;
    sema::ModuleNames mainNames;
    std::map<std::string, sema::ModuleNames> moduleNames;
    std::string text = {}; ///< of the input
  };
  Change nothingChanged() const;
  void takeBack(Change &change);
  void writeReproducer(const std::string &name, const std::string &text);
  mlir::MLIRContext *ir(bool prepares = false);
  std::unique_ptr<mlir::MLIRContext> newContext();
  void recycle();
  void recycleWhenDue();
  std::vector<RecognitionRemark> earlierRemarks; ///< of contexts that are gone
  BufferId inspected = noBuffer;                 ///< the text that was lowered last without being run
  unsigned inspections = 0;
  bool isChecking = false; ///< a text is looked at
  unsigned executed = 0;   ///< statements since the last recycling
  bool damaged = false;    ///< an exception or a fault passed through code that may be half done since
  void remember(std::map<std::string, std::optional<rt::Value>> &changes);
  std::vector<Change> past;                                         ///< of the inputs of the prompt, the newest last
  std::map<std::string, std::optional<rt::Value>> statementChanges; ///< what `journal` points to
  Outcome runText(std::string name, std::string text, ParseOptions options);
  Change *recording = nullptr; ///< of the input that runs
  bool showedResult = false;   ///< the newest input did
  std::vector<Result> results;
  void dropResult(const Result &result);
  bool isResult(const std::string &name) const;
  void checkResults();
  ValueType shownType;
};

} // namespace toy
