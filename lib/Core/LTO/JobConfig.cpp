//===- JobConfig.cpp - The configuration of a link's jobs -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/JobConfig.h"
#include "Bundle/JobOutputs.h"
#include "Support/Failure.h"
#include "LLVM/CodegenData.h"
#include "LLVM/Index.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace llvm;
using namespace dtlto;

ConfigExtras dtlto::extrasOf(const LinkContext &Ctx) {
  ConfigExtras Extras;
  Extras.Unavailable.assign(Ctx.Unavailable.begin(), Ctx.Unavailable.end());
  Extras.HasSpecHook = Ctx.HasSpecHook;
  Extras.ObjCARCContract =
      Ctx.IsMachO && Ctx.Conf.PreCodeGenPassesHook != nullptr;
  return Extras;
}

JobConfig::JobConfig(const LinkContext &Ctx) : Ctx(Ctx), Extras(extrasOf(Ctx)) {
  if (Error E = readCodegenData())
    DataError = toString(std::move(E));
  if (Error E = make())
    Reason = toString(std::move(E));
}

static Expected<std::unique_ptr<MemoryBuffer>> readFile(StringRef Path) {
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!File)
    return failure("'" + Path +
                   "', which cannot be read: " + File.getError().message());
  return std::move(*File);
}

Error JobConfig::readCodegenData() {
  StringRef Bytes;
  if (Ctx.PriorData) {
    Bytes = Ctx.PriorData->File;
  } else if (std::string Path = usedCodegenDataPath(); !Path.empty()) {
    if (Error E = readFile(Path).moveInto(Data.Bytes))
      return E;
    Bytes = Data.Bytes->getBuffer();
  }
  if (Bytes.empty())
    return Error::success();
  Data.Input = std::make_unique<ModuleFile>();
  Data.Input->Path = "codegen.data";
  Data.Input->Bytes = Bytes;
  return Error::success();
}

Expected<ModuleFile *> JobConfig::codegenData() const {
  if (!DataError.empty())
    return failure(DataError);
  return Data.Input.get();
}

/// Adds the file \p Path as an input called \p Name, and sets \p Field to that.
Error JobConfig::addFile(StringRef Path, StringRef Name, std::string &Field) {
  if (Path.empty())
    return Error::success();
  File New{std::make_unique<ModuleFile>(), nullptr};
  if (Error E = readFile(Path).moveInto(New.Bytes))
    return E;
  New.Input->Path = Field = Name.str();
  New.Input->Name = Path.str();
  New.Input->Bytes = New.Bytes->getBuffer();
  Files.push_back(std::move(New));
  return Error::success();
}

Error JobConfig::make() {
  const lto::Config &Conf = Ctx.Conf;
  // AArch64's code generation looks in all summaries for what functions do with
  // their parameters, including functions that may not be imported.
  if (Ctx.Index.hasParamAccess())
    return failure("-fsanitize=memtag-stack (code generation reads the whole "
                   "index)");
  Expected<ModuleFile *> PriorData = codegenData();
  if (!PriorData)
    return PriorData.takeError();
  if (*PriorData)
    Extras.CodegenData = (*PriorData)->Path;
  // With RunCSIRInstr, this names a file that the program will write.
  if (!Conf.RunCSIRInstr)
    if (Error E = addFile(Conf.CSIRProfile, "profile.cs", Extras.CSIRProfile))
      return E;
  if (Error E =
          addFile(Conf.SampleProfile, "profile.sample", Extras.SampleProfile))
    return E;
  if (Error E = addFile(Conf.ProfileRemapping, "profile.remapping",
                        Extras.ProfileRemapping))
    return E;
  if (Conf.Options.BBSectionsFuncListBuf) {
    auto List = std::make_unique<ModuleFile>();
    List->Path = Extras.FunctionList = "basic-block-sections";
    List->Bytes = Conf.Options.BBSectionsFuncListBuf->getBuffer();
    Files.push_back({std::move(List), nullptr});
  }
  return text(nullptr, {}).moveInto(Text);
}

/// Returns the configuration of a job of \p T. If \p T is null, returns that of
/// a job without fields of its own.
Expected<std::string> JobConfig::text(const Task *T,
                                      const CompileSpec &Spec) const {
  ConfigExtras OfJob = Extras;
  OfJob.Spec = Spec;
  SideFiles Side = sideFiles(Ctx.Conf, T ? T->Number : 0);
  if (T) {
    OfJob.ObjectName = T->ObjectName;
    if (emitsCodegenData())
      OfJob.ModuleName = T->name().str();
  }
  OfJob.DwoName = Side.Dwo;
  OfJob.Remarks = !Side.Remarks.empty();
  // This option puts the file's absolute path into the object.
  if (OfJob.Remarks)
    for (StringRef Word : Ctx.Host.JobOpts.LLVMOptions)
      if (Word.contains("remarks-section"))
        return failure("-mllvm " + Word);
  return writeConfig(Ctx.Conf, Ctx.Host.JobOpts.LLVMOptions, OfJob);
}

Error JobConfig::addTo(BuiltJob &Built, const Task &T,
                       const CompileSpec &Spec) const {
  if (!Reason.empty())
    return failure(Reason);
  const char *OfJob = Text.c_str();
  // Jobs that write further files need their own file names.
  if (!sideFiles(Ctx.Conf, T.Number).empty() || !T.ObjectName.empty() ||
      emitsCodegenData() || !Spec.isPlain()) {
    if (Error E = text(&T, Spec).moveInto(Built.Config))
      return E;
    OfJob = Built.Config.c_str();
  }
  for (const File &F : Files)
    Built.Inputs.emplace_back(DTLTO_ROLE_OTHER, *F.Input);
  setInputs(Built);
  Built.Job.config = OfJob;
  Built.Job.fields |= DTLTO_JOB_CONFIG;
  return Error::success();
}

std::string JobConfig::makeId() const {
  BLAKE3 Hash;
  auto Add = [&](StringRef Text) {
    Hash.update(Text);
    Hash.update(StringRef("", 1));
  };
  if (Reason.empty()) {
    Add(Text);
    for (const File &F : Files) {
      Add(F.Input->Path);
      Hash.update(ArrayRef(F.Input->digest(), 32));
    }
  } else { // at least what LLVM's keys leave out
    Add(Reason);
    for (const std::string &Word : Ctx.Host.JobOpts.LLVMOptions)
      Add(Word);
  }
  return toHex(Hash.final());
}

const std::string &JobConfig::id() const {
  std::call_once(IdOnce, [&] { Id = makeId(); });
  return Id;
}
