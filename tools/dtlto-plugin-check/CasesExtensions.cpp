//===- CasesExtensions.cpp - Extensions without jobs ----------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "dtlto/ext/describe.h"
#include "dtlto/ext/status.h"
#include "dtlto/ext/store.h"
#include "llvm/Support/ConvertUTF.h"
#include <random>
#include <set>

using namespace llvm;
using namespace dtlto::check;

namespace {
/// The workers that query() reports.
struct Workers {
  const std::thread::id Thread = std::this_thread::get_id();
  std::mutex Mutex; // in case query() uses another thread
  std::set<std::string> Names;
  void add(const dtlto_worker_status *W);
};
} // namespace

void Workers::add(const dtlto_worker_status *W) {
  std::lock_guard<std::mutex> Lock(Mutex);
  expect(std::this_thread::get_id() == Thread, "dtlto_status.query",
         "query() reported a worker on another thread",
         "collect the answers on your threads, and report them on the thread "
         "that called query()");
  const std::string Name = W && W->name ? W->name : "";
  expect(!W || !W->name || Names.insert(Name).second, "dtlto_status.query",
         "query() reported '" + Name + "' twice",
         "report each machine once: the slots are added up");
  expect(!Name.empty(), "dtlto_worker_status.name", "a worker has no name",
         "name each as job_state() does");
  // The linker refuses a smaller struct as well.
  if (W)
    expect(hasField(W, &dtlto_worker_status::load_permille),
           "dtlto_worker_status.size",
           "it is " + Twine(W->size) + " of a worker",
           "set it to sizeof(dtlto_worker_status)");
}

static void status(const CaseContext &B) {
  constexpr uint32_t LimitMs = 2000;
  auto *Status =
      getExtension<dtlto_status>(B.Plugin, DTLTO_EXT_STATUS, "dtlto_status");
  if (!Status)
    return note("the plugin does not offer it; users see what load() reports");
  Session S(B, 0);
  Workers All;
  Clock::time_point Begin = Clock::now();
  int32_t Result = S.call("query", [&] {
    return Status->query(
        S.Handle, LimitMs,
        [](void *Context, const dtlto_worker_status *W) {
          static_cast<Workers *>(Context)->add(W);
        },
        &All);
  });
  // The linker allows a little extra time as well.
  expect(Clock::now() - Begin <= Milliseconds(LimitMs) + 2s,
         "dtlto_status.query",
         "query() has not returned within its `timeout_ms`, " + Twine(LimitMs),
         "report a machine that has not answered by then as DTLTO_WORKER_OUT");
  expect(Result == DTLTO_OK, "dtlto_status.query",
         "query() returned " + dtlto::statusName(Result),
         "return DTLTO_OK, unless the DBS as a whole cannot be queried");
}

namespace {
/// The calls of the extension. They return false on an error, and store the
/// reason in Why.
class Store {
public:
  Store(const CaseContext &B, const dtlto_store &Raw)
      : B(B), Raw(Raw), LimitMs(uint32_t(B.Opts.callLimit().count() / 2)) {}

  /// Fails the case if the arguments are wrong.
  void open();
  bool put(const std::string &Key, const std::string &Bytes);
  /// Fails unless get() returns \p ExpectedBytes.
  void expectBytes(const std::string &Key, uint64_t MaxBytes,
                   const std::string &ExpectedBytes, const std::string &When);
  void close() { Raw.close(Client); }
  const std::string &why() const { return Why; }

private:
  /// Calls \p Fn(why, its size), and checks its answer.
  template <typename F> bool call(const char *Name, F Fn);
  /// Calls \p Fn(key, why, its size), and checks its answer.
  template <typename F>
  bool callWithKey(const char *Name, const std::string &Key, F Fn);

  const CaseContext &B;
  const dtlto_store &Raw;
  const uint32_t LimitMs;
  dtlto_store_client *Client = nullptr;
  std::string Why;
};
} // namespace

template <typename F> bool Store::call(const char *Name, F Fn) {
  std::string Line(256, Loan::Filler);
  Line[0] = 0;
  const uint64_t Size = Line.size() - 8;
  int32_t Status = Fn(Line.data(), Size);
  const std::string Section = std::string("dtlto_store.") + Name;
  if (!expect(Line[Size] == Loan::Filler, Section, "it wrote past `why_size`",
              "truncate the reason, and end it with a NUL"))
    return false;
  Why = Status == DTLTO_OK ? "" : Line.c_str();
  expect(Status == DTLTO_OK || (!Why.empty() && Why.find('\n') == Why.npos),
         Section,
         "it returned " + dtlto::statusName(Status) +
             " without a reason in one line",
         "write the reason to `why`: users see it");
  return Status == DTLTO_OK;
}

template <typename F>
bool Store::callWithKey(const char *Name, const std::string &Key, F Fn) {
  Loan &Lent =
      *new Loan("the key of a call of dtlto.store/1", "copy what you keep");
  auto *RawKey = static_cast<const uint8_t *>(Lent.addBytes(Key.data(), 32));
  Lent.seal();
  const Clock::time_point Begin = Clock::now();
  bool Good =
      call(Name, [&](char *Line, uint64_t N) { return Fn(RawKey, Line, N); });
  Lent.end("the call has returned");
  // The linker allows a little extra time as well.
  expect(Clock::now() - Begin <= Milliseconds(LimitMs) + 2s,
         std::string("dtlto_store.") + Name,
         "it has not returned within its `timeout_ms`, " + Twine(LimitMs),
         "give up a server that has not answered by then");
  return Good;
}

void Store::open() {
  // The case's arguments are the store's; `url=` is its URL.
  std::string URL;
  std::vector<const char *> Args;
  for (const std::string &Arg : B.Opts.PluginArgs)
    if (StringRef Text = Arg; Text.consume_front("url="))
      URL = Text.str();
    else
      Args.push_back(Arg.c_str());
  dtlto_store_params Params = {
      sizeof(Params), uint32_t(Args.size()), URL.c_str(), Args.data(), 4, 0};
  if (!call("open", [&](char *Line, uint64_t N) {
        return Raw.open(&Params, &Client, Line, N);
      }))
    fail("dtlto_store.open", "it failed: " + Why,
         "pass --plugin-arg=url=<url> and the store's arguments");
}

bool Store::put(const std::string &Key, const std::string &Bytes) {
  Loan &Lent = *new Loan("the bytes of put()", "keep a copy");
  const void *Data =
      Bytes.empty() ? nullptr : Lent.addBytes(Bytes.data(), Bytes.size());
  Lent.seal();
  bool Good =
      callWithKey("put", Key, [&](const uint8_t *K, char *Line, uint64_t N) {
        return Raw.put(Client, K, {Data, Bytes.size()}, LimitMs, Line, N);
      });
  Lent.end("put() has returned");
  return Good;
}

void Store::expectBytes(const std::string &Key, uint64_t MaxBytes,
                        const std::string &ExpectedBytes,
                        const std::string &When) {
  dtlto_buffer Buffer = {};
  if (!callWithKey("get", Key, [&](const uint8_t *K, char *Line, uint64_t N) {
        return Raw.get(Client, K, MaxBytes, LimitMs, &Buffer, Line, N);
      }))
    return fail("dtlto_store.get", When + ", it failed: " + Why,
                "a missing key is not an error: return an empty buffer");
  std::string Out(static_cast<const char *>(Buffer.data),
                  Buffer.data ? Buffer.size : 0);
  if (Buffer.release)
    Buffer.release(Buffer.owner, Buffer.data, Buffer.size);
  const std::string Answer =
      "it gave " + std::to_string(Out.size()) + " bytes, ";
  expect(Out.size() <= MaxBytes, "dtlto_store.get",
         Answer + "but `max_bytes` was " + Twine(MaxBytes),
         "return nothing instead, and do not fetch the data");
  expect(Out == ExpectedBytes, "dtlto_store.get",
         When + ", " + Answer + "not the " + Twine(ExpectedBytes.size()) +
             " that are correct",
         "return what was last put under the key, or nothing");
}

static void store(const CaseContext &B) {
  const auto *Raw =
      static_cast<const dtlto_store *>(B.Plugin.extension(DTLTO_EXT_STORE));
  if (!Raw)
    return note("the plugin does not offer it");
  if (!expect(Raw->size >= sizeof(dtlto_store), "dtlto_store.size",
              "it is " + Twine(Raw->size), "set it to sizeof(dtlto_store)") ||
      !expect(Raw->open && Raw->get && Raw->put && Raw->close, "dtlto_store",
              "a function is null", "all of them are needed"))
    return;
  // Random keys: others may use the store.
  std::random_device Random;
  std::string Keys[2];
  for (std::string &Key : Keys)
    for (int I = 0; I != 32; ++I)
      Key += char(Random());
  const std::string First(3000, 'a'), Second("of the other key");
  Store S(B, *Raw);
  S.open();
  S.expectBytes(Keys[0], 10000, "", "before anything was put");
  if (!S.put(Keys[0], First)) {
    note("nothing can be put into the store: " + S.why());
    return S.close();
  }
  const bool HasSecond = S.put(Keys[1], Second); // also sets the reason
  if (!expect(HasSecond, "dtlto_store.put",
              "one put() worked, the next failed: " + S.why(),
              "a key is any 32 bytes"))
    return;
  S.expectBytes(Keys[0], 10000, First, "after a put()");
  S.expectBytes(Keys[1], 10000, Second, "after a put() under another key");
  S.expectBytes(Keys[0], 2999, "", "with a smaller `max_bytes`");
  S.close();
}

/// Checks a text of the description. Returns whether it is there.
static bool checkText(const char *Text, StringRef Field, bool MayBeNull) {
  // More would not fit in a line of the help.
  constexpr size_t MaxSize = 500;
  if (!Text)
    return MayBeNull || expect(false, Field, "it is null", "set it");
  const char *End = Text + strnlen(Text, MaxSize + 1);
  const auto *First = reinterpret_cast<const UTF8 *>(Text);
  return expect(
      End != Text && End <= Text + MaxSize &&
          isLegalUTF8String(&First, reinterpret_cast<const UTF8 *>(End)) &&
          std::none_of(Text, End,
                       [](unsigned char C) { return C < 0x20 || C == 0x7f; }),
      Field,
      "it is empty, not UTF-8, not one line, or over " + Twine(MaxSize) +
          " bytes",
      "write one line");
}

/// Whether \p Value is valid for \p A.
static bool isValid(const dtlto_argument &A, StringRef Value) {
  for (uint32_t I = 0; I != A.num_choices; ++I)
    if (Value == A.choices[I])
      return true;
  uint64_t N;
  return A.kind == DTLTO_ARGUMENT_NUMBER
             ? !Value.getAsInteger(10, N) && N >= A.min && N <= A.max
             : A.kind != DTLTO_ARGUMENT_CHOICE &&
                   A.kind != DTLTO_ARGUMENT_SWITCH;
}

static void checkArgument(const dtlto_argument &A) {
  checkText(A.help, "dtlto_argument.help", false);
  checkText(A.value, "dtlto_argument.value", true);
  if (!expect(A.choices || !A.num_choices, "dtlto_argument.choices",
              "it is null, and `num_choices` is " + Twine(A.num_choices),
              "set both"))
    return;
  for (uint32_t I = 0; I != A.num_choices; ++I)
    if (!checkText(A.choices[I], "dtlto_argument.choices", false))
      return;
  const std::string Name = "'" + std::string(A.name) + "'";
  expect(A.kind != DTLTO_ARGUMENT_CHOICE || A.num_choices,
         "dtlto_argument.choices", "the choice " + Name + " has none",
         "list all valid values");
  expect(A.kind != DTLTO_ARGUMENT_NUMBER || A.min <= A.max,
         "dtlto_argument.min", "the minimum of " + Name + " is above `max`",
         "set both limits");
  if (A.default_value &&
      checkText(A.default_value, "dtlto_argument.default_value", true))
    expect(isValid(A, A.default_value), "dtlto_argument.default_value",
           "the default of " + Name + " is '" + A.default_value +
               "', which is no valid value",
           "the default is one of the values that the user may give");
}

/// Calls \p Check for each of \p Count entries. Names must differ.
template <typename T, typename Fn>
static void checkEntries(const T *const *Entries, uint32_t Count,
                         StringRef Struct, Fn Check) {
  if (!expect(Entries || !Count, Struct,
              "there are " + Twine(Count) + ", but the array is null",
              "set both"))
    return;
  std::set<std::string> Names;
  for (uint32_t I = 0; I != Count; ++I) {
    if (!expect(Entries[I], Struct, "an entry is null", "set all pointers") ||
        !expect(Entries[I]->size >= sizeof(T), Struct,
                "`size` is " + Twine(Entries[I]->size),
                "set it to the size of the struct") ||
        !checkText(Entries[I]->name, (Struct + ".name").str(), false))
      return;
    StringRef Name = Entries[I]->name;
    expect(Names.insert(Name.str()).second &&
               Name.find_first_of(" =") == Name.npos,
           (Struct + ".name").str(),
           "the name '" + Name + "' is not unique, or has a blank or '='",
           "describe each once, by the name alone");
    Check(*Entries[I]);
  }
}

static void description(const CaseContext &B) {
  const auto *D = static_cast<const dtlto_description *>(
      B.Plugin.extension(DTLTO_EXT_DESCRIBE));
  if (!D)
    return note("the plugin does not offer it");
  if (!expect(D->size >= sizeof(*D), "dtlto_description.size",
              "it is " + Twine(D->size), "set it to the size of the struct"))
    return;
  expect(D == B.Plugin.extension(DTLTO_EXT_DESCRIBE), "DTLTO_EXT_DESCRIBE",
         "a second call returns another description", "it is constant");
  checkText(D->summary, "dtlto_description.summary", false);
  checkText(D->vendor, "dtlto_description.vendor", true);
  checkText(D->reports, "dtlto_description.reports", true);
  checkEntries(D->arguments, D->num_arguments, "dtlto_argument", checkArgument);
  checkEntries(D->variables, D->num_variables, "dtlto_variable",
               [](const dtlto_variable &V) {
                 checkText(V.help, "dtlto_variable.help", false);
               });
}

const std::vector<Case> dtlto::check::ExtensionCases = {
    {"description", "dtlto.describe/1, if offered, is complete", description},
    {"status", "dtlto.status/1, if offered, reports machines", status},
    {"store", "dtlto.store/1, if offered, returns what was put", store},
};
