// SPDX-License-Identifier: Apache-2.0
/// \file
/// What functions have been generated for.
#pragma once

#include "irgen/Specialize.h"

namespace toy {

/// The instances of functions by function, types of arguments and constants (their key), and the specializations that a
/// call chooses from.
class InstanceTable {
public:
  /// Null where there is none.
  const Instance *find(const std::string &key) const {
    auto it = instances.find(key);
    return it == instances.end() ? nullptr : &it->second;
  }
  /// Adds an instance of the unit that is generated.
  const Instance &add(const std::string &key, const Instance &instance) {
    pending.push_back(key);
    return instances[key] = instance;
  }
  const std::map<std::string, Instance> &all() const { return instances; }
  /// Takes back what the unit has added since it had `count` instances: their functions are gone.
  size_t pendingCount() const { return pending.size(); }
  void forgetPending(size_t count = 0) {
    for (const std::string &key : llvm::ArrayRef(pending).drop_front(count))
      instances.erase(key);
    pending.resize(count);
  }
  /// A function has another definition.
  void forgetUsersOf(const std::string &function) {
    std::erase_if(instances, [&](const auto &entry) { return entry.second.functions.count(function) > 0; });
  }
  void clear() { instances.clear(); }
  /// An empty table whose symbols differ from those of this one, and back.
  InstanceTable takeAside() {
    InstanceTable fresh;
    fresh.counter = counter;
    return std::exchange(*this, std::move(fresh));
  }
  void putBack(InstanceTable aside) {
    aside.counter = counter;
    *this = std::move(aside);
  }

  /// The instances that one unit adds: they are taken back at its end unless they are kept. A unit may be generated
  /// while another one is (what loads at the top level runs first).
  class Unit {
  public:
    explicit Unit(InstanceTable &table) : table(table) { std::swap(outer, table.pending); }
    ~Unit() {
      if (!kept)
        table.forgetPending();
      std::swap(outer, table.pending);
    }
    Unit(const Unit &) = delete;
    const std::vector<std::string> &keys() const { return table.pending; }
    void keep() { kept = true; }

  private:
    InstanceTable &table;
    std::vector<std::string> outer;
    bool kept = false;
  };

  /// By function and types of arguments without their free sizes.
  std::map<std::string, SpecializationSet> specializations;
  /// The sizes of a function (by slot) that changed in earlier runs; the key does not depend on the session.
  std::map<std::string, std::set<unsigned>> sizeProfiles;

  unsigned newNumber() { return counter++; }
  std::string newSymbol(const std::string &base) { return base + "." + std::to_string(counter++); }

private:
  std::map<std::string, Instance> instances;
  std::vector<std::string> pending; ///< keys
  unsigned counter = 0;
};

} // namespace toy
