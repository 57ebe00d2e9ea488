//===- FolderSession.cpp - Jobs as files, for a program to run ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FolderSession.h"
#include "Text.h"
#include "dtlto/sdk/RunJob.h"
#include <sys/inotify.h>

using namespace dtlto;
using namespace dtlto::sdk;
using namespace std::chrono_literals;

// A program whose jobs have all ended may have something left to do.
static constexpr auto EndPatience = 2s;
// After SIGTERM.
static constexpr auto KillPatience = 1s;
// Between the lines of one message.
static constexpr auto WordsPause = 500ms;
// What a program says in a run.
static constexpr size_t MaxNotes = 100, MaxWords = 300, MaxErrorWords = 8192;

FolderSession::FolderSession(const dtlto_host &Host,
                             const dtlto_session_params &Params,
                             FolderSettings Set, std::string Suffix)
    : Session(Host), S(std::move(Set)), Output(Params.output),
      LlvmVersion(Params.llvm_version), Suffix(std::move(Suffix)),
      HasJobs(Params.num_jobs != 0), Results(Params) {
  if (S.isWorker())
    require<dtlto_bundle>(Host, DTLTO_EXT_BUNDLE);
}

uint32_t FolderSession::needs(const FolderSettings &S) {
  if (S.isWorker())
    return DTLTO_JOB_INPUTS | DTLTO_JOB_DIGESTS | DTLTO_JOB_CONFIG;
  return DTLTO_JOB_INPUTS | DTLTO_JOB_ARGS | DTLTO_JOB_WHOLE_IMPORTS |
         (S.Fresh ? 0 : DTLTO_JOB_DIGESTS);
}

void FolderSession::begin() {
  if (!HasJobs)
    return;
  ProgramPath = findProgram(S.Program);
  if (ProgramPath.empty()) {
    bool IsPath = S.Program.find('/') != std::string::npos;
    bool IsHere = ::access(S.Program.c_str(), F_OK) == 0;
    throw Error(DTLTO_ERROR_CALLER,
                "there is no program " + quote(S.Program) + " to run" +
                    (!IsHere  ? ""
                     : IsPath ? ": it isn't executable"
                              : " in PATH; './" + S.Program +
                                    "' is the file in this folder"));
  }
  if (std::string Why = launcherProblem(); !Why.empty())
    throw Error(DTLTO_ERROR_INFRASTRUCTURE, Why);
  Folder = std::make_unique<JobFolder>(S.Folder, Output, Suffix, S.Keep);
  Notify.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (Box.fd() < 0)
    throw std::system_error(EMFILE, std::generic_category());
  // Without it, what is there is looked for now and then.
  watchFolderOf("");
  Thread = std::thread([this] { work(); });
}

//===----------------------------------------------------------------------===//
// What the linker asks for; on its thread
//===----------------------------------------------------------------------===//

bool FolderSession::submit(std::shared_ptr<Job> J) {
  Box.post([this, J = std::move(J)] { add(J); });
  return true;
}

void FolderSession::cancel(Job &J) {
  Box.post([this, Id = J.id()] {
    if (Jobs.count(Id))
      finish(Id, {{}, "", "", DTLTO_CANCELLED});
  });
}

void FolderSession::batchComplete() {
  Box.post([this] { IsComplete = true; });
}

void FolderSession::stop() {
  IsStopping = true;
  if (Thread.joinable()) {
    Box.post([this] { Closing = true; });
    Thread.join();
  }
  Runs.clear();
  // First, for what reading the folder takes.
  Notify.reset();
  Folder.reset();
}

std::vector<Worker> FolderSession::status(std::chrono::milliseconds Limit) {
  Worker W;
  W.Name = S.Program;
  std::string Path = findProgram(S.Program);
  std::string Why =
      Path.empty() ? "there is no such program" : launcherProblem();
  std::string Line;
  if (Why.empty())
    Why = compilerProblem(
        std::chrono::duration_cast<std::chrono::seconds>(Limit / 2), Line);
  W.State = Why.empty() ? DTLTO_WORKER_UP : DTLTO_WORKER_OUT;
  W.Compiler = Line;
  W.Why = Why;
  return {W};
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void FolderSession::work() {
  while (true) {
    std::vector<pollfd> Fds = {{Box.fd(), POLLIN, 0},
                               {Notify.get(), POLLIN, 0}};
    for (const auto &R : Runs) {
      Fds.push_back({R->P->out(), POLLIN, 0});
      Fds.push_back({R->P->err(), POLLIN, 0});
    }
    // The end of a program that has closed what it writes to is no event.
    bool IsQuiet = true;
    for (const auto &R : Runs)
      IsQuiet &= R->P->out() >= 0 || R->P->err() >= 0;
    ::poll(Fds.data(), Fds.size(), IsQuiet ? 100 : 5);
    Box.deliver();
    if (Closing)
      break;
    turn();
  }
  shutDown();
}

void FolderSession::turn() {
  for (const auto &R : Runs)
    listen(*R);
  readEvents();
  if (Clock::now() >= NextScan)
    scan();
  auto All = Runs;
  for (const auto &R : All) {
    if (R->P->hasEnded()) {
      runEnded(R);
      continue;
    }
    if (R->NumLeft != 0)
      continue;
    // All its jobs have a result. The cancelled ones it still works on.
    auto Patience = R->HasCancelled || R->IsAsked ? KillPatience : EndPatience;
    if (R->HasCancelled && !R->IsAsked)
      Patience = 0s;
    if (Clock::now() - R->LastResult >= Patience) {
      R->P->end();
      R->IsAsked = true;
      R->LastResult = Clock::now();
    }
  }
  startRuns();
}

/// All jobs have been cancelled, or are about to be.
void FolderSession::shutDown() {
  while (!Jobs.empty())
    finish(Jobs.begin()->first, {{}, "", "", DTLTO_CANCELLED});
  auto Deadline = Clock::now();
  for (const auto &R : Runs)
    Deadline = std::max(
        Deadline, R->HasCancelled ? Clock::now() : R->LastResult + EndPatience);
  for (unsigned Step = 0; Step != 2; ++Step) {
    auto HaveEnded = [&] {
      bool All = true;
      for (const auto &R : Runs) {
        listen(*R);
        All &= R->P->hasEnded();
      }
      return All;
    };
    while (!HaveEnded() && Clock::now() < Deadline)
      std::this_thread::sleep_for(2ms);
    if (HaveEnded())
      break;
    for (const auto &R : Runs)
      R->P->end();
    Deadline = Clock::now() + KillPatience;
  }
  for (const auto &R : Runs)
    handOnWords(*R);
  Runs.clear(); // kills the rest
}

//===----------------------------------------------------------------------===//
// Jobs and programs
//===----------------------------------------------------------------------===//

void FolderSession::add(std::shared_ptr<Job> J) {
  IsComplete = false;
  uint64_t Id = J->id();
  Entry &E = Jobs[Id];
  E.J = std::move(J);
  std::string Why;
  int32_t Status = detail::guard(Why, [&] {
    if (E.J->isCancelled())
      throw Error(DTLTO_CANCELLED, "");
    writeFiles(E);
    return int32_t(DTLTO_OK);
  });
  if (Status != DTLTO_OK)
    return finish(Id, {{}, Why, "", Status});
  E.J->state(DTLTO_STATE_QUEUED);
  Waiting.push_back(Id);
}

void FolderSession::startRuns() {
  while (!Waiting.empty() && Runs.size() < S.Programs &&
         (IsComplete || Waiting.size() >= S.Batch)) {
    std::vector<uint64_t> Batch;
    while (!Waiting.empty() && Batch.size() < S.Batch) {
      if (Jobs.count(Waiting.front())) // it isn't cancelled
        Batch.push_back(Waiting.front());
      Waiting.erase(Waiting.begin());
    }
    if (!Batch.empty())
      start(Batch);
  }
}

/// Asks the compiler for its version. Returns what dtlto_run_command() does,
/// and in \p Words what the compiler said, or one line of why it can't be run.
int32_t FolderSession::runCompiler(std::chrono::seconds Limit,
                                   std::string &Words) const {
  std::vector<std::string> Args = {S.Compiler};
  Args.insert(Args.end(), S.CompilerFirst.begin(), S.CompilerFirst.end());
  Args.push_back("--version");
  const auto End = Clock::now() + Limit;
  if (!Folder) { // for the status
    std::vector<const char *> Raw;
    for (const std::string &Arg : Args)
      Raw.push_back(Arg.c_str());
    Raw.push_back(nullptr);
    auto IsLate = [](void *Limit) -> int {
      return Clock::now() >= *static_cast<const Clock::time_point *>(Limit);
    };
    auto Context = End;
    dtlto_run Run = {S.Compiler.c_str(), IsLate, &Context};
    char Answer[4096];
    int32_t Status = dtlto_run_command(&Run, Raw.data(), DTLTO_RUN_HERE, Answer,
                                       sizeof(Answer));
    Words = Answer;
    return Status;
  }
  // Ends with the linker, however that ends.
  Args[0] = findProgram(S.Compiler);
  if (Args[0].empty()) {
    Words = "there is no such program";
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  Program P(*Folder, Args, {});
  auto Listen = [&] {
    P.listen([&](const std::string &Line, bool) {
      if (Words.size() < MaxErrorWords)
        Words += Line + "\n";
    });
  };
  while (!P.hasEnded()) {
    if (IsStopping || Clock::now() >= End)
      return DTLTO_CANCELLED;
    pollfd Fds[2] = {{P.out(), POLLIN, 0}, {P.err(), POLLIN, 0}};
    ::poll(Fds, 2, 20);
    Listen();
  }
  Listen();
  if (P.how().empty())
    return DTLTO_OK;
  Words = P.how() + (Words.empty() ? "" : ": " + Words);
  return DTLTO_ERROR_COMPILER;
}

/// What is wrong with the compiler here, which must be of the linker's version:
/// all that is known of those on other machines. \p Line: what it is.
std::string FolderSession::compilerProblem(std::chrono::seconds Limit,
                                           std::string &Line) const {
  std::string Answer;
  int32_t Status = runCompiler(Limit, Answer);
  Line = Answer.substr(0, Answer.find('\n'));
  // dtlto-codegen says it in other words, and each object names its job.
  std::string Says = "LLVM version " + LlvmVersion;
  size_t At = S.isWorker() ? Line.find(Says) : std::string::npos;
  if (Status == DTLTO_OK &&
      (dtlto_run_is_version(Answer.c_str(), LlvmVersion.c_str()) ||
       (At != std::string::npos &&
        !::isdigit(static_cast<unsigned char>(Line[At + Says.size()])))))
    return "";
  std::string Why;
  if (Status == DTLTO_CANCELLED)
    Why = "the compiler " + quote(S.Compiler) + " gives no answer";
  else if (Status != DTLTO_OK)
    Why = "the compiler " + quote(S.Compiler) +
          " can't be run here: " + std::exchange(Line, "");
  else
    Why = "the compiler " + quote(S.Compiler) + " isn't of LLVM " +
          LlvmVersion + ", as the linker is, but " + quote(Line);
  return Why;
}

void FolderSession::start(const std::vector<uint64_t> &Batch) {
  std::string Why, Line;
  int32_t Status = detail::guard(Why, [&] {
    if (!std::exchange(ToolsAreChecked, true))
      if (CompilerWhy = compilerProblem(8s, Line);
          !CompilerWhy.empty() && !IsStopping)
        log(DTLTO_LOG_ERROR, CompilerWhy);
    if (!CompilerWhy.empty())
      throw Error(DTLTO_ERROR_INFRASTRUCTURE, CompilerWhy);
    std::vector<const FolderJob *> Files;
    for (uint64_t Id : Batch)
      Files.push_back(&Jobs.at(Id).Files);
    std::vector<std::string> Args = describe(*Folder, Files, ++NumRuns);
    Args.insert(Args.begin(), ProgramPath);
    auto R = std::make_shared<Run>();
    readEvents(); // ours are over
    R->P = std::make_unique<Program>(*Folder, Args, environment());
    R->NumLeft = static_cast<unsigned>(Batch.size());
    R->LastResult = Clock::now();
    for (uint64_t Id : Batch) {
      Entry &E = Jobs.at(Id);
      E.On = R;
      R->Outputs.insert(E.Files.Output);
    }
    Runs.push_back(R);
    log(DTLTO_LOG_DEBUG, quote(S.Program) + " has " +
                             std::to_string(Batch.size()) + " jobs in " +
                             quote(Folder->path()));
    return int32_t(DTLTO_OK);
  });
  if (Status != DTLTO_OK)
    for (uint64_t Id : Batch)
      finish(Id, {{}, Why, "", Status});
}

void FolderSession::listen(Run &R) {
  bool SaidAny = false;
  R.P->listen([&](std::string Line, bool IsError) {
    SaidAny = true;
    // The linker puts the plugin's name before it.
    if (std::string Own = std::string(baseName(S.Program)) + ": ";
        Line.compare(0, Own.size(), Own) == 0)
      Line.erase(0, Own.size());
    IsError &= !isNoise(Line);
    if (IsError && R.NumNotes++ < MaxNotes)
      R.NewWords += Line + "\n";
    else
      log(DTLTO_LOG_DEBUG, Line);
    if (IsError || R.LastError.empty())
      (IsError ? R.LastError : R.LastLine) = Line.substr(0, MaxWords);
    if (IsError && R.ErrorWords.size() + Line.size() < MaxErrorWords)
      R.ErrorWords += Line + "\n";
  });
  if (SaidAny) {
    R.LastWords = Clock::now();
    showSigns(R);
  } else if (Clock::now() - R.LastWords >= WordsPause) {
    handOnWords(R);
  }
}

/// A message of a compiler's has several lines, which may come one by one: they
/// are handed on when the program pauses.
void FolderSession::handOnWords(Run &R) {
  if (!R.NewWords.empty())
    log(DTLTO_LOG_COMPILER, std::exchange(R.NewWords, ""));
}

/// The jobs that run live: at most once a second.
void FolderSession::showSigns(Run &R) {
  if (Clock::now() - R.LastSign < 1s)
    return;
  R.LastSign = Clock::now();
  for (auto &[Id, E] : Jobs)
    if (E.On.get() == &R)
      E.J->state(E.IsRunning ? DTLTO_STATE_RUNNING : DTLTO_STATE_QUEUED);
}

/// What the compiler has said of the job of \p E: its file, or of all that the
/// program has said what names the module, or what \p IsAlone has. \p HasFailed
/// becomes whether it failed, if that is known.
std::string FolderSession::wordsOf(const Entry &E, bool IsAlone,
                                   bool &HasFailed) {
  std::string Words;
  if (S.KeepsWords) {
    HasFailed = !Folder->read(E.Files.words(), Words);
    if (HasFailed)
      Folder->read(E.Files.wordsOfFailure(), Words);
    Words.resize(std::min(Words.size(), size_t(64) << 10));
    return Words;
  }
  if (IsAlone)
    return E.On->ErrorWords;
  std::string_view Rest = E.On->ErrorWords;
  while (!Rest.empty()) {
    std::string_view Line = Rest.substr(0, Rest.find('\n') + 1);
    Rest.remove_prefix(Line.size());
    if (Line.find(E.Base) != Line.npos)
      Words += Line;
  }
  return Words;
}

/// Whether an error of a compiler's is in \p Words.
bool FolderSession::hasError(const std::string &Words) {
  return Words.find("error: ") != Words.npos || !importError(Words).empty() ||
         !unreadInput(Words).empty();
}

void FolderSession::runEnded(const std::shared_ptr<Run> &R) {
  listen(*R);
  handOnWords(*R);
  readEvents();
  std::string How = R->P->how();
  std::string Words = R->LastError.empty() ? R->LastLine : R->LastError;
  std::string Text =
      quote(S.Program) + " " + How + (Words.empty() ? "" : ": " + Words);
  std::vector<uint64_t> Left;
  std::vector<std::string> Reasons;
  for (const auto &[Id, E] : Jobs)
    if (E.On == R)
      Left.push_back(Id);
  Left.erase(std::remove_if(Left.begin(), Left.end(),
                            [&](uint64_t Id) {
                              std::string Why;
                              if (take(Id, Why, /*HasEnded=*/How.empty()))
                                return true;
                              Folder->remove(Jobs.at(Id).Files.Output);
                              Reasons.push_back(Why);
                              return false;
                            }),
             Left.end());
  if (!How.empty() && Left.empty() && !R->IsAsked)
    log(DTLTO_LOG_DEBUG, Text);
  for (size_t I = 0; I != Left.size(); ++I) {
    bool HasFailed = !How.empty();
    std::string Said =
        wordsOf(Jobs.at(Left[I]), /*IsAlone=*/Left.size() == 1, HasFailed);
    // The linker takes a compiler's error for no more than one worker's word. A
    // clang that can't import, or can't read its inputs, ends with 0.
    if (std::string_view Line = unreadInput(Said);
        !HasFailed && !Line.empty()) {
      finish(Left[I],
             {{},
              "the compiler could not read its inputs: " + std::string(Line),
              "",
              DTLTO_ERROR_INFRASTRUCTURE});
      continue;
    }
    if (hasError(Said)) {
      finish(Left[I],
             {{}, Said, "", HasFailed ? DTLTO_ERROR_COMPILER : DTLTO_OK});
      continue;
    }
    std::string More;
    if (S.KeepsWords && !Said.empty())
      More = ": " + Said.substr(0, Said.find('\n')).substr(0, MaxWords);
    finish(Left[I],
           {{},
            How.empty() ? quote(S.Program) + " has ended, and " + Reasons[I]
                        : Text + More,
            "",
            DTLTO_ERROR_INFRASTRUCTURE});
  }
  Runs.erase(std::find(Runs.begin(), Runs.end(), R));
}

/// The job \p Id is over, and its names are free.
void FolderSession::finish(uint64_t Id, Result Res) {
  auto It = Jobs.find(Id);
  Entry E = std::move(It->second);
  Jobs.erase(It);
  ByName.erase(E.Ends);
  ByName.erase(E.Begins);
  NumRunning -= E.IsRunning;
  if (E.On) {
    --E.On->NumLeft;
    E.On->LastResult = Clock::now();
    E.On->HasCancelled |= Res.Status == DTLTO_CANCELLED;
    showSigns(*E.On);
  }
  E.J->finish(std::move(Res));
}
