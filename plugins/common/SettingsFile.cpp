//===- SettingsFile.cpp - Files that a setting names ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SettingsFile.h"
#include "System.h"
#include "Text.h"
#include <cerrno>
#include <cstring>

using namespace dtlto;
using dtlto::sdk::Error;

static constexpr size_t MaxSecret = size_t(64) << 10;

sdk::ArgumentTable dtlto::connectionArguments(ConnectionFiles &Files) {
  using sdk::fileArgument;
  return {fileArgument("tls-ca", Files.CaFile,
                       "The authority of the server's certificate, in PEM"),
          fileArgument("tls-cert", Files.CertFile, "The client's certificate"),
          fileArgument("tls-key", Files.KeyFile, "The key of tls-cert"),
          fileArgument("token-file", Files.TokenFile, "A bearer token")};
}

void dtlto::checkCertificate(const ConnectionFiles &Files) {
  if (Files.CertFile.empty() != Files.KeyFile.empty())
    throw Error(DTLTO_ERROR_CALLER,
                "a client certificate and its key belong together: tls-cert= "
                "and tls-key=");
}

std::string dtlto::readFileOf(const std::string &Name, const char *Setting,
                              size_t Limit) {
  std::string Text;
  int Why = os::readFile(Name, Limit, Text);
  if (Why == 0)
    return Text;
  const std::string Place = std::string(Setting) + "=: ";
  if (Why == EFBIG)
    throw Error(DTLTO_ERROR_CALLER, Place + quote(Name) + " is longer than " +
                                        std::to_string(Limit) + " bytes");
  bool IsFile = Why != EISDIR && Why != EINVAL;
  throw Error(DTLTO_ERROR_CALLER,
              Place + "cannot read " + quote(Name) + ": " +
                  (IsFile ? std::strerror(Why) : "not a regular file"));
}

std::string dtlto::readSettingsFile(const std::string &Name,
                                    const char *Setting, size_t Limit) {
  std::string Text = Name.empty() ? "" : readFileOf(Name, Setting, Limit);
  if (!Name.empty() && Text.empty())
    throw Error(DTLTO_ERROR_CALLER,
                std::string(Setting) + "=: " + quote(Name) + " is empty");
  return Text;
}

std::string dtlto::readSecretFile(const std::string &Name,
                                  const char *Setting) {
  std::string Secret = readSettingsFile(Name, Setting, MaxSecret);
  Secret.erase(Secret.find_last_not_of(" \t\r\n") + 1);
  const char *Flaw = hasControl(Secret) ? " has more than one line"
                     : !isPrintableAscii(Secret)
                         ? " has characters other than printable "
                           "ASCII"
                     : Secret.empty() != Name.empty() ? " is empty"
                                                      : nullptr;
  if (Flaw)
    throw Error(DTLTO_ERROR_CALLER,
                std::string(Setting) + "=: " + quote(Name) + Flaw);
  return Secret;
}
