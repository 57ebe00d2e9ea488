//===- FolderSession.cpp - Jobs as files, for a program to run ------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FolderSession.h"
#include "Text.h"
#include "dtlto/sdk/CompileResult.hpp"
#include <cassert>

using namespace dtlto;
using namespace dtlto::sdk;
using namespace std::chrono_literals;

// In bytes: the compiler's output in messages, and its answer to --version.
static constexpr size_t MaxExcerpt = 300, MaxAnswer = 8192;

FolderSession::FolderSession(const dtlto_host &Host,
                             const dtlto_session_params &Params,
                             FolderSettings Settings, std::string Suffix)
    : Session(Host), S(std::move(Settings)), Output(Params.output),
      LlvmVersion(Params.llvm_version), Suffix(std::move(Suffix)),
      HasJobs(Params.num_jobs != 0), Results(Params),
      Runs(
          std::string(baseName(S.Program)),
          [this](uint32_t Level, const std::string &Text) { log(Level, Text); },
          [this](const std::string &Line) { return isNoise(Line); }) {
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
    bool FileExists = ::access(S.Program.c_str(), F_OK) == 0;
    throw Error(DTLTO_ERROR_CALLER,
                "there is no program " + quote(S.Program) + " to run" +
                    (!FileExists ? ""
                     : IsPath    ? ": not executable"
                                 : " in PATH; './" + S.Program +
                                    "' is the file in this folder"));
  }
  if (std::string Why = launcherProblem(); !Why.empty())
    throw Error(DTLTO_ERROR_INFRASTRUCTURE, Why);
  Folder = std::make_unique<JobFolder>(S.Folder, Output, Suffix, S.Keep);
  if (Box.fd() < 0)
    throw std::system_error(EMFILE, std::generic_category());
  Watch = std::make_unique<ObjectWatch>(
      *Folder, [this](uint64_t Id) { onJobBegin(Id); },
      [this](uint64_t Id) {
        std::string Why;
        return take(Id, Why);
      });
  Thread = std::thread([this] { work(); });
}

//===----------------------------------------------------------------------===//
// Requests of the linker, on its thread
//===----------------------------------------------------------------------===//

bool FolderSession::submit(std::shared_ptr<Job> TheJob) {
  Box.post([this, TheJob = std::move(TheJob)] { add(TheJob); });
  return true;
}

void FolderSession::cancel(Job &TheJob) {
  Box.post([this, Id = TheJob.id()] {
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
    Box.post([this] { IsClosing = true; });
    Thread.join();
  }
  // Close the watch's descriptor first: removing the folder may need one.
  Watch.reset();
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
// The session's thread
//===----------------------------------------------------------------------===//

void FolderSession::work() {
  while (true) {
    Runs.wait({{Box.fd(), POLLIN, 0}, {Watch->fd(), POLLIN, 0}});
    Box.deliver();
    if (IsClosing)
      break;
    turn();
  }
  // All jobs have been cancelled, or are about to be.
  while (!Jobs.empty())
    finish(Jobs.begin()->first, {{}, "", "", DTLTO_CANCELLED});
  Runs.endAll();
}

void FolderSession::turn() {
  for (const auto &R : Runs.all())
    if (Runs.listen(*R))
      reportProgress(*R);
  Watch->readEvents();
  Watch->scan();
  for (const auto &R : Runs.takeEnded())
    onRunEnd(*R);
  Runs.endIdle();
  startRuns();
}

//===----------------------------------------------------------------------===//
// Jobs and programs
//===----------------------------------------------------------------------===//

void FolderSession::add(std::shared_ptr<Job> TheJob) {
  assert(isSessionThread());
  IsComplete = false;
  uint64_t Id = TheJob->id();
  Entry &E = Jobs[Id];
  E.TheJob = std::move(TheJob);
  std::string Why;
  int32_t Status = detail::guard(Why, [&] {
    if (E.TheJob->isCancelled())
      throw Error(DTLTO_CANCELLED, "");
    writeFiles(E);
    return int32_t(DTLTO_OK);
  });
  if (Status != DTLTO_OK)
    return finish(Id, {{}, Why, "", Status});
  E.TheJob->state(DTLTO_STATE_QUEUED);
  Waiting.push_back(Id);
}

void FolderSession::startRuns() {
  while (!Waiting.empty() && Runs.all().size() < S.Programs &&
         (IsComplete || Waiting.size() >= S.Batch)) {
    std::vector<uint64_t> Batch;
    while (!Waiting.empty() && Batch.size() < S.Batch) {
      if (Jobs.count(Waiting.front())) // not cancelled
        Batch.push_back(Waiting.front());
      Waiting.erase(Waiting.begin());
    }
    if (!Batch.empty())
      start(Batch);
  }
}

/// Asks the compiler for its version. Returns DTLTO_OK, DTLTO_CANCELLED without
/// an answer, or another status. Sets \p CompilerOutput to the compiler's
/// output, or to one line about why it can't be run.
int32_t FolderSession::runCompiler(std::chrono::seconds Limit,
                                   std::string &CompilerOutput) const {
  std::vector<std::string> Args = {findProgram(S.Compiler)};
  Args.insert(Args.end(), S.CompilerFirst.begin(), S.CompilerFirst.end());
  Args.push_back("--version");
  using Clock = std::chrono::steady_clock;
  const auto End = Clock::now() + Limit;
  if (Args[0].empty()) {
    CompilerOutput = "there is no such program";
    return DTLTO_ERROR_INFRASTRUCTURE;
  }
  Program Child(Folder.get(), Args, {}); // a status has no folder
  auto Listen = [&] {
    Child.listen([&](const std::string &Line, bool) {
      if (CompilerOutput.size() < MaxAnswer)
        CompilerOutput += Line + "\n";
    });
  };
  while (!Child.hasEnded()) {
    if (IsStopping || Clock::now() >= End)
      return DTLTO_CANCELLED;
    pollfd Fds[2] = {{Child.out(), POLLIN, 0}, {Child.err(), POLLIN, 0}};
    ::poll(Fds, 2, 20);
    Listen();
  }
  Listen();
  if (Child.describeExit().empty())
    return DTLTO_OK;
  CompilerOutput = Child.describeExit() +
                   (CompilerOutput.empty() ? "" : ": " + CompilerOutput);
  return DTLTO_ERROR_COMPILER;
}

/// Describes what is wrong with the compiler on this machine, if anything. Its
/// version must be the linker's; compilers on other machines can't be asked.
/// Sets \p Line to the first line of its answer.
std::string FolderSession::compilerProblem(std::chrono::seconds Limit,
                                           std::string &Line) const {
  std::string Answer;
  int32_t Status = runCompiler(Limit, Answer);
  Line = Answer.substr(0, Answer.find('\n'));
  // dtlto-codegen prints its version differently.
  std::string Expected = "LLVM version " + LlvmVersion;
  size_t At = S.isWorker() ? Line.find(Expected) : std::string::npos;
  if (Status == DTLTO_OK &&
      (isVersion(Answer, LlvmVersion) ||
       (At != std::string::npos &&
        !::isdigit(static_cast<unsigned char>(Line[At + Expected.size()])))))
    return "";
  std::string Why;
  if (Status == DTLTO_CANCELLED)
    Why = "the compiler " + quote(S.Compiler) + " did not answer";
  else if (Status != DTLTO_OK)
    Why = "the compiler " + quote(S.Compiler) +
          " cannot be run on this machine: " + std::exchange(Line, "");
  else
    Why = "the linker needs LLVM " + LlvmVersion + ", but the compiler " +
          quote(S.Compiler) + " is " + quote(Line);
  return Why;
}

void FolderSession::start(const std::vector<uint64_t> &Batch) {
  assert(isSessionThread());
  std::string Why, Line;
  int32_t Status = detail::guard(Why, [&] {
    if (!std::exchange(IsCompilerChecked, true))
      if (CompilerError = compilerProblem(8s, Line);
          !CompilerError.empty() && !IsStopping)
        log(DTLTO_LOG_ERROR, CompilerError);
    if (!CompilerError.empty())
      throw Error(DTLTO_ERROR_INFRASTRUCTURE, CompilerError);
    std::vector<const FolderJob *> Files;
    for (uint64_t Id : Batch)
      Files.push_back(&Jobs.at(Id).Files);
    std::vector<std::string> Args = describe(*Folder, Files, ++NumRuns);
    Args.insert(Args.begin(), ProgramPath);
    std::set<std::string> Outputs;
    for (const FolderJob *F : Files)
      Outputs.insert(F->Output);
    Watch->readEvents(); // drop events of our own writes
    auto R = Runs.start(*Folder, Args, environment(), std::move(Outputs));
    for (uint64_t Id : Batch) {
      Jobs.at(Id).Run = R;
      Watch->start(Id);
    }
    log(DTLTO_LOG_DEBUG, quote(S.Program) + " runs " +
                             std::to_string(Batch.size()) + " jobs in " +
                             quote(Folder->path()));
    return int32_t(DTLTO_OK);
  });
  if (Status != DTLTO_OK)
    for (uint64_t Id : Batch)
      finish(Id, {{}, Why, "", Status});
}

void FolderSession::onJobBegin(uint64_t Id) {
  assert(isSessionThread());
  Entry &E = Jobs.at(Id);
  if (std::exchange(E.IsRunning, true))
    return;
  ++NumRunning;
  E.TheJob->state(DTLTO_STATE_RUNNING);
}

/// Reports progress of the jobs of \p R, at most once a second.
void FolderSession::reportProgress(ProgramRun &R) {
  if (ProgramRun::Clock::now() - R.LastProgress < 1s)
    return;
  R.LastProgress = ProgramRun::Clock::now();
  for (auto &[Id, E] : Jobs)
    if (E.Run.get() == &R)
      E.TheJob->state(E.IsRunning ? DTLTO_STATE_RUNNING : DTLTO_STATE_QUEUED);
}

/// Returns the compiler's output for the job of \p E: the job's own file, or
/// the program's error lines that name the module, or all error lines if the
/// job \p IsAlone. Sets \p HasFailed to whether the compiler failed, if that is
/// known.
std::string FolderSession::compilerOutput(const Entry &E, bool IsAlone,
                                          bool &HasFailed) const {
  std::string CompilerOutput;
  if (S.SavesStderr) {
    HasFailed = !Folder->read(E.Files.words(), CompilerOutput);
    if (HasFailed)
      Folder->read(E.Files.wordsOfFailure(), CompilerOutput);
    CompilerOutput.resize(std::min(CompilerOutput.size(), size_t(64) << 10));
    return CompilerOutput;
  }
  if (IsAlone)
    return E.Run->ErrorOutput;
  std::string_view Rest = E.Run->ErrorOutput;
  while (!Rest.empty()) {
    std::string_view Line = Rest.substr(0, Rest.find('\n') + 1);
    Rest.remove_prefix(Line.size());
    if (Line.find(E.Base) != Line.npos)
      CompilerOutput += Line;
  }
  return CompilerOutput;
}

/// Whether \p CompilerOutput contains a compiler error.
static bool hasError(const std::string &CompilerOutput) {
  return CompilerOutput.find("error: ") != CompilerOutput.npos ||
         !importError(CompilerOutput).empty() ||
         !inputError(CompilerOutput).empty();
}

/// Finishes the job \p Id with its object. Returns false with \p Why if there
/// is none. If the program \p HasEnded, the object is complete: an invalid one
/// goes to the linker, which judges it, and its file is removed.
bool FolderSession::take(uint64_t Id, std::string &Why, bool HasEnded) {
  assert(isSessionThread());
  Entry &E = Jobs.at(Id);
  std::vector<char> Object;
  ResultMemory::Share Share(Results);
  if (Folder->readObject(E.Files.Output, Share, Object, Why)) {
    Why = E.TheJob->problem({Object.data(), Object.size()});
    bool HasFailed;
    if (HasEnded && !Why.empty() &&
        !hasError(compilerOutput(E, /*IsAlone=*/false, HasFailed))) {
      Folder->remove(E.Files.Output);
      Why.clear();
    }
  }
  if (!Why.empty())
    return false;
  std::string CompilerOutput;
  // If the launcher replaced the shell, the file still has its first name.
  if (S.SavesStderr && !Folder->read(E.Files.words(), CompilerOutput))
    Folder->read(E.Files.wordsOfFailure(), CompilerOutput);
  finish(Id,
         {std::move(Object), CompilerOutput, std::string(baseName(S.Program))});
  return true;
}

void FolderSession::onRunEnd(const ProgramRun &R) {
  Watch->readEvents();
  const std::string ExitText = R.Child.describeExit();
  const std::string Program = quote(S.Program);
  const std::string &Last = R.LastError.empty() ? R.LastLine : R.LastError;
  const std::string Text =
      Program + " " + ExitText + (Last.empty() ? "" : ": " + Last);
  std::vector<std::pair<uint64_t, std::string>> FailedJobs; // jobs, and why
  for (auto Next = Jobs.begin(); Next != Jobs.end();) {
    const auto &[Id, E] = *Next++; // take() may erase it
    std::string Why;
    if (E.Run.get() != &R || take(Id, Why, /*HasEnded=*/ExitText.empty()))
      continue;
    Folder->remove(E.Files.Output);
    FailedJobs.emplace_back(Id, Why);
  }
  if (!ExitText.empty() && FailedJobs.empty() && !R.WasAskedToEnd)
    log(DTLTO_LOG_DEBUG, Text);
  for (const auto &[Id, Why] : FailedJobs) {
    bool HasFailed = !ExitText.empty();
    std::string CompilerOutput =
        compilerOutput(Jobs.at(Id), FailedJobs.size() == 1, HasFailed);
    std::string_view InputError = inputError(CompilerOutput);
    Result Res = {{}, "", "", DTLTO_ERROR_INFRASTRUCTURE};
    // A clang that can't import, or can't read its inputs, exits with 0. The
    // linker has another worker confirm compiler errors.
    if (!HasFailed && !InputError.empty())
      Res.Message =
          "the compiler could not read its inputs: " + std::string(InputError);
    else if (hasError(CompilerOutput))
      Res = {
          {}, CompilerOutput, "", HasFailed ? DTLTO_ERROR_COMPILER : DTLTO_OK};
    else if (ExitText.empty())
      Res.Message = Program + " succeeded, but " + Why;
    else if (S.SavesStderr && !CompilerOutput.empty())
      Res.Message = Text + ": " +
                    CompilerOutput.substr(0, CompilerOutput.find('\n'))
                        .substr(0, MaxExcerpt);
    else
      Res.Message = Text;
    finish(Id, std::move(Res));
  }
}

/// Ends the job \p Id and frees its names.
void FolderSession::finish(uint64_t Id, Result Res) {
  assert(isSessionThread());
  auto It = Jobs.find(Id);
  Entry E = std::move(It->second);
  Jobs.erase(It);
  Watch->remove(Id);
  NumRunning -= E.IsRunning;
  if (E.Run) {
    E.Run->jobEnded(Res.Status == DTLTO_CANCELLED);
    reportProgress(*E.Run);
  }
  E.TheJob->finish(std::move(Res));
}
