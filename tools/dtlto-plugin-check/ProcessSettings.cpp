//===- ProcessSettings.cpp - What is the process's, and not a plugin's ----===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessSettings.h"
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

using namespace dtlto::check;

static constexpr int NumSignals = 32; // but for real-time ones

static std::string handler(int Signal) {
  struct sigaction Is;
  if (::sigaction(Signal, nullptr, &Is) != 0)
    return "";
  // Both are of one union.
  return std::string(reinterpret_cast<const char *>(&Is.sa_handler),
                     sizeof(Is.sa_handler));
}

ProcessSettings ProcessSettings::now() {
  ProcessSettings S;
  std::error_code EC;
  S.Folder = std::filesystem::current_path(EC).string();
  S.Mask = ::umask(077);
  ::umask(static_cast<mode_t>(S.Mask));
  for (int Fd : {0, 1, 2}) {
    struct stat Is;
    S.Descriptors.push_back(::fstat(Fd, &Is) == 0
                                ? std::to_string(Is.st_dev) + ":" +
                                      std::to_string(Is.st_ino)
                                : "closed");
  }
  for (int Signal = 1; Signal != NumSignals; ++Signal)
    S.Handlers.push_back(handler(Signal));
  return S;
}

std::string ProcessSettings::differenceTo(const ProcessSettings &Later) const {
  if (Folder != Later.Folder)
    return "the working folder";
  if (Mask != Later.Mask)
    return "the umask";
  for (size_t I = 0; I != Descriptors.size(); ++I)
    if (Descriptors[I] != Later.Descriptors[I])
      return "what the descriptor " + std::to_string(I) + " is";
  for (size_t I = 0; I != Handlers.size(); ++I)
    if (Handlers[I] != Later.Handlers[I])
      return "what is done at the signal " + std::to_string(I + 1) + " (" +
             ::strsignal(int(I) + 1) + ")";
  return "";
}
