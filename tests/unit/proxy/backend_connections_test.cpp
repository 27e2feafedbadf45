#include "proxy/backend_connections.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "prefix_router/net/worker.hpp"

namespace prefix_router::proxy {
namespace {

using std::chrono::milliseconds;

// A connected pair: the router's end in a BackendConnection, the backend's end here.
class PooledConnection : public ::testing::Test {
  protected:
    ~PooledConnection() override { ::close(other_end_); }

    std::unique_ptr<BackendConnection> connect(const BackendRef& to) {
        std::array<int, 2> ends{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()),
                  0);
        ::close(std::exchange(other_end_, ends[1]));
        auto made = std::make_unique<BackendConnection>(net::Stream(worker, ends[0]), to);
        made->address_generation = to->address.generation();
        return made;
    }

    BackendRef entry() {
        config::Backend spec;
        spec.url.host = "engine";
        spec.url.port = 8000;
        auto made = std::make_shared<BackendEntry>(
            spec, BackendAccess(), nullptr,
            [last = last_byte](const std::string&, std::uint16_t port) {
                const std::string address = "127.0.0." + std::to_string(last->load());
                return net::BackendAddress::Endpoints{*net::Endpoint::from_numeric(address, port)};
            });
        wait_for_generation(made, 1);
        return made;
    }
    static void wait_for_generation(const BackendRef& backend, std::uint32_t generation) {
        while (backend->address.generation() != generation) {
            backend->address.refresh();
            std::this_thread::yield();
        }
    }

    net::Worker worker;
    std::shared_ptr<std::atomic<int>> last_byte = std::make_shared<std::atomic<int>>(1);
    BackendConnections pool{milliseconds(4000)};
    int other_end_ = -1;
};

TEST_F(PooledConnection, IsUsedAgainWhileNothingWaitsOnIt) {
    const BackendRef backend = entry();
    pool.put(connect(backend), 0);
    auto taken = pool.take(backend);
    ASSERT_TRUE(taken);
    EXPECT_TRUE(taken->was_pooled);
    EXPECT_FALSE(pool.take(backend)) << "by one at a time";
    pool.put(std::move(taken), 0);
    ASSERT_EQ(::send(other_end_, "HTTP/1.1 200 OK", 15, 0), 15);
    EXPECT_FALSE(pool.take(backend)) << "bytes that nobody asked for poison it";
    pool.put(connect(backend), 0);
    ::shutdown(other_end_, SHUT_WR);
    EXPECT_FALSE(pool.take(backend)) << "the backend ended it";
}

TEST_F(PooledConnection, IsLeftWhenTheBackendsNameLeadsElsewhere) {
    const BackendRef backend = entry();
    pool.put(connect(backend), 0);
    last_byte->store(2);
    wait_for_generation(backend, 2);
    EXPECT_FALSE(pool.take(backend));
    pool.put(connect(backend), 0);
    EXPECT_TRUE(pool.take(backend));
}

TEST_F(PooledConnection, IsLeftWhenItsSlotIsAnotherBackends) {
    pool.put(connect(entry()), 0);
    EXPECT_FALSE(pool.take(entry()));
}

TEST_F(PooledConnection, GivesItsDescriptorUpWhenTheyAreShort) {
    const BackendRef backend = entry();
    EXPECT_FALSE(pool.close_idle());
    pool.put(connect(backend), 0);
    EXPECT_TRUE(pool.close_idle());
    EXPECT_FALSE(pool.take(backend));
    EXPECT_FALSE(pool.close_idle());
}

TEST_F(PooledConnection, IdlesForSomeTimeOnly) {
    const BackendRef backend = entry();
    pool.put(connect(backend), 10);
    pool.on_tick(10 + 15);
    auto taken = pool.take(backend);
    ASSERT_TRUE(taken);
    pool.put(std::move(taken), 10);
    pool.on_tick(10 + 16);
    EXPECT_FALSE(pool.take(backend));
}

}  // namespace
}  // namespace prefix_router::proxy
