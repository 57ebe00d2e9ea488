//===- PluginInfo.cpp - What plugins say about themselves -----------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host/PluginInfo.h"
#include "Host/PluginLoader.h"
#include "Rules/Rules.h"
#include "Support/Failure.h"
#include "Support/FileTask.h"
#include "Support/Text.h"
#include "dtlto/ext/describe.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cstring>
#include <memory>

using namespace llvm;
using namespace dtlto;

// Of a plugin's texts, arguments, variables and choices.
static constexpr size_t MaxText = 500;
static constexpr uint32_t MaxEntries = 500, MaxChoices = 50;

/// Returns \p Text, which may be null, for display.
static std::string clean(const char *Text) {
  return Text ? sanitizedLine(StringRef(Text, strnlen(Text, MaxText + 1)),
                              MaxText)
              : "";
}

/// Returns \p Field of \p Struct for display. It may be missing.
template <typename S>
static std::string textOf(const S *Struct, const char *S::*Field) {
  return hasField(Struct, Field) ? clean(Struct->*Field) : "";
}

template <typename S, typename T>
static T numberOf(const S *Struct, T S::*Field) {
  return hasField(Struct, Field) ? Struct->*Field : T();
}

static std::vector<std::string> choicesOf(const dtlto_argument *A) {
  std::vector<std::string> Choices;
  const char *const *Raw = numberOf(A, &dtlto_argument::choices);
  uint32_t N = numberOf(A, &dtlto_argument::num_choices);
  for (uint32_t I = 0; Raw && I != std::min(N, MaxChoices); ++I)
    Choices.push_back(clean(Raw[I]));
  if (Raw && N > MaxChoices)
    Choices.push_back("...");
  return Choices;
}

static std::pair<std::string, std::string>
describeArgument(const dtlto_argument *A) {
  uint32_t Kind = numberOf(A, &dtlto_argument::kind);
  std::string Form = textOf(A, &dtlto_argument::name);
  std::string Help = textOf(A, &dtlto_argument::help);
  std::vector<std::string> Values = choicesOf(A), Facts;
  std::string Value = textOf(A, &dtlto_argument::value);
  if (!Value.empty() || Values.empty())
    Values.push_back(Value.empty() ? "VALUE" : Value);
  if (Kind != DTLTO_ARGUMENT_SWITCH)
    Form += "=" + join(Values, "|");
  if (Kind == DTLTO_ARGUMENT_NUMBER)
    Facts.push_back(std::to_string(numberOf(A, &dtlto_argument::min)) + " to " +
                    std::to_string(numberOf(A, &dtlto_argument::max)));
  if (std::string D = textOf(A, &dtlto_argument::default_value); !D.empty())
    Facts.push_back("default: " + D);
  if (!Facts.empty())
    Help += " (" + join(Facts, ", ") + ")";
  return {Form, Help};
}

static std::pair<std::string, std::string>
describeVariable(const dtlto_variable *V) {
  return {textOf(V, &dtlto_variable::name), textOf(V, &dtlto_variable::help)};
}

/// Calls \p Describe for each of \p Count pointers at \p Entries. Leaves out
/// those without a name.
template <typename T, typename Fn>
static std::vector<std::pair<std::string, std::string>>
describeAll(const T *const *Entries, uint32_t Count, Fn Describe) {
  std::vector<std::pair<std::string, std::string>> All;
  for (uint32_t I = 0; Entries && I != std::min(Count, MaxEntries); ++I)
    if (const T *Entry = Entries[I]; !textOf(Entry, &T::name).empty())
      All.push_back(Describe(Entry));
  if (Entries && Count > MaxEntries)
    All.push_back({"...", std::to_string(Count - MaxEntries) + " more"});
  return All;
}

static PluginInfo read(const dtlto_plugin &Plugin) {
  using D = dtlto_description;
  PluginInfo Info;
  Info.Name = clean(Plugin.name);
  Info.Version = clean(Plugin.version);
  auto *Raw = static_cast<const D *>(Plugin.extension(DTLTO_EXT_DESCRIBE));
  Info.Summary = textOf(Raw, &D::summary);
  Info.Vendor = textOf(Raw, &D::vendor);
  Info.Reports = textOf(Raw, &D::reports);
  Info.Arguments =
      describeAll(numberOf(Raw, &D::arguments),
                  numberOf(Raw, &D::num_arguments), describeArgument);
  Info.Variables =
      describeAll(numberOf(Raw, &D::variables),
                  numberOf(Raw, &D::num_variables), describeVariable);
  return Info;
}

Expected<PluginInfo> dtlto::readPluginInfo(const dtlto_plugin &Plugin) {
  // The thread may outlive the wait.
  auto Info = std::make_shared<PluginInfo>();
  FileAccess Access = runFileTask(("plugin " + Twine(clean(Plugin.name))).str(),
                                  [Info, &Plugin] { *Info = read(Plugin); });
  if (Access != FileAccess::Done)
    return failure("plugin '" + clean(Plugin.name) +
                   "' has not described itself within a second");
  return *Info;
}

std::string dtlto::pluginHelp(const PluginInfo &Info, StringRef Option) {
  std::string Text = Info.Name + " " + Info.Version;
  if (!Info.Summary.empty())
    Text += ": " + Info.Summary;
  Text += "\n";
  if (!Info.Vendor.empty())
    Text += "vendor: " + Info.Vendor + "\n";
  if (!Info.Reports.empty())
    Text += "report problems to: " + Info.Reports + "\n";
  auto Add = [&](const std::string &Title, const auto &Entries) {
    if (Entries.empty())
      return;
    Text += "\n" + Title + ":\n";
    for (const auto &[Form, Help] : Entries) {
      // As in LLD's help.
      Text += "  " + Form;
      Text += Form.size() < 24 ? std::string(24 - Form.size(), ' ')
                               : "\n" + std::string(26, ' ');
      Text += Help + "\n";
    }
  };
  Add("arguments (" + Option.str() + ")", Info.Arguments);
  Add("environment", Info.Variables);
  if (Info.Summary.empty() && Info.Arguments.empty() && Info.Variables.empty())
    Text += "it does not describe itself (" DTLTO_EXT_DESCRIBE ")\n";
  return Text;
}

std::string dtlto::pluginList(ArrayRef<std::string> Folders,
                              LoadFunction Load) {
  std::vector<std::vector<std::string>> Plugins, Stores;
  for (const PluginFile &File : findPlugins(Folders)) {
    PluginInfo Info;
    const dtlto_plugin *Plugin = nullptr;
    Error E = Load(File.Name).moveInto(Plugin);
    if (!E)
      E = readPluginInfo(*Plugin).moveInto(Info);
    if (E) {
      Info.Version = "-";
      Info.Summary = "error: " + toString(std::move(E));
    }
    (isStoreName(File.Name) ? Stores : Plugins)
        .push_back({"  " + printable(File.Name), Info.Version,
                    printable(File.Path), Info.Summary});
  }
  std::string Text;
  if (Plugins.empty())
    Text += "no plugins in " + join(Folders, ", ") + "\n";
  else
    Text +=
        "plugins (--thinlto-dist-plugin):\n" + alignColumns(Plugins, "llll");
  if (!Stores.empty())
    Text += "remote caches (--thinlto-dist-remote-cache):\n" +
            alignColumns(Stores, "llll");
  return Text;
}
