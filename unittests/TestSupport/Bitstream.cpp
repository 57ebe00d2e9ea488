//===- Bitstream.cpp - A bitcode file, record by record -------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitstream.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

class Dumper {
public:
  explicit Dumper(StringRef Bitcode) : In(Bitcode) {}

  void run() {
    if (Error E = In.JumpToBit(32))
      return fail(std::move(E));
    while (!In.AtEndOfStream() && !Failed) {
      Expected<BitstreamEntry> Entry = In.advance();
      if (!Entry)
        return fail(Entry.takeError());
      if (Entry->Kind != BitstreamEntry::SubBlock)
        return fail("no block");
      dumpBlock(Entry->ID);
    }
  }

  std::vector<std::string> Lines;
  std::vector<std::string> ModuleNames;

private:
  void fail(const Twine &Why) {
    Failed = true;
    Lines.push_back(("error: " + Why).str());
  }
  void fail(Error E) { fail(toString(std::move(E))); }

  void dumpBlock(unsigned ID) {
    if (ID == bitc::BLOCKINFO_BLOCK_ID) {
      Expected<std::optional<BitstreamBlockInfo>> New = In.ReadBlockInfoBlock();
      if (!New)
        return fail(New.takeError());
      Info = std::move(**New);
      In.setBlockInfo(&Info);
      return;
    }
    if (Error E = In.EnterSubBlock(ID))
      return fail(std::move(E));
    Lines.push_back("block " + std::to_string(ID));
    SmallVector<uint64_t, 64> Record;
    while (!Failed) {
      Expected<BitstreamEntry> Entry = In.advance();
      if (!Entry)
        return fail(Entry.takeError());
      switch (Entry->Kind) {
      case BitstreamEntry::Error:
        return fail("broken block");
      case BitstreamEntry::EndBlock:
        Lines.push_back("end " + std::to_string(ID));
        return;
      case BitstreamEntry::SubBlock:
        dumpBlock(Entry->ID);
        break;
      case BitstreamEntry::Record: {
        Record.clear();
        StringRef Blob;
        Expected<unsigned> Code = In.readRecord(Entry->ID, Record, &Blob);
        if (!Code)
          return fail(Code.takeError());
        addRecord(ID, *Code, Record, Blob);
        break;
      }
      }
    }
  }

  void addRecord(unsigned Block, unsigned Code, ArrayRef<uint64_t> Record,
                 StringRef Blob) {
    std::string Line;
    raw_string_ostream OS(Line);
    OS << "record " << Code << ':';
    if (Block == bitc::MODULE_STRTAB_BLOCK_ID && Code == bitc::MST_CODE_ENTRY &&
        !Record.empty()) {
      ModuleNames.emplace_back(Record.begin() + 1, Record.end());
      Record = Record.take_front(1);
    }
    for (uint64_t Value : Record)
      OS << ' ' << Value;
    OS << " '" << Blob << '\'';
    Lines.push_back(Line);
  }

  BitstreamCursor In;
  BitstreamBlockInfo Info;
  bool Failed = false;
};

} // namespace

std::vector<std::string> dtlto::test::recordsOf(StringRef Bitcode) {
  Dumper D(Bitcode);
  D.run();
  return std::move(D.Lines);
}

std::vector<std::string> dtlto::test::moduleNamesOf(StringRef Bitcode) {
  Dumper D(Bitcode);
  D.run();
  return std::move(D.ModuleNames);
}
