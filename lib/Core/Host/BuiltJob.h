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
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dtlto {

/// A file that many jobs read: one address, name and digest for all.
struct ModuleFile {
  std::string Path;
  std::string Name; // the user's; empty: a file that users don't name
  llvm::StringRef Bytes;
  uint64_t WholeSize = 0;      // before imports were slimmed
  bool MayReadFiles = false;   // in assembly
  bool MayDrawNumbers = false; // in passes

  /// BLAKE3, 32 bytes; made when it is first asked for. Any thread.
  const uint8_t *digest();

private:
  std::once_flag HashOnce;
  uint8_t Digest[32] = {};
};

/// An input of a job. What it points at is borrowed.
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

  ModuleFile *File; // null: the job's own bytes
};

/// A job and the memory that it points at, but for the modules' bytes.
struct BuiltJob {
  dtlto_job Job = {};
  /// Parts of one module have one. Null: not made yet.
  std::shared_ptr<const llvm::SmallVector<char, 0>> Shard;
  std::string Name;
  std::string Triple;
  std::vector<BuiltInput> Inputs;
  std::vector<const dtlto_input *> InputPointers;
  std::vector<std::string> Args;
  std::vector<const char *> ArgPointers;
  std::string Config;            // empty: the link's
  std::string Avoid;             // for dtlto_job::avoid
  uint64_t WholeImportBytes = 0; // of the files that imports are taken from
  /// Its module is optimised; null: it is the one that the linker was given.
  ModuleFile *Optimized = nullptr;
  /// A worker of ours returns the module when it has optimised it.
  bool ReturnsOptimized = false;

  llvm::StringRef shard() const {
    return Shard ? llvm::StringRef(Shard->data(), Shard->size()) : "";
  }
};

/// What a job's index and object are called on other machines. Names of modules
/// begin with `m.`, so these are free.
inline constexpr llvm::StringLiteral IndexPath = "index.thinlto.bc";
inline constexpr llvm::StringLiteral OutputPath = "out.o";

/// Lets the job of \p Built have its inputs: after each change of these.
void setInputs(BuiltJob &Built);

/// \p Job as a plugin's bundle has it: with the name that its module has there.
/// The one in the linker is not the same in each link and on each machine, and
/// a cache is to know the job.
dtlto_job asBundled(const dtlto_job &Job);

/// Returns \p Said, the words of a worker, with the user's names in place of
/// the names of modules that travel, also where those are in a folder of the
/// worker's, or have the extension of one of a job's own files. \p UsersName
/// returns the user's name, or nothing.
std::string
inUsersNames(llvm::StringRef Said,
             llvm::function_ref<std::string(llvm::StringRef)> UsersName);

/// The same for the modules of \p Built.
std::string inUsersNames(llvm::StringRef Said, const BuiltJob &Built);

/// Fills in the digests of \p Built's inputs.
void addDigests(BuiltJob &Built);

/// Lets the job of \p Built stay away from the worker \p Avoid; empty: from
/// none.
void setAvoid(BuiltJob &Built, llvm::StringRef Avoid);

/// Lets the job of \p Built have its command line, which makes \p Output, and
/// the inputs. \p Output outlives the job.
void setArgs(BuiltJob &Built, const char *Output);

} // namespace dtlto

#endif // DTLTO_HOST_BUILTJOB_H
