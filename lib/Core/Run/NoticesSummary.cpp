//===- NoticesSummary.cpp - Messages at the end of a link -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Notices.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace dtlto;

// The longest time that it takes to reach a farm.
static constexpr double ShortLinkSeconds = 1;

std::string Notices::ofAllJobs(size_t N) const {
  return std::to_string(N) + " of " + std::to_string(Run.numJobs());
}

/// Returns why the plugin made no object of this link, as far as known.
std::string Notices::noResultReason() const {
  auto seconds = [](plan::Time T) {
    return formatv("{0:f1} s", plan::seconds(T)).str();
  };
  const size_t NumJobs = Run.numJobs();
  std::string Jobs =
      NumJobs == 1 ? "the job" : "the " + std::to_string(NumJobs) + " jobs";
  std::string Why;
  if (!IsOpen) {
    Why = "it was not open after " + seconds(Now);
  } else if (Accepted.empty()) {
    Why = WasBusy ? "it was full, and accepted none of " + Jobs
                  : "it accepted none of " + Jobs + " within " + seconds(Now);
  } else {
    Why = "it accepted " + (Accepted.size() == NumJobs
                                ? Jobs
                                : std::to_string(Accepted.size()) + " of " +
                                      std::to_string(NumJobs) + " jobs");
    Why += StartedJobs.empty()
               ? ", but started none"
               : ", started " + std::to_string(StartedJobs.size()) +
                     ", but returned no result";
    Why += " within " + seconds(Now - FirstAccepted);
  }
  return LastFailure.empty() ? Why : Why + "; the last failure: " + LastFailure;
}

/// On a terminal, reports the counts of a link that used other machines.
void Notices::showCounts() const {
  const size_t NumJobs = Run.numJobs();
  if (IsThisMachine || !Ctx.isLast() || hasErrors() ||
      Ctx.opts().Progress == ProgressKind::Never || !Ctx.msg().columns())
    return;
  std::vector<std::string> Parts;
  if (Num.Cached)
    Parts.push_back(std::to_string(Num.Cached) + " from the cache");
  if (Num.Found)
    Parts.push_back(std::to_string(Num.Found) + " from the remote cache");
  if (Num.Remote && Hosts.empty())
    Parts.push_back(std::to_string(Num.Remote) + " remotely");
  else if (Num.Remote)
    Parts.push_back(std::to_string(Num.Remote) + " on " +
                    (Hosts.size() == 1
                         ? *Hosts.begin()
                         : std::to_string(Hosts.size()) + " hosts"));
  if (size_t NumLocal =
          Num.Fallback + Num.Shared + Num.NotExpressible + Num.LocalWins)
    Parts.push_back(std::to_string(NumLocal) + " locally");
  if (Parts.empty() || Num.Cached == NumJobs)
    return;
  Ctx.msg().note(Twine(NumJobs) + " " + (NumJobs == 1 ? "module" : Ctx.Units) +
                 ": " + join(Parts, ", "));
}

/// Reports which jobs can't run at the plugin, once for each link.
void Notices::noteNotExpressible() {
  std::string LocalReasons;
  if (Num.NotExpressible)
    LocalReasons = ofAllJobs(Num.NotExpressible) + join(NotExpressible, ", ");
  if (!Ctx.wasReported(LocalReasons) && Num.NotExpressible)
    Ctx.msg().note(plugin() + ofAllJobs(Num.NotExpressible) + " " + Ctx.Units +
                   " were compiled locally, since " +
                   join(NotExpressible, ", ") +
                   " cannot be expressed on a remote compiler's command line");
}

void Notices::summarize(ArrayRef<std::string> Notes,
                        ArrayRef<std::string> DebugNotes) {
  for (const std::string &Note : Notes)
    Ctx.msg().note(Note);
  noteNotExpressible();
  if (Num.Retried)
    Ctx.msg().note(
        plugin() + ofAllJobs(Num.Retried) +
        " jobs failed, but succeeded when retried; the last one was " +
        LastRetry);
  if (Num.Suppressed)
    Ctx.msg().warning(plugin() + Twine(Num.Suppressed) + " more " + Ctx.Units +
                      " failed in the same way (use --verbose to list them)");
  // If the plugin made no object, count all as fallbacks.
  if (Num.Fallback)
    Ctx.msg().warning(plugin() +
                      ofAllJobs(Num.Fallback + (Num.Remote ? 0 : Num.Shared)) +
                      " " + Ctx.Units + " were compiled locally instead");
  // A plugin without jobs isn't opened, so it reports nothing itself.
  if (Num.Cached)
    Ctx.msg().debug(plugin() + ofAllJobs(Num.Cached) +
                    " objects came from the cache");
  if (Ctx.Store)
    Ctx.msg().debug(ofAllJobs(Num.Found) + " objects came from the " +
                    Ctx.Store->name());
  Ctx.msg().debug(Twine(Run.numJobs()) + " jobs, " +
                  formatv("{0:f3}", secondsSince(Ctx.StartTime)).str() +
                  " s from first start to last object");
  for (const std::string &Note : DebugNotes)
    Ctx.msg().debug(Note);
  summarizeShares();
  showCounts();
}

/// Reports what ran locally as well, ran twice, or was compared.
void Notices::summarizeShares() const {
  const size_t NumJobs = Run.numJobs();
  // A short link may end before any farm has answered.
  if (Num.Shared &&
      Num.Shared + Num.Cached + Num.Found + Num.NotExpressible == NumJobs)
    Ctx.msg().emit(secondsSince(Ctx.StartTime) < ShortLinkSeconds
                       ? MessageLevel::Debug
                       : MessageLevel::Warning,
                   plugin() + noResultReason() +
                       "; all were compiled locally; --thinlto-dist-status "
                       "shows the farm");
  else if (Num.Shared)
    Ctx.msg().debug(plugin() + ofAllJobs(Num.Shared) + " " + Ctx.Units +
                    " were compiled locally");
  if (Num.Duplicates)
    Ctx.msg().debug(plugin() + "duplicate attempts for slow jobs: " +
                    Twine(Num.Duplicates) + " started, " +
                    Twine(Num.DuplicatesWon) + " finished first");
  if (Num.Verified)
    Ctx.msg().debug(plugin() + ofAllJobs(Num.Verified) + " objects verified");
  else if (Ctx.opts().VerifyPercent != 0 && NumJobs != 0 && !hasErrors())
    Ctx.msg().warning(plugin() + "none of the " + Twine(NumJobs) +
                      " objects was verified (--thinlto-dist-verify): " +
                      Twine(Num.Cached) + " came from the cache, " +
                      Twine(Num.Proven) + " were compiled locally");
}
