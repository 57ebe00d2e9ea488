// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same as ../plugin-c, based on dtlto/sdk/Plugin.hpp. Argument:
// clang=PROGRAM (default: clang).

#include <dtlto/sdk/RunJob.hpp>

using namespace dtlto::sdk;

class ClangSession : public ThreadSession {
public:
  ClangSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : ThreadSession(Host, std::thread::hardware_concurrency()) {
    for (uint32_t I = 0; I != Params.num_args; ++I) {
      std::string Arg = Params.args[I];
      if (Arg.rfind("clang=", 0) != 0)
        throw Error(DTLTO_ERROR_CALLER,
                    "wrong argument '" + Arg + "', expected clang=PROGRAM");
      Clang = Arg.substr(6);
    }
    // Another version would make other objects.
    checkClang(Clang, Params.llvm_version);
  }

  // Called on several threads. Replace this by your build system.
  Result run(const Job &J) override {
    J.state(DTLTO_STATE_RUNNING, "this machine");
    return runJob(J, Clang);
  }

private:
  std::string Clang = "clang";
};

DTLTO_PLUGIN(ClangSession, "example-cpp", "1.0",
             DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS);
