//===- Log.h - The plugin's messages ----------------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As distcc's: DISTCC_LOG names the file, DISTCC_VERBOSE asks for more.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_DISTCC_LOG_H
#define DTLTO_DISTCC_LOG_H

#include "MessageLog.h"

namespace dtlto::distcc {

class Log : public MessageLog {
public:
  explicit Log(const dtlto_host &Host)
      : MessageLog(Host, "distcc", "DISTCC_LOG") {}
};

} // namespace dtlto::distcc

#endif // DTLTO_DISTCC_LOG_H
