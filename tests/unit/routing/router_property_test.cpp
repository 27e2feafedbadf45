#include <algorithm>
#include <cstdlib>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

/// Drives a Router with random interleavings of everything that can happen to it, and checks after
/// every step what must always hold.
enum class Limits : std::uint8_t { None, Tight };

class RouterPropertyTest
    : public RouterTest,
      public testing::WithParamInterface<std::tuple<config::Strategy, Limits>> {
  protected:
    struct Live {
        std::unique_ptr<Ticket> ticket;
        bool has_first_byte = false;
        bool was_held = false;
        std::vector<BackendSlot> tried{};
    };

    void run(std::uint64_t seed, int steps) {
        random_ = Random(seed);
        Router::Options options;
        options.routing.strategy = std::get<0>(GetParam());
        options.kept_decisions = 4;
        options.queue.max_requests = kMostHeld;
        options.queue.max_bytes = kMostBytes;
        if (is_limited()) {
            options.max_in_flight = kMostInFlight;
            options.queue.max_wait = std::chrono::seconds(20);
            options.queue.max_wait_high = std::chrono::seconds(5);
        }
        start(5, options);
        for (int i = 0; i < steps; ++i) {
            step();
            seconds_ += random_.unit() * 0.2;
            check();
        }
        while (!live_.empty()) {
            finish(0);
            check();
        }
        for (const BackendSlot slot : pool_.slots()) {
            EXPECT_EQ(in_flight(slot), 0U);
            EXPECT_EQ(map_.pinned(slot), 0);
            EXPECT_EQ(router_->belief(slot, now()).backlog, 0);
        }
        EXPECT_EQ(router_->held(), 0U);
        EXPECT_EQ(router_->queue().bytes, 0U);
    }

    bool is_limited() const { return std::get<1>(GetParam()) == Limits::Tight; }

    void step() {
        const std::uint64_t dice = random_.below(100);
        if (dice < 40) {
            arrive();
        } else if (dice < 60) {
            with_any([&](Live& live) { give_first_byte(live); });
        } else if (dice < 80 && !live_.empty()) {
            finish(random_.below(live_.size()));
        } else if (dice < 86) {
            with_any([&](Live& live) { retry(live); });
        } else if (dice < 92) {
            change_health();
        } else if (dice < 94) {
            change_backends();
        } else {
            router_->tick(now());
        }
        expect_released();
    }

    void arrive() {
        auto prompt = key(random_.below(12), 1 + random_.below(60));
        if (random_.below(2) == 0) {
            extend(prompt, random_.below(4), 1 + random_.below(30));
        }
        Ask ask;
        ask.key = random_.below(10) == 0 ? prompt::PromptKey{} : std::move(prompt);
        ask.sequences = static_cast<std::uint32_t>(1 + random_.below(3));
        ask.streams = random_.below(3) != 0;
        if (is_limited()) {
            ask.priority = static_cast<config::Priority>(random_.below(config::kPriorities));
            ask.tenant = random_.below(4);
            ask.bytes = random_.below(kMostBytes / 10);
            if (random_.below(4) == 0) {
                ask.deadline = now() + from_seconds(random_.unit() * 10);
            }
        }
        live_.push_back({std::make_unique<Ticket>(std::move(ask)), false, false});
        Live& live = live_.back();
        router_->admit(*live.ticket, now());
        live.was_held = live.ticket->decision().action == Action::Wait;
        expect_allowed(live);
    }

    void give_first_byte(Live& live) {
        if (live.ticket->decision().action == Action::Send) {
            router_->first_byte(*live.ticket, now());
            live.has_first_byte = true;
        }
    }

    void retry(Live& live) {
        if (live.ticket->decision().action == Action::Send && !live.has_first_byte) {
            live.tried.push_back(live.ticket->decision().backend);
            router_->retry(*live.ticket,
                           random_.below(2) == 0 ? Outcome::Kind::Failed : Outcome::Kind::Refused,
                           now());
            expect_allowed(live);
        }
    }

    void finish(std::size_t index) {
        Outcome outcome;
        outcome.kind = static_cast<Outcome::Kind>(random_.below(4));
        if (random_.below(2) == 0) {
            outcome.reported_prompt = live_[index].ticket->decision().prompt_tokens;
            outcome.reported_cached = static_cast<Tokens>(
                random_.below(static_cast<std::uint64_t>(*outcome.reported_prompt)));
        }
        router_->end(*live_[index].ticket, outcome, now());
        live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
        expect_released();
    }

    void change_health() {
        const auto slots = pool_.slots();
        pool::Health& health = pool_.find(slots[random_.below(slots.size())])->health;
        random_.below(2) == 0 ? health.request_failed(now()) : health.probe_succeeded(now());
    }

    void change_backends() {
        const BackendSlot slot = pool_.slots()[random_.below(pool_.slots().size())];
        pool::Backend& backend = *pool_.find(slot);
        if (!backend.draining) {
            backend.draining = pool_.slots().size() > 2;
        } else if (backend.in_flight == 0) {
            router_->backend_removed(slot);
            pool_.remove(slot);
            add_backend("n" + std::to_string(++added_));
        }
    }

    template <class Do>
    void with_any(Do&& action) {
        if (!live_.empty()) {
            action(live_[random_.below(live_.size())]);
        }
    }

    void expect_released() {
        for (const Ticket* ticket : router_->take_released()) {
            EXPECT_NE(ticket->decision().action, Action::Wait);
            const auto owner = std::find_if(live_.begin(), live_.end(), [&](const Live& live) {
                return live.ticket.get() == ticket;
            });
            ASSERT_NE(owner, live_.end());
            expect_allowed(*owner);
        }
    }

    bool is_usable(const pool::Backend& backend) {
        return backend.health.is_usable(now()) || backend.health.is_untested();
    }

    /// An ejected backend is named only for its trial, or when the request may go to no other.
    void expect_allowed(const Live& live) {
        const Decision& decision = live.ticket->decision();
        if (decision.action != Action::Send) {
            return;
        }
        const pool::Backend* backend = pool_.find(decision.backend);
        ASSERT_NE(backend, nullptr);
        EXPECT_FALSE(backend->draining);
        EXPECT_LE(decision.expected_cached, decision.prompt_tokens);
        if (decision.reason == Reason::Trial) {
            EXPECT_EQ(backend->health.state(now()), pool::Health::State::HalfOpen);
        } else if (decision.reason == Reason::Panic || !is_usable(*backend)) {
            EXPECT_TRUE(decision.reason == Reason::Panic || decision.reason == Reason::Retried);
            for (const BackendSlot slot : pool_.slots()) {
                const pool::Backend& other = *pool_.find(slot);
                EXPECT_TRUE(other.draining || !other.health.is_usable(now())) << slot.index();
            }
        }
        EXPECT_EQ(std::count(live.tried.begin(), live.tried.end(), decision.backend), 0);
    }

    void check() {
        std::vector<std::uint32_t> expected(kMaxBackends);
        std::vector<std::uint32_t> requests(kMaxBackends);
        QueueState held;
        for (const Live& live : live_) {
            const Decision& decision = live.ticket->decision();
            if (decision.action == Action::Send) {
                expected[decision.backend.index()] += live.ticket->ask().sequences;
                ++requests[decision.backend.index()];
            } else if (decision.action == Action::Wait) {
                ++held.held[static_cast<std::size_t>(live.ticket->ask().priority)];
                held.bytes += live.ticket->ask().bytes;
            } else {
                EXPECT_NE(decision.refusal, Refusal::None);
            }
        }
        for (const BackendSlot slot : pool_.slots()) {
            ASSERT_EQ(in_flight(slot), expected[slot.index()]);
            const std::uint32_t in_flight = router_->belief(slot, now()).requests;
            ASSERT_EQ(in_flight, requests[slot.index()]);
            ASSERT_TRUE(!is_limited() || in_flight <= kMostInFlight);
        }
        const QueueState queue = router_->queue();
        ASSERT_EQ(queue.held, held.held);
        ASSERT_EQ(queue.bytes, held.bytes);
        ASSERT_LE(router_->held(), kMostHeld);
        ASSERT_LE(queue.bytes, kMostBytes);
    }

    static constexpr std::uint32_t kMostInFlight = 3;
    static constexpr std::uint32_t kMostHeld = 40;
    static constexpr std::size_t kMostBytes = 1000;

    Random random_{0};
    std::vector<Live> live_;
    int added_ = 0;
};

TEST_P(RouterPropertyTest, CountsAreExactAndNoBackendIsNamedThatMayNotBe) {
    const char* given = std::getenv("PREFIX_ROUTER_TEST_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    SCOPED_TRACE("PREFIX_ROUTER_TEST_SEED=" + std::to_string(seed));
    run(seed, 3000);
}

INSTANTIATE_TEST_SUITE_P(
    AllStrategies, RouterPropertyTest,
    testing::Combine(testing::Values(config::Strategy::Adaptive, config::Strategy::PrefixAware,
                                     config::Strategy::LeastOutstandingRequests,
                                     config::Strategy::RoundRobin, config::Strategy::Random),
                     testing::Values(Limits::None, Limits::Tight)));

}  // namespace
}  // namespace prefix_router::routing
