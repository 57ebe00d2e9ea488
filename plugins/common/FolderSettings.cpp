//===- FolderSettings.cpp - What the user sets of a program ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FolderSettings.h"
#include "Text.h"
#include <climits>
#include <unistd.h>

using namespace dtlto;

bool FolderSettings::isWorker() const {
  return baseName(Compiler).substr(0, 13) == "dtlto-codegen";
}

ArgumentTable dtlto::folderArguments(FolderSettings &S, ArgumentTable Own) {
  auto Append = [](std::vector<std::string> &To) {
    return [&To](std::string_view Value) {
      To.emplace_back(Value);
      return true;
    };
  };
  const ArgumentTable Common = {
      {"compiler",
       [&S](std::string_view Value) {
         S.Compiler = absolutePath(std::string(Value));
         return !Value.empty();
       }},
      {"compiler-arg", Append(S.CompilerLast)},
      {"compiler-prepend-arg", Append(S.CompilerFirst)},
      textArgument("folder", S.Folder),
      {"keep",
       [&S](std::string_view) { return S.Keep = true; },
       {},
       /*IsSwitch=*/true}};
  Own.insert(Own.end(), Common.begin(), Common.end());
  return Own;
}

void dtlto::readArguments(const dtlto_session_params &Params,
                          const ArgumentTable &Known,
                          const std::string &Expected, FolderSettings &S) {
  for (uint32_t I = 0; I != Params.num_args; ++I)
    if (!setArgument(Known, Params.args[I]))
      throw sdk::Error(DTLTO_ERROR_CALLER,
                       argumentProblem(Known, Params.args[I]) + ", expected " +
                           Expected);
  std::string_view Version = Params.llvm_version;
  if (S.Compiler.empty())
    S.Compiler = "clang-" + std::string(Version.substr(0, Version.find('.')));
}

std::string dtlto::absolutePath(const std::string &Path) {
  char Here[PATH_MAX];
  if (Path.find('/') == std::string::npos || Path[0] == '/' ||
      !::getcwd(Here, sizeof(Here)))
    return Path;
  return std::string(Here) + "/" + Path;
}
