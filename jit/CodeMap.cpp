// SPDX-License-Identifier: Apache-2.0
/// \file
/// Symbols and line tables of objects, at the addresses where they were linked.
#include "jit/CodeMap.h"

#include "support/Descriptor.h"
#include "support/PrivateFolder.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace toy {
namespace {

struct Symbol {
  std::string name;
  uint64_t section, offset, size;
};

template <typename T> std::optional<T> orNothing(Expected<T> value) {
  if (value)
    return std::move(*value);
  consumeError(value.takeError());
  return std::nullopt;
}

std::vector<Symbol> symbolsOf(const object::ObjectFile &file) {
  std::vector<Symbol> out;
  for (const object::SymbolRef &symbol : file.symbols()) {
    auto type = orNothing(symbol.getType());
    auto name = orNothing(symbol.getName());
    auto section = orNothing(symbol.getSection());
    auto offset = orNothing(symbol.getValue());
    if (type == object::SymbolRef::ST_Function && name && section && *section != file.section_end() && offset)
      out.push_back({name->str(), (*section)->getIndex(), *offset, object::ELFSymbolRef(symbol).getSize()});
  }
  return out;
}

using Lines = std::vector<CodeFunction::Line>;

/// Those of a section, from its start on.
Lines linesOf(const object::ObjectFile &file, uint64_t section) {
  Lines out;
  std::unique_ptr<DWARFContext> debug = DWARFContext::create(file);
  for (const std::unique_ptr<DWARFUnit> &unit : debug->compile_units())
    if (const DWARFDebugLine::LineTable *table = debug->getLineTableForUnit(unit.get()))
      for (const DWARFDebugLine::Row &row : table->Rows)
        if (row.Address.SectionIndex == section)
          out.push_back({row.Address.Address, row.EndSequence ? 0 : row.Line});
  // Where a function ends and the next one begins, the line counts.
  std::sort(out.begin(), out.end(),
            [](auto &a, auto &b) { return std::pair(a.address, a.line) < std::pair(b.address, b.line); });
  return out;
}

} // namespace

std::vector<CodeFunction> functionsOf(MemoryBufferRef object, const std::string &known, uint64_t address,
                                      bool withLines) {
  std::vector<CodeFunction> out;
  auto file = orNothing(object::ObjectFile::createObjectFile(object));
  if (!file)
    return out;
  std::vector<Symbol> symbols = symbolsOf(**file);
  auto anchor = std::find_if(symbols.begin(), symbols.end(), [&](const Symbol &s) { return s.name == known; });
  if (anchor == symbols.end())
    return out;
  const uint64_t section = anchor->section, base = address - anchor->offset; // a section is loaded as it is
  Lines lines = withLines ? linesOf(**file, section) : Lines();
  for (const Symbol &s : symbols) {
    if (s.section != section)
      continue;
    CodeFunction &f = out.emplace_back(CodeFunction{s.name, base + s.offset, base + s.offset + s.size, {}});
    for (const CodeFunction::Line &line : lines)
      if (line.address >= s.offset && line.address < s.offset + s.size)
        f.lines.push_back({base + line.address, line.line});
  }
  return out;
}

void writePerfMap(const std::vector<CodeFunction> &functions, function_ref<std::string(const std::string &)> nameOf) {
  std::string path = fmt::format("/tmp/perf-{}.map", ::getpid()), text;
  for (const CodeFunction &f : functions)
    text += fmt::format("{:x} {:x} {}\n", f.begin, f.end - f.begin, nameOf(f.name));
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat status;
  if (file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::getuid() &&
      status.st_nlink == 1)
    writeAll(file.get(), text);
}

} // namespace toy
