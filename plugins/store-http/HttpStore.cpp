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
#include <cstring>

using namespace dtlto;
using namespace dtlto::http;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

static constexpr size_t KeySize = 32;
static constexpr milliseconds MaxConnect = 2s;
static constexpr long MaxRedirects = 5;
// The text of an error, which is dropped, and the answer to a PUT.
static constexpr size_t MaxText = size_t(64) << 10;

/// One request and its answer.
struct HttpStore::Exchange {
  bool IsPut = false;
  std::string_view Sent = {};
  uint64_t MaxBytes = MaxText; // of a body that is kept

  CURL *Handle = nullptr;
  size_t NumSent = 0;
  std::string Body = {}; // of a GET with status 200
  size_t NumDropped = 0; // bytes of other bodies
  bool IsTooLong = false;
  long Status = 0;

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
    : S(readSettings(Params, std::getenv)), Idle(Params.max_calls) {
  if (!isCurlReady())
    fail("cannot initialize libcurl");
  // Without "Expect", libcurl doesn't wait for a server that ignores it.
  for (const char *Line :
       {"Content-Type: application/octet-stream", "Expect:"}) {
    curl_slist *New = curl_slist_append(PutHeaders.get(), Line);
    if (!New)
      throw std::bad_alloc();
    (void)PutHeaders.release();
    PutHeaders.reset(New);
  }
}

void HttpStore::fail(const std::string &Why) const {
  throw sdk::Error(DTLTO_ERROR_INFRASTRUCTURE,
                   sdk::printable(S.To.Url + ": " + Why, ' '));
}

/// Sets whom to trust, and the credentials of the user.
void HttpStore::authenticate(CURL *Handle) const {
  set(Handle, CURLOPT_SSLVERSION, long(CURL_SSLVERSION_TLSv1_2));
  if (!S.CaFile.empty())
    set(Handle, CURLOPT_CAINFO, S.CaFile.c_str());
  if (!S.CertFile.empty()) {
    set(Handle, CURLOPT_SSLCERT, S.CertFile.c_str());
    set(Handle, CURLOPT_SSLKEY, S.KeyFile.c_str());
    // Otherwise OpenSSL asks for it on the terminal.
    set(Handle, CURLOPT_KEYPASSWD, "");
  }
  if (!S.Token.empty()) {
    set(Handle, CURLOPT_HTTPAUTH, long(CURLAUTH_BEARER));
    set(Handle, CURLOPT_XOAUTH2_BEARER, S.Token.c_str());
  } else if (S.To.isPrivate()) {
    set(Handle, CURLOPT_NETRC, long(CURL_NETRC_OPTIONAL));
    if (!S.NetrcFile.empty())
      set(Handle, CURLOPT_NETRC_FILE, S.NetrcFile.c_str());
  }
}

/// Sets what all requests have.
void HttpStore::configure(CURL *Handle, const Exchange &E) const {
  auto Set = [&](CURLoption Option, auto Value) { set(Handle, Option, Value); };
  const char *Scheme = S.To.IsTls ? "https" : "http";
  Set(CURLOPT_PROTOCOLS_STR, Scheme);
  Set(CURLOPT_REDIR_PROTOCOLS_STR, Scheme);
  Set(CURLOPT_FOLLOWLOCATION, 1L);
  Set(CURLOPT_MAXREDIRS, MaxRedirects);
  Set(CURLOPT_HTTP_VERSION, long(CURL_HTTP_VERSION_1_1));
  Set(CURLOPT_USERAGENT, "dtlto");
  Set(CURLOPT_NOSIGNAL, 1L);
  // Don't wait for a resolver that doesn't answer.
  Set(CURLOPT_QUICK_EXIT, 1L);
  Set(CURLOPT_BUFFERSIZE, 128L << 10);

  authenticate(Handle);

  // Reports a longer body before it arrives.
  Set(CURLOPT_MAXFILESIZE_LARGE,
      curl_off_t(std::clamp<uint64_t>(E.MaxBytes, MaxText, INT64_MAX)));
  Set(CURLOPT_WRITEDATA, &E);
  Set(CURLOPT_WRITEFUNCTION,
      curl_write_callback([](char *Data, size_t, size_t Size, void *Raw) {
        return static_cast<Exchange *>(Raw)->onBody(Data, Size);
      }));
  if (!E.IsPut)
    return;
  Set(CURLOPT_UPLOAD, 1L);
  Set(CURLOPT_HTTPHEADER, PutHeaders.get());
  Set(CURLOPT_INFILESIZE_LARGE, curl_off_t(E.Sent.size()));
  Set(CURLOPT_READDATA, &E);
  Set(CURLOPT_READFUNCTION,
      curl_read_callback([](char *To, size_t Unit, size_t Count, void *Raw) {
        return static_cast<Exchange *>(Raw)->onSend(To, Unit * Count);
      }));
  // After a redirect, or on a connection that the server has closed.
  Set(CURLOPT_SEEKDATA, &E);
  Set(CURLOPT_SEEKFUNCTION,
      curl_seek_callback([](void *Raw, curl_off_t Offset, int Origin) {
        bool IsDone = Origin == SEEK_SET &&
                      static_cast<Exchange *>(Raw)->onSeek(uint64_t(Offset));
        return IsDone ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
      }));
}

void HttpStore::run(Exchange &E, const uint8_t *Key, milliseconds Limit) {
  Handles::Entry Handle = Idle.take();
  if (!Handle)
    Handle.reset(curl_easy_init());
  if (!Handle)
    fail("cannot initialize libcurl");
  E.Handle = Handle.get();
  // Keeps the connections.
  curl_easy_reset(E.Handle);
  configure(E.Handle, E);
  // 0 would mean no limit.
  Limit = std::max(Limit, milliseconds(1));
  const std::string Url = S.To.Url + "/" + hexDigits(Key, KeySize);
  char Text[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(E.Handle, CURLOPT_URL, Url.c_str());
  curl_easy_setopt(E.Handle, CURLOPT_TIMEOUT_MS, long(Limit.count()));
  curl_easy_setopt(E.Handle, CURLOPT_CONNECTTIMEOUT_MS,
                   long(std::min(Limit, MaxConnect).count()));
  curl_easy_setopt(E.Handle, CURLOPT_ERRORBUFFER, Text);
  CURLcode Code = curl_easy_perform(E.Handle);
  curl_easy_setopt(E.Handle, CURLOPT_ERRORBUFFER, nullptr);
  E.Status = E.status();
  char *Method = nullptr;
  curl_easy_getinfo(E.Handle, CURLINFO_EFFECTIVE_METHOD, &Method);
  const bool IsOtherMethod =
      E.IsPut && Method && std::strcmp(Method, "PUT") != 0;
  // After a failure, libcurl refuses some changes of a handle.
  if (Code == CURLE_OK)
    Idle.give(std::move(Handle));

  if (Code == CURLE_FILESIZE_EXCEEDED)
    E.IsTooLong = true;
  else if (Code == CURLE_UNSUPPORTED_PROTOCOL && E.Status / 100 == 3)
    fail("the server redirects to another protocol");
  else if (Code != CURLE_OK && !E.IsTooLong)
    fail(Text[0] ? Text : curl_easy_strerror(Code));
  if (IsOtherMethod)
    fail("the server redirects a PUT to a GET");
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
