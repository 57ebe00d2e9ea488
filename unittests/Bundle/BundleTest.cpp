//===- BundleTest.cpp - One job as one stream -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/Bundle.h"
#include "Bundle/BundleManifest.h"
#include "Modules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <clocale>
#include <cstring>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace dtlto;
using namespace dtlto::test;

namespace {

const std::string ThisLLVM = LLVM_VERSION_STRING;

/// A job that owns everything it points to.
struct TestJob {
  struct File {
    std::string Path;
    uint32_t Role;
    std::string Bytes;
  };
  std::string Name = "dir/libfoo.a(bar.o at 1234)";
  std::string Triple = "x86_64-pc-linux-gnu";
  std::string Output = "out.o";
  std::string Config = R"({"llvm":"x","CPU":"","Level":2})";
  std::vector<std::string> Args = {"clang", "-O2", "-c",
                                   "m.a-o", "-o",  "out.o"};
  std::vector<File> Files = {
      {"m.a-o", DTLTO_ROLE_PRIMARY, "the primary"},
      {"m.b-o", DTLTO_ROLE_IMPORT, std::string(600, 'b')},
      {"index.thinlto.bc", DTLTO_ROLE_INDEX, "index"}};
  bool Digests = true;

  Expected<SmallVector<char, 0>> write() const {
    return with([](const dtlto_job &Job) { return writeBundle(Job); });
  }
  /// Calls \p Fn with the job.
  template <typename FnTy>
  std::invoke_result_t<FnTy, const dtlto_job &> with(FnTy Fn) const {
    std::vector<dtlto_input> Inputs;
    std::vector<const dtlto_input *> Pointers;
    for (const File &F : Files) {
      dtlto_input In = {};
      In.size = sizeof(In);
      In.role = F.Role;
      In.path = F.Path.c_str();
      In.bytes = {F.Bytes.data(), F.Bytes.size()};
      auto Hash = BLAKE3::hash(arrayRefFromStringRef(F.Bytes));
      if (Digests)
        copy(Hash, In.digest);
      Inputs.push_back(In);
    }
    for (const dtlto_input &In : Inputs)
      Pointers.push_back(&In);
    std::vector<const char *> ArgPointers;
    for (const std::string &Arg : Args)
      ArgPointers.push_back(Arg.c_str());
    ArgPointers.push_back(nullptr);

    dtlto_job Job = {};
    Job.size = sizeof(Job);
    Job.fields = DTLTO_JOB_INPUTS | DTLTO_JOB_CONFIG;
    if (Digests)
      Job.fields |= DTLTO_JOB_DIGESTS;
    Job.id = 1;
    Job.name = Name.c_str();
    Job.triple = Triple.c_str();
    Job.inputs = Pointers.data();
    Job.num_inputs = Pointers.size();
    Job.config = Config.c_str();
    if (!Args.empty()) {
      Job.fields |= DTLTO_JOB_ARGS;
      Job.args = ArgPointers.data();
      Job.num_args = Args.size();
      Job.output = Output.c_str();
    }
    return Fn(Job);
  }
  std::string bundle() const {
    SmallVector<char, 0> Bytes = must(write());
    return {Bytes.begin(), Bytes.end()};
  }
  /// Returns why the job can't be bundled; empty if it can.
  std::string reason() const {
    auto Bytes = write();
    return Bytes ? "" : toString(Bytes.takeError());
  }
};

/// Reads a bundle from a copy, so that sanitizers detect a read past the end.
Expected<Bundle> read(StringRef Bytes) {
  std::vector<char> Copy(Bytes.begin(), Bytes.end());
  return readBundle(StringRef(Copy.data(), Copy.size()), ThisLLVM);
}

/// Returns why \p Bytes are refused; empty if they aren't.
std::string refusal(StringRef Bytes) {
  Expected<Bundle> B = read(Bytes);
  std::string Why = B ? "" : toString(B.takeError());
  EXPECT_EQ(Why.find('\n'), std::string::npos) << Why;
  return Why;
}

//===----------------------------------------------------------------------===//
// Handwritten tar archives
//===----------------------------------------------------------------------===//

struct RawEntry {
  std::string Name;
  std::string Data;
  char Type = '0';
  std::string LinkName = {};
  std::optional<uint64_t> Size = {}; // The size in the header.
  unsigned Mode = 0644, User = 0, Time = 0;
  std::string UserName = {};
  std::string Magic = std::string("ustar\00000", 8);
};

std::string octal(uint64_t N, unsigned Digits) {
  std::string Result(Digits, '0');
  for (unsigned I = Digits; I-- != 0; N /= 8)
    Result[I] = char('0' + N % 8);
  return Result;
}

std::string rawHeader(const RawEntry &E) {
  std::string H(512, '\0');
  auto Put = [&](size_t At, StringRef Text) {
    H.replace(At, Text.size(), Text.data(), Text.size());
  };
  Put(0, E.Name);
  Put(100, octal(E.Mode, 6) + " ");
  Put(108, octal(E.User, 6) + " ");
  Put(116, octal(0, 6) + " ");
  Put(124, octal(E.Size.value_or(E.Data.size()), 11) + " ");
  Put(136, octal(E.Time, 11) + " ");
  Put(148, "        ");
  H[156] = E.Type;
  Put(157, E.LinkName);
  Put(257, E.Magic);
  Put(265, E.UserName);
  Put(329, octal(0, 6) + " ");
  Put(337, octal(0, 6) + " ");
  unsigned Sum = 0;
  for (unsigned char C : H)
    Sum += C;
  Put(148, octal(Sum, 6) + std::string("\0 ", 2));
  return H;
}

std::string rawEntry(const RawEntry &E) {
  std::string Result = rawHeader(E) + E.Data;
  Result.resize(alignTo(Result.size(), 512));
  return Result;
}

const std::string End(1024, '\0');

std::string rawTar(ArrayRef<RawEntry> Entries) {
  std::string Result;
  for (const RawEntry &E : Entries)
    Result += rawEntry(E);
  return Result + End;
}

/// Returns a pax record. Its length field counts its own digits.
std::string paxRecord(StringRef Key, StringRef Value) {
  std::string Rest = (" " + Key + "=" + Value + "\n").str();
  size_t Length = Rest.size();
  while (std::to_string(Length).size() + Rest.size() > Length)
    ++Length;
  return std::to_string(Length) + Rest;
}

/// Returns the manifest of a small bundle as written by writeBundle().
std::string manifestText(const TestJob &Job = {}) {
  std::string Bytes = Job.bundle();
  uint64_t Size = 0;
  EXPECT_FALSE(StringRef(Bytes).substr(124, 11).getAsInteger(8, Size));
  return Bytes.substr(512, Size);
}

std::string sign(std::string Body) {
  std::string Digest = bundleDigest(Body);
  return Body + ",\"blake3\":\"" + Digest + "\"}\n";
}

/// Returns the manifest with \p Old replaced by \p New and a new digest.
std::string changed(StringRef Old, StringRef New, const TestJob &Job = {}) {
  std::string Body = manifestText(Job);
  Body.resize(Body.size() - 78);
  size_t At = Body.find(Old.str());
  EXPECT_NE(At, std::string::npos) << Old.str();
  if (At != std::string::npos)
    Body.replace(At, Old.size(), New.str());
  return sign(Body);
}

/// Returns the entries of a small bundle with \p Text as its manifest.
std::vector<RawEntry> entries(const std::string &Text = manifestText(),
                              const TestJob &Job = {}) {
  std::vector<RawEntry> Result = {{"manifest.json", Text}};
  for (const TestJob::File &F : Job.Files)
    Result.push_back({F.Path, F.Bytes});
  return Result;
}

/// Returns why a bundle with that change in its manifest is refused.
std::string refusalOf(StringRef Old, StringRef New) {
  return refusal(rawTar(entries(changed(Old, New))));
}

bool contains(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

#define EXPECT_HAS(Text, Part)                                                 \
  EXPECT_PRED2(contains, std::string(Text), std::string(Part))

} // namespace

//===----------------------------------------------------------------------===//
// Round trips
//===----------------------------------------------------------------------===//

TEST(BundleTest, RoundTrip) {
  TestJob Job;
  Bundle B = must(read(Job.bundle()));
  EXPECT_EQ(B.LLVMVersion, ThisLLVM);
  EXPECT_EQ(B.Triple, Job.Triple);
  EXPECT_EQ(B.Name, Job.Name);
  EXPECT_EQ(B.Output, "out.o");
  EXPECT_EQ(B.Args, Job.Args);
  EXPECT_EQ(B.Config, Job.Config);
  ASSERT_EQ(B.Inputs.size(), Job.Files.size());
  for (size_t I = 0; I != B.Inputs.size(); ++I) {
    EXPECT_EQ(B.Inputs[I].Path, Job.Files[I].Path);
    EXPECT_EQ(B.Inputs[I].Role, Job.Files[I].Role);
    EXPECT_EQ(ref(B.Inputs[I].Bytes), Job.Files[I].Bytes);
  }
  EXPECT_EQ(B.primary().Path, "m.a-o");
  EXPECT_EQ(B.index().Path, "index.thinlto.bc");
}

TEST(BundleTest, TheBytes) {
  // Compares every byte: time, user and umask don't matter. The expected
  // manifest is spelled out only in this test.
  TestJob Job;
  std::string Inputs;
  const char *const Roles[] = {"primary", "import", "index"};
  for (size_t I = 0; I != 3; ++I)
    Inputs += std::string(I ? "," : "") + "{\"path\":\"" + Job.Files[I].Path +
              "\",\"role\":\"" + Roles[I] +
              "\",\"size\":" + std::to_string(Job.Files[I].Bytes.size()) +
              ",\"blake3\":\"" + bundleDigest(Job.Files[I].Bytes) + "\"}";
  std::string Text = sign(
      "{\"format\":\"dtlto-bundle\",\"version\":1,\"llvm\":\"" + ThisLLVM +
      "\",\"triple\":\"x86_64-pc-linux-gnu\",\"name\":\"" + Job.Name +
      "\",\"output\":\"out.o\",\"args\":[\"clang\",\"-O2\",\"-c\",\"m.a-o\","
      "\"-o\",\"out.o\"],\"inputs\":[" +
      Inputs + "],\"config\":" + Job.Config);
  EXPECT_EQ(manifestText(), Text);
  EXPECT_EQ(Job.bundle(), rawTar(entries(Text)));
}

TEST(BundleTest, EqualJobsAreEqualBytes) {
  TestJob Job;
  Job.Files[1].Path = "m." + std::string(300, 'x'); // Needs a pax header.
  std::string ParentBundle = Job.bundle();
  EXPECT_EQ(Job.bundle(), ParentBundle);

  // Use another umask, time zone, locale, folder and (as root) user.
  int Pipe[2];
  ASSERT_EQ(pipe(Pipe), 0);
  pid_t Child = fork();
  if (Child == 0) {
    umask(0777);
    setenv("TZ", "Asia/Tokyo", 1);
    setenv("SOURCE_DATE_EPOCH", "1000000000", 1);
    setlocale(LC_ALL, "C.UTF-8");
    if (chdir("/") != 0 ||
        (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)))
      _exit(1);
    std::string ChildBundle = Job.bundle();
    size_t Sent = write(Pipe[1], ChildBundle.data(), ChildBundle.size());
    _exit(Sent == ChildBundle.size() ? 0 : 1);
  }
  close(Pipe[1]);
  std::string ChildBundle;
  char Buffer[4096];
  for (ssize_t N; (N = ::read(Pipe[0], Buffer, sizeof(Buffer))) > 0;)
    ChildBundle.append(Buffer, N);
  close(Pipe[0]);
  int Status = 0;
  ASSERT_EQ(waitpid(Child, &Status, 0), Child);
  EXPECT_EQ(Status, 0);
  EXPECT_EQ(ChildBundle, ParentBundle);
}

TEST(BundleTest, DigestsThatTheJobHasNot) {
  TestJob Job, Without;
  Without.Digests = false;
  EXPECT_EQ(Without.bundle(), Job.bundle());
}

TEST(BundleTest, DigestsThatTheJobHas) {
  // Digests of the job are used as they are, because hashing is expensive.
  TestJob Job;
  Job.Digests = false;
  std::string Hex = bundleDigest("index");
  EXPECT_HAS(Job.bundle(), Hex);
  EXPECT_EQ(Hex, toHex(ArrayRef<uint8_t>(
                           BLAKE3::hash(arrayRefFromStringRef("index"))),
                       /*LowerCase=*/true));
}

TEST(BundleTest, NoCommandLine) {
  TestJob Job;
  Job.Args.clear();
  Bundle B = must(read(Job.bundle()));
  EXPECT_TRUE(B.Args.empty());
  EXPECT_EQ(B.Output, "out.o");
  EXPECT_FALSE(contains(manifestText(Job), "\"args\""));
}

TEST(BundleTest, EmptyInputs) {
  TestJob Job;
  for (TestJob::File &F : Job.Files)
    F.Bytes.clear();
  Bundle B = must(read(Job.bundle()));
  ASSERT_EQ(B.Inputs.size(), 3u);
  for (const Bundle::Input &In : B.Inputs)
    EXPECT_TRUE(In.Bytes.empty());
}

TEST(BundleTest, SizesAroundABlock) {
  for (size_t Size : {1, 511, 512, 513, 1023, 1024, 1025}) {
    TestJob Job;
    for (TestJob::File &F : Job.Files)
      F.Bytes.assign(Size, '\0');
    Bundle B = must(read(Job.bundle()));
    EXPECT_EQ(ref(B.index().Bytes), Job.Files[2].Bytes);
    EXPECT_EQ(Job.bundle().size() % 512, 0u);
  }
}

TEST(BundleTest, LongNames) {
  for (size_t Length : {1, 98, 99, 100, 101, 150, 155, 156, 199, 200, 254, 255,
                        256, 257, 300, 1000, 2000})
    for (size_t Part : {50, 100, 200, 5000}) {
      TestJob Job;
      std::string Path = "m";
      while (Path.size() < Length)
        Path += Path.size() % Part == 0 ? '/' : 'x';
      if (Path.back() == '/')
        Path.back() = 'y';
      Job.Files[0].Path = Path;
      auto B = read(Job.bundle());
      ASSERT_TRUE(bool(B)) << Length << ' ' << Part << ' '
                           << toString(B.takeError());
      EXPECT_EQ(B->primary().Path, Path);
    }
}

TEST(BundleTest, ManyInputs) {
  TestJob Job;
  for (unsigned I = 0; I != 1000; ++I)
    Job.Files.push_back({"m.import" + std::to_string(I), DTLTO_ROLE_IMPORT,
                         "bytes of " + std::to_string(I)});
  std::string Bytes = Job.bundle();
  Bundle B = must(read(Bytes));
  ASSERT_EQ(B.Inputs.size(), 1003u);
  EXPECT_EQ(B.Inputs[1002].Path, "m.import999");
  EXPECT_EQ(ref(B.Inputs[1002].Bytes), "bytes of 999");
}

TEST(BundleTest, BigInputs) {
  TestJob Job;
  std::string &Big = Job.Files[1].Bytes;
  Big.resize(100 << 20);
  for (size_t I = 0; I < Big.size(); I += 4096)
    Big[I] = char(I >> 12);
  Bundle B = must(readBundle(Job.bundle(), ThisLLVM));
  EXPECT_TRUE(ref(B.Inputs[1].Bytes) == Big);
}

TEST(BundleTest, AnyConfiguration) {
  // The configuration is passed on unchanged, with spaces and duplicate keys.
  TestJob Job;
  for (const char *Text :
       {"{}", "{ \"a\" : [1, 2.50, -0.0],\t\"a\":\"}]\\\"{\" }",
        "{\"x\":18446744073709551615,\"y\":{\"z\":[]}}"}) {
    Job.Config = Text;
    EXPECT_EQ(must(read(Job.bundle())).Config, Text);
  }
}

TEST(BundleTest, NamesForPeople) {
  TestJob Job;
  for (auto [Name, Shown] :
       std::initializer_list<std::pair<StringRef, StringRef>>{
           {"", ""},
           {"\xc3\xa4.o", "\xc3\xa4.o"},
           {"\xe4.o", "\\xe4.o"},
           {"\xff\xfe", "\\xff\\xfe"},
           {"a\xc3", "a\\xc3"},
           {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
           {"a\nb\x1b[1m\x7f", "a\\x0ab\\x1b[1m\\x7f"},
           {"c:\\dir\\\"a\"", "c:\\dir\\\"a\""}}) {
    Job.Name = Name.str();
    EXPECT_EQ(must(read(Job.bundle())).Name, Shown.str());
  }
}

TEST(BundleTest, ArgumentsAreExact) {
  TestJob Job;
  Job.Args = {"clang", "", "a b", "-D\"x\"=\\y", "line\nfeed", "\xc3\xa4"};
  EXPECT_EQ(must(read(Job.bundle())).Args, Job.Args);
}

TEST(BundleTest, OtherProgramsListIt) {
  TestJob Job;
  Job.Files[1].Path = "m.long/" + std::string(150, 'x') + "/y";
  Job.Files.push_back(
      {"m." + std::string(190, 'z') + "/" + std::string(190, 'z'),
       DTLTO_ROLE_OTHER, "other"});
  SmallString<128> Archive, Listing;
  ASSERT_FALSE(sys::fs::createTemporaryFile("bundle", "tar", Archive));
  ASSERT_FALSE(sys::fs::createTemporaryFile("listing", "txt", Listing));
  FileRemover RemoveArchive(Archive), RemoveListing(Listing);
  {
    std::error_code EC;
    raw_fd_ostream OS(Archive, EC);
    ASSERT_FALSE(EC);
    OS << Job.bundle();
  }
  auto Tar = sys::findProgramByName("tar");
  ASSERT_TRUE(bool(Tar));
  std::optional<StringRef> Redirects[] = {StringRef(""), StringRef(Listing),
                                          StringRef(Listing)};
  ASSERT_EQ(sys::ExecuteAndWait(*Tar,
                                {*Tar, "--utc", "--full-time",
                                 "--numeric-owner", "-tvf", Archive},
                                std::nullopt, Redirects),
            0);
  auto Text = MemoryBuffer::getFile(Listing);
  ASSERT_TRUE(bool(Text));
  SmallVector<StringRef, 8> Lines;
  (*Text)->getBuffer().split(Lines, '\n', -1, /*KeepEmpty=*/false);
  ASSERT_EQ(Lines.size(), 5u) << (*Text)->getBuffer().str();
  for (StringRef Line : Lines) {
    EXPECT_TRUE(Line.starts_with("-rw-r--r-- 0/0 ")) << Line.str();
    EXPECT_TRUE(Line.contains(" 1970-01-01 00:00:00 ")) << Line.str();
  }
  EXPECT_TRUE(Lines[0].ends_with(" manifest.json"));
  for (size_t I = 0; I != 4; ++I)
    EXPECT_TRUE(Lines[I + 1].ends_with(" " + Job.Files[I].Path));
}

//===----------------------------------------------------------------------===//
// Jobs that can't be bundled
//===----------------------------------------------------------------------===//

TEST(BundleTest, JobsThatCantBeBundled) {
  TestJob Job;
  Job.Files[1].Path = "m.a-o";
  EXPECT_EQ(Job.reason(), "two inputs of the bundle have the name 'm.a-o'");
  Job = {};
  Job.Files[1].Path = "manifest.json";
  EXPECT_EQ(Job.reason(),
            "two inputs of the bundle have the name 'manifest.json'");
  Job = {};
  Job.Files[1].Path = "../x";
  EXPECT_HAS(Job.reason(), "'../x', has an empty component, '.' or '..'");
  Job = {};
  std::swap(Job.Files[0], Job.Files[1]);
  EXPECT_HAS(Job.reason(), "it must have one, before its other inputs");
  Job = {};
  Job.Files.pop_back();
  EXPECT_HAS(Job.reason(), "the bundle has 0 indexes");
  Job = {};
  Job.Files.clear();
  EXPECT_HAS(Job.reason(), "the bundle has 0 primary modules");
  Job = {};
  Job.Args.push_back("-D\xff");
  EXPECT_EQ(Job.reason(), "the argument '-D\\xff' cannot be in a bundle: it "
                          "is not UTF-8, or has a zero byte");
  Job = {};
  Job.Triple = "x\ny";
  EXPECT_HAS(Job.reason(), "has a control character, or is not UTF-8");
  for (const char *Config :
       {"", "[]", "1", "{", "{}}", "{} ", " {}", "{}{}", "{\"a\":\"\xff\"}"}) {
    Job = {};
    Job.Config = Config;
    EXPECT_HAS(Job.reason(), "the configuration of the bundle: ") << Config;
  }
}

TEST(BundleTest, InputsAreSpansOfTheirOwn) {
  TestJob Job;
  Job.Files.push_back({"empty", DTLTO_ROLE_OTHER, ""});
  Job.Files.push_back({"m." + std::string(300, 'x'), DTLTO_ROLE_IMPORT, "x"});
  Job.Files.push_back({"block", DTLTO_ROLE_OTHER, std::string(512, 'z')});
  Job.with([&](const dtlto_job &Raw) {
    BundleSpans Pieces = must(makeBundleSpans(Raw));
    std::string All;
    std::vector<const dtlto_input *> Inputs;
    bool WasInput = true;
    for (const dtlto_bundle_span &S : Pieces.Spans) {
      EXPECT_NE(S.bytes.size, 0u);
      All.append(static_cast<const char *>(S.bytes.data), S.bytes.size);
      // A header precedes each input, and the end follows the last.
      EXPECT_EQ(S.input != nullptr, !WasInput);
      WasInput = S.input != nullptr;
      if (!S.input)
        continue;
      Inputs.push_back(S.input);
      EXPECT_EQ(S.bytes.data, S.input->bytes.data);
      EXPECT_EQ(S.bytes.size, S.input->bytes.size);
    }
    EXPECT_FALSE(WasInput);
    EXPECT_EQ(All, Job.bundle());
    std::vector<const dtlto_input *> NotEmpty(Raw.inputs,
                                              Raw.inputs + Raw.num_inputs);
    NotEmpty.erase(NotEmpty.begin() + 3);
    EXPECT_EQ(Inputs, NotEmpty);
  });
}

TEST(BundleTest, JobsWithoutAConfiguration) {
  dtlto_job Job = {};
  Job.size = sizeof(Job);
  Job.name = Job.triple = "";
  auto Bytes = writeBundle(Job);
  ASSERT_FALSE(bool(Bytes));
  EXPECT_EQ(toString(Bytes.takeError()),
            "a job without a configuration has no bundle");
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

TEST(BundleTest, CutAtEveryByte) {
  TestJob Job;
  Job.Files[1].Path = "m." + std::string(300, 'x');
  std::string Bytes = Job.bundle();
  EXPECT_EQ(refusal(Bytes), "");
  for (size_t Size = 0; Size != Bytes.size(); ++Size)
    EXPECT_NE(refusal(StringRef(Bytes).take_front(Size)), "") << Size;
  EXPECT_EQ(refusal(StringRef(Bytes).drop_back(1024)),
            "the bundle is cut off: its end is missing");
  EXPECT_EQ(refusal(StringRef(Bytes).drop_back(1)),
            "the bundle is cut off: its end is missing");
}

TEST(BundleTest, EveryByteChanged) {
  TestJob Job;
  Job.Files[1].Path = "m." + std::string(300, 'x');
  std::string Bytes = Job.bundle();
  for (size_t At = 0; At != Bytes.size(); ++At)
    for (int Mask : {0xff, 0x01, 0x80}) {
      std::string Changed = Bytes;
      Changed[At] = char(Changed[At] ^ Mask);
      EXPECT_NE(refusal(Changed), "") << At << ' ' << Mask;
    }
}

TEST(BundleTest, TrailingBytes) {
  std::string Bytes = TestJob().bundle();
  for (const std::string &More :
       {std::string("x"), std::string(1, '\0'), std::string(512, '\0'),
        std::string(10240, '\0'), std::string(512, 'x'), Bytes})
    EXPECT_EQ(refusal(Bytes + More), "the bundle has data after its end");
  // Damage the second block of the end.
  Bytes.back() = 'x';
  EXPECT_NE(refusal(Bytes), "");
}

TEST(BundleTest, MoreThanZerosBetweenFiles) {
  std::vector<RawEntry> All = entries();
  std::string Bytes;
  for (const RawEntry &E : All)
    Bytes += rawEntry(E);
  Bytes.back() = 'x'; // After "index".
  EXPECT_EQ(refusal(Bytes + End), "the bundle is damaged: bytes other than "
                                  "zeros follow 'index.thinlto.bc'");
}

TEST(BundleTest, OtherThings) {
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("x"), "");
  EXPECT_NE(refusal(std::string(100000, 'x')), "");
  EXPECT_NE(refusal("!<arch>\n"), "");
  EXPECT_NE(refusal(std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10)), "");
  EXPECT_NE(refusal("PK\3\4" + std::string(1000, '\0')), "");
  EXPECT_NE(refusal("BC\xC0\xDE" + std::string(1000, '\0')), "");
  EXPECT_NE(refusal(std::string(10240, '\0')), "");
  EXPECT_EQ(refusal(End), "the bundle is damaged or not a bundle: it does not "
                          "begin with manifest.json");
}

TEST(BundleTest, Digest) {
  std::vector<RawEntry> All = entries();
  All[3].Data = "Index";
  EXPECT_EQ(refusal(rawTar(All)),
            "the BLAKE3 digest of 'index.thinlto.bc' differs from the one in "
            "the bundle's manifest");
  All = entries();
  All[0].Data[40] ^= 1;
  EXPECT_NE(refusal(rawTar(All)), "");
  std::string Text = manifestText();
  Text.replace(Text.find("linux"), 5, "linuz");
  EXPECT_EQ(refusal(rawTar(entries(Text))),
            "manifest.json of the bundle: it is damaged: its BLAKE3 digest "
            "does not match");
}

//===----------------------------------------------------------------------===//
// Invalid entries
//===----------------------------------------------------------------------===//

TEST(BundleTest, ByHand) {
  // The unchanged archive, which the tests below modify, is valid.
  EXPECT_EQ(refusal(rawTar(entries())), "");
  EXPECT_EQ(refusal(rawTar(entries(changed("2", "2")))), "");
}

TEST(BundleTest, KindsOfFiles) {
  for (auto [Type, Link] : std::initializer_list<std::pair<char, const char *>>{
           {'1', "m.a-o"},
           {'2', "/etc/passwd"},
           {'3', ""},
           {'4', ""},
           {'5', ""},
           {'6', ""}}) {
    std::vector<RawEntry> All = entries();
    All[2].Type = Type;
    All[2].LinkName = Link;
    All[2].Data.clear();
    EXPECT_EQ(refusal(rawTar(All)),
              "the header of 'm.b-o' in the bundle has more than a name and a "
              "size")
        << Type;
  }
  // Other ways to mark a regular file.
  for (char Type : {'\0', '7', 'A', 'Z'}) {
    std::vector<RawEntry> All = entries();
    All[2].Type = Type;
    EXPECT_NE(refusal(rawTar(All)), "") << Type;
  }
  // GNU extensions (names, folders, volumes, sparse files) and pax headers.
  for (char Type : {'L', 'K', 'D', 'M', 'N', 'S', 'V', 'x', 'X', 'g'}) {
    std::vector<RawEntry> All = entries();
    All[2].Type = Type;
    EXPECT_NE(refusal(rawTar(All)), "") << Type;
  }
}

TEST(BundleTest, OtherFormsOfTar) {
  for (StringRef Magic :
       {StringRef("ustar  \0", 8), StringRef("\0\0\0\0\0\0\0\0", 8),
        StringRef("ustar\0\0\0", 8)}) {
    std::vector<RawEntry> All = entries();
    for (RawEntry &E : All)
      E.Magic = Magic.str();
    EXPECT_NE(refusal(rawTar(All)), "");
  }
  std::vector<RawEntry> All = entries();
  All[2].Magic = std::string("ustar  \0", 8);
  EXPECT_EQ(refusal(rawTar(All)),
            "the header of 'm.b-o' in the bundle has more "
            "than a name and a size");
}

TEST(BundleTest, ModesOwnersTimes) {
  std::vector<RawEntry> All[4] = {entries(), entries(), entries(), entries()};
  All[0][1].Mode = 0755;
  All[1][1].User = 1000;
  All[2][1].Time = 1;
  All[3][1].UserName = "root";
  for (auto &Entries : All)
    EXPECT_EQ(refusal(rawTar(Entries)),
              "the header of 'm.a-o' in the bundle has more than a name and a "
              "size");
}

TEST(BundleTest, PaxHeaders) {
  auto With = [](char Type, const std::string &Records) {
    std::vector<RawEntry> All = entries();
    All.insert(All.begin() + 2, {"PaxHeader/m.b-o", Records, Type});
    return refusal(rawTar(All));
  };
  const char *TooMuch = "has more than a name and a size";
  for (char Type : {'x', 'g'}) {
    EXPECT_HAS(With(Type, paxRecord("comment", "hello")), TooMuch);
    EXPECT_HAS(With(Type, paxRecord("path", "m.b-o")), TooMuch);
    EXPECT_HAS(With(Type, ""), TooMuch);
    EXPECT_NE(With(Type, paxRecord("path", "../../etc/passwd")), "");
    EXPECT_NE(With(Type, paxRecord("linkpath", "/etc/passwd")), "");
    EXPECT_NE(With(Type, paxRecord("size", "3")), "");
    EXPECT_NE(With(Type, paxRecord("mtime", "5.5")), "");
    EXPECT_NE(With(Type, paxRecord("path", "m.b-o\nx")), "");
    EXPECT_NE(With(Type, "nonsense"), "");
  }
  EXPECT_HAS(With('x', paxRecord("LIBARCHIVE.xattr.user.a", "eA==")), TooMuch);
  EXPECT_NE(With('x', paxRecord("SCHILY.acl.access", "user::rwx")), "");
  EXPECT_NE(With('x', paxRecord("GNU.sparse.major", "1") +
                          paxRecord("GNU.sparse.minor", "0")),
            "");
  EXPECT_NE(With('x', paxRecord("GNU.sparse.size", "1099511627776") +
                          paxRecord("GNU.sparse.numblocks", "1") +
                          paxRecord("GNU.sparse.map", "0,600")),
            "");

  // More records next to a long name, which needs a pax header.
  TestJob Job;
  Job.Files[1].Path = "m." + std::string(300, 'x');
  std::string Short = Job.Files[1].Path.substr(0, 100), Pax = "PaxHeader";
  auto Long = [&](const std::string &More) {
    std::vector<RawEntry> All = entries(manifestText(Job), Job);
    All[2].Name = Short;
    All.insert(All.begin() + 2,
               {Pax, paxRecord("path", Job.Files[1].Path) + More, 'x'});
    return refusal(rawTar(All));
  };
  EXPECT_EQ(Long(""), "");
  Short = "m.short";
  EXPECT_HAS(Long(""), TooMuch);
  Short = Job.Files[1].Path.substr(0, 100);
  Pax = "PaxHeader/m.xxx";
  EXPECT_HAS(Long(""), TooMuch);
  Pax = "PaxHeader";
  EXPECT_HAS(Long(paxRecord("comment", "hello")), TooMuch);
  EXPECT_HAS(Long(paxRecord("path", Job.Files[1].Path)), TooMuch);
}

TEST(BundleTest, ManyPaxHeaders) {
  // 5 MB of headers for one file, and headers of 64 MB.
  std::string Header = rawEntry({"PaxHeader/x", "", 'x'});
  std::string Bytes = rawEntry(entries()[0]);
  for (unsigned I = 0; I != 10000; ++I)
    Bytes += Header;
  EXPECT_NE(refusal(Bytes + rawEntry(entries()[1]) + End), "");
  EXPECT_NE(
      refusal(rawEntry({"PaxHeader/x",
                        paxRecord("path", std::string(64 << 20, 'x')), 'x'}) +
              rawTar(entries())),
      "");
  EXPECT_NE(
      refusal(rawEntry({"././@LongLink", std::string(64 << 20, 'x'), 'L'}) +
              rawTar(entries())),
      "");
}

TEST(BundleTest, NamesInTheArchive) {
  auto With = [](const std::string &Name) {
    std::vector<RawEntry> All = entries();
    All[2].Name = Name;
    return refusal(rawTar(All));
  };
  for (const char *Name :
       {"/etc/passwd", "../x", "m.b-o/", "m.b-o/.", "./m.b-o", "x/../m.b-o",
        "m.b-o\\", "\xff", "", "M.B-O", "x\ny"})
    EXPECT_NE(With(Name), "") << Name;
  EXPECT_EQ(With("m.c-o"), "'m.c-o' in the bundle is not in its manifest");
  EXPECT_EQ(With("a\nb"), "'a\\x0ab' in the bundle is not in its manifest");
  EXPECT_EQ(With("m.a-o"), "'m.a-o' is in the bundle twice");
  EXPECT_EQ(With("manifest.json"), "'manifest.json' is in the bundle twice");
  EXPECT_EQ(With("index.thinlto.bc"),
            "'index.thinlto.bc' is out of order in the bundle");
}

TEST(BundleTest, MissingAndMore) {
  std::vector<RawEntry> All = entries();
  All.pop_back();
  EXPECT_EQ(refusal(rawTar(All)),
            "'index.thinlto.bc' is missing in the bundle");
  All = entries();
  All.push_back(All[1]);
  EXPECT_EQ(refusal(rawTar(All)), "'m.a-o' is in the bundle twice");
  All = entries();
  All.push_back({"more", ""});
  EXPECT_EQ(refusal(rawTar(All)),
            "'more' in the bundle is not in its manifest");
  All = entries();
  All.erase(All.begin());
  EXPECT_EQ(refusal(rawTar(All)),
            "the bundle is damaged or not a bundle: it does not begin with "
            "manifest.json");
}

TEST(BundleTest, Sizes) {
  std::vector<RawEntry> All = entries();
  All[3].Data = "index.";
  EXPECT_EQ(refusal(rawTar(All)),
            "'index.thinlto.bc' has 6 bytes in the bundle, and 5 in its "
            "manifest");
  // Sizes beyond the end of the archive must not be allocated.
  for (uint64_t Size :
       {uint64_t(50000), uint64_t(1) << 32, (uint64_t(1) << 33) - 1})
    for (size_t I : {0, 1, 3}) {
      All = entries();
      All[I].Size = Size;
      EXPECT_HAS(refusal(rawTar(All)), " has too large a size");
    }
  // The same for sizes that need a pax header.
  for (uint64_t Size :
       {uint64_t(1) << 40, (uint64_t(1) << 62) + 1, (uint64_t(1) << 63) - 1}) {
    std::vector<RawEntry> All = entries();
    All.insert(All.begin() + 2, {"PaxHeader/m.b-o",
                                 paxRecord("size", std::to_string(Size)), 'x'});
    EXPECT_NE(refusal(rawTar(All)), "");
  }
  EXPECT_HAS(refusalOf("\"size\":600", "\"size\":18446744073709551615"),
             "'m.b-o' has 600 bytes in the bundle, and 18446744073709551615");
}

//===----------------------------------------------------------------------===//
// Invalid manifests
//===----------------------------------------------------------------------===//

TEST(BundleTest, Versions) {
  std::string Bytes = TestJob().bundle();
  auto Other = readBundle(Bytes, "19.1.99");
  ASSERT_FALSE(bool(Other));
  EXPECT_EQ(toString(Other.takeError()),
            "the bundle is for LLVM " + ThisLLVM +
                ", but this program has LLVM 19.1.99");
  EXPECT_EQ(refusalOf("\"llvm\":\"" + ThisLLVM, "\"llvm\":\"19.0\\n"),
            "the bundle is for LLVM 19.0\\x0a, but this program has LLVM " +
                ThisLLVM);
  EXPECT_HAS(refusalOf("\"version\":1", "\"version\":2,\"new\":[]"),
             "its format version is 2, but this program supports 1");
  EXPECT_HAS(refusalOf("\"version\":1", "\"version\":\"1\""),
             "'version' is not a whole number");
  EXPECT_HAS(refusalOf("\"version\":1", "\"version\":1.0"),
             "'version' is not a whole number");
  EXPECT_HAS(refusalOf("\"version\":1", "\"version\":-1"), "'version' is not");
  EXPECT_HAS(refusalOf("dtlto-bundle", "tar"),
             "its format is 'tar', not 'dtlto-bundle'");
}

TEST(BundleTest, Keys) {
  for (StringRef Key : {"format", "version", "llvm", "triple", "name", "output",
                        "inputs", "config", "path", "role", "size", "blake3"}) {
    std::string Quoted = "\"" + Key.str() + "\":";
    std::string Why = refusalOf(Quoted, "\"Other\":");
    EXPECT_HAS(Why, "'" + Key.str() + "' is missing");
  }
  EXPECT_HAS(refusalOf("\"args\":", "\"Args\":"), "unknown key 'Args'");
  EXPECT_HAS(refusalOf("\"role\":\"import\"", "\"role\":\"import\",\"x\":1"),
             "unknown key 'x' in input 1");
  EXPECT_HAS(refusalOf("\"triple\":", "\"more\":{},\"triple\":"),
             "unknown key 'more'");
  // JSON doesn't define which of two equal keys counts.
  for (StringRef Twice : {"\"triple\":\"x\",", "\"version\":1,",
                          "\"inputs\":[],", "\"config\":{},"})
    EXPECT_HAS(refusalOf("\"triple\":", (Twice + "\"triple\":").str()),
               "a key is repeated");
  EXPECT_HAS(refusalOf("\"role\":\"import\"",
                       "\"role\":\"import\",\"role\":\"import\""),
             "a key is repeated");
  EXPECT_HAS(refusalOf("\"config\":{", "\"config\":{},\"config\":{"),
             "a key is repeated");
  EXPECT_HAS(refusalOf("\"Level\":2}", "\"Level\":2},\"name\":\"x\""),
             "a key is repeated");
}

TEST(BundleTest, OneFormOnly) {
  for (auto [Old, New] : std::initializer_list<std::pair<StringRef, StringRef>>{
           {"\"version\":1", "\"version\": 1"},
           {"m.b-o", "m\\u002eb-o"},
           {"{\"format\"", " {\"format\""},
           {"\"args\":[", "\"args\":[ "},
           {"\"name\"", "\"n\\u0061me\""},
           {"\"Level\":2}", "\"Level\":2} "}})
    EXPECT_HAS(refusalOf(Old, New), "canonical form") << New.str();
}

TEST(BundleTest, Types) {
  for (StringRef Key :
       {"format", "llvm", "triple", "name", "output", "path", "role"})
    for (StringRef Value : {"1,", "null,", "[],", "{},", "true,"}) {
      std::string Quoted = "\"" + Key.str() + "\":";
      EXPECT_HAS(refusalOf(Quoted, Quoted + Value.str() + "\"x\":"),
                 "'" + Key.str() + "' is not a string");
    }
  EXPECT_HAS(refusalOf("\"size\":11", "\"size\":\"11\""),
             "'size' is not a whole number in input 0");
  EXPECT_HAS(refusalOf("\"size\":11", "\"size\":-11"),
             "'size' is not a whole number in input 0");
  for (StringRef Size : {"11.5", "11.0", "1.1e1"})
    EXPECT_HAS(refusalOf("\"size\":11", ("\"size\":" + Size).str()),
               "'size' is not a whole number in input 0");
  EXPECT_HAS(refusalOf("\"args\":", "\"args\":1,\"x\":"),
             "'args' is not an array");
  EXPECT_HAS(refusalOf("\"-O2\"", "2"), "'args' has values other than strings");
  EXPECT_HAS(refusalOf("\"inputs\":", "\"inputs\":{},\"x\":"),
             "'inputs' is not an array");
  EXPECT_HAS(refusalOf("\"inputs\":[", "\"inputs\":[7,"),
             "input 0 is not an object");
  EXPECT_HAS(refusalOf("\"config\":", "\"config\":[],\"x\":"),
             "'config' is not an object");
  EXPECT_HAS(refusalOf("\"config\":", "\"config\":\"{}\",\"x\":"),
             "'config' is not an object");
  for (const char *Text : {"", "{", "[]", "null", "x", "{}x", "\xff", "{}"})
    EXPECT_HAS(refusal(rawTar(entries(Text))), "manifest.json of the bundle: ");
}

TEST(BundleTest, NamesInTheManifest) {
  for (auto [Name, Why] :
       std::initializer_list<std::pair<StringRef, StringRef>>{
           {"", "is empty"},
           {"/m", "is absolute"},
           {"a//b", "has an empty component"},
           {"a/", "has an empty component"},
           {"..", "'.' or '..'"},
           {"a/../b", "'.' or '..'"},
           {"./a", "'.' or '..'"},
           {"a\\\\b", "has a backslash"},
           {"c:x", "has a colon"},
           {"a\\nb", "has a control character"},
           {"a\\u0000b", "has a control character"},
           {"a\\u007fb", "has a control character"},
           {"\xc3\xa4", "outside of ASCII"}}) {
    std::string Quoted = "\"path\":\"" + Name.str() + "\"";
    EXPECT_HAS(refusalOf("\"path\":\"m.b-o\"", Quoted), Why.str());
    Quoted = "\"output\":\"" + Name.str() + "\"";
    EXPECT_HAS(refusalOf("\"output\":\"out.o\"", Quoted), Why.str());
  }
  EXPECT_HAS(refusalOf("\"path\":\"m.b-o\"",
                       "\"path\":\"" + std::string(4097, 'x') + "\""),
             "is too long");
  EXPECT_EQ(refusalOf("\"path\":\"m.b-o\"", "\"path\":\"m.a-o\""),
            "two inputs of the bundle have the name 'm.a-o'");
  EXPECT_EQ(refusalOf("\"path\":\"m.b-o\"", "\"path\":\"manifest.json\""),
            "two inputs of the bundle have the name 'manifest.json'");
  EXPECT_EQ(refusalOf("\"output\":\"out.o\"", "\"output\":\"m.a-o\""),
            "the bundle's output has the name of an input, 'm.a-o'");
  EXPECT_EQ(refusalOf("\"output\":\"out.o\"", "\"output\":\"manifest.json\""),
            "the bundle's output has the name of an input, 'manifest.json'");
  EXPECT_HAS(refusalOf("\"name\":\"dir", "\"name\":\"\\u001b[1mdir"),
             "has a control character");
  EXPECT_HAS(refusalOf("\"-O2\"", "\"-O2\\u0000\""), "has a zero byte");
}

TEST(BundleTest, Roles) {
  EXPECT_HAS(refusalOf("\"import\"", "\"primary\""),
             "the bundle has 2 primary modules");
  EXPECT_HAS(refusalOf("\"primary\"", "\"import\""),
             "the bundle has 0 primary modules");
  EXPECT_HAS(refusalOf("\"import\"", "\"index\""), "the bundle has 2 indexes");
  EXPECT_HAS(refusalOf("\"index\"", "\"other\""), "the bundle has 0 indexes");
  EXPECT_HAS(refusalOf("\"import\"", "\"Import\""),
             "unknown role 'Import' in input 1");
  EXPECT_EQ(refusalOf("\"import\"", "\"other\""), "");
  std::vector<RawEntry> All = entries(changed("\"primary\"", "\"import\""));
  TestJob Job;
  std::swap(Job.Files[0].Role, Job.Files[1].Role);
  EXPECT_HAS(Job.reason(), "before its other inputs");
  // The same for the reader: swap the roles of the first two inputs.
  std::string Text = changed("\"primary\"", "\"x\"");
  Text.replace(Text.find("\"import\""), 8, "\"primary\"");
  Text.replace(Text.find("\"x\""), 3, "\"import\"");
  Text.resize(Text.size() - 78);
  EXPECT_HAS(refusal(rawTar(entries(sign(Text)))),
             "it must have one, before its other inputs");
}

TEST(BundleTest, DigestsInTheManifest) {
  std::string Digest = bundleDigest("index");
  const char *Why = "is not 64 hexadecimal digits in lower case";
  EXPECT_HAS(refusalOf(Digest, ""), Why);
  EXPECT_HAS(refusalOf(Digest, Digest + "0"), Why);
  EXPECT_HAS(refusalOf(Digest, StringRef(Digest).upper()), Why);
  EXPECT_HAS(refusalOf(Digest, std::string(64, 'g')), Why);
  EXPECT_HAS(refusalOf(Digest, std::string(64, '0')),
             "the BLAKE3 digest of 'index.thinlto.bc' differs from the one");
}

TEST(BundleTest, Bombs) {
  // The parser is recursive, so the depth is limited.
  for (const char *Open : {"[", "{\"a\":"}) {
    std::string Deep;
    for (unsigned I = 0; I != 100000; ++I)
      Deep += Open;
    EXPECT_HAS(refusal(rawTar(entries(Deep))), "nested too deeply");
    EXPECT_HAS(refusalOf("\"Level\":2", "\"Level\":" + Deep),
               "nested too deeply");
  }
  std::string Flat = "[0";
  for (unsigned I = 0; I != 1000000; ++I)
    Flat += ",0";
  EXPECT_HAS(refusalOf("\"Level\":2", "\"Level\":" + Flat + "]"),
             "too many values");
  EXPECT_HAS(refusal(rawTar(entries(std::string(MaxManifestSize + 1, ' ')))),
             "it is longer than 16 MiB");
  // Brackets and commas within strings don't count.
  TestJob Job;
  Job.Args.push_back(std::string(200000, '[') + std::string(200000, ','));
  EXPECT_EQ(must(read(Job.bundle())).Args, Job.Args);
}
