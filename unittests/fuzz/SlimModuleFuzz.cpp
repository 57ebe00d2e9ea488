//===- SlimModuleFuzz.cpp - Importers and slim modules --------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Input: the imported functions and variables, in two bytes, and choices of the
// module's contents.
//
//===----------------------------------------------------------------------===//

#include "Bitcode/Assembly.h"
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

static constexpr unsigned MaxFunctions = 12, MaxVariables = 8, NumTypes = 12;

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

/// Creates the text of a module from choices. All choices are valid IR, because
/// LLVM's reader ends the process on invalid bitcode.
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
          "declare void @llvm.experimental.noalias.scope.decl(metadata)\n"
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

  /// Writes a constant of type ptr.
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
    if (HasDebugInfo && C.below(2))
      OS << ", !dbg !" << 400 + I;
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
    bool Debug = HasDebugInfo && C.below(2);
    if (Debug)
      OS << "!dbg !" << 200 + I << ' ';
    OS << "{\n";
    for (unsigned N = C.below(6); N != 0; --N) {
      if (Debug)
        debugRecord(OS, I);
      instruction(OS, N);
      if (Debug)
        OS << ", !dbg " << location(I);
      OS << '\n';
    }
    if (HasBlocks[I])
      OS << "  br label %next\nnext:\n";
    OS << "  ret void\n}\n";
  }

  void instruction(raw_ostream &OS, unsigned N) {
    OS << "  ";
    switch (C.below(9)) {
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
    case 8:
      // Alias scopes are metadata arguments that aren't debug info.
      OS << "call void @llvm.experimental.noalias.scope.decl(metadata !"
         << 90 + C.below(2) << ")";
      break;
    }
  }

  /// Returns a location in function \p I.
  std::string location(unsigned I) {
    std::string Own = "scope: !" + std::to_string(200 + I) + ")";
    if (C.below(3))
      return "!DILocation(line: " + std::to_string(C.take()) + ", " + Own;
    return "!DILocation(line: 7, scope: !" +
           std::to_string((C.below(2) ? 200 : 500) + C.below(NumFunctions)) +
           ", inlinedAt: !DILocation(line: 8, " + Own + ")";
  }

  void debugRecord(raw_ostream &OS, unsigned I) {
    std::string Scope = "scope: !" + std::to_string(200 + I);
    switch (C.below(4)) {
    case 0:
      OS << "    #dbg_value(ptr %p, !DILocalVariable(name: \"local "
         << C.below(4) << "\", " << Scope << ", file: !2, type: !"
         << 300 + C.below(NumTypes) << "), !DIExpression(), !DILocation(line: "
         << "1, " << Scope << "))\n";
      break;
    case 1:
      OS << "    #dbg_label(!DILabel(" << Scope
         << ", name: \"label\", file: !2, line: 3), !DILocation(line: 1, "
         << Scope << "))\n";
      break;
    }
  }

  /// Returns a debug info type as an operand.
  std::string type() { return "!" + std::to_string(300 + C.below(NumTypes)); }
  /// Returns a type before type \p I. Used for unnamed types: with two cycles
  /// of these, which no compiler makes, LLVM's parser of text releases a node
  /// twice.
  std::string typeBefore(unsigned I) {
    return "!" + std::to_string(300 + C.below(I));
  }

  void types(raw_ostream &OS) {
    for (unsigned I = 0; I != NumTypes; ++I) {
      OS << '!' << 300 + I << " = ";
      std::string N = std::to_string(I);
      std::string Member = "!DIDerivedType(tag: DW_TAG_member, name: \"m" + N +
                           "\", scope: !" + std::to_string(300 + I) +
                           ", baseType: " + type() + ", size: 64)";
      std::string Method = "!DISubprogram(name: \"method " + N +
                           "\", scope: !" + std::to_string(300 + I) +
                           ", file: !2, type: !3, spFlags: 0)";
      std::string Elements = "elements: !{" + Member + ", " + Method + "}";
      std::string Identifier = "identifier: \"_ZTS" + N + "\"";
      std::string Parameters =
          "templateParams: !{!DITemplateTypeParameter(name: \"P\", type: " +
          type() + "), !DITemplateValueParameter(name: \"V\", type: " + type() +
          ", value: i32 3)}";
      switch (I ? C.below(8) : 3) {
      case 0:
        OS << "!DICompositeType(tag: DW_TAG_class_type, name: \"C" << N
           << "\", file: !2, line: 9, size: 64, " << Elements << ", "
           << Parameters << ", " << Identifier << ")\n";
        break;
      case 1:
        OS << "!DICompositeType(tag: DW_TAG_structure_type, name: \"S<" << N
           << ">\", scope: !4, file: !2, size: 64, " << Elements << ", "
           << Parameters << ", " << Identifier << ")\n";
        break;
      case 2:
        OS << "distinct !DICompositeType(tag: DW_TAG_structure_type, file: !2, "
              "size: 64, "
           << Elements << ")\n";
        break;
      case 3:
        OS << "!DIBasicType(name: \"int" << N
           << "\", size: 32, encoding: DW_ATE_signed)\n";
        break;
      case 4:
        OS << "!DICompositeType(tag: DW_TAG_enumeration_type, name: \"E" << N
           << "\", file: !2, baseType: !300, size: 32, elements: "
              "!{!DIEnumerator(name: \"one of "
           << N << "\", value: 1)}" << (C.below(2) ? ", " + Identifier : "")
           << ")\n";
        break;
      case 5:
        OS << "!DIDerivedType(tag: DW_TAG_pointer_type, baseType: "
           << typeBefore(I) << ", size: 64)\n";
        break;
      case 6:
        OS << "!DICompositeType(tag: DW_TAG_array_type, baseType: "
           << typeBefore(I)
           << ", size: 64, elements: !{!DISubrange(count: 2)})\n";
        break;
      case 7:
        OS << "!DIDerivedType(tag: DW_TAG_pointer_type, size: 64, baseType: "
              "!DISubroutineType(types: !{null, "
           << typeBefore(I) << ", " << typeBefore(I) << "}))\n";
        break;
      }
    }
  }

  void metadata(raw_ostream &OS) {
    for (unsigned I = 0; I != NumNodes; ++I)
      OS << '!' << 100 + I << " = !{i64 " << I << ", !\"node " << I << "\""
         << (I ? ", !" + std::to_string(100 + C.below(I)) : "") << "}\n";
    if (C.below(2))
      OS << "!named = !{!" << 100 + C.below(NumNodes) << "}\n";
    OS << "!llvm.module.flags = !{!0}\n"
          "!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
          "!90 = !{!92}\n!91 = !{!93}\n!92 = distinct !{!92, !94}\n"
          "!93 = distinct !{!93, !94}\n!94 = distinct !{!94}\n";
    if (!HasDebugInfo)
      return;
    OS << "!llvm.dbg.cu = !{!1}\n"
          "!1 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, "
          "file: !2, emissionKind: FullDebug";
    if (C.below(2))
      OS << ", retainedTypes: !{" << type() << ", " << type() << "}";
    if (C.below(2))
      OS << ", imports: !{!DIImportedEntity(tag: "
            "DW_TAG_imported_declaration, scope: !4, entity: "
         << type() << ", file: !2, line: 3)}";
    OS << ")\n"
          "!2 = !DIFile(filename: \"a.c\", directory: \"/where\")\n"
          "!3 = !DISubroutineType(types: !{null, !300})\n"
          "!4 = !DINamespace(name: \"space\", scope: null)\n";
    types(OS);
    for (unsigned I = 0; I != NumFunctions; ++I)
      OS << '!' << 200 + I << " = distinct !DISubprogram(name: \"name " << I
         << "\", scope: !" << (C.below(2) ? 2 : 4)
         << ", file: !2, type: !3, unit: !1, spFlags: DISPFlagDefinition"
         << (C.below(2) ? ", templateParams: !{!DITemplateTypeParameter(name: "
                          "\"T\", type: " +
                              type() + ")}"
                        : "")
         << ", retainedNodes: !{})\n";
    for (unsigned I = 0; I != NumFunctions; ++I)
      OS << '!' << 500 + I << " = distinct !DILexicalBlock(scope: !" << 200 + I
         << ", file: !2, line: " << I << ")\n";
    for (unsigned I = 0; I != NumVariables; ++I)
      OS << '!' << 400 + I
         << " = !DIGlobalVariableExpression(var: !DIGlobalVariable(name: \"v"
         << I << "\", scope: !1, file: !2, type: " << type()
         << ", isDefinition: false), expr: !DIExpression())\n";
  }

  Choices &C;
  unsigned NumFunctions, NumVariables;
  bool HasDebugInfo;
  unsigned NumNodes;
  std::vector<bool> HasBlocks;
  std::string Out;
};

} // namespace

/// Imports \p Imported from \p Bitcode into an empty module, in the steps of
/// FunctionImporter::importFunctions(). Returns the module as text.
static std::string imported(const Bytes &Bitcode, const GUIDSet &Imported) {
  LLVMContext Context;
  Context.enableDebugTypeODRUniquing(); // as in a backend compile
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
  // Local values are promoted before they are imported or referred to.
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
  // Taken first, because at the end of the input all choices are 0.
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

  Expected<SlimBitcode> Made = slimModule(Module, Imported);
  if (!Made) {
    check(isLine(toString(Made.takeError())));
    return 0;
  }
  const SmallVector<char, 0> &Slim = Made->Bytes;
  check(ref(must(slimModule(Module, Imported)).Bytes) == ref(Slim));
  check(Made->MayHaveAssembly || !assemblyMayReadFiles(ref(Slim)));
  // The slim module is a ThinLTO module that every reader accepts.
  must(lto::findThinLTOModule(MemoryBufferRef(ref(Slim), "slim")));
  {
    LLVMContext Context;
    auto M =
        must(parseBitcodeFile(MemoryBufferRef(ref(Slim), "slim"), Context));
    check(!verifyModule(*M, &errs()));
  }
  // An importer gets the same from both modules.
  std::string Want = imported(Whole, Imported), Have = imported(Slim, Imported);
  if (Want != Have) {
    errs() << "of the whole module:\n" << Want << "of the slim one:\n" << Have;
    abort();
  }
  // Slimming again may fail, but doesn't change what is imported.
  BitcodeModule Again =
      must(lto::findThinLTOModule(MemoryBufferRef(ref(Slim), "slim")));
  if (Expected<SlimBitcode> Twice = slimModule(Again, Imported))
    check(imported(Twice->Bytes, Imported) == Want);
  else
    check(isLine(toString(Twice.takeError())));
  return 0;
}
