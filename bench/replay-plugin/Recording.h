//===- Recording.h - The recorded jobs of a link ----------------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format of a recording's file `jobs`, also used by bench/recording.py:
//
//   dtlto-recording 2
//   jobs 114
//   CPU-NS PRIMARY OFFSET SIZE DIGEST PATH NAME
//   ...
//
// with one line for each job: the CPU time of its code generation; the size of
// its primary module; the offset of its object in the file `objects`, and its
// size; the primary module's BLAKE3 digest in hexadecimal, and its path on
// workers; and, to the end of the line, the module's name, in which bytes below
// 0x20, 0x7f and '%' are written as %XX.
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_BENCH_RECORDING_H
#define DTLTO_BENCH_RECORDING_H

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dtlto {
namespace replay {

struct RecordedJob {
  uint64_t CpuNs = 0;
  uint64_t PrimaryBytes = 0;
  uint64_t Offset = 0, Size = 0; // of the object
  std::string Digest;            // of the primary module, 32 bytes
  std::string Path;              // of the primary module; without spaces
  std::string Name;
};

struct Recording {
  std::vector<RecordedJob> Jobs;
};

/// Reads the text of a `jobs` file whose objects have \p ObjectsSize bytes.
/// Returns false with a message in \p Error if it isn't complete and
/// consistent.
bool parseRecording(std::string_view Text, uint64_t ObjectsSize,
                    Recording &TheRecording, std::string &Error);
/// Returns the text that parseRecording() reads.
std::string writeRecording(const Recording &TheRecording);

/// Reads a whole file. Returns false with errno set on failure.
bool readFile(const std::string &Path, std::string &Bytes);
/// Writes a file. Returns false with errno set on failure.
bool writeFile(const std::string &Path, std::string_view Bytes);

/// A recording's folder, open for a replay. Objects are in memory that lives as
/// long as the process.
class OpenRecording {
public:
  bool open(const std::string &Folder, std::string &Error);
  const Recording &get() const { return TheRecording; }
  /// Returns the job of the module of that name, or null.
  const RecordedJob *find(std::string_view Name) const;
  const char *object(const RecordedJob &J) const { return Objects + J.Offset; }

private:
  Recording TheRecording;
  std::unordered_map<std::string_view, size_t> ByName;
  const char *Objects = nullptr;
};

} // namespace replay
} // namespace dtlto

#endif // DTLTO_BENCH_RECORDING_H
