//===- UserSettings.h - User settings from bytes ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_FUZZ_USERSETTINGS_H
#define DTLTO_UNITTESTS_FUZZ_USERSETTINGS_H

#include "Text.h"
#include "dtlto/PluginAPI.h"
#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dtlto::test {

/// Settings of a user. Each line is an argument, or $NAME=VALUE.
struct UserSettings {
  explicit UserSettings(std::string_view Text) {
    while (!Text.empty()) {
      std::string Line(Text.substr(0, Text.find('\n')));
      Text.remove_prefix(std::min(Line.size() + 1, Text.size()));
      Line.resize(std::strlen(Line.c_str())); // as for any program
      size_t Equals = Line.find('=');
      if (Line[0] == '$' && Equals != std::string::npos)
        Variables[Line.substr(1, Equals - 1)] = Line.substr(Equals + 1);
      else
        Args.push_back(Line);
    }
  }

  /// Calls \p Read with the session's parameters and the environment.
  template <typename Fn> auto with(Fn Read) const {
    std::vector<const char *> Pointers;
    for (const std::string &Arg : Args)
      Pointers.push_back(Arg.c_str());
    dtlto_session_params Params = {};
    Params.size = sizeof(Params);
    Params.llvm_version = "19.1.7";
    Params.num_jobs = 1;
    Params.args = Pointers.data();
    Params.num_args = static_cast<uint32_t>(Pointers.size());
    return Read(Params, [&](const char *Name) -> const char * {
      auto It = Variables.find(Name);
      return It == Variables.end() ? nullptr : It->second.c_str();
    });
  }

  /// Returns whether \p Error names one of the arguments or variables.
  bool isNamedIn(const std::string &Error) const {
    for (const std::string &Arg : Args)
      if (Error.find(quote(Arg)) != std::string::npos ||
          (Arg.find('=') != std::string::npos &&
           Error.find(Arg.substr(0, Arg.find('=') + 1)) == 0))
        return true;
    for (const auto &[Name, Value] : Variables)
      if (Error.find("$" + Name) != std::string::npos)
        return true;
    return false;
  }

  std::vector<std::string> Args;
  std::map<std::string, std::string> Variables;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_FUZZ_USERSETTINGS_H
