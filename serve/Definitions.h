// SPDX-License-Identifier: Apache-2.0
/// \file
/// Where names are declared, also in the files that a text imports.
#pragma once

#include "serve/Document.h"

#include <filesystem>

namespace toy {

/// Texts by path: those of open documents as they are in the editor, others as they are on the disk.
class Texts {
public:
  explicit Texts(const std::map<std::string, Document> &open) : open(open) {}
  /// Null where there is no such file.
  const ParsedText *of(const std::string &path);
  /// Gives up the earlier versions of files that have changed on the disk; nobody holds a `Place` any more.
  void dropOld() { old.clear(); }

private:
  struct Stored {
    std::filesystem::file_time_type time;
    std::unique_ptr<ParsedText> parsed;
  };
  const std::map<std::string, Document> &open; ///< by path
  std::map<std::string, Stored> stored;
  std::vector<std::unique_ptr<ParsedText>> old;
};

/// A place in a text that lives until the next change of one.
struct Place {
  std::string path;
  const ParsedText *text;
  SourceRange range;
  const sema::DeclaredName *declaration; ///< null: the file itself
  bool operator==(const Place &other) const {
    return path == other.path && range.begin == other.range.begin && range.end == other.range.end;
  }
};
/// Where a name of a text is declared. A member is that of the structs that the text's check found there; in code that
/// nothing calls it is that of the struct which a declaration names, or of any that the text knows.
std::vector<Place> placesOf(const Document &document, const sema::NameUse &use, Texts &texts);
/// The file whose name in an import holds an offset, or nothing.
std::optional<Place> importAt(const ParsedText &text, const std::string &path, uint32_t offset, Texts &texts);

} // namespace toy
