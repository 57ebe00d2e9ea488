//===- Reach.cpp - Why a server can't be reached --------------------------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reach.h"
#include "Settings.h"
#include "SettingsFile.h"
#include "Text.h"
#include "dtlto/sdk/Result.hpp"
#include <memory>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

using namespace dtlto::reapi;
using dtlto::lowerCase;
using dtlto::quote;
namespace sdk = dtlto::sdk;
using SteadyClock = std::chrono::steady_clock;

static constexpr size_t MaxPem = size_t(4) << 20;
// The limit of a connection that only tests why gRPC has none.
static constexpr std::chrono::seconds MaxTrial{3};

namespace {
template <auto Free> struct Deleter {
  template <typename T> void operator()(T *P) const { Free(P); }
};
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using CertPtr = std::unique_ptr<X509, Deleter<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using ContextPtr = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, Deleter<SSL_free>>;
} // namespace

//===----------------------------------------------------------------------===//
// PEM files
//===----------------------------------------------------------------------===//

static BioPtr bioOf(const std::string &Text) {
  return BioPtr(BIO_new_mem_buf(Text.data(), int(Text.size())));
}

static CertPtr firstCertificate(const std::string &Text) {
  return CertPtr(
      PEM_read_bio_X509_AUX(bioOf(Text).get(), nullptr, nullptr, nullptr));
}

/// Describes a file that is not of the expected kind.
static std::string describeKind(const std::string &Text, bool WantsKey) {
  size_t First = Text.find_first_not_of(" \t\r\n");
  if (First == Text.npos)
    return "it is empty";
  if (Text[First] == '<')
    return "it is a web page";
  const auto *Bytes = reinterpret_cast<const unsigned char *>(Text.data());
  if (!WantsKey && CertPtr(d2i_X509(nullptr, &Bytes, long(Text.size()))))
    return "it is in DER form; 'openssl x509 -inform der' converts it";
  Bytes = reinterpret_cast<const unsigned char *>(Text.data());
  if (WantsKey &&
      KeyPtr(d2i_AutoPrivateKey(nullptr, &Bytes, long(Text.size()))))
    return "it is in DER form; 'openssl pkey -inform der' converts it";
  if (Text.find("-----BEGIN ENCRYPTED PRIVATE KEY") != Text.npos ||
      Text.find("Proc-Type: 4,ENCRYPTED") != Text.npos)
    return "it has a pass phrase; 'openssl pkey' writes it without one";
  if (!WantsKey && Text.find("PRIVATE KEY-----") != Text.npos)
    return "it is a private key";
  if (WantsKey && Text.find("-----BEGIN CERTIFICATE") != Text.npos)
    return "it is a certificate";
  return "it has another format, or is damaged";
}

PemFiles dtlto::reapi::readPemFiles(const Settings &S) {
  PemFiles Files;
  Files.Ca = readSettingsFile(S.CaFile, "tls-ca", MaxPem);
  Files.Cert = readSettingsFile(S.CertFile, "tls-cert", MaxPem);
  Files.Key = readSettingsFile(S.KeyFile, "tls-key", MaxPem);
  if (!S.Server.Tls && !S.Cas.Tls && !S.Cache.Tls)
    return Files; // they are not used
  auto Wrong = [](const char *Setting, const std::string &Name,
                  const std::string &Why) {
    ERR_clear_error();
    return sdk::Error(DTLTO_ERROR_CALLER,
                      std::string(Setting) + "=: " + quote(Name) + " " + Why);
  };
  if (!S.CaFile.empty() && !firstCertificate(Files.Ca))
    throw Wrong("tls-ca", S.CaFile,
                "has no certificate in PEM form: " +
                    describeKind(Files.Ca, /*WantsKey=*/false));
  if (S.CertFile.empty())
    return Files;
  CertPtr Cert = firstCertificate(Files.Cert);
  if (!Cert)
    throw Wrong("tls-cert", S.CertFile,
                "has no certificate in PEM form: " +
                    describeKind(Files.Cert, /*WantsKey=*/false));
  auto NoPassphrase = [](char *, int, int, void *) { return 0; };
  KeyPtr Key(PEM_read_bio_PrivateKey(bioOf(Files.Key).get(), nullptr,
                                     NoPassphrase, nullptr));
  if (!Key)
    throw Wrong("tls-key", S.KeyFile,
                "has no private key in PEM form: " +
                    describeKind(Files.Key, /*WantsKey=*/true));
  if (X509_check_private_key(Cert.get(), Key.get()) != 1)
    throw Wrong("tls-key", S.KeyFile,
                "is not the key of the certificate in " + quote(S.CertFile) +
                    " (tls-cert=)");
  return Files;
}

//===----------------------------------------------------------------------===//
// A proxy
//===----------------------------------------------------------------------===//

static std::string_view hostOf(std::string_view Target) {
  std::string_view Host = Target.substr(0, Target.rfind(':'));
  if (Host.size() > 2 && Host.front() == '[')
    Host = Host.substr(1, Host.size() - 2);
  return Host;
}

static bool endsWith(std::string_view Text, std::string_view End) {
  return End.size() <= Text.size() &&
         lowerCase(Text.substr(Text.size() - End.size())) == lowerCase(End);
}

std::string dtlto::reapi::proxyVariable(const Endpoint &E, const GetEnv &Env,
                                        std::string &Address) {
  Address.clear();
  if (E.Target.compare(0, 5, "unix:") == 0)
    return "";
  // In gRPC's order.
  for (const char *Name : {"grpc_proxy", "https_proxy", "http_proxy"}) {
    const char *Value = Env(Name);
    if (!Value || !*Value)
      continue;
    const char *Except = Env("no_grpc_proxy");
    if (!Except || !*Except)
      Except = Env("no_proxy");
    for (std::string_view Rest = Except ? Except : ""; !Rest.empty();) {
      size_t End = std::min(Rest.find(','), Rest.size());
      std::string_view Entry = Rest.substr(0, End);
      Rest.remove_prefix(std::min(End + 1, Rest.size()));
      if (!Entry.empty() && endsWith(hostOf(E.Target), Entry))
        return "";
    }
    std::string_view Text = Value;
    if (size_t At = Text.find("://"); At != Text.npos)
      Text.remove_prefix(At + 3);
    Text = Text.substr(0, Text.find('/'));
    if (size_t At = Text.rfind('@'); At != Text.npos)
      Text.remove_prefix(At + 1);
    Address = sdk::printable(std::string(Text.substr(0, 200)), ' ');
    return Name;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// TLS
//===----------------------------------------------------------------------===//

static std::string timeText(const ASN1_TIME *Time) {
  BioPtr Out(BIO_new(BIO_s_mem()));
  char *Text = nullptr;
  if (!Out || !ASN1_TIME_print(Out.get(), Time))
    return "an unknown time";
  long Size = BIO_get_mem_data(Out.get(), &Text);
  return std::string(Text, size_t(Size));
}

static std::string nameText(const X509_NAME *Name) {
  char Text[200] = "";
  X509_NAME_oneline(Name, Text, sizeof(Text));
  return quote(sdk::printable(Text, ' '));
}

/// Returns the names of \p Cert as a list for a message.
static std::string namesOf(X509 *Cert) {
  std::string All;
  size_t Num = 0;
  auto *Names = static_cast<GENERAL_NAMES *>(
      X509_get_ext_d2i(Cert, NID_subject_alt_name, nullptr, nullptr));
  for (int I = 0; Names && I != sk_GENERAL_NAME_num(Names); ++I) {
    const GENERAL_NAME *N = sk_GENERAL_NAME_value(Names, I);
    std::string One;
    if (N->type == GEN_DNS) {
      One.assign(
          reinterpret_cast<const char *>(ASN1_STRING_get0_data(N->d.dNSName)),
          size_t(ASN1_STRING_length(N->d.dNSName)));
    } else if (N->type == GEN_IPADD) {
      const unsigned char *B = ASN1_STRING_get0_data(N->d.iPAddress);
      if (ASN1_STRING_length(N->d.iPAddress) != 4)
        continue;
      for (int K = 0; K != 4; ++K)
        One += (K ? "." : "") + std::to_string(B[K]);
    }
    if (!One.empty() && ++Num <= 5)
      All += (All.empty() ? "" : ", ") +
             quote(sdk::printable(One.substr(0, 100), ' '));
  }
  GENERAL_NAMES_free(Names);
  return Num > 5 ? All + " and others" : All;
}

/// Describes what is wrong with a server's chain of certificates.
static std::string explainChain(const Settings &S, int Error, X509 *Cert) {
  std::string CertName =
      "its certificate (" + nameText(X509_get_subject_name(Cert)) + ")";
  switch (Error) {
  case X509_V_ERR_CERT_HAS_EXPIRED:
    return CertName + " expired on " + timeText(X509_get0_notAfter(Cert)) +
           "; the server needs a new one";
  case X509_V_ERR_CERT_NOT_YET_VALID:
    return CertName + " is not valid before " +
           timeText(X509_get0_notBefore(Cert)) +
           "; is the clock of this machine right?";
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
  case X509_V_ERR_CERT_SIGNATURE_FAILURE:
  case X509_V_ERR_CERT_UNTRUSTED:
    return CertName + " is signed by " + nameText(X509_get_issuer_name(Cert)) +
           (S.CaFile.empty()
                ? ", which this machine does not trust; name the authority's "
                  "certificate with tls-ca="
                : ", which is not in " + quote(S.CaFile) + " (tls-ca=)");
  default:
    return CertName + " is not valid: " + X509_verify_cert_error_string(Error);
  }
}

namespace {
struct FirstError {
  int Code = X509_V_OK;
  CertPtr Cert;
};
} // namespace

static int keepFirstError(int Good, X509_STORE_CTX *Context) {
  auto *Ssl = static_cast<SSL *>(X509_STORE_CTX_get_ex_data(
      Context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto *First = static_cast<FirstError *>(SSL_get_app_data(Ssl));
  X509 *Cert = X509_STORE_CTX_get_current_cert(Context);
  if (!Good && First->Code == X509_V_OK && Cert) {
    X509_up_ref(Cert);
    First->Cert.reset(Cert);
    First->Code = X509_STORE_CTX_get_error(Context);
  }
  return 1; // continue, to see the whole handshake
}

// OpenSSL's reasons from this one on are alerts that a peer sent.
static constexpr int FirstAlert = SSL_AD_REASON_OFFSET;

/// Prepares a handshake with gRPC's settings.
static ContextPtr contextFor(const Settings &S) {
  ContextPtr Context(SSL_CTX_new(TLS_client_method()));
  if (!Context)
    return nullptr;
  if (S.CaFile.empty())
    SSL_CTX_set_default_verify_paths(Context.get());
  else
    SSL_CTX_load_verify_locations(Context.get(), S.CaFile.c_str(), nullptr);
  if (!S.CertFile.empty() &&
      SSL_CTX_use_certificate_chain_file(Context.get(), S.CertFile.c_str()))
    SSL_CTX_use_PrivateKey_file(Context.get(), S.KeyFile.c_str(),
                                SSL_FILETYPE_PEM);
  static const unsigned char Http2[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(Context.get(), Http2, sizeof(Http2));
  SSL_CTX_set_verify(Context.get(), SSL_VERIFY_PEER, keepFirstError);
  return Context;
}

/// Calls \p Step, which returns what OpenSSL's functions return, until it
/// succeeds, fails, or \p End has passed. Returns whether it succeeded.
template <typename F>
static bool repeat(SSL *Ssl, SteadyClock::time_point End, F Step) {
  while (true) {
    int Done = Step();
    int Why = Done == 1 ? SSL_ERROR_NONE : SSL_get_error(Ssl, Done);
    if (Why != SSL_ERROR_WANT_READ && Why != SSL_ERROR_WANT_WRITE)
      return Done == 1;
    pollfd P = {SSL_get_fd(Ssl),
                short(Why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT), 0};
    auto Remaining = std::chrono::duration_cast<std::chrono::milliseconds>(
        End - SteadyClock::now());
    if (::poll(&P, 1, int(std::max<int64_t>(0, Remaining.count()))) != 1)
      return false;
  }
}

/// Explains the error or alert \p Reason of a handshake. Returns nothing if it
/// is unknown.
static std::string explainReason(const Settings &S, int Reason) {
  switch (Reason) {
  case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
  case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    return S.CertFile.empty() ? "it wants a client certificate: tls-cert= and "
                                "tls-key="
                              : "";
  case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
  case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
  case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
  case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    return "it refuses the client certificate in " + quote(S.CertFile) +
           " (tls-cert=)";
  case SSL_R_WRONG_VERSION_NUMBER:
  case SSL_R_HTTP_REQUEST:
  case SSL_R_PACKET_LENGTH_TOO_LONG:
    return "its port has no TLS; use grpc:// for it";
  default:
    return "";
  }
}

/// Makes a handshake with \p E like gRPC's. Returns what is wrong, or nothing
/// if that is unknown.
static std::string explainHandshake(const Settings &S, const Endpoint &E) {
  auto End = SteadyClock::now() + MaxTrial;
  ContextPtr Context = contextFor(S);
  BioPtr Socket(BIO_new_connect(E.Target.c_str()));
  if (!Context || !Socket ||
      BIO_do_connect_retry(Socket.get(), int(MaxTrial.count()),
                           /*nap_milliseconds=*/10) != 1)
    return "";
  SslPtr Ssl(SSL_new(Context.get()));
  FirstError First;
  SSL_set_app_data(Ssl.get(), &First);
  BIO *Bio = Socket.release(); // becomes Ssl's
  SSL_set_bio(Ssl.get(), Bio, Bio);
  std::string Host(hostOf(E.Target));
  SSL_set_tlsext_host_name(Ssl.get(), Host.c_str());
  ERR_clear_error();
  bool HandshakeDone =
      repeat(Ssl.get(), End, [&] { return SSL_connect(Ssl.get()); });
  CertPtr Cert(HandshakeDone ? SSL_get1_peer_certificate(Ssl.get()) : nullptr);
  if (Cert && E.Tls && First.Code == X509_V_OK) {
    if (X509_check_ip_asc(Cert.get(), Host.c_str(), 0) != 1 &&
        X509_check_host(Cert.get(), Host.c_str(), Host.size(), 0, nullptr) !=
            1) {
      std::string Names = namesOf(Cert.get());
      return "its certificate is " +
             (Names.empty() ? "for no name" : "for " + Names) + ", not for " +
             quote(Host);
    }
    // A server requests a missing certificate only after the handshake.
    End = std::min(End, SteadyClock::now() + std::chrono::milliseconds(500));
    char Byte;
    repeat(Ssl.get(), End, [&] { return SSL_read(Ssl.get(), &Byte, 1); });
  }
  int Reason = ERR_GET_REASON(ERR_peek_error());
  if (!E.Tls)
    return HandshakeDone || First.Code != X509_V_OK || Reason >= FirstAlert
               ? "its port has TLS; use grpcs:// for it"
               : "";
  return First.Code != X509_V_OK ? explainChain(S, First.Code, First.Cert.get())
                                 : explainReason(S, Reason);
}

std::string dtlto::reapi::explainConnection(const Settings &S,
                                            const Endpoint &E,
                                            std::string_view Text,
                                            const GetEnv &Env) {
  auto Has = [&](std::string_view Word) {
    return Text.find(Word) != Text.npos;
  };
  std::string Address;
  if (std::string Name = proxyVariable(E, Env, Address); !Name.empty())
    return "gRPC goes through the proxy " + quote(Address) + " of $" + Name +
           "; if the proxy cannot reach the server, add " +
           quote(std::string(hostOf(E.Target))) + " to $no_proxy";
  // gRPC reports this for a TLS alert and for a web server's answer.
  bool IsOther = !E.Tls && Has("http1.x server");
  if (!IsOther && !Has("ocket closed") && !Has("reset by peer") &&
      !(E.Tls && (Has("andshake") || Has("SSL") || Has("ertificate") ||
                  Has("Peer name"))))
    return "";
  std::string Why;
  if (E.Target.compare(0, 5, "unix:") != 0)
    Why = explainHandshake(S, E);
  ERR_clear_error();
  return Why.empty() && IsOther ? "its port does not speak HTTP/2" : Why;
}
