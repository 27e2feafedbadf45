// The control thread's requests to a name with several addresses.
#include "proxy/fetcher.hpp"

#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "integration/support/authority.hpp"
#include "integration/support/fake_backend.hpp"

namespace prefix_router::testing {
namespace {

using proxy::BackendEntry;
using proxy::BackendRef;
using proxy::Fetched;
using proxy::Fetcher;

net::Task<void> fetch(Fetcher& fetcher, net::Worker& worker, std::optional<Result<Fetched>>& out) {
    out = co_await fetcher.get("/health", std::chrono::seconds(4));
    worker.stop();
}

/// A name that leads to all of them, in this order.
BackendRef named(const std::vector<std::uint16_t>& ports, proxy::BackendAccess access = {}) {
    config::Backend spec;
    spec.url.host = "engine";
    spec.url.authority = "engine";
    auto made = std::make_shared<BackendEntry>(
        spec, std::move(access), nullptr, [ports](const std::string&, std::uint16_t) {
            net::BackendAddress::Endpoints endpoints;
            for (const std::uint16_t port : ports) {
                endpoints.push_back(*net::Endpoint::from_numeric("127.0.0.1", port));
            }
            return endpoints;
        });
    while (made->address.endpoints()->empty()) {
        made->address.refresh();
        std::this_thread::yield();
    }
    return made;
}

Result<Fetched> fetch_from(const BackendRef& backend) {
    net::Worker worker;
    Fetcher fetcher(worker, backend);
    std::optional<Result<Fetched>> out;
    worker.spawn(fetch(fetcher, worker, out));
    worker.run();
    return std::move(*out);
}

TEST(FetcherTest, AnAddressThatDoesNotAnswerLeavesTimeForTheNext) {
    FakeBackend deaf;
    deaf.turn_deaf();
    FakeBackend good;
    good.answer_probes("/health", "200 OK", "fine");
    const auto fetched = fetch_from(named({deaf.port(), good.port()}));
    ASSERT_TRUE(fetched) << to_string(fetched.error().kind());
    EXPECT_EQ(fetched->body, "fine");
}

TEST(FetcherTest, AnAddressThatShakesNoHandsLeavesTimeForTheNext) {
    Authority authority;
    config::BackendTls believes;
    believes.ca = authority.file();
    FakeBackend good;
    good.speak_tls(server_context(authority.issue("good", "DNS:engine")));
    const Socket silent = Socket::bind_to(SocketAddress::ipv4(0));
    ASSERT_EQ(::listen(silent.descriptor(), 8), 0);  // the kernel connects, nobody reads
    proxy::BackendAccess access;
    access.tls = net::TlsClient::load(believes, "engine").value();
    EXPECT_TRUE(fetch_from(named({silent.local_address().port(), good.port()}, access)));
}

TEST(FetcherTest, NoAddressThatAnswersIsAConnectTimeout) {
    FakeBackend deaf;
    deaf.turn_deaf();
    const auto fetched = fetch_from(named({deaf.port(), deaf.port()}));
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.error().kind(), ErrorKind::ConnectTimeout);
}

}  // namespace
}  // namespace prefix_router::testing
