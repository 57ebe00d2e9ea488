// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same as ../plugin-c, based on dtlto/sdk/Plugin.hpp.

#include <dtlto/sdk/RunJob.hpp>

using namespace dtlto::sdk;

class ClangSession : public ThreadSession {
public:
  ClangSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : ThreadSession(Host, std::thread::hardware_concurrency()) {
    readArguments(arguments(Clang), Params.args, Params.num_args);
    // Another version would make other objects.
    checkClang(Clang, Params.llvm_version);
  }

  static ArgumentTable arguments(std::string &Clang) {
    return {textArgument("clang", "PROGRAM", Clang, "The compiler")};
  }
  // For --thinlto-dist-plugin-help and --thinlto-dist-plugin=list.
  static const Description &description() {
    std::string Clang = "clang";
    static const Description D("Runs jobs with a clang of this machine",
                               "Example Inc.", "https://example.com/bugs",
                               arguments(Clang));
    return D;
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
