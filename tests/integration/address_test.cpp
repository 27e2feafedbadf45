// Backends by every kind of address.
#include <string>

#include "prefix_router/net/address_book.hpp"

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

class BackendAddress : public RouterTest {
  protected:
    // One request over a fresh connection and one over the pooled one.
    void expect_served(const FakeBackend& backend, const std::string& url,
                       const std::string& host) {
        start({url});
        TestClient client(port());
        for (int i = 0; i < 2; ++i) {
            ASSERT_TRUE(client.request("/x", "hello"));
            EXPECT_EQ(client.read().body, "ok") << url;
        }
        ASSERT_EQ(backend.requests().size(), 2U) << url;
        EXPECT_EQ(backend.requests()[1].field("Host"), host);
        EXPECT_EQ(backend.requests()[1].connection, 0U);
        EXPECT_EQ(backend.requests()[1].body, "hello");
    }
};

bool has_ipv6() {
    return Socket::bind_to(SocketAddress::ipv6(0)).is_open();
}

TEST_F(BackendAddress, OfIpv6IsSentInBrackets) {
    if (!has_ipv6()) {
        GTEST_SKIP() << "this machine has no ::1";
    }
    FakeBackend backend({}, FakeBackend::Reads::WholeRequests, FakeBackend::Where::Ipv6);
    const std::string host = "[::1]:" + std::to_string(backend.port());
    expect_served(backend, "http://" + host, host);
}

TEST_F(BackendAddress, MayLackTheScheme) {
    if (!has_ipv6()) {
        GTEST_SKIP() << "this machine has no ::1";
    }
    FakeBackend backend({}, FakeBackend::Reads::WholeRequests, FakeBackend::Where::Ipv6);
    const std::string host = "[::1]:" + std::to_string(backend.port());
    expect_served(backend, host, host);
}

TEST_F(BackendAddress, MayBeAUnixPath) {
    FakeBackend backend({}, FakeBackend::Reads::WholeRequests, FakeBackend::Where::UnixPath);
    expect_served(backend, backend.url(), "localhost");
}

TEST_F(BackendAddress, OfAUnixPathWithoutAServerIsUnreachable) {
    std::string url;
    {
        FakeBackend backend({}, FakeBackend::Reads::WholeRequests, FakeBackend::Where::UnixPath);
        url = backend.url();
    }
    launch({url});
    ASSERT_TRUE(wait_for_metric("panic", 1));
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 503U);
    EXPECT_EQ(answer.body.find(url.substr(5)), std::string::npos) << answer.body;
}

TEST_F(BackendAddress, OfANameIsTriedInEveryFamilyThatTheSystemKnowsItIn) {
    const auto known = net::BackendAddress::resolve("localhost", 1);
    ASSERT_FALSE(known.empty());
    for (const net::Endpoint& endpoint : known) {
        if (endpoint.family() == AF_INET6 && !has_ipv6()) {
            continue;  // the system's list of names knows more than the machine has
        }
        const auto where =
            endpoint.family() == AF_INET6 ? FakeBackend::Where::Ipv6 : FakeBackend::Where::Ipv4;
        FakeBackend backend({}, FakeBackend::Reads::WholeRequests, where);
        const std::string host = "localhost:" + std::to_string(backend.port());
        config.backends.clear();
        expect_served(backend, "http://" + host, host);
    }
}

TEST_F(BackendAddress, OfANameThatIsNotKnownIsUnreachableAndNamesNobody) {
    launch({"http://no-such-engine.invalid:8000"});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 503U);
    EXPECT_EQ(answer.body.find("no-such-engine"), std::string::npos) << answer.body;
}

}  // namespace
}  // namespace prefix_router::testing
