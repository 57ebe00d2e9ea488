//===- TestLink.cpp - A ThinLTO link in memory ----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestLink.h"
#include "LLVMCompat.h"
#include "LTO/Backend.h"
#include "LTO/LTOJobs.h"
#include "Run/LinkRun.h"
#include "LLVM/Cache.h"
#include "LLVM/ThinBackend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

//===----------------------------------------------------------------------===//
// RecordingMessages
//===----------------------------------------------------------------------===//

void RecordingMessages::emit(MessageLevel Level, const Twine &Text) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Texts.push_back({Level, Text.str()});
}

void RecordingMessages::progress(StringRef Line) {
  std::lock_guard<std::mutex> Lock(Mutex);
  Lines.push_back(Line.str());
}

std::vector<std::string> RecordingMessages::all(MessageLevel Level) const {
  std::lock_guard<std::mutex> Lock(Mutex);
  std::vector<std::string> Result;
  for (const auto &[L, Text] : Texts)
    if (L == Level)
      Result.push_back(Text);
  return Result;
}

bool RecordingMessages::has(MessageLevel Level,
                            ArrayRef<StringRef> Parts) const {
  return any_of(all(Level), [&](StringRef Text) {
    return all_of(Parts, [&](StringRef Part) { return Text.contains(Part); });
  });
}

void RecordingMessages::clear() {
  std::lock_guard<std::mutex> Lock(Mutex);
  Texts.clear();
  Lines.clear();
}

std::vector<std::string> RecordingMessages::progressLines() const {
  std::lock_guard<std::mutex> Lock(Mutex);
  return Lines;
}

//===----------------------------------------------------------------------===//
// TestLink
//===----------------------------------------------------------------------===//

TestLink::TestLink() {
  initializeTargets();
  TheLinker.Msg = &Msg;
  TheLinker.Opts.Progress = ProgressKind::Never;
  // Off by default, because the results depend on the machine and on time.
  TheLinker.Opts.LocalJobs = 0;
  TheLinker.Opts.DuplicatePercent = 0;
  TheLinker.Opts.Costs = "";
  Visible.insert("main");
}

void TestLink::addBitcode(StringRef Name, Bytes Bitcode) {
  Inputs.push_back({Name.str(), std::move(Bitcode)});
}

void TestLink::add(StringRef Name, StringRef IR) {
  addBitcode(Name, thinBitcode(("source_filename = \"" + Name + "\"\n" +
                                "target datalayout = \"e-m:e-p270:32:32-p271:"
                                "32:32-p272:64:64-i64:64-i128:128-f80:128-n8:"
                                "16:32:64-S128\"\n"
                                "target triple = \"x86_64-pc-linux-gnu\"\n" +
                                IR)
                                   .str()));
}

void TestLink::addProgram(unsigned N) {
  for (unsigned I = 0; I != N; ++I) {
    std::string IR;
    raw_string_ostream OS(IR);
    unsigned Next = I + 1;
    // Sizes only have to be out of order, so a common divisor of 7 and N
    // wouldn't matter.
    unsigned Size = 8 + 16 * (I * 7 % N);
    OS << "@table" << I << " = constant [" << Size << " x i32] [";
    for (unsigned K = 0; K != Size; ++K)
      OS << (K ? ", " : "") << "i32 " << K * 2654435761U % (I + 3);
    OS << "]\n";
    if (Next != N)
      OS << "declare i32 @small" << Next << "(i32)\n"
         << "declare i32 @large" << Next << "(i32)\n";
    OS << "define i32 @" << (I ? "small" + std::to_string(I) : "main")
       << "(i32 %x) {\n"
       << "  %p = getelementptr [" << Size << " x i32], ptr @table" << I
       << ", i32 0, i32 %x\n"
       << "  %v = load i32, ptr %p\n";
    if (Next != N)
      OS << "  %s = call i32 @small" << Next << "(i32 %v)\n"
         << "  %l = call i32 @large" << Next << "(i32 %s)\n"
         << "  ret i32 %l\n}\n";
    else
      OS << "  ret i32 %v\n}\n";
    // More than the importer's limit of 100 instructions.
    OS << "define i32 @large" << I << "(i32 %v0) noinline {\n";
    for (unsigned K = 0; K != 120; ++K)
      OS << "  %v" << K + 1 << " = " << (K % 2 ? "mul" : "xor") << " i32 %v"
         << K << ", " << K * 7 + I + 3 << '\n';
    OS << "  ret i32 %v120\n}\n";
    add("m" + std::to_string(I) + ".o", IR);
  }
}

lto::IndexWriteCallback TestLink::onWrite() {
  Written.clear();
  return [this](const std::string &Name) { Written.push_back(Name); };
}

TestLink::Result TestLink::inProcess() {
  ThreadPoolStrategy Threads;
  Threads.ThreadsRequested = Parallelism;
  return run(lto::createInProcessThinBackend(Threads, onWrite(), EmitIndexFiles,
                                             EmitImportsFiles));
}

TestLink::Result TestLink::withPlugin(const dtlto_plugin &Plugin) {
  if (Adjust) {
    std::string Why;
    Result R = look(&Plugin, [&](const Link &L, std::vector<Task> &Tasks) {
      const_cast<Link &>(L).Host.Config = configurePlugin(L.Host, Tasks.size());
      Why = toString(
          LinkRun(L.Run, std::make_shared<LTOJobs>(L, std::move(Tasks)), Adjust)
              .run());
    });
    R.Error += Why;
    return R;
  }
  TheLinker.Plugin = &Plugin;
  ThreadPoolStrategy Threads;
  Threads.ThreadsRequested = Parallelism;
  return run(createPluginThinBackend(TheLinker, Threads, onWrite(),
                                     EmitIndexFiles, EmitImportsFiles,
                                     runJobs));
}

namespace {

class LookingBackend : public ThinBackendBase {
public:
  LookingBackend(Linker &TheLinker, const lto::Config &Conf,
                 ModuleSummaryIndex &Index, const DefinedSummaries &Defined,
                 AddStreamFn AddStream, FileCache Cache, unsigned Parallelism,
                 TestLink::LookFn Look)
      : ThinBackendBase(Conf, Index, Defined, nullptr, false,
                        hardware_concurrency(Parallelism)),
        Look(Look), L(TheLinker, Conf, Index, Defined, AddStream, Cache) {
    L.Host.Parallelism = Parallelism;
  }

  Error start(unsigned Number, BitcodeModule Module,
              const FunctionImporter::ImportMapTy &ImportList,
              const FunctionImporter::ExportSetTy &ExportList,
              const ResolvedODRMap &ResolvedODR,
              ModuleMapTy &ModuleMap) override {
    if (Tasks.empty())
      L.Run.StartTime = std::chrono::steady_clock::now();
    Tasks.push_back(
        {Number, Module, &ImportList, &ExportList, &ResolvedODR,
         &ModuleToDefinedGVSummaries.find(Module.getModuleIdentifier())->second,
         &ModuleMap, L.Jobs.Inputs.triple(Module)});
    return Error::success();
  }
  Error wait() override {
    Look(L, Tasks);
    return Error::success();
  }

private:
  TestLink::LookFn Look;
  Link L;
  std::vector<Task> Tasks;
};

} // namespace

TestLink::Result TestLink::look(const dtlto_plugin *Plugin, LookFn Look) {
  TheLinker.Plugin = Plugin;
  bool Looked = false;
  auto LookOnce = [&](const Link &L, std::vector<Task> &Tasks) {
    Looked = true;
    Look(L, Tasks);
  };
  LookFn Inner = LookOnce;
  BackendFunction Make = [&](const lto::Config &Conf, ModuleSummaryIndex &Index,
                             const DefinedSummaries &Defined,
                             AddStreamFn AddStream, FileCache Cache, LibFuncs) {
    return std::make_unique<LookingBackend>(
        TheLinker, Conf, Index, Defined, AddStream, Cache, Parallelism, Inner);
  };
  Result R = run(makeThinBackend(Make, hardware_concurrency(Parallelism)));
  if (!Looked && R.Error.empty())
    R.Error = "the link came to its end without a backend";
  return R;
}

TestLink::Result TestLink::run(lto::ThinBackend Backend) {
  Result R;
  std::mutex Mutex; // guards R

  lto::Config Conf;
  Conf.CPU = "x86-64";
  Conf.DefaultTriple = "x86_64-pc-linux-gnu";
  Conf.RelocModel = Reloc::PIC_;
  // LLD's settings, which a compiler's command line can express.
  Conf.Options.UseInitArray = true;
  Conf.Options.NoTrappingFPMath = false;
  Conf.Options.EmitAddrsig = true;
  Conf.PTO.LoopVectorization = Conf.PTO.SLPVectorization = true;
  Conf.DisableVerify = true;
  Conf.DiagHandler = [&](const DiagnosticInfo &) {
    std::lock_guard<std::mutex> Lock(Mutex);
    ++R.NumDiagnostics;
  };
  if (Configure)
    Configure(Conf);

  auto Fail = [&](Error E) {
    std::lock_guard<std::mutex> Lock(Mutex);
    R.Error = toString(std::move(E));
    return std::move(R);
  };
  lto::LTO Lto(std::move(Conf), std::move(Backend));
  StringSet<> Defined;
  for (Input &In : Inputs) {
    std::unique_ptr<lto::InputFile> File =
        must(lto::InputFile::create({ref(In.Bitcode), In.Name}));
    for (const lto::InputFile::Symbol &Sym : File->symbols())
      if (!Sym.isUndefined())
        Defined.insert(Sym.getName());
  }

  StringSet<> DefinedSymbols;
  for (Input &In : Inputs) {
    std::unique_ptr<lto::InputFile> File =
        must(lto::InputFile::create({ref(In.Bitcode), In.Name}));
    if (RegisterInputs)
      TheLinker.Inputs.add({ref(In.Bitcode), In.Name}, File->getTargetTriple());
    std::vector<lto::SymbolResolution> Resolutions;
    for (const lto::InputFile::Symbol &Sym : File->symbols()) {
      lto::SymbolResolution Res;
      if (!Sym.isUndefined())
        Res.Prevailing = DefinedSymbols.insert(Sym.getName()).second;
      Res.FinalDefinitionInLinkageUnit =
          ProgramIsWhole && Defined.contains(Sym.getName());
      Res.VisibleToRegularObj = Visible.contains(Sym.getName());
      Resolutions.push_back(Res);
    }
    if (Error E = Lto.add(std::move(File), Resolutions))
      return Fail(std::move(E));
  }

  // The destructors of streams deliver the objects, on any thread.
  using Text = SmallString<0>;
  struct Stream : CachedFileStream {
    Stream(std::unique_ptr<Text> Where, std::function<void(StringRef)> Deliver)
        : CachedFileStream(std::make_unique<raw_svector_ostream>(*Where)),
          Object(std::move(Where)), Deliver(std::move(Deliver)) {}
    ~Stream() override {
      OS.reset();
      Deliver(*Object);
    }
    std::unique_ptr<Text> Object;
    std::function<void(StringRef)> Deliver;
  };
  auto Deliver = [&](StringRef Name, StringRef Object) {
    {
      std::lock_guard<std::mutex> Lock(Mutex);
      if (!R.Objects.try_emplace(Name.str(), Object).second)
        R.Objects[Name.str()] = "two objects for one module";
    }
    if (OnObject)
      OnObject(Name);
  };
  auto AddStream = [&](unsigned, const Twine &ModuleName)
      -> Expected<std::unique_ptr<CachedFileStream>> {
    return std::make_unique<Stream>(
        std::make_unique<Text>(),
        [&Deliver, Name = ModuleName.str()](StringRef Object) {
          Deliver(Name, Object);
        });
  };
  FileCache LookUp;
  if (Cache)
    LookUp = makeCache([&](unsigned, StringRef Key,
                           const Twine &ModuleName) -> Expected<AddStreamFn> {
      std::string Name = ModuleName.str();
      std::optional<std::string> Hit;
      {
        std::lock_guard<std::mutex> Lock(Cache->Mutex);
        auto It = Cache->Objects.find(Key.str());
        ++(It == Cache->Objects.end() ? Cache->NumMisses : Cache->NumHits);
        if (It != Cache->Objects.end())
          Hit = It->second;
      }
      if (Hit) {
        Deliver(Name, *Hit);
        return AddStreamFn();
      }
      return [&Deliver, this, Name, Key = Key.str()](
                 unsigned,
                 const Twine &) -> Expected<std::unique_ptr<CachedFileStream>> {
        if (Cache->IsFull)
          return createStringError(std::errc::no_space_on_device,
                                   "no space left");
        return std::make_unique<Stream>(
            std::make_unique<Text>(),
            [&Deliver, this, Name, Key](StringRef Object) {
              {
                std::lock_guard<std::mutex> Lock(Cache->Mutex);
                Cache->Objects[Key] = Object.str();
              }
              Deliver(Name, Object);
            });
      };
    });
  if (Error E = Lto.run(AddStream, LookUp))
    return Fail(std::move(E));
  return R;
}
