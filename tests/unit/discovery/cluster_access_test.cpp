// Where the API server is and how to log in: a pod's service account, a kubeconfig.
#include "discovery/cluster_access.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::discovery {
namespace {

using ::testing::HasSubstr;

class ClusterAccessTest : public ::testing::Test {
  protected:
    ClusterAccessTest() { std::filesystem::create_directories(folder); }
    ~ClusterAccessTest() override { std::filesystem::remove_all(folder); }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder + "/" + name) << text;
        return folder + "/" + name;
    }
    /// What reading a kubeconfig with these parts of cluster and user gives.
    Result<ClusterAccess> read(const std::string& cluster, const std::string& user) const {
        return read_kubeconfig(write("config",
                                     "apiVersion: v1\n"
                                     "kind: Config\n"
                                     "current-context: here\n"
                                     "contexts:\n"
                                     "- {name: there, context: {cluster: x, user: x}}\n"
                                     "- {name: here, context: {cluster: c, user: u}}\n"
                                     "clusters:\n"
                                     "- {name: c, cluster: {" +
                                         cluster +
                                         "}}\n"
                                         "users:\n"
                                         "- {name: u, user: {" +
                                         user + "}}\n"));
    }

    const std::string folder = ::testing::TempDir() + "access-" + std::to_string(::getpid());
};

TEST_F(ClusterAccessTest, OfAPodIsReadAgainEachTime) {
    ServiceAccount account{folder, "fd00::1", "443"};
    EXPECT_THAT(read_service_account(account).error().message(), HasSubstr("service account?"));
    write("token", "first\n");
    write("ca.crt", "PEM\n");
    write("namespace", "inference");
    auto access = read_service_account(account);
    ASSERT_TRUE(access.has_value()) << access.error().message();
    EXPECT_EQ(access->server, "https://[fd00::1]:443");
    EXPECT_EQ(access->name_space, "inference");
    EXPECT_EQ(access->token, "first");
    EXPECT_EQ(access->tls.ca, "PEM\n");
    EXPECT_TRUE(access->tls.verify);
    write("token", "second");
    EXPECT_EQ(read_service_account(account)->token, "second");
    write("token", "two\nlines");
    EXPECT_TRUE(read_service_account(account).has_error()) << "it would become a header of its own";
}

TEST_F(ClusterAccessTest, OutsideOfAPodSaysWhatToDo) {
    EXPECT_THAT(read_service_account(ServiceAccount{folder, "", ""}).error().message(),
                HasSubstr("kubeconfig"));
}

TEST_F(ClusterAccessTest, OfAKubeconfigTakesDataBeforeFilesAndFilesBesideIt) {
    write("ca.pem", "CA");
    write("key.pem", "KEY");
    write("token", "rotated\n");
    const auto access =
        read("server: 'https://api:6443/', certificate-authority: ca.pem",
             "client-certificate-data: Q0VSVA==, client-certificate: ca.pem, client-key: key.pem, "
             "tokenFile: token, token: old");
    ASSERT_TRUE(access.has_value()) << access.error().message();
    EXPECT_EQ(access->server, "https://api:6443");
    EXPECT_EQ(access->name_space, "default");
    EXPECT_EQ(access->tls.ca, "CA");
    EXPECT_EQ(access->tls.certificate, "CERT");
    EXPECT_EQ(access->tls.key, "KEY");
    EXPECT_EQ(access->token, "rotated");
}

TEST_F(ClusterAccessTest, OfAKubeconfigWithoutVerification) {
    const auto access = read("server: 'https://api', insecure-skip-tls-verify: true", "token: a");
    ASSERT_TRUE(access.has_value()) << access.error().message();
    EXPECT_FALSE(access->tls.verify);
    EXPECT_EQ(access->token, "a");
}

TEST_F(ClusterAccessTest, WhatIsNotUnderstoodIsSaid) {
    const std::string good = "server: 'https://api'";
    EXPECT_THAT(read(good, "exec: {command: aws}").error().message(), HasSubstr("'exec'"));
    EXPECT_THAT(read(good, "client-key: k").error().message(), HasSubstr("go together"));
    EXPECT_THAT(
        read(good, "client-key-data: '**', client-certificate-data: '**'").error().message(),
        HasSubstr("no base64"));
    EXPECT_THAT(read(good + ", tls-server-name: x", "token: a").error().message(),
                HasSubstr("tls-server-name"));
    EXPECT_THAT(read("server: api", "token: a").error().message(), HasSubstr("no server"));
    EXPECT_THAT(read_kubeconfig(write("empty", "kind: Config\n")).error().message(),
                HasSubstr("current-context"));
    EXPECT_THAT(read_kubeconfig(write("broken", "a: [\n")).error().message(), HasSubstr("broken"));
    EXPECT_THAT(read_kubeconfig(folder + "/none").error().message(), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace prefix_router::discovery
