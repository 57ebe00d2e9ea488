//===- JobConfig.h - The configuration of a link's jobs ---------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_LTO_JOBCONFIG_H
#define DTLTO_LTO_JOBCONFIG_H

#include "Config/ConfigJSON.h"
#include "Host/BuiltJob.h"
#include "LTO/LinkContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <mutex>

namespace dtlto {

/// Returns what all jobs of a link have, except the files.
ConfigExtras extrasOf(const LinkContext &Ctx);

/// The link's configuration as text, with the files that it names: profiles,
/// lists, and codegen data. Thread-safe once constructed.
class JobConfig {
public:
  /// Reads the files. \p Ctx outlives this object.
  explicit JobConfig(const LinkContext &Ctx);

  /// Why jobs can't carry the configuration, in one line; empty if they can.
  llvm::StringRef reason() const { return Reason; }

  /// Sets the configuration of \p Built, a job of \p T that is compiled
  /// according to \p Spec, and adds the files.
  llvm::Error addTo(BuiltJob &Built, const Task &T,
                    const CompileSpec &Spec) const;

  /// The codegen data that each job has as an input; null if there is none.
  llvm::Expected<ModuleFile *> codegenData() const;

  /// Identifies the configuration and the contents of its files. LLVM's cache
  /// keys leave some of that out.
  const std::string &id() const;

private:
  llvm::Error readCodegenData();
  llvm::Error make();
  llvm::Error addFile(llvm::StringRef Path, llvm::StringRef Name,
                      std::string &Field);
  llvm::Expected<std::string> text(const Task *T,
                                   const CompileSpec &Spec) const;
  std::string makeId() const;

  /// A file and its memory, unless something else owns the memory.
  struct File {
    std::unique_ptr<ModuleFile> Input;
    std::unique_ptr<llvm::MemoryBuffer> Bytes;
  };

  const LinkContext &Ctx;
  std::string Text, Reason;      // one of them is empty
  ConfigExtras Extras;           // without the fields of a single job
  std::vector<File> Files;       // without the codegen data
  File Data;                     // the codegen data
  std::string DataError;         // why it can't be read; otherwise empty
  mutable std::once_flag IdOnce; // protects Id
  mutable std::string Id;
};

} // namespace dtlto

#endif // DTLTO_LTO_JOBCONFIG_H
