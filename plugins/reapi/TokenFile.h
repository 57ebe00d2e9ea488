//===- TokenFile.h - A bearer token that somebody else renews ---*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_TOKENFILE_H
#define DTLTO_REAPI_TOKENFILE_H

#include <cstddef>
#include <mutex>
#include <string>

namespace dtlto::reapi {

/// Reads all of the small file \p Name, which the setting \p Setting names.
/// Throws sdk::Error that tells both if it can't, or if it is empty.
std::string readSettingsFile(const std::string &Name, const char *Setting,
                             size_t Limit);

/// Tokens that end are renewed in place: the file is read again when the server
/// doesn't take what it had. Any thread.
class TokenFile {
public:
  /// Throws sdk::Error if there is no token in \p Name. An empty name: there is
  /// no file, and no header.
  explicit TokenFile(std::string Name);

  /// The value of the header `authorization`; empty: there is none.
  std::string header() const;
  /// A call with \p Used was taken.
  void taken(const std::string &Used);
  /// The server doesn't take \p Used. Whether it may take what header() is now:
  /// another one, and not for the third time in a row.
  bool renew(const std::string &Used);

private:
  static std::string read(const std::string &Name);

  const std::string Name;
  mutable std::mutex Mutex; // guards what follows
  std::string Header;
  unsigned RefusedInRow = 0;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_TOKENFILE_H
