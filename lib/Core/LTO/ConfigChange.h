//===- ConfigChange.h - A temporary change of lto::Config -------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_CONFIGCHANGE_H
#define DTLTO_LTO_CONFIGCHANGE_H

#include "llvm/LTO/Config.h"
#include <functional>
#include <utility>
#include <vector>

namespace dtlto {

/// Changes the configuration of a link until this is destroyed. LLVM passes the
/// configuration to backends as const, but it is a member of lto::LTO, which
/// isn't const. Don't use this while modules are compiled.
class ConfigChange {
public:
  explicit ConfigChange(const llvm::lto::Config &Conf)
      : Conf(const_cast<llvm::lto::Config &>(Conf)) {}
  ConfigChange(const ConfigChange &) = delete;
  ~ConfigChange() {
    for (; !UndoActions.empty(); UndoActions.pop_back())
      UndoActions.back()();
  }

  template <class T> void set(T llvm::lto::Config::*Field, T Value) {
    T OldValue = std::exchange(Conf.*Field, std::move(Value));
    UndoActions.push_back(
        [this, Field, OldValue = std::move(OldValue)]() mutable {
          Conf.*Field = std::move(OldValue);
        });
  }

private:
  llvm::lto::Config &Conf;
  std::vector<std::function<void()>> UndoActions;
};

} // namespace dtlto

#endif // DTLTO_LTO_CONFIGCHANGE_H
