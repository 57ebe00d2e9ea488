//===- KeptModules.cpp - What modules were optimised to -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LTO/KeptModules.h"
#include "Bitcode/Assembly.h"
#include "Bitcode/IndexShard.h"
#include "Bundle/ObjectFrame.h"
#include "Config/ConfigJSON.h"
#include "Host/FarmStore.h"
#include "Support/Failure.h"
#include "LLVM/CodegenData.h"
#include "LLVM/Index.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace dtlto;

KeptModules::KeptModules(const LinkContext &Ctx,
                         std::unique_ptr<ModuleStore> Store, bool IsVerified)
    : Ctx(Ctx), Store(std::move(Store)), IsVerified(IsVerified),
      Cfi(Ctx.Index) {
  if (Error E = readConfiguration())
    Reason = toString(std::move(E));
}

/// Sets Common and Conf.
Error KeptModules::readConfiguration() {
  const lto::Config &From = Ctx.Conf;
  // Reject whatever passes state from optimisation to code generation outside
  // the module, or has both write to one file.
  if (emitsCodegenData() || !usedCodegenData().empty())
    return failure("codegen data");
  if (!From.CSIRProfile.empty() || !From.SampleProfile.empty() ||
      !From.ProfileRemapping.empty() || From.RunCSIRInstr ||
      From.AddFSDiscriminator)
    return failure("profiles");
  if (!From.RemarksFilename.empty())
    return failure("--opt-remarks-filename");
  if (From.CodeGenOnly)
    return failure("code generation without optimization");

  ConfigExtras Extras;
  Extras.ObjCARCContract = Ctx.IsMachO && From.PreCodeGenPassesHook != nullptr;
  if (!From.DwoDir.empty())
    Extras.DwoName = "dwo";
  if (From.Options.BBSectionsFuncListBuf)
    Extras.FunctionList = "list";
  Extras.Unavailable.assign(Ctx.Unavailable.begin(), Ctx.Unavailable.end());
  Extras.HasPartHook = Ctx.HasPartHook;
  Expected<std::string> Key =
      writeOptimizationConfig(From, Ctx.Host.JobOpts.LLVMOptions, Extras);
  if (!Key)
    return Key.takeError();
  Common = std::move(*Key);
  // lto::Config can't be copied; write and read it instead.
  Expected<std::string> Whole =
      writeConfig(From, Ctx.Host.JobOpts.LLVMOptions, Extras);
  if (!Whole)
    return Whole.takeError();
  Expected<ReadConfig> Read = readConfig(*Whole);
  if (!Read)
    return Read.takeError();
  Conf = std::move(Read->Conf);
  Conf.DiagHandler = From.DiagHandler;
  Conf.DwoDir = From.DwoDir;
  Conf.Options.BBSectionsFuncListBuf = From.Options.BBSectionsFuncListBuf;
  Conf.CodeGenOnly = true;
  return Error::success();
}

/// Hashes the size before the text, so that different lists of texts differ.
static void add(BLAKE3 &Hash, StringRef Text) {
  char Size[8];
  support::endian::write64le(Size, Text.size());
  Hash.update(StringRef(Size, sizeof(Size)));
  Hash.update(Text);
}

static BundleId otherId(StringRef Why, ArrayRef<uint8_t> Id) {
  BLAKE3 Hash;
  add(Hash, Why);
  Hash.update(Id);
  return Hash.final();
}

/// Whether the contents of module \p Name are part of LLVM's cache keys.
bool KeptModules::hasHash(StringRef Name) const {
  return Ctx.Index.modulePaths().count(Name) &&
         Ctx.Index.getModuleHash(Name) != ModuleHash();
}

/// Computes the keys of \p T, and reads its entries if the store is local.
void KeptModules::look(const Task &T, State &S) {
  // Modules are imported in the order of their names.
  SmallVector<StringRef, 0> Imported = importedModules(*T.ImportList);
  sort(Imported);
  if (!hasHash(T.name()))
    S.WhyNot = "it has no hash";
  // LLVM's cache doesn't check this, and uses stale objects after an edit of
  // such a module.
  else if (auto It = find_if_not(Imported,
                                 [&](StringRef Name) { return hasHash(Name); });
           It != Imported.end())
    S.WhyNot = ("it imports from a module without a hash, " + *It).str();
  if (!S.WhyNot.empty())
    return Ctx.Host.Msg.debug("module '" + T.title() +
                              "' is not kept: " + S.WhyNot);
  BLAKE3 Hash;
  add(Hash, "dtlto: optimised module 1");
  // This key covers LLVM's version and the modules' hashes.
  add(Hash, cacheKey(lto::Config(), Ctx.Index, T.name(), *T.ImportList,
                     *T.ExportList, *T.ResolvedODR, *T.DefinedGlobals, Cfi));
  // LLVM's key leaves out some facts of the index, such as the program's number
  // of basic blocks.
  ShardBytes Shard =
      writeShard(Ctx.Index, Ctx.Defined, T.name(), *T.ImportList);
  add(Hash, StringRef(Shard.data(), Shard.size()));
  add(Hash, Common);
  add(Hash, T.Spec.partSuffix());
  add(Hash, std::to_string(PartitionVersion));
  add(Hash, T.name());
  for (StringRef Name : Imported)
    add(Hash, Name);
  S.Here.Key = Hash.final();
  S.Elsewhere.Key = otherId("dtlto: made elsewhere", S.Here.Key);
  // A shared store is only asked for plugin jobs, one entry at a time.
  if (!Store->isShared())
    for (Entry *E : {&S.Here, &S.Elsewhere})
      read(T, *E);
}

/// Asks the store, unless that has been done. Uses an entry only if it is
/// complete and belongs to its key.
void KeptModules::read(const Task &T, Entry &E) {
  std::lock_guard<std::mutex> Lock(E.Reading);
  if (E.IsRead)
    return;
  std::optional<Buffer> Found = Store->get(E.Key);
  if (!Found)
    return;
  E.IsRead = true;
  if (Found->bytes().empty())
    return;
  Expected<StringRef> Bytes = readFrame(Found->bytes(), E.Key);
  if (!Bytes) {
    consumeError(Bytes.takeError());
    return Ctx.Host.Msg.debug("module '" + T.title() +
                              "' is optimised again: " + Store->name(E.Key) +
                              " is damaged");
  }
  E.Module.Bytes = *Bytes;
  E.Module.MayReadFiles = assemblyMayReadFiles(*Bytes);
  E.Bytes = std::move(*Found);
  E.Has = true;
}

KeptModules::State &KeptModules::stateOf(const Task &T) {
  State *S;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    std::unique_ptr<State> &Slot = States[T.Number];
    if (!Slot)
      Slot = std::make_unique<State>();
    S = Slot.get();
  }
  std::call_once(S->Once, [&] { look(T, *S); });
  return *S;
}

ModuleFile *KeptModules::forPlugin(const Task &T) {
  if (!Reason.empty())
    return nullptr;
  State &S = stateOf(T);
  if (S.WhyNot.empty() && Store->isShared())
    read(T, S.Elsewhere);
  for (Entry *E : {&S.Here, &S.Elsewhere})
    if (E->Has) {
      E->IsUsed = true;
      return &E->Module;
    }
  return nullptr;
}

std::optional<StringRef> KeptModules::forHere(const Task &T) {
  if (!Reason.empty() || IsVerified)
    return std::nullopt;
  Entry &E = stateOf(T).Here;
  if (!E.Has)
    return std::nullopt;
  E.IsUsed = true;
  return E.Module.Bytes;
}

bool KeptModules::wants(const Task &T, bool IsHere) {
  if (!Reason.empty() || !Store->mayPut())
    return false;
  State &S = stateOf(T);
  bool IsOwn = IsHere && !Store->isShared();
  return S.WhyNot.empty() && !S.Here.Has && (IsOwn || !S.Elsewhere.Has);
}

void KeptModules::keep(const Task &T, StringRef Optimized, bool IsHere,
                       SmallVector<char, 0>) {
  if (Optimized.empty())
    return Ctx.Host.Msg.debug(
        "module '" + T.title() +
        "' is not kept: its flags change when it is optimised");
  State &S = stateOf(T);
  Entry &E = IsHere && !Store->isShared() ? S.Here : S.Elsewhere;
  if (Store->put(E.Key, frameHead(Optimized, E.Key), Optimized))
    E.IsKept = true;
}

void KeptModules::dropHere(const Task &T, StringRef Why) {
  Entry &E = stateOf(T).Here;
  Store->remove(E.Key);
  E.Has = false;
  E.IsUsed = false;
  Ctx.Host.Msg.debug("module '" + T.title() +
                     "' is optimised again, since code generation from " +
                     Store->name(E.Key) + " failed: " + Why);
}

std::string KeptModules::dropForPlugin(const Task &T) {
  State &S = stateOf(T);
  for (Entry *E : {&S.Here, &S.Elsewhere})
    if (E->Has.exchange(false)) {
      std::string Text = "the optimised module from another link, " +
                         Store->name(E->Key) + ", ";
      return Text +
             (Store->remove(E->Key) ? "was removed" : "cannot be removed");
    }
  return "";
}

std::string KeptModules::finish(size_t NumJobs) {
  if (!Reason.empty())
    return "no optimised module is kept or used: " + Reason;
  Store->finish();
  size_t NumUsed = 0, NumKept = 0;
  for (const auto &[Number, S] : States) {
    NumUsed += S->Here.IsUsed || S->Elsewhere.IsUsed;
    NumKept += S->Here.IsKept || S->Elsewhere.IsKept;
  }
  return (Twine(NumUsed) + " of " + Twine(NumJobs) +
          " jobs only generated code, from kept modules; " + Twine(NumKept) +
          " optimised modules were kept")
      .str();
}

std::shared_ptr<KeptModules> dtlto::openKeptModules(Link &TheLink) {
  const Options &Opts = TheLink.Process.Opts;
  if (Opts.KeepIR.empty())
    return nullptr;
  if (Opts.keepsInFarm())
    TheLink.Host.Store = std::make_shared<FarmStore>();
  auto Kept = std::make_shared<KeptModules>(
      TheLink.Jobs,
      Opts.keepsInFarm() ? makeFarmStore(TheLink.Host)
                         : makeFolderStore(TheLink.Host.Msg, Opts.KeepIR),
      Opts.VerifyPercent != 0);
  if (!Kept->reason().empty())
    TheLink.Host.Store.reset(); // because it would not be used
  return Kept;
}
