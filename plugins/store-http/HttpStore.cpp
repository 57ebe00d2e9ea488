//===- HttpStore.cpp - Stores on HTTP servers -----------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpStore.h"
#include "Text.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace dtlto;
using namespace dtlto::http;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

static constexpr size_t KeySize = 32;
static constexpr milliseconds MaxConnect = 2s;
static constexpr unsigned MaxRedirects = 5;
// The text of an error, which is dropped, and the answer to a PUT.
static constexpr size_t MaxText = size_t(64) << 10;

/// One request and its answer.
struct HttpStore::Exchange {
  bool IsPut = false;
  std::string_view Sent = {};
  uint64_t MaxBytes = MaxText; // of a body that is kept
  HeaderList Headers = {};     // of the credential helper

  CURL *Handle = nullptr;
  size_t NumSent = 0;
  std::string Body = {}; // of a GET with status 200
  size_t NumDropped = 0; // bytes of other bodies
  bool IsTooLong = false;
  long Status = 0;

  /// Prepares another request with the same content.
  void restart() {
    NumSent = NumDropped = 0;
    IsTooLong = false;
    Body.clear();
  }
  bool isAuthorized() const {
    return std::any_of(Headers.begin(), Headers.end(), [](const auto &H) {
      return H.first == "authorization";
    });
  }
  long status() const {
    long Code = 0;
    curl_easy_getinfo(Handle, CURLINFO_RESPONSE_CODE, &Code);
    return Code;
  }
  size_t onBody(const char *Data, size_t Size);
  size_t onSend(char *To, size_t Size);
  bool onSeek(uint64_t To);
};

/// Returns \p Size, or another number to end the connection.
size_t HttpStore::Exchange::onBody(const char *Data, size_t Size) {
  if (IsPut || status() != 200) {
    NumDropped += Size;
    IsTooLong = NumDropped > MaxText;
  } else {
    IsTooLong = Size > MaxBytes - Body.size();
    // The size comes from the server: allocate no more than is allowed.
    curl_off_t Length = 0;
    if (!IsTooLong && Body.empty() &&
        curl_easy_getinfo(Handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T,
                          &Length) == CURLE_OK &&
        Length > 0 && uint64_t(Length) <= MaxBytes)
      Body.reserve(size_t(Length));
    if (!IsTooLong)
      Body.append(Data, Size);
  }
  return IsTooLong ? 0 : Size;
}

size_t HttpStore::Exchange::onSend(char *To, size_t Size) {
  Size = Sent.copy(To, Size, NumSent);
  NumSent += Size;
  return Size;
}

bool HttpStore::Exchange::onSeek(uint64_t To) {
  if (To > Sent.size())
    return false;
  NumSent = size_t(To);
  return true;
}

//===----------------------------------------------------------------------===//
// HttpStore
//===----------------------------------------------------------------------===//

/// Initializes libcurl once in the process.
static bool isCurlReady() {
  static const CURLcode Status = curl_global_init(CURL_GLOBAL_ALL);
  return Status == CURLE_OK;
}

HttpStore::HttpStore(const dtlto_store_params &Params)
    : S(readSettings(Params, std::getenv)), Helper(S.Helper),
      Idle(Params.max_calls) {
  if (!isCurlReady())
    fail("cannot initialize libcurl");
}

void HttpStore::fail(const std::string &Why) const {
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                   sdk::printable(S.To.Url + ": " + Why, ' '));
}

namespace {
/// A list of header lines for libcurl.
class HeaderLines {
public:
  ~HeaderLines() { curl_slist_free_all(All); }
  void add(const std::string &Line) {
    curl_slist *New = curl_slist_append(All, Line.c_str());
    if (!New)
      throw std::bad_alloc();
    All = New;
  }
  const curl_slist *get() const { return All; }

private:
  curl_slist *All = nullptr;
};
} // namespace

template <typename T>
void HttpStore::set(const Exchange &E, CURLoption Option, T Value) const {
  if (curl_easy_setopt(E.Handle, Option, Value) != CURLE_OK)
    fail("this libcurl lacks option " + std::to_string(Option));
}

void HttpStore::authenticate(const Exchange &E, bool IsHome) const {
  auto Set = [&](CURLoption Option, auto Value) { set(E, Option, Value); };
  Set(CURLOPT_SSLVERSION, long(CURL_SSLVERSION_TLSv1_2));
  if (!S.CaFile.empty())
    Set(CURLOPT_CAINFO, S.CaFile.c_str());
  if (!S.CertFile.empty()) {
    Set(CURLOPT_SSLCERT, S.CertFile.c_str());
    Set(CURLOPT_SSLKEY, S.KeyFile.c_str());
    // Otherwise OpenSSL asks for it on the terminal.
    Set(CURLOPT_KEYPASSWD, "");
  }
  // The helper's header takes precedence.
  const bool HasHeader = E.isAuthorized();
  if (!HasHeader && !S.Token.empty() && IsHome) {
    Set(CURLOPT_HTTPAUTH, long(CURLAUTH_BEARER));
    Set(CURLOPT_XOAUTH2_BEARER, S.Token.c_str());
  }
  // The file has a user for each server.
  if (!HasHeader && S.Token.empty() &&
      (S.To.IsTls || (S.To.IsLocal && IsHome))) {
    Set(CURLOPT_NETRC, long(CURL_NETRC_OPTIONAL));
    if (!S.NetrcFile.empty())
      Set(CURLOPT_NETRC_FILE, S.NetrcFile.c_str());
  }
}

void HttpStore::configure(const Exchange &E, const curl_slist *Lines,
                          bool IsHome) const {
  auto Set = [&](CURLoption Option, auto Value) { set(E, Option, Value); };
  Set(CURLOPT_PROTOCOLS_STR, S.To.IsTls ? "https" : "http");
  Set(CURLOPT_HTTP_VERSION, long(CURL_HTTP_VERSION_1_1));
  Set(CURLOPT_USERAGENT, "dtlto");
  Set(CURLOPT_NOSIGNAL, 1L);
  // Don't wait for a resolver that doesn't answer.
  Set(CURLOPT_QUICK_EXIT, 1L);
  Set(CURLOPT_BUFFERSIZE, 128L << 10);
  Set(CURLOPT_HTTPHEADER, Lines);
  // A proxy would see the credentials, and connect to its own machine.
  if (S.To.IsLocal && IsHome)
    Set(CURLOPT_PROXY, "");

  authenticate(E, IsHome);

  // Reports a longer body before it arrives.
  Set(CURLOPT_MAXFILESIZE_LARGE,
      curl_off_t(std::clamp<uint64_t>(E.MaxBytes, MaxText, INT64_MAX)));
  Set(CURLOPT_WRITEDATA, &E);
  Set(CURLOPT_WRITEFUNCTION,
      curl_write_callback([](char *Data, size_t, size_t Size, void *Raw) {
        return static_cast<Exchange *>(Raw)->onBody(Data, Size);
      }));
  if (E.IsPut)
    configurePut(E);
}

void HttpStore::configurePut(const Exchange &E) const {
  auto Set = [&](CURLoption Option, auto Value) { set(E, Option, Value); };
  Set(CURLOPT_UPLOAD, 1L);
  Set(CURLOPT_INFILESIZE_LARGE, curl_off_t(E.Sent.size()));
  Set(CURLOPT_READDATA, &E);
  Set(CURLOPT_READFUNCTION,
      curl_read_callback([](char *To, size_t Unit, size_t Count, void *Raw) {
        return static_cast<Exchange *>(Raw)->onSend(To, Unit * Count);
      }));
  // On a connection that the server has closed.
  Set(CURLOPT_SEEKDATA, &E);
  Set(CURLOPT_SEEKFUNCTION,
      curl_seek_callback([](void *Raw, curl_off_t Offset, int Origin) {
        bool IsDone = Origin == SEEK_SET &&
                      static_cast<Exchange *>(Raw)->onSeek(uint64_t(Offset));
        return IsDone ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
      }));
}

std::string HttpStore::perform(Exchange &E, const std::string &Url,
                               bool IsRedirected, Clock::time_point End) {
  Handles::Entry Handle = Idle.take();
  if (!Handle)
    Handle.reset(curl_easy_init());
  if (!Handle)
    fail("cannot initialize libcurl");
  E.restart();
  E.Handle = Handle.get();
  // Keeps the connections.
  curl_easy_reset(E.Handle);
  const bool IsHome = originOf(Url) == S.To.Origin;
  HeaderLines Lines;
  if (E.IsPut) {
    Lines.add("Content-Type: application/octet-stream");
    // Otherwise, libcurl waits for a server that ignores it.
    Lines.add("Expect:");
  }
  if (IsHome)
    for (const auto &[Name, Value] : E.Headers)
      // With a colon, libcurl would remove an empty header.
      Lines.add(Name + (Value.empty() ? ";" : ": " + Value));
  configure(E, Lines.get(), IsHome);
  // 0 would mean no limit.
  const milliseconds Limit =
      std::max(std::chrono::ceil<milliseconds>(End - Clock::now()), 1ms);
  char Text[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(E.Handle, CURLOPT_URL, Url.c_str());
  curl_easy_setopt(E.Handle, CURLOPT_TIMEOUT_MS, long(Limit.count()));
  curl_easy_setopt(E.Handle, CURLOPT_CONNECTTIMEOUT_MS,
                   long(std::min(Limit, MaxConnect).count()));
  curl_easy_setopt(E.Handle, CURLOPT_ERRORBUFFER, Text);
  CURLcode Code = curl_easy_perform(E.Handle);
  curl_easy_setopt(E.Handle, CURLOPT_ERRORBUFFER, nullptr);
  E.Status = E.status();
  char *Next = nullptr;
  curl_easy_getinfo(E.Handle, CURLINFO_REDIRECT_URL, &Next);
  std::string Target = Next ? Next : "";
  // After a failure, libcurl refuses some changes of a handle.
  if (Code == CURLE_OK)
    Idle.give(std::move(Handle));

  if (Code == CURLE_FILESIZE_EXCEEDED)
    E.IsTooLong = true;
  else if (Code == CURLE_UNSUPPORTED_PROTOCOL && IsRedirected)
    fail("the server redirects to another protocol");
  else if (Code != CURLE_OK && !E.IsTooLong)
    fail(Text[0] ? Text : curl_easy_strerror(Code));
  return Target;
}

// libcurl itself would send a helper's headers to each server.
void HttpStore::follow(Exchange &E, std::string Url, Clock::time_point End) {
  for (unsigned NumRedirects = 0;; ++NumRedirects) {
    Url = perform(E, Url, /*IsRedirected=*/NumRedirects != 0, End);
    if (Url.empty())
      return;
    if (NumRedirects == MaxRedirects)
      fail("the server redirects more than " + std::to_string(MaxRedirects) +
           " times");
    if (E.IsPut && E.Status == 303)
      fail("the server redirects a PUT to a GET");
  }
}

void HttpStore::run(Exchange &E, const uint8_t *Key, milliseconds Limit) {
  const CredentialHelper::Patience P{Clock::now() + Limit};
  CredentialHelper::Failure F;
  uint64_t Stamp = 0;
  auto Send = [&] {
    E.Headers.clear();
    if (!S.Helper.empty())
      F = Helper.get(P, S.To.Url, E.Headers, Stamp);
    if (F)
      fail(F.Why);
    follow(E, S.To.Url + "/" + hexDigits(Key, KeySize), P.End);
  };
  Send();
  if (S.Helper.empty())
    return;
  if (E.Status == 401 && Helper.renew(P, S.To.Url, Stamp, F))
    Send();
  else if (F)
    fail(F.Why);
  if (E.Status != 401)
    Helper.onAccepted(S.To.Url, Stamp);
}

sdk::Buffer HttpStore::get(const uint8_t *Key, uint64_t MaxBytes,
                           milliseconds Limit) {
  Exchange E;
  E.MaxBytes = MaxBytes;
  run(E, Key, Limit);
  if (E.Status == 404 || (E.Status == 200 && E.IsTooLong))
    return {};
  if (E.Status != 200)
    fail("status " + std::to_string(E.Status));
  return std::move(E.Body);
}

void HttpStore::put(const uint8_t *Key, std::string_view Bytes,
                    milliseconds Limit) {
  Exchange E;
  E.IsPut = true;
  E.Sent = Bytes;
  run(E, Key, Limit);
  if (E.Status != 200 && E.Status != 201 && E.Status != 204)
    fail("status " + std::to_string(E.Status));
}
