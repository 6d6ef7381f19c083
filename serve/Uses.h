// SPDX-License-Identifier: Apache-2.0
/// \file
/// All places of the open texts where one name stands, and what gives it another.
#pragma once

#include "serve/Definitions.h"

namespace toy {

/// A use of a name, with what it may mean: several places where a member's struct is not certain.
struct FoundUse {
  Document *document;
  const sema::NameUse *use;
  std::vector<Place> places;
};

class Uses {
public:
  Uses(std::map<std::string, Document> &documents, Texts &texts) : documents(documents), texts(texts) {}

  /// What the name at an offset means, where that is one thing that has a name of its own.
  std::optional<Place> namedAt(Document &document, uint32_t offset);
  /// Those that mean a place, or may.
  std::vector<FoundUse> of(const Place &meant);
  /// What changes where the name at an offset becomes `name`; an edit without changes comes with a refusal.
  llvm::lsp::WorkspaceEdit rename(Document &document, uint32_t offset, const std::string &name, std::string &refusal);

private:
  std::string whyNot(const Place &meant, const std::vector<FoundUse> &uses, const std::string &name);
  std::string whyNotMember(const Place &meant, const std::vector<FoundUse> &uses, const std::string &name);
  std::string shown(const FoundUse &found);

  std::map<std::string, Document> &documents; ///< by path
  Texts &texts;
};

} // namespace toy
