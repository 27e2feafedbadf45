// The data plane's start, before which a reload may come.
#include <filesystem>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/metrics/metrics.hpp"
#include "prefix_router/proxy/server.hpp"

#include "integration/support/authority.hpp"
#include "integration/support/socket.hpp"

namespace prefix_router::testing {
namespace {

class ServerStart : public ::testing::Test {
  protected:
    ServerStart() {
        config.listen = {"127.0.0.1", 0};
        config.threads = 1;
        config.log.access = "off";
    }

    void name(const CertificateFiles& files) {
        config.tls.certificate = files.certificate;
        config.tls.key = files.key;
    }
    Result<std::unique_ptr<proxy::Server>> make() {
        return proxy::Server::make(config, {desk, metrics, *access_log, nullptr, clock});
    }

    config::Config config;
    const SteadyClock clock{1};
    metrics::Registry registry;
    proxy::Metrics metrics{registry};
    proxy::RoutingDesk desk{config, metrics, clock, Random(1)};
    std::unique_ptr<proxy::AccessLog> access_log =
        *proxy::AccessLog::open(config.log, metrics.access_log_dropped);
    Authority authority;
};

TEST_F(ServerStart, KeepsWhatAReloadBeforeItHasBroughtAndReadsNothingAgain) {
    const auto made = make();
    ASSERT_TRUE(made.has_value()) << made.error().message();
    proxy::Server& server = **made;
    const CertificateFiles files = authority.issue("router", "DNS:localhost");
    name(files);
    const auto reloaded = server.prepare(config);
    ASSERT_TRUE(reloaded.has_value()) << reloaded.error().message();
    server.take(*reloaded);
    std::filesystem::remove(files.certificate);
    const auto port = server.start({});
    ASSERT_TRUE(port.has_value()) << port.error().message();
    Socket socket = Socket::connect_to(*port);
    EXPECT_TRUE(socket.secure_as_client(client_context(authority.file()).get(), "localhost"));
    server.stop();
}

TEST_F(ServerStart, IsNotReachedWithoutTheCertificateThatTheConfigurationNames) {
    name({"/nowhere.pem", "/nowhere.key"});
    const auto made = make();
    ASSERT_TRUE(made.has_error());
    EXPECT_THAT(made.error().message(), ::testing::HasSubstr("/nowhere.pem"));
}

}  // namespace
}  // namespace prefix_router::testing
