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
#include "LTO/JobConfig.h"
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
  const lto::Config &LinkConf = Ctx.Conf;
  // Reject whatever passes state from optimisation to code generation outside
  // the module, or has both write to one file.
  if (emitsCodegenData() || !usedCodegenDataPath().empty())
    return failure("codegen data");
  if (!LinkConf.CSIRProfile.empty() || !LinkConf.SampleProfile.empty() ||
      !LinkConf.ProfileRemapping.empty() || LinkConf.RunCSIRInstr ||
      LinkConf.AddFSDiscriminator)
    return failure("profiles");
  if (!LinkConf.RemarksFilename.empty())
    return failure("--opt-remarks-filename");
  if (LinkConf.CodeGenOnly)
    return failure("code generation without optimization");

  ConfigExtras Extras = extrasOf(Ctx);
  if (!LinkConf.DwoDir.empty())
    Extras.DwoName = "dwo";
  if (LinkConf.Options.BBSectionsFuncListBuf)
    Extras.FunctionList = "list";
  Expected<std::string> Key =
      writeConfig(LinkConf, Ctx.Host.JobOpts.LLVMOptions, Extras,
                  /*OmitsCodegen=*/true);
  if (!Key)
    return Key.takeError();
  Common = std::move(*Key);
  // lto::Config can't be copied; write and read it instead.
  Expected<std::string> Text =
      writeConfig(LinkConf, Ctx.Host.JobOpts.LLVMOptions, Extras);
  if (!Text)
    return Text.takeError();
  Expected<ReadConfig> Read = readConfig(*Text);
  if (!Read)
    return Read.takeError();
  Conf = std::move(Read->Conf);
  Conf.DiagHandler = LinkConf.DiagHandler;
  Conf.DwoDir = LinkConf.DwoDir;
  Conf.Options.BBSectionsFuncListBuf = LinkConf.Options.BBSectionsFuncListBuf;
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

static BundleId deriveId(StringRef Why, ArrayRef<uint8_t> Id) {
  BLAKE3 Hash;
  add(Hash, Why);
  Hash.update(Id);
  return Hash.final();
}

/// Computes the keys of \p T, and reads its entries if the store is local.
void KeptModules::computeKeys(const Task &T, State &S) {
  // Modules are imported in the order of their names.
  SmallVector<StringRef, 0> Imported = importedModules(*T.ImportList);
  sort(Imported);
  if (!hasHash(Ctx.Index, T.name()))
    S.WhyNot = "it has no hash";
  // LLVM's cache doesn't check this, and uses stale objects after an edit of
  // such a module.
  else if (auto It = find_if_not(
               Imported,
               [&](StringRef Name) { return hasHash(Ctx.Index, Name); });
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
  T.Spec.addTo([&](StringRef Text) { add(Hash, Text); });
  add(Hash, T.name());
  for (StringRef Name : Imported)
    add(Hash, Name);
  S.LocalEntry.Key = Hash.final();
  S.RemoteEntry.Key = deriveId("dtlto: made elsewhere", S.LocalEntry.Key);
  // A shared store is only asked for plugin jobs, one entry at a time.
  if (!Store->isShared())
    for (Entry *E : {&S.LocalEntry, &S.RemoteEntry})
      read(T, *E);
}

/// Asks the store, unless that has been done. Uses an entry only if it is
/// complete and belongs to its key.
void KeptModules::read(const Task &T, Entry &E) {
  std::lock_guard<std::mutex> Lock(E.ReadMutex);
  if (E.IsRead)
    return;
  Buffer Frame = Store->get(E.Key);
  E.IsRead = true;
  if (Frame.bytes().empty())
    return;
  Expected<StringRef> Bytes = readFrame(Frame.bytes(), E.Key);
  if (!Bytes) {
    consumeError(Bytes.takeError());
    return Ctx.Host.Msg.debug("module '" + T.title() +
                              "' is optimised again: " + Store->name(E.Key) +
                              " is damaged");
  }
  E.Module.Bytes = *Bytes;
  E.Module.MayReadFiles = assemblyMayReadFiles(*Bytes);
  E.Bytes = std::move(Frame);
  E.HasModule = true;
}

KeptModules::State &KeptModules::getState(const Task &T) {
  State *S;
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    std::unique_ptr<State> &Slot = States[T.Number];
    if (!Slot)
      Slot = std::make_unique<State>();
    S = Slot.get();
  }
  std::call_once(S->Once, [&] { computeKeys(T, *S); });
  return *S;
}

ModuleFile *KeptModules::forPlugin(const Task &T) {
  if (!Reason.empty())
    return nullptr;
  State &S = getState(T);
  if (S.WhyNot.empty() && Store->isShared())
    read(T, S.RemoteEntry);
  for (Entry *E : {&S.LocalEntry, &S.RemoteEntry})
    if (E->HasModule) {
      E->IsUsed = true;
      return &E->Module;
    }
  return nullptr;
}

std::optional<StringRef> KeptModules::forLocalCompile(const Task &T) {
  if (!Reason.empty() || IsVerified)
    return std::nullopt;
  Entry &E = getState(T).LocalEntry;
  if (!E.HasModule)
    return std::nullopt;
  E.IsUsed = true;
  return E.Module.Bytes;
}

bool KeptModules::wants(const Task &T, bool IsLocal) {
  if (!Reason.empty() || !Store->mayPut())
    return false;
  State &S = getState(T);
  bool IsLocalEntry = IsLocal && !Store->isShared();
  return S.WhyNot.empty() && !S.LocalEntry.HasModule &&
         (IsLocalEntry || !S.RemoteEntry.HasModule);
}

void KeptModules::keep(const Task &T, StringRef Optimized, bool IsLocal,
                       SmallVector<char, 0>) {
  if (Optimized.empty())
    return Ctx.Host.Msg.debug(
        "module '" + T.title() +
        "' is not kept: its flags change when it is optimised");
  State &S = getState(T);
  Entry &E = IsLocal && !Store->isShared() ? S.LocalEntry : S.RemoteEntry;
  if (Store->put(E.Key, frameHead(Optimized, E.Key), Optimized))
    E.IsKept = true;
}

void KeptModules::dropForLocalCompile(const Task &T, StringRef Why) {
  Entry &E = getState(T).LocalEntry;
  Store->remove(E.Key);
  E.HasModule = false;
  E.IsUsed = false;
  Ctx.Host.Msg.debug("module '" + T.title() +
                     "' is optimised again, since code generation from " +
                     Store->name(E.Key) + " failed: " + Why);
}

std::string KeptModules::dropForPlugin(const Task &T) {
  State &S = getState(T);
  for (Entry *E : {&S.LocalEntry, &S.RemoteEntry})
    if (E->HasModule.exchange(false)) {
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
    NumUsed += S->LocalEntry.IsUsed || S->RemoteEntry.IsUsed;
    NumKept += S->LocalEntry.IsKept || S->RemoteEntry.IsKept;
  }
  return (Twine(NumUsed) + " of " + Twine(NumJobs) +
          " jobs only generated code, from kept modules; " + Twine(NumKept) +
          " optimised modules were kept")
      .str();
}

/// Opens the remote cache or, if there is none, the farm's own store.
static Expected<std::shared_ptr<RemoteStore>> openFarmStore(Link &TheLink) {
  Linker &Process = TheLink.Process;
  if (!Process.Store)
    if (Error E = RemoteStore::open(*Process.Plugin, /*URL=*/"",
                                    Process.Opts.PluginArgs, /*MayWrite=*/true,
                                    *Process.Msg)
                      .moveInto(Process.FarmStore))
      return std::move(E);
  return Process.Store ? Process.Store : Process.FarmStore;
}

std::shared_ptr<KeptModules> dtlto::openKeptModules(Link &TheLink) {
  const Options &Opts = TheLink.Process.Opts;
  if (Opts.KeepIR.empty())
    return nullptr;
  auto Modules = std::make_shared<KeptModules>(TheLink.Jobs, /*Store=*/nullptr,
                                               Opts.VerifyPercent != 0);
  if (!Modules->reason().empty())
    return Modules;
  if (!Opts.keepsInFarm()) {
    Modules->setStore(makeFolderStore(TheLink.Host.Msg, Opts.KeepIR));
    return Modules;
  }
  auto Farm = openFarmStore(TheLink);
  if (!Farm) {
    TheLink.Host.Msg.warning(
        "optimised modules are neither kept nor used: " +
        toString(Farm.takeError()) +
        "; --thinlto-dist-keep-ir=<folder> keeps them on this machine");
    return nullptr;
  }
  Modules->setStore(makeSharedStore(std::move(*Farm), Opts.Memory));
  return Modules;
}
