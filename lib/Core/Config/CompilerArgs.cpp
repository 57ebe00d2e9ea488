//===- CompilerArgs.cpp - A configuration as clang options ----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Config/CompilerArgs.h"
#include "Config/ConfigFields.h"
#include "Config/LLVMOptions.h"
#include "Support/Failure.h"
#include "LLVM/ConfigCompat.h"

using namespace llvm;
using namespace dtlto;

/// Whether clang can leave the target's settings unchanged. For some targets,
/// clang's driver adds features or an ABI, but LLD doesn't. These change the
/// object's header, attributes or alignment (as on RISC-V and MIPS).
static bool isKnownTarget(const Triple &T) {
  switch (T.getArch()) {
  case Triple::riscv32:
  case Triple::riscv64:
  case Triple::x86:
  case Triple::x86_64:
  case Triple::aarch64:
  case Triple::ppc:
  case Triple::systemz:
  case Triple::wasm32:
    return true;
  default:
    return false;
  }
}

namespace {

/// A visitor of ConfigFields.h. Collects options, and keeps the first field
/// that has none.
class ArgsBuilder : public FieldVisitor {
public:
  explicit ArgsBuilder(const Triple &TheTriple) : TheTriple(TheTriple) {}

  void addTarget(const lto::Config &Conf);

  void clang(const ForClang &How, bool IsDefault,
             std::optional<uint64_t> Value = std::nullopt) {
    const char *Word = nullptr;
    if (Value && *Value < How.Words.size() &&
        (!How.IsForCOFF || TheTriple.isOSBinFormatCOFF()))
      Word = How.Words[*Value];
    need(Word || IsDefault, How.What);
    if (!StringRef(Word).empty())
      add(How.Option, Word);
  }
  void clang(const ForClang &How, bool IsDefault, ArrayRef<std::string> Texts) {
    need(How.Option || IsDefault, How.What);
    for (size_t I = 0; How.Option && I < Texts.size(); ++I)
      add(How.Option, Texts[I]);
  }
  void need(bool IsFit, StringRef What) {
    if (!IsFit && Reason.empty())
      Reason = What.str();
  }

  std::vector<std::string> Args;
  std::string Reason;

private:
  /// \p Option is null or a frontend option.
  void add(const char *Option, const Twine &Word);

  const Triple &TheTriple;
};

} // namespace

void ArgsBuilder::add(const char *Option, const Twine &Word) {
  StringRef First = Option;
  if (Option)
    Args.push_back("-Xclang");
  if (First.empty() || First.ends_with("=")) {
    Args.push_back((First + Word).str());
    return;
  }
  Args.insert(Args.end(), {Option, "-Xclang", Word.str()});
}

void ArgsBuilder::addTarget(const lto::Config &Conf) {
  need(isKnownTarget(TheTriple),
       "the features that clang has for " + TheTriple.getArchName().str());
  // The driver may add a version to the triple, and the frontend would then
  // change the triple of the module. So set the triple for both.
  add(nullptr, "--target=" + TheTriple.str());
  add("-triple", TheTriple.str());
  // Objects made by LLD don't record the command line.
  if (TheTriple.isOSBinFormatCOFF())
    add("", "-gno-codeview-command-line");
  if (!TheTriple.isRISCV())
    return;
  // Clang takes the ABI from the module in a different way.
  need(!TakesRISCVABIFromModule, "the ABI of a RISC-V module");
  // Fix the driver's choice, then undo its effect.
  need(Conf.CPU.empty() && Conf.MAttrs.empty(), "-mcpu and -mattr for RISC-V");
  add(nullptr, TheTriple.isArch64Bit() ? "-march=rv64gc" : "-march=rv32gc");
  for (StringRef Feature :
       {"m", "a", "f", "d", "c", "zicsr", "zifencei", "zmmul", "relax"})
    add("-target-feature", "-" + Feature);
  add("-target-abi", "");
}

Expected<std::vector<std::string>>
dtlto::compilerArgs(const lto::Config &Conf, const Triple &TheTriple,
                    ArrayRef<std::string> LLVMOptions, bool HasPartHook) {
  ArgsBuilder Builder(TheTriple);
  Builder.addTarget(Conf);
  Builder.need(HasPartHook || !Conf.PostImportModuleHook, SaveTempsHooks);
  visitConfig(Builder, Conf);
  visitTuning(Builder, Conf.PTO);
  visitTarget(Builder, Conf.Options);
  visitMC(Builder, Conf.Options.MCOptions);
  if (!Builder.Reason.empty())
    return failure(Builder.Reason);

  Expected<std::vector<std::string>> Forwarded =
      llvmOptionsForCompiler(LLVMOptions);
  if (!Forwarded)
    return Forwarded.takeError();
  for (std::string &Option : *Forwarded) {
    Builder.Args.push_back("-mllvm");
    Builder.Args.push_back(std::move(Option));
  }
  return std::move(Builder.Args);
}
