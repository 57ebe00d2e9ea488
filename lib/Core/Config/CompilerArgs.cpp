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
  explicit ArgsBuilder(const Triple &TargetTriple)
      : TargetTriple(TargetTriple) {}

  void addTarget(const lto::Config &Conf);

  void clang(const ClangSetting &Setting, bool IsDefault,
             std::optional<uint64_t> Value = std::nullopt) {
    const char *Word = nullptr;
    if (Value && *Value < Setting.Words.size() &&
        (!Setting.IsForCOFF || TargetTriple.isOSBinFormatCOFF()))
      Word = Setting.Words[*Value];
    need(Word || IsDefault, Setting.What);
    if (!StringRef(Word).empty())
      add(Setting.Option, Word);
  }
  void clang(const ClangSetting &Setting, bool IsDefault,
             ArrayRef<std::string> Texts) {
    need(Setting.Option || IsDefault, Setting.What);
    for (size_t I = 0; Setting.Option && I < Texts.size(); ++I)
      add(Setting.Option, Texts[I]);
  }
  void need(bool IsAllowed, StringRef What) {
    if (!IsAllowed && Reason.empty())
      Reason = What.str();
  }

  std::vector<std::string> Args;
  std::string Reason;

private:
  /// \p Option is null or a frontend option.
  void add(const char *Option, const Twine &Word);

  const Triple &TargetTriple;
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
  need(isKnownTarget(TargetTriple),
       "the features that clang has for " + TargetTriple.getArchName().str());
  // The driver may add a version to the triple, and the frontend would then
  // change the triple of the module. So set the triple for both.
  add(nullptr, "--target=" + TargetTriple.str());
  add("-triple", TargetTriple.str());
  // Objects made by LLD don't record the command line.
  if (TargetTriple.isOSBinFormatCOFF())
    add("", "-gno-codeview-command-line");
  if (!TargetTriple.isRISCV())
    return;
  // Clang takes the ABI from the module in a different way.
  need(!TakesRISCVABIFromModule, "the ABI of a RISC-V module");
  // Fix the driver's choice, then undo its effect.
  need(Conf.CPU.empty() && Conf.MAttrs.empty(), "-mcpu and -mattr for RISC-V");
  add(nullptr, TargetTriple.isArch64Bit() ? "-march=rv64gc" : "-march=rv32gc");
  for (StringRef Feature :
       {"m", "a", "f", "d", "c", "zicsr", "zifencei", "zmmul", "relax"})
    add("-target-feature", "-" + Feature);
  add("-target-abi", "");
}

Expected<std::vector<std::string>>
dtlto::compilerArgs(const lto::Config &Conf, const Triple &TargetTriple,
                    ArrayRef<std::string> LLVMOptions, bool HasSpecHook) {
  ArgsBuilder Builder(TargetTriple);
  Builder.addTarget(Conf);
  Builder.need(HasSpecHook || !Conf.PostImportModuleHook, SaveTempsHooks);
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
