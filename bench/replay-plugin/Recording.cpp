//===- Recording.cpp - The recorded jobs of a link ------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recording.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
  if (Word.empty() || Word.size() > 19)
    return false;
  Value = 0;
  for (char C : Word) {
    if (C < '0' || C > '9')
      return false;
    Value = Value * 10 + uint64_t(C - '0');
  }
  return Value <= MaxNumber;
}

static int hexDigit(char C) {
  if (C >= '0' && C <= '9')
    return C - '0';
  return C >= 'a' && C <= 'f' ? C - 'a' + 10 : -1;
}

static void addHex(std::string &To, char C) {
  const char *Digits = "0123456789abcdef";
  To += Digits[static_cast<unsigned char>(C) >> 4];
  To += Digits[C & 15];
}

/// Decodes two hexadecimal digits a byte. Returns false for anything else.
static bool fromHex(std::string_view Text, std::string &Bytes) {
  if (Text.size() % 2)
    return false;
  for (size_t I = 0; I != Text.size(); I += 2) {
    int High = hexDigit(Text[I]), Low = hexDigit(Text[I + 1]);
    if (High < 0 || Low < 0)
      return false;
    Bytes += static_cast<char>(High * 16 + Low);
  }
  return true;
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
  uint64_t Line = 0;
  auto Bad = [&] {
    Error = "line " + std::to_string(Line) + " of 'jobs' cannot be read";
    return false;
  };
  auto Header = [&](std::string_view Key, uint64_t &Value) {
    ++Line;
    std::string_view Word;
    return take(Text, '\n', Word) && Word.size() > Key.size() &&
           Word.substr(0, Key.size()) == Key && Word[Key.size()] == ' ' &&
           number(Word.substr(Key.size() + 1), Value);
  };
  uint64_t Version = 0, NumJobs = 0;
  if (!Header("dtlto-recording", Version))
    return Bad();
  if (Version != 2) {
    Error = "it has version " + std::to_string(Version) +
            " of the format; record the link again";
    return false;
  }
  if (!Header("jobs", NumJobs))
    return Bad();
  std::string_view Word;
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
    for (char C : J.Digest)
      addHex(Text, C);
    Text += ' ' + J.Path + ' ';
    for (char C : J.Name) {
      unsigned char U = static_cast<unsigned char>(C);
      if (U >= 0x20 && U != 0x7f && U != '%') {
        Text += C;
      } else {
        Text += '%';
        addHex(Text, C);
      }
    }
    Text += '\n';
  }
  return Text;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

bool dtlto::replay::readFile(const std::string &Path, std::string &Bytes) {
  std::FILE *File = std::fopen(Path.c_str(), "rb");
  if (!File)
    return false;
  char Chunk[65536];
  while (size_t Size = std::fread(Chunk, 1, sizeof(Chunk), File))
    Bytes.append(Chunk, Size);
  bool Good = !std::ferror(File);
  std::fclose(File);
  return Good;
}

bool dtlto::replay::writeFile(const std::string &Path, std::string_view Bytes) {
  // A device would be replaced by a file.
  struct stat Is;
  if (::stat(Path.c_str(), &Is) == 0 && !S_ISREG(Is.st_mode)) {
    errno = EINVAL;
    return false;
  }
  std::string Unfinished = Path + ".new";
  std::FILE *File = std::fopen(Unfinished.c_str(), "wb");
  if (!File)
    return false;
  bool Good = std::fwrite(Bytes.data(), 1, Bytes.size(), File) == Bytes.size();
  Good = std::fclose(File) == 0 && Good;
  if (Good && std::rename(Unfinished.c_str(), Path.c_str()) == 0)
    return true;
  int Why = errno;
  std::remove(Unfinished.c_str());
  errno = Why;
  return false;
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
  int Fd = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (Fd < 0)
    return CantRead();
  struct stat Status;
  bool Good = ::fstat(Fd, &Status) == 0;
  uint64_t Size = Good ? uint64_t(Status.st_size) : 0;
  if (Good && Size) {
    // Never unmapped: the linker may keep objects for any time.
    void *Memory = ::mmap(nullptr, Size, PROT_READ, MAP_PRIVATE, Fd, 0);
    Good = Memory != MAP_FAILED;
    Objects = static_cast<const char *>(Memory);
  }
  int Why = errno;
  ::close(Fd);
  errno = Why;
  if (!Good)
    return CantRead();
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
