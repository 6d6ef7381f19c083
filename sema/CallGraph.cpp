// SPDX-License-Identifier: Apache-2.0
/// \file
/// Closures over strongly connected components (R. Tarjan, Depth-first search and linear graph algorithms, 1972):
/// functions that call each other read the same variables.
#include "sema/CallGraph.h"

#include <algorithm>

namespace toy::sema {

const Summary &CallGraph::summary(const ast::Function &f) {
  auto it = summaries.find(&f);
  return it == summaries.end() ? summaries.emplace(&f, summarize(f)).first->second : it->second;
}

/// What a function mentions itself, with the defaults of the structs that it may make.
Mentions CallGraph::own(const ast::Function &f) {
  Mentions out{summary(f).reads, summary(f).calls};
  std::vector<std::string> names(out.reads.begin(), out.reads.end());
  names.insert(names.end(), out.calls.begin(), out.calls.end());
  std::set<const ast::Struct *> seen;
  while (!names.empty()) {
    const ast::Struct *made = definitions.structure(names.back());
    names.pop_back();
    if (!made || !seen.insert(made).second)
      continue;
    for (const ast::Parameter &member : made->members)
      if (member.defaultValue) {
        Summary inside = summarize(*member.defaultValue);
        for (auto [from, to] : {std::pair(&inside.reads, &out.reads), std::pair(&inside.calls, &out.calls)}) {
          to->insert(from->begin(), from->end());
          names.insert(names.end(), from->begin(), from->end());
        }
      }
  }
  return out;
}

/// The functions that one may call: those that it calls by name, and those that it names as values.
std::vector<const ast::Function *> CallGraph::callees(const ast::Function &f) {
  std::vector<const ast::Function *> out;
  const Mentions mentions = own(f);
  for (const NameSet *names : {&mentions.calls, &mentions.reads})
    for (const std::string &name : *names)
      if (const ast::Function *callee = definitions.function(name))
        out.push_back(callee);
  return out;
}

struct CallGraph::Visit {
  struct State {
    size_t number, lowest;
  };
  std::map<const ast::Function *, State> states;
  std::vector<const ast::Function *> open; ///< functions whose component is not known yet
};

void CallGraph::close(const ast::Function &f, Visit &visit) {
  size_t number = visit.states.size();
  visit.states[&f] = {number, number};
  visit.open.push_back(&f);
  for (const ast::Function *callee : callees(f)) {
    if (closed.count(callee))
      continue;
    bool isNew = !visit.states.count(callee);
    if (isNew)
      close(*callee, visit);
    if (!closed.count(callee)) {
      size_t &lowest = visit.states[&f].lowest;
      lowest = std::min(lowest, isNew ? visit.states[callee].lowest : visit.states[callee].number);
    }
  }
  if (visit.states[&f].lowest != number)
    return;
  auto first = std::find(visit.open.begin(), visit.open.end(), &f);
  auto all = std::make_shared<Mentions>();
  auto add = [&](const NameSet &reads, const NameSet &calls) {
    all->reads.insert(reads.begin(), reads.end());
    all->calls.insert(calls.begin(), calls.end());
  };
  for (auto member = first; member != visit.open.end(); ++member) {
    const Mentions itself = own(**member);
    add(itself.reads, itself.calls);
    for (const ast::Function *callee : callees(**member))
      if (auto known = closed.find(callee); known != closed.end())
        add(known->second->reads, known->second->calls);
  }
  for (auto member = first; member != visit.open.end(); ++member)
    closed[*member] = all;
  visit.open.erase(first, visit.open.end());
}

const Mentions &CallGraph::mentions(const ast::Function &f) {
  if (!closed.count(&f)) {
    Visit visit;
    close(f, visit);
  }
  return *closed[&f];
}

bool CallGraph::reaches(const NameSet &calls, const ast::Function &f) {
  std::set<const ast::Function *> seen;
  std::vector<std::string> names(calls.begin(), calls.end());
  while (!names.empty()) {
    const ast::Function *callee = definitions.function(names.back());
    names.pop_back();
    if (callee == &f)
      return true;
    if (!callee || !seen.insert(callee).second)
      continue;
    for (const NameSet *more : {&summary(*callee).calls, &summary(*callee).reads})
      names.insert(names.end(), more->begin(), more->end());
  }
  return false;
}

} // namespace toy::sema
