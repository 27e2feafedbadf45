// Many clients at once, some of which misbehave: nothing is mixed up, nothing is left behind. Run
// under the sanitizers, this is where races between threads show.
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "prefix_router/base/random.hpp"

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

constexpr int kClients = 12;
constexpr int kRequests = 40;

class MixedLoad : public RouterTest {
  protected:
    // Echoes the body: sized, in chunks, or until the connection ends; or fails in one of two ways.
    static void echo(BackendLine& line, const BackendRequest& request) {
        const std::string& body = request.body;
        const std::string_view how = request.target().substr(1);
        if (how == "chunked") {
            const std::string half = body.substr(0, body.size() / 2);
            const std::string rest = body.substr(half.size());
            line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            line.send(chunk(half));
            line.send(chunk(rest) + "0\r\n\r\n");
        } else if (how == "close") {
            line.send("HTTP/1.1 200 OK\r\n\r\n" + body);
            line.end();
        } else if (how == "cut") {
            line.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body);
            line.reset();
        } else if (how == "stuck") {
            line.wait_until_left();
        } else {
            line.answer(body);
        }
    }

    static std::string chunk(const std::string& text) {
        char size[20];
        std::snprintf(size, sizeof size, "%zx\r\n", text.size());
        return text.empty() ? std::string() : size + text + "\r\n";
    }

    // One request on a connection of its own or a kept one; false when the answer is wrong.
    bool play(Random& random, std::unique_ptr<TestClient>& client, const std::string& body) {
        static constexpr std::string_view kWays[] = {"sized", "chunked", "close", "cut", "stuck"};
        const std::string_view how = kWays[random.below(std::size(kWays))];
        if (!client) {
            client = std::make_unique<TestClient>(port());
        }
        if (!client->request("/" + std::string(how), body)) {
            return false;
        }
        if (how == "stuck") {
            client.reset();
            return true;
        }
        const Answer answer = client->read();
        if (how == "cut") {
            client.reset();
            return !answer.is_complete || answer.status() == 502;
        }
        return answer.status() == 200 && answer.is_complete && answer.body == body;
    }

    void run_client(std::uint64_t seed, std::atomic<int>& wrong) {
        Random random(seed);
        std::unique_ptr<TestClient> client;
        for (int i = 0; i < kRequests; ++i) {
            const std::string body = std::to_string(seed) + "/" + std::to_string(i) + "/" +
                                     std::string(1 + random.below(50'000), 'x');
            wrong += play(random, client, body) ? 0 : 1;
        }
    }
};

TEST_F(MixedLoad, MixesNothingUpAndLeavesNothingBehind) {
    config.threads = 2;
    config.health.passive_failures = 1'000'000;  // "cut" is no reason to eject anybody here
    FakeBackend one(echo);
    FakeBackend two(echo);
    start({one.url(), two.url()});
    std::atomic<int> wrong{0};
    std::vector<std::thread> clients;
    for (std::uint64_t seed = 1; seed <= kClients; ++seed) {
        clients.emplace_back([this, seed, &wrong] { run_client(seed, wrong); });
    }
    for (std::thread& client : clients) {
        client.join();
    }
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_TRUE(wait_for_metric("connections", 0));
}

TEST_F(MixedLoad, CanBeStoppedInTheMiddle) {
    config.threads = 2;
    config.health.passive_failures = 1'000'000;  // else "cut" may eject `one` too early
    is_published_to_the_end = false;
    FakeBackend one(echo);
    FakeBackend two(echo);
    start({one.url(), two.url()});
    std::atomic<int> wrong{0};
    std::vector<std::thread> clients;
    for (std::uint64_t seed = 1; seed <= kClients; ++seed) {
        clients.emplace_back([this, seed, &wrong] { run_client(seed, wrong); });
    }
    ASSERT_TRUE(one.wait_for_requests(20));
    router().stop();
    for (std::thread& client : clients) {
        client.join();
    }
}

}  // namespace
}  // namespace prefix_router::testing
