// The admin listener on a port of its own, with routes of the test's.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/admin/server.hpp"

#include "integration/support/gate.hpp"
#include "integration/support/test_client.hpp"

namespace prefix_router::admin {
namespace {

using prefix_router::testing::Answer;
using prefix_router::testing::Gate;
using prefix_router::testing::kPatience;
using prefix_router::testing::TestClient;
using ::testing::HasSubstr;

/// A change at /slow, the first of which waits for the test, and /fast.
class AdminServer : public ::testing::Test {
  protected:
    AdminServer() {
        Route slow{"POST", "/slow", [this](const Request&) { return make_slow(); }};
        slow.is_change = true;
        slow.may_block = true;
        auto started = Server::start({"127.0.0.1", 0},
                                     {std::move(slow), {"GET", "/fast", [](const Request&) {
                                                            return admin::Answer{200, "x/y", "!"};
                                                        }}});
        EXPECT_TRUE(started.has_value()) << started.error().message();
        server_ = started ? std::move(*started) : nullptr;
    }
    ~AdminServer() override { go_.open(); }

    admin::Answer make_slow() {
        is_one_at_a_time_ = is_one_at_a_time_ && running_.fetch_add(1) == 0;
        entered_.open();
        go_.wait();
        running_.fetch_sub(1);
        return {200, "x/y", std::to_string(made_.fetch_add(1))};
    }
    std::unique_ptr<TestClient> ask(const std::string& line) const {
        auto client = std::make_unique<TestClient>(server_->port());
        EXPECT_TRUE(
            client->send(line + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"));
        return client;
    }
    /// The place of the first client for which something has come.
    static std::size_t wait_for_any(const std::vector<std::unique_ptr<TestClient>>& clients) {
        std::vector<pollfd> waiting;
        for (const auto& client : clients) {
            waiting.push_back({client->socket().descriptor(), POLLIN, 0});
        }
        EXPECT_GT(::poll(waiting.data(), waiting.size(), static_cast<int>(kPatience.count())), 0);
        const auto found = std::find_if(waiting.begin(), waiting.end(),
                                        [](const pollfd& one) { return one.revents != 0; });
        return static_cast<std::size_t>(found - waiting.begin());
    }

    Gate entered_;
    Gate go_;
    std::atomic<int> running_{0};
    std::atomic<int> made_{0};
    std::atomic<bool> is_one_at_a_time_{true};
    std::unique_ptr<Server> server_;
};

TEST_F(AdminServer, AnswersWhileAChangeWaitsForSomething) {
    const auto changing = ask("POST /slow");
    ASSERT_TRUE(entered_.wait());
    EXPECT_EQ(ask("GET /fast")->read().body, "!");
    EXPECT_EQ(made_.load(), 0);
    go_.open();
    const Answer changed = changing->read();
    EXPECT_EQ(changed.status(), 200U);
    EXPECT_EQ(changed.body, "0");
    ASSERT_TRUE(changing->send("GET /fast HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    EXPECT_EQ(changing->read().body, "!") << "the connection goes on";
}

TEST_F(AdminServer, MakesChangesOneAfterTheOtherAndRefusesMoreThanMayWait) {
    std::vector<std::unique_ptr<TestClient>> clients;
    for (std::size_t i = 0; i <= Server::kMostChanges; ++i) {
        clients.push_back(ask("POST /slow"));
    }
    const std::size_t refused = wait_for_any(clients);
    ASSERT_LT(refused, clients.size());
    const Answer answer = clients[refused]->read();
    EXPECT_EQ(answer.status(), 503U);
    EXPECT_THAT(answer.head, HasSubstr("Retry-After: "));
    clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(refused));
    go_.open();
    for (const auto& client : clients) {
        EXPECT_EQ(client->read().status(), 200U);
    }
    EXPECT_EQ(made_.load(), static_cast<int>(Server::kMostChanges));
    EXPECT_TRUE(is_one_at_a_time_.load());
    EXPECT_EQ(ask("POST /slow")->read().status(), 200U) << "there is room again";
}

TEST_F(AdminServer, EndsWithTheChangeThatRunsAndDropsThoseThatWait) {
    std::vector<std::unique_ptr<TestClient>> clients;
    for (std::size_t i = 0; i <= Server::kMostChanges; ++i) {
        clients.push_back(ask("POST /slow"));
    }
    wait_for_any(clients);  // that is refused: all others are there
    ASSERT_TRUE(entered_.wait());
    std::thread stopping([this] { server_->stop(); });
    for (auto& client : clients) {
        client.reset();
    }
    go_.open();
    stopping.join();
    server_.reset();
    EXPECT_GE(made_.load(), 1);
}

}  // namespace
}  // namespace prefix_router::admin
