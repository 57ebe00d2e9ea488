// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same as ../plugin-c on top of dtlto/sdk/Plugin.hpp, but that a compiler
// that runs isn't stopped. Argument: clang=PROGRAM (clang).

#include <cstdlib>
#include <dtlto/sdk/Plugin.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>

namespace fs = std::filesystem;
using namespace dtlto::sdk;

static std::string quote(const std::string &Word) {
  std::string Text = "'";
  for (char C : Word)
    Text += C == '\'' ? "'\\''" : std::string(1, C);
  return Text + "'";
}

static std::string readFile(const fs::path &Path) {
  std::ostringstream Bytes;
  Bytes << std::ifstream(Path, std::ios::binary).rdbuf();
  return Bytes.str();
}

struct Folder {
  Folder() {
    if (!::mkdtemp(Name))
      throw std::runtime_error("can't make a folder in /tmp");
  }
  ~Folder() {
    std::error_code Ignored;
    fs::remove_all(Name, Ignored);
  }
  char Name[32] = "/tmp/dtlto-example-XXXXXX";
};

class ClangSession : public ThreadSession {
public:
  ClangSession(const dtlto_host &Host, const dtlto_session_params &Params)
      : ThreadSession(Host, std::thread::hardware_concurrency()) {
    for (uint32_t I = 0; I != Params.num_args; ++I) {
      std::string Arg = Params.args[I];
      if (Arg.rfind("clang=", 0) != 0)
        throw Error(DTLTO_ERROR_CALLER, "wrong argument '" + Arg + "'");
      Clang = Arg.substr(6);
    }
    std::string Ask = quote(Clang) + " --version | grep -qwF 'version " +
                      Params.llvm_version + "'";
    if (std::system(Ask.c_str()) != 0)
      throw Error(DTLTO_ERROR_INFRASTRUCTURE,
                  "'" + Clang + "' isn't clang " + Params.llvm_version);
  }

  Result run(const Job &J) override {
    Folder Top;
    fs::path In = fs::path(Top.Name) / "in", Words = In / "../words";
    J.forEachInput([&](std::string_view Path, std::string_view Bytes, auto &) {
      fs::create_directories((In / Path).parent_path());
      std::ofstream File(In / Path, std::ios::binary);
      if (!File.write(Bytes.data(), Bytes.size()).flush())
        throw std::runtime_error("can't write to " + In.string());
    });
    J.state(DTLTO_STATE_RUNNING, "this machine");
    std::string Command =
        "cd " + quote(In) + " && exec 2>../words " + quote(Clang);
    std::vector<std::string> Args = J.args();
    for (size_t I = 1; I != Args.size(); ++I)
      Command += " " + quote(Args[I]);
    int Status = std::system(Command.c_str());
    std::string Text = readFile(Words);
    if (!WIFEXITED(Status) || WEXITSTATUS(Status) > 125) // the shell's own
      throw std::runtime_error("clang can't be run: " + Text);
    if (Status != 0)
      throw Error(DTLTO_ERROR_COMPILER, Text);
    // An exit code of 0 is no object yet: clang says 0, and writes an empty
    // file, where it can't read the index.
    std::string Object = readFile(In / J.output());
    if (Object.empty())
      throw std::runtime_error("clang wrote no object: " + Text);
    return {std::move(Object), Text, "this machine"};
  }

private:
  std::string Clang = "clang";
};

DTLTO_PLUGIN(ClangSession, "example-cpp", "1.0",
             DTLTO_PART_INPUTS | DTLTO_PART_ARGS);
