// SPDX-License-Identifier: Apache-2.0
/// \file
/// What `:set` shows and changes: a row for each setting.
#include "repl/Commands.h"
#include "repl/LineEditor.h"
#include "runtime/Format.h"
#include "session/Session.h"
#include "support/Theme.h"

#include <algorithm>
#include <functional>

namespace toy {
namespace {

struct Row {
  SettingInfo info;
  std::function<std::string(Prompt &)> shown;
  std::function<bool(Prompt &, const std::string &)> apply; ///< false: not a value
};

std::string wordOf(bool on) { return on ? "on" : "off"; }

bool setFlag(bool &flag, const std::string &value) {
  flag = value == "on" || (value != "off" && flag);
  return value == "on" || value == "off";
}

/// A number of at most five digits.
template <typename T> bool setNumber(T &number, const std::string &value, T low, T high) {
  if (value.empty() || value.size() > 5 || value.find_first_not_of("0123456789") != value.npos)
    return false;
  T read = std::stoi(value);
  bool fits = read >= low && read <= high;
  number = fits ? read : number;
  return fits;
}

constexpr std::pair<const char *, DynamicMode> dynamicModes[] = {
    {"auto", DynamicMode::Auto}, {"on", DynamicMode::On}, {"off", DynamicMode::Off}};

const std::vector<Row> &rows() {
  using Text = const std::string &;
  static const std::vector<Row> table = {
      {{"precision", "N|full"},
       [](Prompt &) {
         int digits = rt::printOptions().precision;
         return digits ? std::to_string(digits) : "full";
       },
       [](Prompt &, Text v) {
         return v == "full" ? (rt::printOptions().precision = 0, true)
                            : setNumber(rt::printOptions().precision, v, 1, 17);
       }},
      {{"width", "N|auto"},
       [](Prompt &p) { return p.fitsScreen ? "auto" : std::to_string(rt::printOptions().width); },
       [](Prompt &p, Text v) {
         bool isNumber = setNumber<int64_t>(rt::printOptions().width, v, 20, 99999);
         p.fitsScreen = !isNumber && (v == "auto" || p.fitsScreen);
         return isNumber || v == "auto";
       }},
      {{"edge", "N"},
       [](Prompt &) { return std::to_string(rt::printOptions().edge); },
       [](Prompt &, Text v) { return setNumber<int64_t>(rt::printOptions().edge, v, 1, 99999); }},
      {{"format", "rect|polar"},
       [](Prompt &) { return rt::printOptions().polar ? "polar" : "rect"; },
       [](Prompt &, Text v) {
         rt::printOptions().polar = v == "polar" || (v != "rect" && rt::printOptions().polar);
         return v == "rect" || v == "polar";
       }},
      {{"time", "on|off"},
       [](Prompt &p) { return wordOf(p.showTime); },
       [](Prompt &p, Text v) { return setFlag(p.showTime, v); }},
      {{"dynamic", "auto|on|off"},
       [](Prompt &p) {
         std::string out;
         for (auto &[name, mode] : dynamicModes)
           out += p.session.settings().dynamic == mode ? name : "";
         return out;
       },
       [](Prompt &p, Text v) {
         for (auto &[name, mode] : dynamicModes)
           if (v == name) {
             p.session.settings().dynamic = mode;
             return true;
           }
         return false;
       }},
      {{"fail_on_recompile", "on|off"},
       [](Prompt &p) { return wordOf(p.session.settings().failOnRecompile); },
       [](Prompt &p, Text v) { return setFlag(p.session.settings().failOnRecompile, v); }},
      {{"suggestions", "on|off"},
       [](Prompt &) { return wordOf(editorOptions().suggestions); },
       [](Prompt &, Text v) { return setFlag(editorOptions().suggestions, v); }},
      {{"values", "on|off"},
       [](Prompt &) { return wordOf(editorOptions().values); },
       [](Prompt &, Text v) { return setFlag(editorOptions().values, v); }},
      {{"theme", "dark|light|none"},
       [](Prompt &) { return std::string(themeNames[static_cast<int>(theme())]); },
       [](Prompt &, Text v) {
         auto found = std::find(std::begin(themeNames), std::end(themeNames), v);
         if (found != std::end(themeNames))
           setTheme(static_cast<Theme>(found - std::begin(themeNames)));
         return found != std::end(themeNames);
       }},
  };
  return table;
}

} // namespace

const std::vector<SettingInfo> &settingTable() {
  static const std::vector<SettingInfo> infos = [] {
    std::vector<SettingInfo> out;
    for (const Row &row : rows())
      out.push_back(row.info);
    return out;
  }();
  return infos;
}

std::string Prompt::settingValue(const std::string &name) {
  for (const Row &row : rows())
    if (row.info.name == name)
      return row.shown(*this);
  return "";
}

bool Prompt::applySetting(const std::string &name, const std::string &value) {
  for (const Row &row : rows())
    if (row.info.name == name)
      return row.apply(*this, value);
  return false;
}

} // namespace toy
