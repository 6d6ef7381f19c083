// SPDX-License-Identifier: Apache-2.0
/// \file
/// Looking at code without running it for its result: types, costs, instances, timing.
#include "ir/ToyDialect.h"
#include "runtime/Memory.h"
#include "session/SessionImpl.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ScopeExit.h"

#include <fmt/format.h>

using namespace mlir;

namespace toy {

/// One statement of the prompt, kept alive; null after errors.
const ast::Module *Session::parseStatement(const std::string &text) {
  TokenBuffer tokens = lex(sources.add("<inspect>", text), diagnostics);
  ParseResult result = parse(tokens, diagnostics, {true});
  if (result.status == ParseStatus::Incomplete) // say what is missing
    result = parse(tokens, diagnostics);
  if (result.status != ParseStatus::Complete || result.module.items.empty())
    return nullptr;
  silence(result.module);
  sema::qualify(result.module, mainNames);
  modules.push_back(std::make_unique<ast::Module>(std::move(result.module)));
  return modules.back().get();
}

bool Session::isUnfinished(const std::string &text) {
  SourceManager scratch;
  DiagnosticEngine quiet(scratch);
  return parse(lex(scratch.add("<input>", text), quiet), quiet, {true}).status == ParseStatus::Incomplete;
}

std::string Session::frontEnd(const std::string &stage, const std::string &text) {
  TokenBuffer tokens = lex(sources.add("<inspect>", text), diagnostics);
  return stage == "tokens" ? print(tokens, sources) : ast::print(parse(tokens, diagnostics, {true}).module);
}

const ValueType *Session::typeOf(const std::string &text) {
  const ast::Module *module = parseStatement(text);
  if (!module)
    return nullptr;
  ast::StmtPtr &item = modules.back()->items.front();
  if (module->items.size() > 1 || item->kind != ast::NodeKind::ExprStmt) {
    diagnostics.report(DiagId::CommandArgument, {}, {":type", "an expression"});
    return nullptr;
  }
  auto statement = std::make_unique<ast::Var>(item->range); // `shown = …`, at the place of what was typed
  statement->names = {"shown"};
  statement->nameRanges = {item->range};
  statement->value = std::move(static_cast<ast::ExprStmt &>(*item).value);
  item = std::move(statement);
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(ir()));
  TopLevel top;
  if (!generateOnly(*scratch, {module->items.front().get()}, top) || !top.stored.count("shown"))
    return nullptr;
  shownType = top.stored.at("shown");
  return &shownType;
}

/// Real operations an element: sums, products, quotients; what libm does counts as one.
static double flopsOf(Operation *op) {
  auto result = op->getNumResults() ? dyn_cast<TensorType>(op->getResult(0).getType()) : TensorType();
  if (!result || kindOf(result.getDtype()) == DKind::Bool)
    return 0;
  auto complexOperand = [&](unsigned i) {
    return i < op->getNumOperands() && isa<TensorType>(op->getOperand(i).getType()) &&
           tensorTypeOf(op->getOperand(i)).isComplex();
  };
  double both = complexOperand(0) && complexOperand(1), any = complexOperand(0) || complexOperand(1);
  double each;
  if (isa<AddOp, SubOp>(op))
    each = both ? 2 : 1;
  else if (isa<MulOp>(op))
    each = both ? 6 : any ? 2 : 1;
  else if (isa<DivOp>(op))
    each = both ? 11 : any ? 2 : 1;
  else if (isa<Abs2Op>(op))
    each = any ? 3 : 1;
  else if (isa<ConjOp, RealOp, ImagOp, CastOp, WhereOp, NegOp, ComplexOp>(op))
    each = 0;
  else if (auto product = dyn_cast<MatMulOp>(op)) {
    TensorType x = tensorTypeOf(product.getLhs());
    auto inner = x.getRank() ? x.getDim(x.getRank() - 1).asNumber() : std::nullopt;
    if (!inner)
      return -1;
    each = *inner * (both ? 8.0 : any ? 4.0 : 2.0);
  } else if (op->hasTrait<toy::OpTrait::Reduction>()) {
    auto count = tensorTypeOf(op->getOperand(0)).getStaticCount();
    return count ? *count * (any ? 2.0 : 1.0) : -1;
  } else if (op->hasTrait<toy::OpTrait::Elementwise>())
    each = any ? 2 : 1;
  else
    return 0;
  auto count = result.getStaticCount();
  return count ? *count * each : -1;
}

void Session::cost(ModuleOp module, double &flops, double &bytes) {
  flops = bytes = 0;
  bool known = true;
  auto bytesOf = [&](Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    auto count = tensor ? tensor.getStaticCount() : 0;
    known &= count.has_value();
    return tensor && count && *count > 1 ? static_cast<double>(*count * sizeOf(tensor.getDtype())) : 0.0;
  };
  struct Work {
    double flops = 0, bytes = 0;
    bool ready = false; ///< false: on the way to the current function
  };
  std::map<Operation *, Work> works;
  auto visit = [&](auto &self, func::FuncOp function) -> const Work & {
    auto [it, isNew] = works.try_emplace(function);
    Work &work = it->second;
    known &= isNew || work.ready; // not a recursion
    if (!isNew)
      return work;
    SmallPtrSet<Block *, 8> seen;
    for (Block &block : function.getBody()) {
      seen.insert(&block);
      known &= llvm::none_of(block.getSuccessors(),
                             [&](Block *next) { return seen.contains(next); }); // loops run as often as the data say
    }
    function.walk([&](Operation *op) {
      double n = flopsOf(op);
      known &= n >= 0;
      work.flops += std::max(n, 0.0);
      if (isa<GlobalLoadOp>(op))
        work.bytes += bytesOf(op->getResult(0).getType());
      if (auto use = dyn_cast<UseOp>(op))
        for (Type type : use->getOperandTypes())
          work.bytes += bytesOf(type);
      if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        if (!callee || callee.isExternal())
          callee = bodyOf(call.getCallee());
        if (callee && !callee.isExternal()) {
          const Work &inner = self(self, callee);
          work.flops += inner.flops;
          work.bytes += inner.bytes;
        }
      }
    });
    work.ready = true;
    return work;
  };
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !function.isPrivate()) {
      const Work &work = visit(visit, function);
      flops += work.flops;
      bytes += work.bytes;
    }
  if (!known)
    flops = bytes = 0;
}

bool Session::benchmark(const std::string &text, double seconds, Benchmark &out) {
  const ast::Module *module = parseStatement(text);
  if (!module)
    return false;
  TopLevel top;
  auto compiling = [&] {
    double ms = 0;
    for (const auto &[name, spent] : compiler.times.list())
      ms += name == "run" ? 0 : spent;
    return ms;
  };
  double before = compiling();
  std::vector<const ast::Stmt *> statements;
  for (const ast::StmtPtr &s : module->items)
    statements.push_back(s.get());
  // What runs so often is optimized, however short it is.
  int &optimization = options.compile.optimization;
  const int chosen = std::exchange(optimization, optimization == CompileOptions::byCost ? 2 : optimization);
  llvm::scope_exit forget([&, from = loadedNow.size()] {
    forgetLoaded(from);
    optimization = chosen;
  });
  std::shared_ptr<CompiledModule> owner = prepare(statements, top, true, nullptr);
  if (!owner || !runTop(owner, top, /*wait=*/true)) // functions compile when they are called first
    return false;
  out.compileMs = compiling() - before;
  cost(*owner->module, out.flops, out.bytes);
  double spent = 0;
  while (out.seconds.size() < 3 || (spent < seconds && out.seconds.size() < 100000)) {
    auto begin = std::chrono::steady_clock::now();
    if (!runTop(owner, top, /*wait=*/true))
      return false;
    out.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    spent += out.seconds.back();
  }
  out.peakBytes = rt::memoryStats().peakBytes;
  return true;
}

Session::Evaluating::Evaluating(Session &session, bool CompileOptions::*option)
    : session(session), option(option), aside(session.instanceTable.takeAside()),
      jit(std::exchange(session.options.compile.jit, JitMode::Never)) {
  session.options.compile.*option = true;
}
Session::Evaluating::~Evaluating() {
  session.options.compile.*option = false;
  session.options.compile.jit = jit;
  session.instanceTable.putBack(std::move(aside));
}

/// What the keys of a function's instances begin with; empty for names that are no functions.
std::string Session::instancesOf(const std::string &name) {
  const ast::Function *f = functionOf(name);
  return f ? fmt::format("{}@{}:{}(", f->name, f->range.buffer, f->range.begin) : "";
}

OwningOpRef<ModuleOp> Session::moduleOf(const std::string &name) {
  OwningOpRef<ModuleOp> out;
  inspected = noBuffer;
  if (std::string begin = instancesOf(name); !begin.empty()) {
    for (auto &[key, instance] : instanceTable.all())
      if (func::FuncOp body = key.starts_with(begin) ? bodyOf(instance.symbol) : func::FuncOp()) {
        out = ModuleOp::create(UnknownLoc::get(ir()));
        func::FuncOp copy = body.clone();
        out->push_back(copy);
        copy.setPublic();
        break;
      }
    if (!out)
      diagnostics.report(DiagId::NotCalledYet, {}, {name});
  } else
    out = lower(fmt::format("<inspect {}>", ++inspections), name, {true});
  // With the bodies of what is called.
  while (out) {
    std::set<std::string> wanted;
    out->walk([&](func::CallOp call) {
      auto callee = out->lookupSymbol<func::FuncOp>(call.getCallee());
      if ((!callee || callee.isExternal()) && bodyOf(call.getCallee()))
        wanted.insert(call.getCallee().str());
    });
    if (wanted.empty())
      break;
    for (const std::string &symbol : wanted) {
      if (auto declaration = out->lookupSymbol(symbol))
        declaration->erase();
      func::FuncOp copy = bodyOf(symbol).clone();
      copy.setPrivate();
      out->push_back(copy);
    }
  }
  return out;
}

std::vector<std::string> Session::specializationsOf(const std::string &name) {
  std::vector<std::string> out;
  auto signature = [&](const Instance &instance, const std::map<std::string, std::string> &shown) {
    std::string types;
    auto nameShown = [&](StringRef name) {
      auto it = shown.find(name.str());
      return it == shown.end() ? name.str() : it->second;
    };
    for (Type type : instance.arguments)
      types += (types.empty() ? "" : ", ") +
               (isa<TensorType>(type) ? cast<TensorType>(type).str(nameShown) : typeText(type));
    return name + "(" + types + ")" +
           (instance.result.kind == ValueType::Nothing ? "" : " -> " + instance.result.str(nameShown));
  };
  auto place = [&](SourceRange range) {
    const SourceBuffer &buffer = sources.get(range.buffer);
    uint32_t line = buffer.lineOf(range.begin);
    return fmt::format("{}:{}:{}: `{}`", buffer.getName(), line, range.begin - buffer.lineBegin(line) + 1,
                       sources.text(range));
  };
  std::string begin = instancesOf(name);
  for (auto &[key, set] : instanceTable.specializations) {
    if (begin.empty() || !key.starts_with(begin))
      continue;
    for (const auto &specialization : set.entries) {
      const Instance *instance = instanceTable.find(specialization->key);
      if (!instance)
        continue;
      std::map<std::string, std::string> shown = specialization->shownNames(set.slots);
      std::string text = fmt::format("{}: {} call{}", signature(*instance, shown), specialization->calls,
                                     specialization->calls == 1 ? "" : "s");
      if (specialization->generic)
        text += ", for all sizes: decides while it runs";
      for (const SizeGuard &guard : specialization->guards)
        text += "\n  guard " + guard.fact.str(shown) + "  at " + place(guard.range);
      for (const SizeGuard &check : specialization->checks)
        text += "\n  check " + check.fact.str(shown) + "  at " + place(check.range);
      text += "\n  compiled because: " + specialization->reason;
      out.push_back(text);
    }
  }
  for (auto &[key, instance] : instanceTable.all())
    if (!begin.empty() && key.starts_with(begin) && !instance.specialization)
      out.push_back(signature(instance, {}) + ": no guards; declared sizes are checked on entry");
  return out;
}

} // namespace toy
