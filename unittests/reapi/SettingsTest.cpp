//===- SettingsTest.cpp - Arguments, a file, environment variables --------===//
//
// Part of dtlto, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Settings.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

using namespace dtlto::reapi;

namespace {
class SettingsTest : public testing::Test {
protected:
  bool read(std::vector<const char *> Args) {
    return inEnvironment([&](const GetEnv &Get, const char *const *Environ) {
      return readSettings(Args.data(), uint32_t(Args.size()), Get, Environ,
                          "/plugins");
    });
  }
  bool readStore(const char *Url, std::vector<const char *> Args = {}) {
    dtlto_store_params Params = {};
    Params.size = sizeof(Params);
    Params.url = Url;
    Params.args = Args.data();
    Params.num_args = static_cast<uint32_t>(Args.size());
    return inEnvironment([&](const GetEnv &Get, const char *const *Environ) {
      return readStoreSettings(Params, Get, Environ);
    });
  }
  template <typename Fn> bool inEnvironment(Fn Read) {
    std::vector<std::string> Texts;
    for (const auto &[Name, Value] : Env)
      Texts.push_back(Name + "=" + Value);
    std::vector<const char *> Environ;
    for (const std::string &T : Texts)
      Environ.push_back(T.c_str());
    Environ.push_back(nullptr);
    auto Get = [&](const char *Name) -> const char * {
      Queried.insert(Name);
      auto It = Env.find(Name);
      return It == Env.end() ? nullptr : It->second.c_str();
    };
    try {
      S = Read(Get, Environ.data());
      return true;
    } catch (const dtlto::sdk::Error &E) {
      Error = E.what();
      return false;
    }
  }
  std::string file(const std::string &Text) {
    std::string Name =
        std::filesystem::temp_directory_path() / "dtlto-settings-XXXXXX";
    close(mkstemp(Name.data()));
    std::ofstream(Name) << Text;
    Files.push_back(Name);
    return Name;
  }
  ~SettingsTest() {
    for (const std::string &F : Files)
      std::filesystem::remove(F);
  }

  std::set<std::string> Queried; // variables
  std::map<std::string, std::string> Env;
  std::vector<std::string> Files;
  Settings S;
  std::string Error;
};
} // namespace

TEST_F(SettingsTest, Nothing) {
  EXPECT_FALSE(read({}));
  EXPECT_NE(std::string::npos, Error.find("no server"));
}

TEST_F(SettingsTest, Endpoints) {
  struct {
    const char *Text, *Target;
    bool Tls;
  } Good[] = {{"grpc://host:1", "host:1", false},
              {"grpcs://host", "host:443", true},
              {"http://host/", "host:80", false},
              {"https://host:8443", "host:8443", true},
              {"host:99", "host:99", false},
              {"grpc://[::1]:5", "[::1]:5", false},
              {"unix:/run/casd.sock", "unix:/run/casd.sock", false}};
  for (const auto &G : Good) {
    Endpoint E;
    EXPECT_TRUE(readEndpoint(G.Text, false, E)) << G.Text;
    EXPECT_EQ(G.Target, E.Target);
    EXPECT_EQ(G.Tls, E.Tls);
  }
  for (const char *Bad : {"", "grpc://", "ftp://host", "host:0", "host:65536",
                          "host:x", ":1", "a b:1", "grpc://user@host:1",
                          "grpc://host:1/path", "::1:5", "unix:"}) {
    Endpoint E;
    EXPECT_FALSE(readEndpoint(Bad, false, E)) << Bad;
  }
}

TEST_F(SettingsTest, LocalEndpoints) {
  for (auto [Text, Local] : {std::pair("unix:/s", true),
                             {"grpc://localhost:1", true},
                             {"grpc://127.0.0.2:1", true},
                             {"grpc://[::1]:1", true},
                             {"grpc://localhost.example:1", false},
                             {"grpc://10.0.0.1:1", false}}) {
    Endpoint E;
    ASSERT_TRUE(readEndpoint(Text, false, E));
    EXPECT_EQ(Local, E.isLocal()) << Text;
  }
}

TEST_F(SettingsTest, OneServerForAll) {
  ASSERT_TRUE(read({"server=grpc://a:1"}));
  EXPECT_EQ("a:1", S.Cas.Target);
  EXPECT_EQ("a:1", S.Cache.Target);
  ASSERT_TRUE(read({"server=grpc://a:1", "cas=grpcs://b:2"}));
  EXPECT_EQ("b:2", S.Cas.Target);
  EXPECT_EQ("b:2", S.Cache.Target);
  EXPECT_TRUE(S.Cache.Tls);
}

TEST_F(SettingsTest, WhatWins) {
  std::string File = file("# ours\n\n instance = of the file \r\n"
                          "server=grpc://file:1\nplatform=a=file\n"
                          "platform=b=file\njobs=7\n");
  std::string Config = "config=" + File;
  Env = {
      {"RECC_SERVER", "http://recc:1"},   {"RBE_service", "rbe:1"},
      {"RBE_instance", "of rbe"},         {"RECC_REMOTE_PLATFORM_a", "recc"},
      {"RECC_REMOTE_PLATFORM_c", "recc"}, {"RECC_CAS_SERVER", "http://cas:1"}};
  ASSERT_TRUE(read({})) << Error;
  EXPECT_EQ("recc:1", S.Server.Target);
  EXPECT_EQ("of rbe", S.Instance);
  ASSERT_TRUE(read({Config.c_str()})) << Error;
  EXPECT_EQ("file:1", S.Server.Target);
  EXPECT_EQ("of the file", S.Instance);
  EXPECT_EQ(7u, S.Jobs);
  ASSERT_TRUE(read({"server=grpc://arg:1", "platform=a=arg", Config.c_str()}));
  EXPECT_EQ("arg:1", S.Server.Target);
  EXPECT_EQ("cas:1", S.Cas.Target);
  EXPECT_EQ((std::map<std::string, std::string>{
                {"a", "arg"}, {"b", "file"}, {"c", "recc"}}),
            S.Platform);
}

TEST_F(SettingsTest, RbeIsSecureUnlessItSays) {
  Env["RBE_service"] = "rbe:1";
  ASSERT_TRUE(read({}));
  EXPECT_TRUE(S.Server.Tls);
  for (const char *Yes : {"true", "True", "1", "t"}) {
    Env["RBE_service_no_security"] = Yes;
    ASSERT_TRUE(read({}));
    EXPECT_FALSE(S.Server.Tls) << Yes;
  }
  for (const char *No : {"false", "False", "0", "F", ""}) {
    Env["RBE_service_no_security"] = No;
    ASSERT_TRUE(read({}));
    EXPECT_TRUE(S.Server.Tls) << No;
  }
  Env["RBE_service_no_security"] = "no";
  EXPECT_FALSE(read({}));
  EXPECT_EQ("$RBE_service_no_security='no': expected true or false", Error);
  EXPECT_TRUE(read({"server=a:1"}));
}

/// siso's own variables precede those of reclient, which it reads as well.
TEST_F(SettingsTest, Siso) {
  Env = {{"SISO_REAPI_ADDRESS", "siso.example.com:443"},
         {"RBE_service", "rbe:1"},
         {"RBE_instance", "of rbe"}};
  ASSERT_TRUE(read({})) << Error;
  EXPECT_EQ("siso.example.com:443", S.Server.Target);
  EXPECT_TRUE(S.Server.Tls);
  EXPECT_EQ("of rbe", S.Instance);
  Env["SISO_REAPI_INSTANCE"] = "of siso";
  Env["RBE_service_no_security"] = "true";
  ASSERT_TRUE(read({})) << Error;
  EXPECT_FALSE(S.Server.Tls);
  EXPECT_EQ("of siso", S.Instance);
  Env["RECC_SERVER"] = "http://recc:1";
  ASSERT_TRUE(read({})) << Error;
  EXPECT_EQ("recc:1", S.Server.Target);
  Env = {{"SISO_REAPI_ADDRESS", "a b"}};
  EXPECT_FALSE(read({}));
  EXPECT_EQ(0u, Error.find("$SISO_REAPI_ADDRESS='a b': expected grpc://"))
      << Error;
}

TEST_F(SettingsTest, ReccSwitches) {
  Env["RECC_SERVER"] = "http://a:1";
  Env["RECC_SKIP_CACHE"] = "1";
  ASSERT_TRUE(read({}));
  EXPECT_EQ(Results::Off, S.CacheUse);
  Env["RECC_CACHE_ONLY"] = "1";
  ASSERT_TRUE(read({}));
  EXPECT_TRUE(S.isCacheOnly());
  ASSERT_TRUE(read({"results=write"}));
  EXPECT_FALSE(S.isCacheOnly());
  EXPECT_EQ(Results::Write, S.CacheUse);
}

TEST_F(SettingsTest, Worker) {
  ASSERT_TRUE(read({"server=a:1"}));
  EXPECT_EQ("/plugins/dtlto-codegen-static", S.WorkerFile);
  ASSERT_TRUE(read({"server=a:1", "worker=/w"}));
  EXPECT_EQ("/w", S.WorkerFile);
  ASSERT_TRUE(read({"server=a:1", "worker=clang-19"}));
  EXPECT_FALSE(S.sendsWorker());
  Env["DTLTO_WORKER"] = "/e";
  ASSERT_TRUE(read({"server=a:1"}));
  EXPECT_EQ("/e", S.WorkerFile);
}

/// The error for an invalid setting says where it is.
TEST_F(SettingsTest, Wrong) {
  Env["RECC_SERVER"] = "http://a:1";
  std::pair<const char *, const char *> Args[] = {
      {"jobs=0", "argument 'jobs=0': expected jobs=N with N from 1 to 4096"},
      {"job=1", "did you mean 'jobs='?"},
      {"results=yes", "expected results=write|read|off|only"},
      {"digest=md5", "expected digest=auto|sha256|blake3"},
      {"platform=x", "expected platform=NAME=VALUE"},
      {"header=a b=c", "not a valid header name"},
      {"header=a-bin=c", "binary"},
      {"cas=nowhere:x", "argument 'cas=nowhere:x': expected grpc://"},
      {"header=a=\xc3\xa9", "printable"},
      {"credential-helper=", "expected credential-helper=PROGRAM"},
      {"credential-helper=/nowhere", "cannot run '/nowhere': No such file"},
      {"tls-cert=/c", "belong together"},
      {"config=/nowhere", "cannot read '/nowhere'"},
      {"alone", "unknown argument 'alone'"}};
  for (auto [Arg, Why] : Args) {
    EXPECT_FALSE(read({Arg})) << Arg;
    EXPECT_NE(std::string::npos, Error.find(Why)) << Error;
  }
  std::string File = file("jobs=3\n\njobs = many\n");
  EXPECT_FALSE(read({("config=" + File).c_str()}));
  EXPECT_NE(std::string::npos, Error.find(File + "' line 3")) << Error;
  Env["RECC_RETRY_LIMIT"] = "lots";
  EXPECT_FALSE(read({}));
  EXPECT_EQ(0u, Error.find("$RECC_RETRY_LIMIT='lots'")) << Error;
  // Unused settings aren't checked.
  EXPECT_TRUE(read({"retries=1"}));
  Env.erase("RECC_RETRY_LIMIT");
  // For recc, 0 means no limit.
  Env["RECC_REQUEST_TIMEOUT"] = "0";
  EXPECT_TRUE(read({})) << Error;
  EXPECT_FALSE(read({"timeout=0"}));
}

/// Text before an address isn't shown either.
TEST_F(SettingsTest, KeysInAddressesAreNotShown) {
  for (const char *Setting :
       {"server=grpcs://secret@a.example", "cas=secret@a:1", "cache=s:ecret@a",
        "server = grpc://secret@b@a:1", "server=secret@a://b@c"}) {
    EXPECT_FALSE(read({Setting})) << Setting;
    EXPECT_EQ(std::string::npos, Error.find("ecret")) << Error;
    EXPECT_FALSE(read({("config=" + file(Setting)).c_str()})) << Setting;
    EXPECT_EQ(std::string::npos, Error.find("ecret")) << Error;
  }
  Env["RECC_SERVER"] = "grpcs://secret@a.example";
  EXPECT_FALSE(read({}));
  EXPECT_EQ("$RECC_SERVER='grpcs://...@a.example': expected grpc://HOST:PORT, "
            "grpcs://HOST:PORT or unix:PATH; credentials belong in "
            "header=",
            Error);
}

/// A header may be a secret, and messages go to logs.
TEST_F(SettingsTest, HeadersAreNotShown) {
  for (const char *Setting :
       {"header=a b=secret", "header=Authorization: Bearer secret",
        "header=Authorization: Bearer secret==", "header = a-bin = secret",
        "header=a=secret\xc3\xa9", "Authorization: Bearer secret",
        "Header=a=secret", "header: a=secret"}) {
    EXPECT_FALSE(read({"server=a:1", Setting})) << Setting;
    EXPECT_EQ(std::string::npos, Error.find("secret")) << Error;
    std::string Config = "config=" + file(Setting);
    EXPECT_FALSE(read({"server=a:1", Config.c_str()})) << Setting;
    EXPECT_EQ(std::string::npos, Error.find("secret")) << Error;
    EXPECT_NE(std::string::npos, Error.find("line 1")) << Error;
  }
  EXPECT_FALSE(read({"server=a:1", "header=Authorization: Bearer secret"}));
  EXPECT_NE(std::string::npos, Error.find("'header=Authorization'")) << Error;
}

/// The environment's settings may belong to another server.
TEST_F(SettingsTest, AStoreWithAURL) {
  Env = {{"RECC_SERVER", "http://recc:1"},
         {"RECC_CAS_SERVER", "http://cas:1"},
         {"RECC_INSTANCE", "of recc"},
         {"RECC_ACCESS_TOKEN_PATH", "/recc-token"},
         {"RECC_SKIP_CACHE", "1"},
         {"RBE_service_no_security", "perhaps"}};
  ASSERT_TRUE(readStore("grpc://a:1")) << Error;
  for (const Endpoint &E : {S.Server, S.Cas, S.Cache})
    EXPECT_EQ("grpc://a:1", E.name());
  EXPECT_EQ("", S.Instance);
  EXPECT_EQ("", S.TokenFile);
  EXPECT_TRUE(S.Headers.empty());
  EXPECT_EQ(Results::Write, S.CacheUse);
  std::string Config = "config=" + file("instance=of the file\ntimeout=5");
  ASSERT_TRUE(readStore("grpcs://a/", {"cas=grpcs://b:2", "token-file=/t",
                                       "results=read", Config.c_str()}))
      << Error;
  EXPECT_EQ("grpcs://a:443", S.Server.name());
  EXPECT_EQ("grpcs://b:2", S.Cas.name());
  EXPECT_EQ("grpcs://b:2", S.Cache.name());
  EXPECT_EQ("/t", S.TokenFile);
  EXPECT_EQ(Results::Read, S.CacheUse);
  EXPECT_EQ("of the file", S.Instance);
  EXPECT_EQ(5, S.Timeout.count());
  ASSERT_TRUE(readStore("grpc://[::1]:5/a/b"));
  EXPECT_EQ("[::1]:5", S.Server.Target);
  EXPECT_EQ("a/b", S.Instance);
}

TEST_F(SettingsTest, CredentialsOfAStore) {
  Env = {{"DTLTO_REMOTE_CACHE_TOKEN", "xyz"}, {"RECC_SERVER", "http://a:1"}};
  using Headers = std::map<std::string, std::string>;
  for (const char *Url : {"grpcs://a", "grpc://127.0.0.1:1"}) {
    ASSERT_TRUE(readStore(Url)) << Error;
    EXPECT_EQ((Headers{{"authorization", "Bearer xyz"}}), S.Headers);
  }
  for (const char *Other : {"token-file=/t", "credential-helper=h"}) {
    ASSERT_TRUE(readStore("grpcs://a", {Other}));
    EXPECT_EQ(Headers(), S.Headers);
  }
  ASSERT_TRUE(readStore("grpcs://a", {"header=Authorization=Basic x"}));
  EXPECT_EQ((Headers{{"authorization", "Basic x"}}), S.Headers);
  // It is not for the plugin's server.
  ASSERT_TRUE(readStore(""));
  EXPECT_EQ(Headers(), S.Headers);
  // Credentials are only sent encrypted, or to this machine.
  EXPECT_FALSE(readStore("grpc://a:1"));
  EXPECT_EQ("$DTLTO_REMOTE_CACHE_TOKEN: the credentials would go to grpc://a:1 "
            "without encryption; use grpcs://",
            Error);
  for (auto [Arg, Source] : {std::pair("token-file=/t", "token-file=: the "),
                             {"credential-helper=h", "credential-helper=: "},
                             {"header=authorization=secret",
                              "header=authorization: the credentials"}}) {
    EXPECT_FALSE(readStore("grpc://a:1", {Arg}));
    EXPECT_EQ(0u, Error.find(Source)) << Error;
    EXPECT_FALSE(readStore("grpcs://a", {Arg, "cas=grpc://b:1"}));
    EXPECT_NE(std::string::npos, Error.find(" go to grpc://b:1 ")) << Error;
  }
  Env["DTLTO_REMOTE_CACHE_TOKEN"] = "secret\n";
  EXPECT_FALSE(readStore("grpcs://a"));
  EXPECT_EQ("$DTLTO_REMOTE_CACHE_TOKEN: it has characters other than printable "
            "ASCII",
            Error);
  Env["DTLTO_REMOTE_CACHE_TOKEN"] = "";
  ASSERT_TRUE(readStore("grpc://a:1"));
  EXPECT_EQ(Headers(), S.Headers);
}

TEST_F(SettingsTest, AStoreOfThePlugin) {
  Env = {{"RECC_SERVER", "http://recc:1"}, {"RECC_INSTANCE", "of recc"}};
  ASSERT_TRUE(readStore("", {"results=read"}));
  EXPECT_EQ("recc:1", S.Server.Target);
  EXPECT_EQ("of recc", S.Instance);
  EXPECT_EQ(Results::Read, S.CacheUse);
  ASSERT_TRUE(readStore("", {"server=a:1"}));
  EXPECT_EQ("a:1", S.Server.Target);
  Env.clear();
  EXPECT_FALSE(readStore(""));
  EXPECT_EQ(0u, Error.find("no server: ")) << Error;
}

TEST_F(SettingsTest, WrongStores) {
  for (const char *Url :
       {"host:1", "http://host:1", "unix:/s", "grpc", "grpc://", "grpc:///a",
        "grpc://host:x", "grpc://host:1/a?b=c", "grpc://host:1/a#b",
        "grpc://host:1/a\nb", "grpcs://se@cret@host/i"}) {
    EXPECT_FALSE(readStore(Url)) << Url;
    EXPECT_EQ(0u, Error.find("URL '")) << Error;
    EXPECT_NE(std::string::npos,
              Error.find("': expected grpc://HOST:PORT[/INSTANCE] or "
                         "grpcs://HOST:PORT[/INSTANCE]"))
        << Error;
    EXPECT_EQ(std::string::npos, Error.find("cret")) << Error;
    EXPECT_EQ(std::string::npos, Error.find('\n')) << Error;
  }
  EXPECT_FALSE(readStore(("grpc://" + std::string(2000, 'x')).c_str()));
  EXPECT_FALSE(readStore("grpc://a:1", {"server=grpc://b:1"}));
  EXPECT_EQ("URL 'grpc://a:1': server= names another server", Error);
  EXPECT_FALSE(readStore("grpc://a:1/b", {"instance=c"}));
  EXPECT_EQ("URL 'grpc://a:1/b': instance= names another instance", Error);
  EXPECT_FALSE(readStore("grpc://a:1", {"serve=b"}));
  EXPECT_NE(std::string::npos, Error.find("did you mean 'server='?")) << Error;
  EXPECT_FALSE(readStore("grpc://a:1", {"tls-cert=/c"}));
  EXPECT_NE(std::string::npos, Error.find("belong together")) << Error;
}

// Each variable that is read is described, and each described one is read.
TEST_F(SettingsTest, Variables) {
  ASSERT_TRUE(read({"server=a:1"}));
  ASSERT_TRUE(readStore("grpc://a:1"));
  std::set<std::string> Described;
  const dtlto_description &D = description().raw();
  for (uint32_t I = 0; I != D.num_variables; ++I)
    EXPECT_TRUE(Described.insert(D.variables[I]->name).second);
  // The environment is searched for the first, and gRPC reads the others.
  for (const char *Other :
       {"RECC_REMOTE_PLATFORM_<name>", "GRPC_VERBOSITY", "grpc_proxy",
        "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy"})
    EXPECT_EQ(1u, Described.erase(Other)) << Other;
  EXPECT_EQ(Described, Queried);
}
