//===- Configuration.cpp - Options from files and variables ---------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Configuration.h"
#include "Host/AutoPlugin.h"
#include "Host/PluginCheck.h"
#include "Host/PluginLoader.h"
#include "Host/RemoteStore.h"
#include "Support/AtomicFile.h"
#include "Support/Failure.h"
#include "Support/FileTask.h"
#include "Support/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"
#include <array>

using namespace llvm;
using namespace dtlto;

static constexpr size_t MaxFileSize = 1 << 20;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Sets the option that \p Text, `name`, `name=value` or `name = value`, names.
static Error setFromText(Options &Opts, StringRef Text, OptionLevel Level,
                         const Twine &Place) {
  size_t Equals = Text.find('=');
  StringRef Written = Text.take_front(Equals).rtrim();
  std::optional<StringRef> Value;
  if (Equals != StringRef::npos)
    Value = Text.drop_front(Equals + 1).ltrim();
  StringRef Name = Written;
  if (!Name.consume_front("--"))
    Name.consume_front("-");
  std::string FullName =
      (isDistOption(Name) ? Name : "thinlto-dist-" + Name).str();
  const std::string Where = Place.str();
  if (Error E =
          setOption(Opts, FullName, Value, printable(Written), Level, Where))
    return failure(printable(Where) + ": " + toString(std::move(E)));
  return Error::success();
}

static bool isComment(StringRef Line) {
  return Line.empty() || Line.starts_with("#");
}

Error dtlto::readConfigurationText(Options &Opts, StringRef Text,
                                   StringRef Path, OptionLevel Level) {
  size_t Number = 0;
  for (StringRef Line : split(Text, '\n')) {
    ++Number;
    Line = Line.trim();
    if (isComment(Line))
      continue;
    if (Error E = setFromText(Opts, Line, Level, Path + ":" + Twine(Number)))
      return E;
  }
  return Error::success();
}

/// Whether \p Line is one of a file rather than words: `name = value`.
static bool isFileLine(StringRef Line) {
  size_t End = Line.find_first_of(" \t=");
  return End != StringRef::npos && Line[End] != '=' &&
         Line.drop_front(End).ltrim().starts_with("=");
}

Error dtlto::readOptionsVariable(Options &Opts, StringRef Text) {
  BumpPtrAllocator Alloc;
  StringSaver Saver(Alloc);
  for (StringRef Line : split(Text, '\n')) {
    Line = Line.trim();
    if (isComment(Line))
      continue;
    SmallVector<const char *, 16> Words;
    if (isFileLine(Line))
      Words.push_back(Saver.save(Line).data());
    else
      cl::TokenizeGNUCommandLine(Line, Saver, Words);
    for (StringRef Word : Words)
      if (Error E = setFromText(Opts, Word, OptionLevel::Environment,
                                "DTLTO_OPTIONS"))
        return E;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static std::string machineFile() {
#ifdef _WIN32
  std::optional<std::string> Folder = sys::Process::GetEnv("ProgramData");
  return Folder ? *Folder + "\\dtlto.conf" : "";
#else
  return "/etc/dtlto.conf";
#endif
}

static Error readFile(Options &Opts, const std::string &Path,
                      OptionLevel Level) {
  if (Path.empty())
    return Error::success();
  // Shared with a thread that may stay.
  auto Text = std::make_shared<std::optional<std::string>>();
  if (Error E = tryFileTask(sys::path::parent_path(Path), [Path, Text] {
        return readTextFile(Path, MaxFileSize, "a configuration")
            .moveInto(*Text);
      })) {
    Opts.Notes.push_back("the options in '" + printable(Path) +
                         "' are not used: " + toString(std::move(E)));
    return Error::success();
  }
  return readConfigurationText(Opts, Text->value_or(""), Path, Level);
}

Error dtlto::readConfiguration(Options &Opts) {
  std::string Disable = sys::Process::GetEnv("DTLTO_DISABLE").value_or("");
  Opts.IsDisabled = !Disable.empty() && Disable != "0";
  if (Opts.IsDisabled)
    return Error::success();
  if (Error E = readFile(Opts, machineFile(), OptionLevel::MachineFile))
    return E;
  if (Error E = readFile(
          Opts,
          userFile(sys::path::user_config_directory, ".config", "dtlto.conf"),
          OptionLevel::UserFile))
    return E;
  if (auto Text = sys::Process::GetEnv("DTLTO_OPTIONS"))
    if (Error E = readOptionsVariable(Opts, *Text))
      return E;
  constexpr char Check[] = "DTLTO_CHECK_PLUGIN";
  std::string Value = sys::Process::GetEnv(Check).value_or("");
  if (Value.empty())
    return Error::success();
  return setFromText(Opts,
                     ("check-plugin=" + StringSwitch<StringRef>(Value)
                                            .Case("0", "off")
                                            .Case("1", "on")
                                            .Default(Value))
                         .str(),
                     OptionLevel::Environment, Check);
}

//===----------------------------------------------------------------------===//
// All levels together
//===----------------------------------------------------------------------===//

// Arguments of a level belong to the plugin that is set there or, if there is
// none, below it.
void dtlto::selectPluginArgs(Options &Opts) {
  std::array<StringRef, size_t(OptionLevel::CommandLine) + 1> Plugins;
  for (const OptionUse &Use : Opts.Uses)
    if (Use.Name == "thinlto-dist-plugin")
      Plugins[size_t(Use.Level)] = shortPluginName(Use.Value);
  for (size_t I = 1; I != Plugins.size(); ++I)
    if (Plugins[I].empty())
      Plugins[I] = Plugins[I - 1];
  Opts.PluginArgs.clear();
  erase_if(Opts.Uses, [&](const OptionUse &Use) {
    if (Use.Name != "thinlto-dist-plugin-arg")
      return false;
    StringRef Plugin = Plugins[size_t(Use.Level)];
    if (!Plugin.empty() && Plugin != Plugins.back())
      return true;
    Opts.PluginArgs.push_back(Use.Value);
    return false;
  });
}

Error dtlto::finishOptions(Options &Opts, StringRef Dashes) {
  selectPluginArgs(Opts);
  if (Opts.ShowConfig || Opts.isPluginQuery())
    return Error::success();
  if (Opts.IsDisabled && Opts.Status == StatusKind::None) {
    Opts.Plugin.clear();
    return Error::success();
  }
  if (Opts.Plugin.empty() && !Opts.FirstOption.empty())
    return failure(Opts.FirstOption + " needs " + Dashes +
                   "thinlto-dist-plugin=<name>");
  return Error::success();
}

std::vector<std::string> dtlto::pluginFolders(const Options &Opts,
                                              StringRef Own) {
  std::vector<std::string> Folders = {Own.str()};
  Folders.insert(Folders.end(), Opts.PluginPath.begin(), Opts.PluginPath.end());
  return Folders;
}

/// Loads the plugin that \p Opts name. For "auto", chooses one.
static Expected<const dtlto_plugin *> loadOrChoose(Options &Opts, Messages &Msg,
                                                   LoadFunction Load) {
  if (Opts.Plugin != AutoPlugin)
    return Load(Opts.Plugin);
  Expected<AutoChoice> Choice = chooseAutoPlugin(Opts, Msg, Load);
  if (!Choice)
    return Choice.takeError();
  Opts.Plugin = Choice->Name.str();
  if (!Choice->TakesArgs)
    Opts.PluginArgs.clear();
  // A status says it without --verbose.
  (Opts.Status == StatusKind::None ? Opts.DebugNotes : Opts.Notes)
      .push_back(Choice->Why);
  return Choice->Plugin;
}

Expected<const dtlto_plugin *>
dtlto::loadNamedPlugin(Options &Opts, Messages &Msg, LoadFunction Load) {
  auto Plugin = loadOrChoose(Opts, Msg, Load);
  if (!Plugin || Opts.CheckPlugin == CheckKind::Off)
    return Plugin;
  return checkedPlugin(**Plugin, Opts.CheckPlugin == CheckKind::Error);
}

/// Returns what showPlugins() writes.
static Expected<std::string> answerPluginQuery(Options &Opts,
                                               ArrayRef<std::string> Folders,
                                               StringRef Dashes, Messages &Msg,
                                               LoadFunction Load) {
  if (Opts.ListPlugins)
    return pluginList(Folders, Load);
  if (!Opts.PluginHelp->empty())
    Opts.Plugin = *Opts.PluginHelp;
  if (Opts.Plugin.empty())
    return failure(Dashes + "thinlto-dist-plugin-help needs a plugin: " +
                   Dashes + "thinlto-dist-plugin-help=<name>");
  Expected<const dtlto_plugin *> Plugin = loadOrChoose(Opts, Msg, Load);
  if (!Plugin)
    return Plugin.takeError();
  Expected<PluginInfo> Info = readPluginInfo(**Plugin);
  if (!Info)
    return Info.takeError();
  return pluginHelp(
      *Info, (Dashes + "thinlto-dist-" +
              (isStoreName(shortPluginName(Opts.Plugin)) ? "remote-cache-arg"
                                                         : "plugin-arg"))
                 .str());
}

Error dtlto::showPlugins(Options &Opts, ArrayRef<std::string> Folders,
                         StringRef Dashes, Messages &Msg, LoadFunction Load) {
  Expected<std::string> Text =
      answerPluginQuery(Opts, Folders, Dashes, Msg, Load);
  if (!Text)
    return Text.takeError();
  outs() << *Text;
  return flushOutput("plugins");
}

Expected<const dtlto_plugin *> dtlto::loadStorePlugin(const Options &Opts,
                                                      LoadFunction Load) {
  if (Opts.RemoteCache.empty() || Opts.IsDisabled)
    return nullptr;
  Expected<std::string> Name = storePlugin(Opts.RemoteCache);
  if (!Name)
    return Name.takeError();
  auto Plugin = Load(*Name);
  if (Plugin)
    return *Plugin;
  return failure("remote cache " + printable(Opts.RemoteCache) + ": " +
                 toString(Plugin.takeError()));
}

void dtlto::showNotes(const Options &Opts, Messages &Msg) {
  for (const std::string &Note : Opts.Notes)
    Msg.note(Note);
  for (const std::string &Note : Opts.DebugNotes)
    Msg.debug(Note);
}
