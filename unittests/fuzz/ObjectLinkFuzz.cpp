//===- ObjectLinkFuzz.cpp - LLD links whatever was accepted ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: one byte that chooses the target, one that chooses options of LLD, and
// what should be an object. What checkObject() accepts is linked by LLD, in a
// process of its own: an error is fine, a crash or a hang is not.
//
// With DTLTO_FUZZ_FINDINGS=<folder> in the environment, findings are saved
// there, and the search goes on.
//
// DTLTO_FUZZ_TRACE in the environment shows what becomes of each input.
//
// The LLD that is installed isn't built with a sanitizer: crashes are seen,
// reads past an end mostly are not.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"
#include "Object/ObjectCheck.h"
#include "ObjectFields.h"
#include "Objects.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <csignal>
#include <map>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(coff)
LLD_HAS_DRIVER(macho)
LLD_HAS_DRIVER(wasm)

// CPU time. A link of these takes milliseconds.
static constexpr unsigned SecondsAllowed = 30;

namespace {
struct Linker {
  lld::Driver Run;
  std::vector<const char *> Always;            // name, output and target
  std::vector<std::vector<const char *>> Sets; // of options
};
} // namespace

// The sanitizer's own way to end a process looks like LLD's for an error.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "abort_on_error=1:detect_leaks=0:use_sigaltstack=0:"
         "detect_container_overflow=0:allocator_may_return_null=1";
}

static Linker linkerFor(const Triple &T) {
  if (T.isOSBinFormatELF())
    return {
        lld::elf::link,
        {"ld.lld", "-o", "/dev/null", "--threads=1",
         "--unresolved-symbols=ignore-all", "--noinhibit-exec",
         "--allow-multiple-definition", "--no-dependent-libraries"},
        {{},
         {"--gc-sections", "--icf=all", "--entry=f", "--eh-frame-hdr"},
         {"-shared", "--icf=safe", "--print-icf-sections", "-Bsymbolic"},
         {"-pie", "--gdb-index", "--no-dynamic-linker", "-O2"},
         {"-r"},
         {"--emit-relocs", "--gc-sections", "--entry=f", "-Map=/dev/null",
          "--cref"},
         {"-shared", "--gdb-index", "--pack-dyn-relocs=relr",
          "--compress-debug-sections=zlib", "--warn-backrefs"},
         {"-pie", "--dependent-libraries", "--call-graph-profile-sort=cdsort",
          "--no-relax", "--strip-debug"},
         {"--no-undefined", "--unresolved-symbols=report-all", "-shared",
          "--error-limit=0"}}};
  if (T.isOSBinFormatCOFF()) {
    const char *Machine = T.getArch() == Triple::x86_64    ? "/machine:x64"
                          : T.getArch() == Triple::x86     ? "/machine:x86"
                          : T.getArch() == Triple::aarch64 ? "/machine:arm64"
                                                           : "/machine:arm";
    return {lld::coff::link,
            // An import library would take the place of /dev/null.
            {"lld-link", "/out:/dev/null", "/threads:1", "/force", "/noentry",
             "/dll", "/noimplib", "/nodefaultlib", "/safeseh:no", Machine},
            {{},
             {"/opt:ref,icf", "/map:/dev/null", "/include:f"},
             {"/debug", "/pdb:/dev/null"},
             {"/lldmingw", "/export:f"},
             {"/guard:cf", "/opt:noref"},
             {"/debug:ghash", "/pdb:/dev/null", "/opt:safeicf"},
             {"/debug:dwarf", "/force:multiple"}}};
  }
  if (T.isOSBinFormatMachO()) {
    const char *Arch = T.getArch() == Triple::x86_64    ? "x86_64"
                       : T.getArch() == Triple::aarch64 ? "arm64"
                                                        : "arm64_32";
    const char *Platform = T.isWatchOS() ? "watchos" : "macos";
    return {lld::macho::link,
            {"ld64.lld", "-o", "/dev/null", "--threads=1", "-dylib",
             "-undefined", "dynamic_lookup", "-arch", Arch, "-platform_version",
             Platform, "12.0", "12.0"},
            {{},
             {"-dead_strip", "--icf=all", "--deduplicate-strings"},
             {"-map", "/dev/null", "-fixup_chains"},
             {"-ObjC", "-no_fixup_chains", "--icf=safe"},
             {"-S", "-data_in_code_info", "-adhoc_codesign"},
             {"-objc_relative_method_lists", "-no_deduplicate"}}};
  }
  return {
      lld::wasm::link,
      {"wasm-ld", "-o", "/dev/null", "--threads=1", "--allow-undefined",
       "--no-entry", T.isArch64Bit() ? "-mwasm64" : "-mwasm32"},
      {{"--export-all"},
       {"--gc-sections", "--export=f"},
       {"-r"},
       {"--no-gc-sections", "--export-all", "-Map=/dev/null", "--strip-debug"},
       {"-shared", "--experimental-pic"},
       {"--emit-relocs", "--export-all"},
       {"-pie", "--experimental-pic", "--export-dynamic"},
       {"--shared-memory", "--max-memory=1048576", "--no-check-features"}}};
}

/// The text of a path to \p Contents; the descriptor stays open.
static std::string asFile(StringRef Contents, int &Descriptor) {
  Descriptor = memfd_create("object", 0);
  raw_fd_ostream OS(Descriptor, /*shouldClose=*/false, /*unbuffered=*/true);
  OS << Contents;
  return "/proc/self/fd/" + std::to_string(Descriptor);
}

/// Whether LLD 19 crashes with -r, though it is an object as LLVM makes them:
/// with relocations of a section that is ordered by another, which is gone.
static bool isOrderedByNone(StringRef Object) {
  auto Look = [](const auto &File) {
    for (const auto &S : cantFail(File.sections()))
      if (S.sh_flags & ELF::SHF_LINK_ORDER && S.sh_link == 0)
        return true;
    return false;
  };
  auto O = cantFail(object::ObjectFile::createELFObjectFile(
      MemoryBufferRef(Object, ""), /*InitContent=*/false));
  if (auto *File = dyn_cast<object::ELF64LEObjectFile>(O.get()))
    return Look(File->getELFFile());
  if (auto *File = dyn_cast<object::ELF64BEObjectFile>(O.get()))
    return Look(File->getELFFile());
  if (auto *File = dyn_cast<object::ELF32LEObjectFile>(O.get()))
    return Look(File->getELFFile());
  return Look(cast<object::ELF32BEObjectFile>(O.get())->getELFFile());
}

/// How LLD's end was no good, or nothing.
static std::string link(StringRef Object, StringRef Good, const Triple &T,
                        unsigned Options) {
  int ObjectFile, GoodFile, Errors = memfd_create("errors", 0);
  std::string Path = asFile(Object, ObjectFile),
              GoodPath = asFile(Good, GoodFile);
  fflush(nullptr);
  pid_t Child = fork();
  if (Child == 0) {
    dup2(Errors, 2);
    // libFuzzer takes exit() for a finding, with which LLD ends a link over
    // debug information that it can't read.
    atexit([] { _exit(1); });
    // LLVM and libFuzzer have handlers, which take time.
    if (getenv("DTLTO_FUZZ_TRACE") != nullptr)
      sys::PrintStackTraceOnErrorSignal("lld");
    else
      for (int Signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE})
        signal(Signal, SIG_DFL);
    const rlimit Limit = {SecondsAllowed, SecondsAllowed + 5};
    setrlimit(RLIMIT_CPU, &Limit);
    Linker L = linkerFor(T);
    std::vector<const char *> Args = L.Always;
    const auto &Set = L.Sets[Options % L.Sets.size()];
    if (T.isOSBinFormatELF() && !Set.empty() && StringRef(Set[0]) == "-r" &&
        isOrderedByNone(Object))
      _exit(0);
    Args.insert(Args.end(), Set.begin(), Set.end());
    Args.push_back(Path.c_str());
    // The others have no way to allow the same symbols twice.
    if (T.isOSBinFormatELF() || T.isOSBinFormatCOFF())
      Args.push_back(GoodPath.c_str());
    bool Show = getenv("DTLTO_FUZZ_TRACE") != nullptr;
    L.Run(Args, Show ? errs() : nulls(), Show ? errs() : nulls(),
          /*exitEarly=*/false, /*disableOutput=*/false);
    _exit(0);
  }
  int Status = 0;
  std::string Why;
  // libFuzzer has a timer.
  if (Child < 0 ||
      sys::RetryAfterSignal(-1, waitpid, Child, &Status, 0) != Child)
    abort();
  char Buffer[4000];
  StringRef Text(
      Buffer, std::max<ssize_t>(pread(Errors, Buffer, sizeof(Buffer), 0), 0));
  // A sanitizer that fails again as it reports ends the process by itself.
  if (WIFSIGNALED(Status) || Text.contains("AddressSanitizer"))
    Why = (WIFSIGNALED(Status)
               ? "LLD was ended by " + Twine(strsignal(WTERMSIG(Status)))
               : Twine("LLD was stopped by the sanitizer"))
              .str() +
          '\n' + Text.str();
  else if (getenv("DTLTO_FUZZ_TRACE") != nullptr)
    errs() << "exit " << WEXITSTATUS(Status) << "\n" << Text;
  for (int Descriptor : {ObjectFile, GoodFile, Errors})
    close(Descriptor);
  return Why;
}

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  ArrayRef<const char *> Targets = linkedTargets();
  for (size_t I = 0; I != Targets.size(); ++I)
    for (const Bytes &Object : richObjects(Targets[I]))
      Seeds.push_back(std::string{char(I), char(Seeds.size())} +
                      ref(Object).str());
  return Seeds;
}

static const Bytes &goodObject(const char *Target) {
  static std::map<std::string, Bytes> Objects;
  Bytes &Object = Objects[Target];
  if (Object.empty())
    Object = richObjects(Target).front();
  return Object;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size < 2)
    return 0;
  ArrayRef<const char *> Targets = linkedTargets();
  const char *Target = Targets[Data[0] % Targets.size()];
  Triple T(Target);
  StringRef Object(reinterpret_cast<const char *>(Data) + 2, Size - 2);
  static unsigned Links = 0, Inputs = 0;
  ++Inputs;
  std::string Refused = toString(checkObject(Object, T));
  if (getenv("DTLTO_FUZZ_TRACE") != nullptr)
    errs() << Target << ", options " << unsigned(Data[1]) << ": "
           << (Refused.empty() ? "accepted" : Refused) << '\n';
  if (!Refused.empty())
    return 0;
  if (++Links % 1000 == 0)
    errs() << Links << " of " << Inputs << " inputs linked\n";
  std::string Why = link(Object, ref(goodObject(Target)), T, Data[1]);
  if (Why.empty())
    return 0;
  const char *Folder = getenv("DTLTO_FUZZ_FINDINGS");
  if (Folder == nullptr) {
    errs() << Target << ", options " << unsigned(Data[1]) << ": " << Why;
    abort();
  }
  ArrayRef<uint8_t> Input(Data, Size);
  std::string Path = std::string(Folder) + "/" + utohexstr(xxh3_64bits(Input));
  std::error_code EC;
  raw_fd_ostream(Path, EC) << toStringRef(Input);
  raw_fd_ostream(Path + ".txt", EC) << Target << ": " << Why;
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *Data, size_t Size,
                                          size_t MaxSize, unsigned Seed) {
  std::mt19937 Random(Seed);
  if (Size < 2)
    return Size;
  if (Random() % 4 == 0)
    Data[1] = uint8_t(Random());
  std::string Object(reinterpret_cast<char *>(Data) + 2, Size - 2);
  changeFields(Object, Random);
  memcpy(Data + 2, Object.data(), std::min(Object.size(), MaxSize - 2));
  return Size;
}
