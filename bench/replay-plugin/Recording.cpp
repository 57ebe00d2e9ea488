//===- Recording.cpp - The recorded jobs of a link ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recording.h"
#include "Process.h"
#include "Text.h"
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>

using namespace dtlto;
using namespace dtlto::replay;

static const char Magic[] = "dtlto-recording 2";
static constexpr uint64_t MaxNumber = uint64_t(1) << 60;

/// Removes the text up to \p Stop from the front. Returns false if there is
/// none.
static bool take(std::string_view &Text, char Stop, std::string_view &Word) {
  size_t End = Text.find(Stop);
  if (End == std::string_view::npos)
    return false;
  Word = Text.substr(0, End);
  Text.remove_prefix(End + 1);
  return true;
}

static bool number(std::string_view Word, uint64_t &Value) {
  const char *End = Word.data() + Word.size();
  auto [Stop, Code] = std::from_chars(Word.data(), End, Value);
  return Code == std::errc() && Stop == End && Value <= MaxNumber;
}

/// Decodes two hexadecimal digits a byte. Returns false for anything else.
static bool fromHex(std::string_view Text, std::string &Bytes) {
  for (; Text.size() >= 2; Text.remove_prefix(2)) {
    uint8_t Byte;
    if (std::from_chars(Text.data(), Text.data() + 2, Byte, 16).ptr !=
        Text.data() + 2)
      return false;
    Bytes += static_cast<char>(Byte);
  }
  return Text.empty();
}

static bool unescape(std::string_view Text, std::string &Name) {
  for (size_t I = 0; I != Text.size(); ++I) {
    if (Text[I] != '%') {
      Name += Text[I];
      continue;
    }
    if (I + 2 >= Text.size() || !fromHex(Text.substr(I + 1, 2), Name))
      return false;
    I += 2;
  }
  return !Name.empty();
}

static bool parseJob(std::string_view Line, uint64_t ObjectsSize,
                     RecordedJob &J) {
  std::string_view Word;
  for (uint64_t *Field : {&J.CpuNs, &J.PrimaryBytes, &J.Offset, &J.Size})
    if (!take(Line, ' ', Word) || !number(Word, *Field))
      return false;
  if (!take(Line, ' ', Word) || Word.size() != 64 || !fromHex(Word, J.Digest) ||
      !take(Line, ' ', Word) || Word.empty())
    return false;
  J.Path = Word;
  return unescape(Line, J.Name) && J.Offset <= ObjectsSize &&
         J.Size <= ObjectsSize - J.Offset;
}

bool dtlto::replay::parseRecording(std::string_view Text, uint64_t ObjectsSize,
                                   Recording &TheRecording,
                                   std::string &Error) {
  std::string_view Word;
  if (!take(Text, '\n', Word) || Word != Magic) {
    Error = "it has another format; record the link again";
    return false;
  }
  constexpr std::string_view Key = "jobs ";
  uint64_t Line = 2, NumJobs = 0;
  auto Bad = [&] {
    Error = "line " + std::to_string(Line) + " of 'jobs' cannot be read";
    return false;
  };
  if (!take(Text, '\n', Word) || Word.substr(0, Key.size()) != Key ||
      !number(Word.substr(Key.size()), NumJobs))
    return Bad();
  while (!Text.empty()) {
    ++Line;
    TheRecording.Jobs.emplace_back();
    if (!take(Text, '\n', Word) ||
        !parseJob(Word, ObjectsSize, TheRecording.Jobs.back()))
      return Bad();
  }
  if (TheRecording.Jobs.size() == NumJobs)
    return true;
  Error = "'jobs' has " + std::to_string(TheRecording.Jobs.size()) +
          " jobs, not " + std::to_string(NumJobs);
  return false;
}

std::string dtlto::replay::writeRecording(const Recording &TheRecording) {
  std::string Text = std::string(Magic) + "\njobs " +
                     std::to_string(TheRecording.Jobs.size()) + "\n";
  for (const RecordedJob &J : TheRecording.Jobs) {
    for (uint64_t Field : {J.CpuNs, J.PrimaryBytes, J.Offset, J.Size})
      Text += std::to_string(Field) + " ";
    Text += hexDigits(reinterpret_cast<const uint8_t *>(J.Digest.data()),
                      J.Digest.size()) +
            ' ' + J.Path + ' ';
    for (char C : J.Name) {
      uint8_t U = static_cast<uint8_t>(C);
      if (U >= 0x20 && U != 0x7f && U != '%')
        Text += C;
      else
        Text += '%' + hexDigits(&U, 1);
    }
    Text += '\n';
  }
  return Text;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

bool dtlto::replay::readFile(const std::string &Path, std::string &Bytes) {
  std::ifstream File(Path, std::ios::binary);
  if (!File)
    return false;
  std::ostringstream Text;
  Text << File.rdbuf();
  Bytes = Text.str();
  return true;
}

bool dtlto::replay::writeFile(const std::string &Path, std::string_view Bytes) {
  std::ofstream File(Path, std::ios::binary);
  return bool(File.write(Bytes.data(), std::streamsize(Bytes.size())).flush());
}

bool OpenRecording::open(const std::string &Folder, std::string &Error) {
  std::string Text, Path = Folder + "/jobs";
  auto CantRead = [&] {
    Error = "cannot read '" + Path + "': " + std::strerror(errno);
    return false;
  };
  if (!readFile(Path, Text))
    return CantRead();
  Path = Folder + "/objects";
  Descriptor File(::open(Path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat Status;
  if (::fstat(File.get(), &Status) != 0)
    return CantRead();
  const uint64_t Size = uint64_t(Status.st_size);
  // Never unmapped: the linker may keep objects for any time.
  void *Memory =
      Size ? ::mmap(nullptr, Size, PROT_READ, MAP_PRIVATE, File.get(), 0)
           : nullptr;
  if (Memory == MAP_FAILED)
    return CantRead();
  Objects = static_cast<const char *>(Memory);
  if (!parseRecording(Text, Size, TheRecording, Error)) {
    Error = "the recording '" + Folder + "' is invalid: " + Error;
    return false;
  }
  for (size_t I = 0; I != TheRecording.Jobs.size(); ++I)
    ByName[TheRecording.Jobs[I].Name] = I;
  return true;
}

const RecordedJob *OpenRecording::find(std::string_view Name) const {
  auto It = ByName.find(Name);
  return It == ByName.end() ? nullptr : &TheRecording.Jobs[It->second];
}
