//===- SlimModuleFuzz.cpp - What importers read of a slim module ----------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: which functions and variables are imported, in two bytes, and choices
// of what is in the module.
//
//===----------------------------------------------------------------------===//

#include "Bitcode/SlimModule.h"
#include "Fuzz.h"
#include "Modules.h"
#include "LLVM/Module.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/LTO/LTOBackend.h"
#include "llvm/Linker/IRMover.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

static constexpr unsigned MaxFunctions = 12, MaxVariables = 8;

std::vector<std::string> dtlto::test::fuzzSeeds() {
  std::vector<std::string> Seeds;
  for (int Step : {1, 7, 31, 101}) {
    std::string Seed;
    for (int I = 0; I != 160; ++I)
      Seed += char(I * Step + (I >> 3));
    Seeds.push_back(Seed);
  }
  return Seeds;
}

namespace {

/// A module's text, each part by choice. What is chosen is right: LLVM's own
/// reader ends the process over bitcode that isn't.
class Text {
public:
  explicit Text(Choices &C)
      : C(C), NumFunctions(1 + C.below(MaxFunctions)),
        NumVariables(C.below(MaxVariables + 1)), HasDebugInfo(C.below(2)),
        NumNodes(C.below(2) ? 60 : 4) {
    for (unsigned I = 0; I != NumFunctions; ++I)
      HasBlocks.push_back(C.below(4) == 0);
  }

  std::string make() {
    raw_string_ostream OS(Out);
    OS << "source_filename = \"dir/a.c\"\n";
    if (C.below(8) == 0)
      OS << "target triple = \"x86_64-pc-linux-gnu\"\n"
            "module asm \".globl f0\"\n";
    OS << "%pair = type { i64, ptr }\n%list = type { %pair, [3 x i32] }\n"
          "$c0 = comdat any\n$c1 = comdat any\n";
    for (unsigned I = 0; I != NumVariables; ++I)
      variable(OS, I);
    for (unsigned I = 0; I != NumFunctions; ++I)
      function(OS, I);
    for (unsigned I = C.below(3); I != 0; --I)
      OS << "@a" << I << " = " << (C.below(2) ? "" : "internal ")
         << "alias void (ptr), ptr @f" << C.below(NumFunctions) << '\n';
    OS << "declare void @outside(ptr) #1\n"
          "declare void @llvm.assume(i1)\n"
          "attributes #0 = { noinline \"of-functions\" }\n"
          "attributes #1 = { nounwind \"of-calls\" }\n"
          "attributes #2 = { cold \"more\"=\"x\" }\n";
    metadata(OS);
    return Out;
  }

private:
  void linkage(raw_ostream &OS) {
    static const char *const All[] = {"",      "internal ", "linkonce_odr ",
                                      "weak ", "hidden ",   "weak_odr "};
    OS << All[C.below(std::size(All))];
  }

  /// A constant of type ptr.
  void pointer(raw_ostream &OS) {
    unsigned Kind = C.below(5), N = C.take();
    if (Kind == 0)
      OS << "null";
    else if (Kind == 1 && NumVariables)
      OS << "@v" << N % NumVariables;
    else if (Kind == 2 && NumVariables)
      OS << "getelementptr (i8, ptr @v" << N % NumVariables << ", i64 " << N
         << ")";
    else if (Kind == 3 && HasBlocks[N % NumFunctions])
      OS << "blockaddress(@f" << N % NumFunctions << ", %next)";
    else
      OS << "@f" << N % NumFunctions;
  }

  void variable(raw_ostream &OS, unsigned I) {
    OS << "@v" << I << " = ";
    linkage(OS);
    OS << (C.below(2) ? "constant " : "global ");
    switch (C.below(5)) {
    case 0:
      OS << "i32 " << unsigned(C.take());
      break;
    case 1:
      OS << "[4 x i8] c\"" << char('a' + C.below(26)) << "bc\\00\"";
      break;
    case 2:
      OS << "ptr ";
      pointer(OS);
      break;
    case 3:
      OS << "[2 x ptr] [ptr ";
      pointer(OS);
      OS << ", ptr ";
      pointer(OS);
      OS << "]";
      break;
    case 4:
      OS << "%pair { i64 " << unsigned(C.take()) << ", ptr ";
      pointer(OS);
      OS << " }";
      break;
    }
    if (C.below(4) == 0)
      OS << ", section \"there\"";
    if (C.below(4) == 0)
      OS << ", !type !" << 100 + C.below(NumNodes);
    OS << '\n';
  }

  void function(raw_ostream &OS, unsigned I) {
    OS << "define ";
    linkage(OS);
    OS << "void @f" << I << "(ptr %p) ";
    if (C.below(3) == 0)
      OS << "#" << C.below(3) << ' ';
    if (C.below(5) == 0)
      OS << "comdat($c" << C.below(2) << ") ";
    if (HasDebugInfo && C.below(2))
      OS << "!dbg !" << 200 + I << ' ';
    OS << "{\n";
    for (unsigned N = C.below(6); N != 0; --N)
      instruction(OS, N);
    if (HasBlocks[I])
      OS << "  br label %next\nnext:\n";
    OS << "  ret void\n}\n";
  }

  void instruction(raw_ostream &OS, unsigned N) {
    OS << "  ";
    switch (C.below(8)) {
    case 0:
      OS << "call void @f" << C.below(NumFunctions) << "(ptr %p) #"
         << C.below(3);
      break;
    case 1:
      OS << "call void @outside(ptr ";
      pointer(OS);
      OS << ")";
      break;
    case 2:
      OS << "store ptr ";
      pointer(OS);
      OS << ", ptr %p";
      break;
    case 3:
      OS << "%l" << N << " = load i32, ptr %p, !own !"
         << 100 + C.below(NumNodes);
      break;
    case 4:
      OS << "call void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 8) ]";
      break;
    case 5:
      OS << "%s" << N << " = alloca %list";
      break;
    case 6:
      OS << "call void asm sideeffect \"nop\", \"\"(), !srcloc !"
         << 100 + C.below(NumNodes);
      break;
    case 7:
      OS << "store [2 x i64] [i64 " << unsigned(C.take()) << ", i64 7], ptr %p";
      break;
    }
    OS << '\n';
  }

  void metadata(raw_ostream &OS) {
    for (unsigned I = 0; I != NumNodes; ++I)
      OS << '!' << 100 + I << " = !{i64 " << I << ", !\"node " << I << "\""
         << (I ? ", !" + std::to_string(100 + C.below(I)) : "") << "}\n";
    if (C.below(2))
      OS << "!named = !{!" << 100 + C.below(NumNodes) << "}\n";
    OS << "!llvm.module.flags = !{!0}\n"
          "!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n";
    if (!HasDebugInfo)
      return;
    OS << "!llvm.dbg.cu = !{!1}\n"
          "!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, "
          "emissionKind: FullDebug)\n"
          "!2 = !DIFile(filename: \"a.c\", directory: \"/where\")\n"
          "!3 = !DISubroutineType(types: !{})\n";
    for (unsigned I = 0; I != NumFunctions; ++I)
      OS << '!' << 200 + I << " = distinct !DISubprogram(name: \"name " << I
         << "\", scope: !2, file: !2, type: !3, unit: !1, "
            "spFlags: DISPFlagDefinition)\n";
  }

  Choices &C;
  unsigned NumFunctions, NumVariables;
  bool HasDebugInfo;
  unsigned NumNodes;
  std::vector<bool> HasBlocks;
  std::string Out;
};

} // namespace

/// A module into which LLVM's importer has moved what \p Imported names, of
/// \p Bitcode, in the steps of FunctionImporter::importFunctions().
static std::string imported(const Bytes &Bitcode, const GUIDSet &Imported) {
  LLVMContext Context;
  Module Into("into", Context);
  std::unique_ptr<Module> From =
      must(getLazyBitcodeModule(MemoryBufferRef(ref(Bitcode), "from"), Context,
                                /*ShouldLazyLoadMetadata=*/true,
                                /*IsImporting=*/true));
  cantFail(From->materializeMetadata());
  std::vector<GlobalValue *> Moved;
  auto add = [&](GlobalValue &GV) {
    if (!GV.hasName() || !Imported.contains(guidOf(GV)))
      return;
    cantFail(GV.materialize());
    Moved.push_back(&GV);
  };
  for (Function &F : *From)
    if (!F.isDeclaration())
      add(F);
  for (GlobalVariable &V : From->globals())
    add(V);
  // What is local becomes known to others before it is imported or referred to.
  for (GlobalValue &GV : From->global_values())
    if (GV.hasLocalLinkage()) {
      GV.setLinkage(GlobalValue::ExternalLinkage);
      GV.setVisibility(GlobalValue::HiddenVisibility);
    }
  IRMover Mover(Into);
  cantFail(Mover.move(
      std::move(From), Moved, [](GlobalValue &, IRMover::ValueAdder) {},
      /*IsPerformingImport=*/true));
  std::string Text;
  raw_string_ostream OS(Text);
  Into.print(OS, nullptr);
  return OS.str();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Choices C(Data, Size);
  // First, so that it isn't at the end of long inputs.
  uint8_t Which = C.take(), Others = C.take();
  Bytes Whole = thinBitcode(Text(C).make());
  BitcodeModule Module =
      must(lto::findThinLTOModule(MemoryBufferRef(ref(Whole), "module")));
  GUIDSet Imported;
  auto import = [&](const std::string &Name) {
    Imported.insert(guidOf(Name));
    Imported.insert(guidOf(GlobalValue::getGlobalIdentifier(
        Name, GlobalValue::InternalLinkage, "dir/a.c")));
  };
  for (unsigned I = 0; I != MaxFunctions; ++I)
    if (I < 8 ? Which >> I & 1 : Others >> (I - 8) & 1)
      import("f" + std::to_string(I));
  for (unsigned I = 0; I != 4; ++I)
    if (Others >> (4 + I) & 1)
      import("v" + std::to_string(I));

  Expected<SmallVector<char, 0>> Slim = slimModule(Module, Imported);
  if (!Slim) {
    check(isLine(toString(Slim.takeError())));
    return 0;
  }
  check(ref(must(slimModule(Module, Imported))) == ref(*Slim));
  // It is a module of ThinLTO that every reader reads.
  must(lto::findThinLTOModule(MemoryBufferRef(ref(*Slim), "slim")));
  {
    LLVMContext Context;
    auto M =
        must(parseBitcodeFile(MemoryBufferRef(ref(*Slim), "slim"), Context));
    check(!verifyModule(*M, &errs()));
  }
  // An importer makes the same of both.
  std::string Want = imported(Whole, Imported),
              Have = imported(*Slim, Imported);
  if (Want != Have) {
    errs() << "of the whole module:\n" << Want << "of the slim one:\n" << Have;
    abort();
  }
  // What is slim can be made slim, and stays as it is.
  BitcodeModule Again =
      must(lto::findThinLTOModule(MemoryBufferRef(ref(*Slim), "slim")));
  if (Expected<SmallVector<char, 0>> Twice = slimModule(Again, Imported))
    check(imported(*Twice, Imported) == Want);
  else
    check(isLine(toString(Twice.takeError())));
  return 0;
}
