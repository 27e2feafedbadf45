#include "prefix_router/net/address_book.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace prefix_router::net {
namespace {

using Endpoints = BackendAddress::Endpoints;

// A resolver that answers when, and as, the test says. Lookups may outlive the test.
class Script {
  public:
    Endpoints resolve() {
        std::unique_lock lock(mutex_);
        ++begun_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return !answers_.empty(); });
        const Endpoints answer = answers_.front();
        answers_.pop_front();
        return answer;
    }
    void answer(Endpoints endpoints) {
        const std::lock_guard lock(mutex_);
        answers_.push_back(std::move(endpoints));
        changed_.notify_all();
    }
    int begun() {
        const std::lock_guard lock(mutex_);
        return begun_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int begun_ = 0;
    std::deque<Endpoints> answers_;
};

class NamedBackend : public ::testing::Test {
  protected:
    NamedBackend() {
        url.host = "engine";
        url.port = 8000;
    }

    // A lookup begins only when the one before it has taken effect.
    void wait_for_lookup(int number) {
        while (script->begun() < number) {
            address->refresh();
            std::this_thread::yield();
        }
    }
    void expect(const Endpoints& endpoints, std::uint32_t generation) {
        EXPECT_EQ(*address->endpoints(), endpoints);
        EXPECT_EQ(address->generation(), generation);
    }

    const Endpoint one = *Endpoint::from_numeric("127.0.0.1", 8000);
    const Endpoint two = *Endpoint::from_numeric("127.0.0.2", 8000);
    config::BackendUrl url;
    std::shared_ptr<Script> script = std::make_shared<Script>();
    std::unique_ptr<BackendAddress> address;
};

TEST_F(NamedBackend, IsLookedUpWithoutDelayingAnybody) {
    address = std::make_unique<BackendAddress>(
        url, [script = script](const std::string&, std::uint16_t) { return script->resolve(); });
    wait_for_lookup(1);
    expect({}, 0);
    for (int i = 0; i < 100; ++i) {
        address->refresh();  // returns although the resolver does not answer
    }
    EXPECT_EQ(script->begun(), 1);
    script->answer({one, two});
    wait_for_lookup(2);
    expect({one, two}, 1);
    address.reset();  // does not wait either
    script->answer({});
}

TEST_F(NamedBackend, SaysWhyItLeadsNowhere) {
    address = std::make_unique<BackendAddress>(
        url, [script = script](const std::string&, std::uint16_t) { return script->resolve(); });
    wait_for_lookup(1);
    EXPECT_EQ(address->trouble(), "the name engine is still being looked up");
    script->answer({});
    wait_for_lookup(2);
    EXPECT_EQ(address->trouble(), "the name engine did not resolve");
    script->answer({one});
    wait_for_lookup(3);
    EXPECT_EQ(address->trouble(), "");
    script->answer({});
}

TEST_F(NamedBackend, ChangesItsGenerationWithItsAddressesOnly) {
    address = std::make_unique<BackendAddress>(
        url, [script = script](const std::string&, std::uint16_t) { return script->resolve(); });
    script->answer({one, two});
    wait_for_lookup(2);
    expect({one, two}, 1);
    script->answer({two, one});  // resolvers turn the order
    wait_for_lookup(3);
    expect({one, two}, 1);
    script->answer({});  // no answer: the last good one stays
    wait_for_lookup(4);
    expect({one, two}, 1);
    script->answer({two});
    wait_for_lookup(5);
    expect({two}, 2);
    script->answer({});
}

TEST(NumericBackend, IsKnownAtOnceAndNeverLookedUp) {
    config::BackendUrl url;
    url.host = "::1";
    url.port = 8000;
    BackendAddress address(url, [](const std::string&, std::uint16_t) -> Endpoints {
        ADD_FAILURE() << "was looked up";
        return {};
    });
    address.refresh();
    EXPECT_EQ(*address.endpoints(), Endpoints{*Endpoint::from_numeric("::1", 8000)});
    EXPECT_FALSE(address.is_name());
}

}  // namespace
}  // namespace prefix_router::net
