//===- TempFolder.h - A folder for a test -----------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_UNITTESTS_TESTSUPPORT_TEMPFOLDER_H
#define DTLTO_UNITTESTS_TESTSUPPORT_TEMPFOLDER_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <vector>

namespace dtlto::test {

/// An empty folder that is removed with its contents by the destructor.
class TempFolder {
public:
  TempFolder() {
    llvm::SmallString<128> P;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("dtlto-unit", P));
    Folder = P.str().str();
  }
  ~TempFolder() { llvm::sys::fs::remove_directories(Folder); }
  TempFolder(const TempFolder &) = delete;

  std::string path(llvm::StringRef Name) const {
    return Folder + "/" + Name.str();
  }

  void write(llvm::StringRef Name, llvm::StringRef Text) const {
    std::error_code EC;
    llvm::raw_fd_ostream OS(path(Name), EC);
    EXPECT_FALSE(EC) << EC.message();
    OS << Text;
  }

  std::string read(llvm::StringRef Name) const {
    auto File = llvm::MemoryBuffer::getFile(path(Name));
    return File ? (*File)->getBuffer().str() : "can't read " + Name.str();
  }

  /// Returns the sorted names of the folder's entries.
  std::vector<std::string> names() const {
    std::vector<std::string> Names;
    std::error_code EC;
    for (llvm::sys::fs::directory_iterator I(Folder, EC), E; I != E && !EC;
         I.increment(EC))
      Names.push_back(I->path().substr(Folder.size() + 1));
    std::sort(Names.begin(), Names.end());
    return Names;
  }

private:
  std::string Folder;
};

} // namespace dtlto::test

#endif // DTLTO_UNITTESTS_TESTSUPPORT_TEMPFOLDER_H
