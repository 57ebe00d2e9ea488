//===- Store.h - A store of bytes in the action cache -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dtlto.store/1. The bytes under a key are the only output of an action that is
// never executed (ActionMaker::makeSlot()). The store has its own connection,
// which all of its calls share.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_REAPI_STORE_H
#define DTLTO_REAPI_STORE_H

#include "Action.h"
#include "dtlto/sdk/Store.hpp"
#include <functional>
#include <memory>
#include <mutex>

namespace dtlto::reapi {

class ReapiStore : public sdk::Store {
public:
  explicit ReapiStore(const dtlto_store_params &Params);

  sdk::Buffer get(const uint8_t *Key, uint64_t MaxBytes,
                  std::chrono::milliseconds Limit) override;
  void put(const uint8_t *Key, std::string_view Bytes,
           std::chrono::milliseconds Limit) override;

private:
  /// Throws sdk::Error for a wrong setting.
  static Settings openSettings(const dtlto_store_params &Params);
  /// The first call asks the server what it can do. Later calls get the answer,
  /// also if it is a failure.
  Fault prepare(Stop &Ending);
  /// Calls \p Fn with a stop that is raised after \p Limit. Throws sdk::Error
  /// for the fault that \p Fn returns.
  void run(std::chrono::milliseconds Limit,
           const std::function<Fault(Stop &)> &Fn);
  /// Reads the bytes of the result \p R, which may be empty, to \p Bytes.
  Fault read(Stop &Ending, re::ActionResult *R, uint64_t MaxBytes,
             std::string &Bytes);

  const Settings S;
  Server TheServer;
  sdk::ResultMemory Memory;

  std::timed_mutex Mutex; // guards what follows until Contents is set
  Fault Unusable;         // the server's answer to the question
  ServerFeatures Features;
  std::unique_ptr<ActionMaker> Actions;
  std::unique_ptr<Cas> Contents;
};

} // namespace dtlto::reapi

#endif // DTLTO_REAPI_STORE_H
