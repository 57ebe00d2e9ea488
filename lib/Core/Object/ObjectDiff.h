//===- ObjectDiff.h - Where two files differ --------------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For --thinlto-dist-verify: describes and saves the two results of a job that
// was compiled twice.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_OBJECT_OBJECTDIFF_H
#define DTLTO_OBJECT_OBJECTDIFF_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace dtlto {

/// Describes the first difference between \p Remote (remote) and \p Local
/// (local) as a part of a message: "first in byte 72 (section .text, byte 8),
/// in .text and .rela.text; 900 bytes, not 904". Offsets count from 0 in \p
/// Local. Sections are named if both are object files.
std::string describeDifference(llvm::StringRef Remote, llvm::StringRef Local);

/// Returns the folder for objects that differ: next to \p Output if that is a
/// file or doesn't exist, otherwise the working directory.
std::string folderForDifferences(llvm::StringRef Output);

/// Writes <stem>.remote<extension> and <stem>.local<extension>; creates their
/// folder. Fails with a one-line reason that names the file.
llvm::Error saveResults(const llvm::Twine &Stem, llvm::StringRef Extension,
                        llvm::StringRef Remote, llvm::StringRef Local);

} // namespace dtlto

#endif // DTLTO_OBJECT_OBJECTDIFF_H
