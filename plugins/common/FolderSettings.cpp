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

bool dtlto::readFolderArgument(std::string_view Arg, FolderSettings &S) {
  size_t Equals = Arg.find('=');
  std::string_view Name = Arg.substr(0, Equals);
  if (Arg == "keep") {
    S.Keep = true;
    return true;
  }
  if (Equals == std::string_view::npos)
    return false;
  std::string Value(Arg.substr(Equals + 1));
  if (Name == "compiler-arg")
    S.CompilerLast.push_back(Value);
  else if (Name == "compiler-prepend-arg")
    S.CompilerFirst.push_back(Value);
  else if (Name == "compiler" && !Value.empty())
    S.Compiler = absolutePath(Value);
  else if (Name == "folder" && !Value.empty())
    S.Folder = Value;
  else
    return false;
  return true;
}

void dtlto::completeSettings(FolderSettings &S,
                             const dtlto_session_params &Params) {
  std::string_view Version = Params.llvm_version;
  if (S.Compiler.empty())
    S.Compiler = "clang-" + std::string(Version.substr(0, Version.find('.')));
}

sdk::Error dtlto::unknownArgument(std::string_view Arg,
                                  std::initializer_list<std::string_view> Names,
                                  const std::string &Expected) {
  std::string_view Name = Arg.substr(0, Arg.find('='));
  std::string_view Near = nearest(Name, Names);
  return {DTLTO_ERROR_CALLER,
          argumentProblem(Arg, Names) +
              (Near.empty() || Near == Name
                   ? ""
                   : ", did you mean " + quote(Near) + "?") +
              ", expected " + Expected};
}

std::string dtlto::absolutePath(const std::string &Path) {
  char Here[PATH_MAX];
  if (Path.find('/') == std::string::npos || Path[0] == '/' ||
      !::getcwd(Here, sizeof(Here)))
    return Path;
  return std::string(Here) + "/" + Path;
}
