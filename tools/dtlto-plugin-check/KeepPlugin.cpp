//===- KeepPlugin.cpp - Keeps a link's jobs and their objects -------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the jobs of dtlto-plugin-check. It compiles each job in the linker, one
// at a time, and keeps it in the folder that its only argument names: N.tar is
// the job's bundle, with the command line, and N.o its object. A job that fails
// to compile has no object. With another argument before the folder,
// `no-objects`, it compiles nothing.
//
//===----------------------------------------------------------------------===//

#include "dtlto/sdk/Plugin.hpp"
#include <cstdio>
#include <fstream>

using namespace dtlto::sdk;

namespace {

class KeepSession : public ThreadSession {
public:
  KeepSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : ThreadSession(Host, 1) {
    NoObjects = Params.num_args == 2 &&
                std::string_view(Params.args[0]) == "no-objects";
    if (Params.num_args != 1 + NoObjects)
      throw Error(DTLTO_ERROR_CALLER,
                  "expected one argument, the folder of jobs");
    Folder = Params.args[NoObjects];
    setCapacity(SIZE_MAX);
  }

  Result run(const Job &J) override {
    std::string Bundle = J.bundle().bytes();
    if (NoObjects) {
      save(J.id(), "tar", Bundle);
      throw Error(DTLTO_ERROR_CALLER, "no-objects: not compiled");
    }
    Result R = J.compileLocally();
    if (R.Status == DTLTO_OK || R.Status == DTLTO_ERROR_COMPILER)
      save(J.id(), "tar", Bundle);
    if (R.Status == DTLTO_OK)
      save(J.id(), "o", {R.Object.data(), R.Object.size()});
    return R;
  }

private:
  void save(uint64_t Id, const char *Suffix, std::string_view Bytes) const {
    char Name[40];
    std::snprintf(Name, sizeof(Name), "/%06llu.%s",
                  static_cast<unsigned long long>(Id), Suffix);
    std::ofstream File(Folder + Name, std::ios::binary);
    if (!(File << Bytes << std::flush))
      throw Error(DTLTO_ERROR_INFRASTRUCTURE,
                  "cannot write to the folder of jobs");
  }

  std::string Folder;
  bool NoObjects = false;
};

} // namespace

DTLTO_PLUGIN(KeepSession, "keep", "1.0",
             DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_DIGESTS |
                 DTLTO_JOB_CONFIG);
