// SPDX-License-Identifier: Apache-2.0
/// \file
/// A file for this user's eyes: in a private folder, and readable by nobody else. An entry is a line of it: newlines
/// are \n, backslashes \\.
#include "repl/History.h"

#include "support/NewFile.h"
#include "support/PrivateFolder.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace toy {

constexpr char fileName[] = "history";
constexpr off_t bytesLimit = off_t(16) << 20; ///< of the file's end

static Descriptor openHistory(const Descriptor &folder, int flags, struct stat &info) {
  Descriptor file = folder ? openOwnFile(folder.get(), fileName, flags, info) : Descriptor();
  if (file && (info.st_mode & 077))
    ::fchmod(file.get(), 0600);
  return file;
}

static std::string encoded(const std::string &entry) {
  std::string out;
  for (char c : entry)
    out += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  return out;
}

static std::string decoded(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i)
    out += line[i] != '\\' || i + 1 == line.size() ? line[i] : line[++i] == 'n' ? '\n' : line[i];
  return out;
}

std::vector<std::string> readHistory() {
  struct stat info{};
  Descriptor folder = openPrivateFolder(stateFolder), file = openHistory(folder, O_RDONLY, info);
  off_t begin = std::max(off_t(0), info.st_size - bytesLimit);
  std::string text(info.st_size - begin, '\0');
  if (!file || ::lseek(file.get(), begin, SEEK_SET) != begin || !readAll(file.get(), text.data(), text.size()))
    return {};
  std::string_view rest = text;
  if (begin) // in the middle of a line
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  std::vector<std::string_view> lines;
  while (!rest.empty()) {
    lines.push_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(lines.back().size() + 1, rest.size()));
  }
  size_t older = lines.size() - std::min<size_t>(lines.size(), historyLimit);
  if (older > historyLimit || (begin && !lines.empty())) {
    NewFile shorter(folder.get(), 0600);
    if (shorter && writeAll(shorter.get(), {lines[older].data(), text.data() + text.size()}))
      shorter.keepAs(fileName, /*replace=*/true);
  }
  std::vector<std::string> entries;
  for (size_t i = older; i < lines.size(); ++i)
    entries.push_back(decoded(lines[i]));
  return entries;
}

void appendToHistory(const std::string &entry) {
  struct stat info{};
  if (Descriptor file = openHistory(openPrivateFolder(stateFolder), O_WRONLY | O_CREAT | O_APPEND, info))
    writeAll(file.get(), encoded(entry) + "\n");
}

} // namespace toy
