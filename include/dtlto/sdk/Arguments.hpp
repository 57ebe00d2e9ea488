//===- dtlto/sdk/Arguments.hpp - A plugin's arguments -----------*- C++ -*-===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table of the arguments of --thinlto-dist-plugin-arg= reads them, suggests
// the nearest one for a misspelled one, and describes them (dtlto/ext/
// describe.h):
//
//   struct Settings { uint32_t Jobs = 8; std::string Queue; };
//   ArgumentTable arguments(Settings &S) {
//     return {numberArgument("jobs", "N", 1, 99, S.Jobs, "Jobs at a time"),
//             textArgument("queue", "NAME", S.Queue, "The queue to use")};
//   }
//
//   readArguments(arguments(S), Params.args, Params.num_args); // may throw
//
//   // In the session's class; the defaults are those of Settings.
//   static const Description &description() {
//     Settings S;
//     static const Description D("Runs jobs on X", "Vendor", "https://...",
//                                arguments(S), {{"X_HOST", "The server"}});
//     return D;
//   }
//
//===----------------------------------------------------------------------===//

#ifndef DTLTO_SDK_ARGUMENTS_HPP
#define DTLTO_SDK_ARGUMENTS_HPP

#include "../ext/describe.h"
#include "Result.hpp"
#include "Text.hpp"
#include <chrono>
#include <functional>

namespace dtlto::sdk {

/// An argument NAME=VALUE, or a switch NAME; dtlto_argument says what the
/// fields mean.
struct Argument {
  std::string Name, Value, Help;
  /// Sets the value. Returns false if it is invalid, or throws Error.
  std::function<bool(std::string_view Value)> Set;
  uint32_t Kind = DTLTO_ARGUMENT_TEXT;
  std::string Default = {};
  std::vector<std::string> Choices = {};
  uint32_t Min = 0, Max = 0;

  bool isSwitch() const { return Kind == DTLTO_ARGUMENT_SWITCH; }
  /// The name as the user begins to write the argument.
  std::string start() const { return Name + (isSwitch() ? "" : "="); }
  /// All forms, for messages: "jobs=N", "mode=thread|process".
  std::string usage() const {
    std::string Text = start();
    for (const std::string &C : Choices)
      Text += C + "|";
    if (Kind == DTLTO_ARGUMENT_CHOICE)
      Text.pop_back();
    return Kind == DTLTO_ARGUMENT_CHOICE ? Text : Text + Value;
  }
  /// Like usage(), with the limits of a number.
  std::string expected() const {
    return usage() + (Kind == DTLTO_ARGUMENT_NUMBER
                          ? " with " + Value + " from " + std::to_string(Min) +
                                " to " + std::to_string(Max)
                          : "");
  }
};
using ArgumentTable = std::vector<Argument>;

//===----------------------------------------------------------------------===//
// Arguments that set a variable. Its value is the default for display.
//===----------------------------------------------------------------------===//

/// Returns an argument whose value is a text that is not empty.
inline Argument textArgument(std::string Name, std::string Value,
                             std::string &To, std::string Help,
                             uint32_t Kind = DTLTO_ARGUMENT_TEXT) {
  auto Set = [&To](std::string_view Text) {
    if (!Text.empty())
      To = Text;
    return !Text.empty();
  };
  return {std::move(Name), std::move(Value), std::move(Help), Set, Kind, To};
}

/// Returns an argument whose value is the path of a file or folder.
inline Argument fileArgument(std::string Name, std::string &To,
                             std::string Help) {
  return textArgument(std::move(Name), "PATH", To, std::move(Help),
                      DTLTO_ARGUMENT_FILE);
}

/// Returns an argument whose value is a number from \p Min to \p Max. A default
/// out of these limits is not displayed.
inline Argument numberArgument(std::string Name, std::string Value,
                               uint32_t Min, uint32_t Max, uint32_t &To,
                               std::string Help) {
  auto Set = [Min, Max, &To](std::string_view Text) {
    return parseNumber(Text, Min, Max, To);
  };
  std::string Default =
      To < Min || To > Max ? std::string() : std::to_string(To);
  return {std::move(Name),
          std::move(Value),
          std::move(Help),
          Set,
          DTLTO_ARGUMENT_NUMBER,
          std::move(Default),
          {},
          Min,
          Max};
}

/// Returns an argument whose value is a number of the std::chrono duration
/// \p Unit.
template <typename Unit, typename Duration>
Argument durationArgument(std::string Name, std::string Value, uint32_t Min,
                          uint32_t Max, Duration &To, std::string Help) {
  auto Default = uint32_t(std::chrono::duration_cast<Unit>(To).count());
  Argument A = numberArgument(std::move(Name), std::move(Value), Min, Max,
                              Default, std::move(Help));
  A.Set = [Min, Max, &To](std::string_view Text) {
    uint32_t N;
    if (!parseNumber(Text, Min, Max, N))
      return false;
    To = Unit(N);
    return true;
  };
  return A;
}

/// Returns an argument whose value is one of the words \p Choices, and means
/// the value next to the word.
template <typename T>
Argument choiceArgument(std::string Name,
                        const std::vector<std::pair<std::string, T>> &Choices,
                        T &To, std::string Help) {
  Argument A = {std::move(Name), "", std::move(Help),
                [Choices, &To](std::string_view Text) {
                  for (const auto &[Word, Value] : Choices)
                    if (Word == Text)
                      return To = Value, true;
                  return false;
                },
                DTLTO_ARGUMENT_CHOICE};
  for (const auto &[Word, Value] : Choices) {
    A.Choices.push_back(Word);
    if (Value == To)
      A.Default = Word;
  }
  return A;
}

/// Returns an argument without a value, which sets \p To to true.
inline Argument switchArgument(std::string Name, bool &To, std::string Help) {
  return {std::move(Name), "", std::move(Help),
          [&To](std::string_view) { return To = true; }, DTLTO_ARGUMENT_SWITCH};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns the argument \p Name, or null.
inline const Argument *findArgument(const ArgumentTable &Table,
                                    std::string_view Name) {
  for (const Argument &A : Table)
    if (A.Name == Name)
      return &A;
  return nullptr;
}

/// Returns ", did you mean 'NAME='?" for the name nearest to \p Name, or
/// nothing.
inline std::string suggestArgument(const ArgumentTable &Table,
                                   std::string_view Name) {
  std::vector<std::string_view> Names;
  for (const Argument &A : Table)
    Names.push_back(A.Name);
  const Argument *A = findArgument(Table, nearest(Name, Names));
  return A ? ", did you mean " + quote(A->start()) + "?" : "";
}

/// Returns all arguments for a message: "jobs=N, queue=NAME".
inline std::string allArguments(const ArgumentTable &Table) {
  std::string Text;
  for (const Argument &A : Table)
    Text += (Text.empty() ? "" : ", ") + A.usage();
  return Text;
}

/// Sets \p Arg. Throws Error if its name is unknown or its value is invalid,
/// and suggests the nearest name or value. With \p HidesUnknown, the value of
/// an unknown argument, which may be a secret, isn't part of the message.
inline void readArgument(const ArgumentTable &Table, std::string_view Arg,
                         bool HidesUnknown = false) {
  size_t Equals = std::min(Arg.find('='), Arg.size());
  bool HasValue = Equals != Arg.size();
  std::string_view Name = Arg.substr(0, Equals);
  std::string_view Value = Arg.substr(Equals + HasValue);
  const Argument *A = findArgument(Table, Name);
  if (!A || A->isSwitch() == HasValue)
    throw Error(DTLTO_ERROR_CALLER, "unknown argument " +
                                        quote(!A && HasValue && HidesUnknown
                                                  ? std::string(Name) + "=..."
                                                  : std::string(Arg)) +
                                        suggestArgument(Table, Name) +
                                        ", expected " + allArguments(Table));
  if (A->Set(Value))
    return;
  std::string_view Near =
      nearest(Value, {A->Choices.begin(), A->Choices.end()});
  throw Error(DTLTO_ERROR_CALLER,
              "invalid value in " + quote(Arg) +
                  (Near.empty()
                       ? ""
                       : ", did you mean " +
                             quote(A->start() + std::string(Near)) + "?") +
                  ", expected " + A->expected());
}

/// Sets all arguments of a session or a store. Throws Error for a wrong one.
inline void readArguments(const ArgumentTable &Table, const char *const *Args,
                          uint32_t NumArgs, bool HidesUnknown = false) {
  for (uint32_t I = 0; I != NumArgs; ++I)
    readArgument(Table, Args[I], HidesUnknown);
}

//===----------------------------------------------------------------------===//
// Describing
//===----------------------------------------------------------------------===//

/// A variable of the environment.
struct Variable {
  std::string Name, Help;
};

/// A plugin's dtlto.describe/1. Make it static.
class Description {
public:
  /// Doesn't use the setters of \p Arguments.
  Description(std::string Summary, std::string Vendor, std::string Reports,
              ArgumentTable Arguments, std::vector<Variable> Variables = {})
      : Summary(std::move(Summary)), Vendor(std::move(Vendor)),
        Reports(std::move(Reports)), Arguments(std::move(Arguments)),
        Variables(std::move(Variables)) {
    Choices.resize(this->Arguments.size());
    for (size_t I = 0; I != Choices.size(); ++I) {
      const Argument &A = this->Arguments[I];
      for (const std::string &C : A.Choices)
        Choices[I].push_back(C.c_str());
      RawArguments.push_back({sizeof(dtlto_argument), A.Kind, A.Name.c_str(),
                              orNull(A.Value), orNull(A.Default),
                              A.Help.c_str(), A.Min, A.Max, Choices[I].data(),
                              uint32_t(Choices[I].size()), 0});
    }
    for (const Variable &V : this->Variables)
      RawVariables.push_back(
          {sizeof(dtlto_variable), 0, V.Name.c_str(), V.Help.c_str()});
    for (const dtlto_argument &A : RawArguments)
      ArgumentPointers.push_back(&A);
    for (const dtlto_variable &V : RawVariables)
      VariablePointers.push_back(&V);
    Raw = {sizeof(Raw),
           0,
           this->Summary.c_str(),
           orNull(this->Vendor),
           orNull(this->Reports),
           ArgumentPointers.data(),
           VariablePointers.data(),
           uint32_t(ArgumentPointers.size()),
           uint32_t(VariablePointers.size())};
  }
  Description(const Description &) = delete;
  const dtlto_description &raw() const { return Raw; }

private:
  static const char *orNull(const std::string &Text) {
    return Text.empty() ? nullptr : Text.c_str();
  }

  const std::string Summary, Vendor, Reports;
  const ArgumentTable Arguments;
  const std::vector<Variable> Variables;
  std::vector<std::vector<const char *>> Choices; // for each argument
  std::vector<dtlto_argument> RawArguments;
  std::vector<dtlto_variable> RawVariables;
  std::vector<const dtlto_argument *> ArgumentPointers;
  std::vector<const dtlto_variable *> VariablePointers;
  dtlto_description Raw = {};
};

namespace detail {
template <typename S>
auto rawDescription(int) -> decltype(&S::description().raw()) {
  try {
    return &S::description().raw();
  } catch (...) {
    return nullptr; // no memory
  }
}
/// Returns what the function description() of the class \p S describes, or null
/// if there is none.
template <typename S> const dtlto_description *rawDescription(...) {
  return nullptr;
}
} // namespace detail

} // namespace dtlto::sdk

#endif // DTLTO_SDK_ARGUMENTS_HPP
