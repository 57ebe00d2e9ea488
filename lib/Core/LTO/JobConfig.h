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

/// The link's configuration as text, with the files that it names: profiles,
/// lists, and what code generation learnt. Any thread, once it is made.
class JobConfig {
public:
  /// Reads the files. \p Ctx outlives this.
  explicit JobConfig(const LinkContext &Ctx);

  /// Why no job can carry the configuration, in one line; empty: jobs may.
  llvm::StringRef reason() const { return Reason; }

  /// Sets the configuration of \p Built, a job of \p T that is compiled as
  /// \p Spec says, and adds the files.
  llvm::Error addTo(BuiltJob &Built, const Task &T,
                    const CompileSpec &Spec) const;

  /// What code generation learnt before, an input of each job; null: nothing.
  llvm::Expected<ModuleFile *> codegenData() const;

  /// Another configuration, with what is in its files, has another one. LLVM's
  /// keys of the cache leave some of that out.
  const std::string &id() const;

private:
  llvm::Error readCodegenData();
  llvm::Error make();
  llvm::Error addFile(llvm::StringRef Path, llvm::StringRef Name,
                      std::string &Field);
  llvm::Expected<std::string> text(const Task *T,
                                   const CompileSpec &Spec) const;
  std::string makeId() const;

  /// A file and, unless it is another's, its memory.
  struct File {
    std::unique_ptr<ModuleFile> Named;
    std::unique_ptr<llvm::MemoryBuffer> Bytes;
  };

  const LinkContext &Ctx;
  std::string Text, Reason;      // one of them is empty
  ConfigExtras Extras;           // but for what is a job's own
  std::vector<File> Files;       // but for that of code generation
  File Data;                     // what code generation learnt
  std::string WhyNoData;         // it can't be read; empty: all is well
  mutable std::once_flag IdOnce; // hashes the files
  mutable std::string Id;
};

} // namespace dtlto

#endif // DTLTO_LTO_JOBCONFIG_H
