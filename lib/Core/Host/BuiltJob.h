//===- BuiltJob.h - A job of the ABI and its memory -------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_HOST_BUILTJOB_H
#define DTLTO_HOST_BUILTJOB_H

#include "dtlto/PluginAPI.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dtlto {

/// A file that many jobs read: one address, name and digest for all.
struct ModuleFile {
  std::string Path;
  std::string Name; // the user's name; empty if users don't name it
  llvm::StringRef Bytes;
  uint64_t WholeSize = 0;      // before imports were slimmed
  bool MayReadFiles = false;   // in assembly
  bool MayDrawNumbers = false; // in passes

  /// Returns the BLAKE3 digest, 32 bytes. Computed on first use. Thread-safe.
  const uint8_t *digest();

private:
  std::once_flag HashOnce;
  uint8_t Digest[32] = {};
};

/// An input of a job. Borrows the memory that it points to.
struct BuiltInput : dtlto_input {
  BuiltInput(uint32_t Role, const char *Path, llvm::StringRef Bytes,
             ModuleFile *File = nullptr)
      : dtlto_input{}, File(File) {
    size = sizeof(dtlto_input);
    role = Role;
    path = Path;
    bytes = {Bytes.data(), Bytes.size()};
  }
  BuiltInput(uint32_t Role, ModuleFile &File)
      : BuiltInput(Role, File.Path.c_str(), File.Bytes, &File) {}

  ModuleFile *File; // null for the job's own bytes
};

/// A job and the memory that it points to, except the modules' bytes.
struct BuiltJob {
  dtlto_job Job = {};
  /// Shared by the jobs of a module. Null: not made yet.
  std::shared_ptr<const llvm::SmallVector<char, 0>> Shard;
  std::string Name;
  std::string Triple;
  std::vector<BuiltInput> Inputs;
  std::vector<const dtlto_input *> InputPointers;
  std::vector<std::string> Args;
  std::vector<const char *> ArgPointers;
  std::string Config;            // empty: the same for the whole link
  std::string Avoid;             // for dtlto_job::avoid
  uint64_t WholeImportBytes = 0; // of the whole files of its imports
  /// The optimised module of the job; null: the job optimises the input.
  ModuleFile *Optimized = nullptr;
  /// Whether a worker of ours returns the optimised module.
  bool ReturnsOptimized = false;

  llvm::StringRef shard() const {
    return Shard ? llvm::StringRef(Shard->data(), Shard->size()) : "";
  }
};

/// The names of a job's index and object on other machines. Names of modules
/// begin with `m.`, so there is no conflict.
inline constexpr llvm::StringLiteral IndexPath = "index.thinlto.bc";
inline constexpr llvm::StringLiteral OutputPath = "out.o";

/// Points the job of \p Built at its inputs. Call this after each change of
/// these.
void setInputs(BuiltJob &Built);

/// Returns \p Job as a plugin's bundle has it, with its module's portable name.
/// The module's name in the linker differs between links and machines, but a
/// cache must recognize the job.
dtlto_job bundledJob(const dtlto_job &Job);

/// Returns \p Text, a worker's output, with the user's names in place of
/// modules' portable names. These may be in a folder of the worker's, or have
/// the extension of one of a job's own files. \p UserName returns the user's
/// name, or "".
std::string
withUserNames(llvm::StringRef Text,
              llvm::function_ref<std::string(llvm::StringRef)> UserName);

/// Like the above, for the modules of \p Built.
std::string withUserNames(llvm::StringRef Text, const BuiltJob &Built);

/// Fills in the digests of \p Built's inputs.
void addDigests(BuiltJob &Built);

/// Identifies the result of a job among all links and machines.
using ResultKey = std::array<uint8_t, 32>;

/// Returns a digest of all that the result of \p Built depends on: its inputs,
/// which must have digests, its triple, command line and configuration, and the
/// \p Compiler, a version line.
ResultKey resultKey(const BuiltJob &Built, llvm::StringRef Compiler);

/// Makes the job of \p Built avoid the worker \p Avoid, unless that is empty.
void setAvoid(BuiltJob &Built, llvm::StringRef Avoid);

/// Points the job of \p Built at its command line, which makes \p Output, and
/// at its inputs. \p Output outlives the job.
void setArgs(BuiltJob &Built, const char *Output);

} // namespace dtlto

#endif // DTLTO_HOST_BUILTJOB_H
