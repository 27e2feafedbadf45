// CPU time of one decision, map lookup and reservation included, as the daemon makes it under its
// lock: prompts of 64 blocks of 512 tokens, sessions that go on, four requests in flight per
// backend.

#include <cstdint>
#include <ctime>
#include <deque>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/hash.hpp"
#include "prefix_router/base/random.hpp"
#include "prefix_router/pool/pool.hpp"
#include "prefix_router/prefix/prefix_map.hpp"
#include "prefix_router/routing/router.hpp"

namespace prefix_router::routing {
namespace {

constexpr std::size_t kSessionsPerBackend = 8;
constexpr std::size_t kInFlightPerBackend = 4;
constexpr std::size_t kFirstBlocks = 48;
constexpr std::size_t kMostBlocks = 80;

/// Of this thread: other programs on the machine do not count.
double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

class Fleet {
  public:
    Fleet(std::size_t backends, bool holds)
        : backends_(backends),
          router_(options(holds), pool_, map_, Random(7)),
          sessions_(backends * kSessionsPerBackend) {
        for (std::size_t i = 0; i < backends; ++i) {
            config::Backend spec;
            spec.id = "b" + std::to_string(i);
            const BackendSlot slot = pool_.add(spec).value();
            pool_.find(slot)->health.probe_succeeded(now());
            router_.backend_added(slot, now());
        }
        for (std::size_t i = 0; i < 4 * sessions_.size(); ++i) {
            serve_one();
        }
    }

    /// CPU seconds that the decision took.
    double serve_one() {
        now_ += std::chrono::microseconds(40'000'000 / static_cast<std::int64_t>(backends_) / 100);
        auto ticket = std::make_unique<Ticket>(ask());
        const double before = cpu_seconds();
        router_.admit(*ticket, now());
        const double taken = cpu_seconds() - before;
        live_.push_back(std::move(ticket));
        router_.take_released();
        while (live_.size() > backends_ * kInFlightPerBackend) {
            finish(*live_.front());
            live_.pop_front();
        }
        return taken;
    }

  private:
    static Router::Options options(bool holds) {
        Router::Options options;
        if (!holds) {
            options.routing.hold.reset();
        }
        return options;
    }

    Ask ask() {
        prompt::PromptKey& key = sessions_[random_.below(sessions_.size())];
        const std::size_t more = key.size() == 0 || key.size() > kMostBlocks ? kFirstBlocks : 1;
        if (more > 1) {
            key = {};
        }
        for (std::size_t k = 0; k < more; ++k) {
            key.hashes.push_back(random_());
            key.ends.push_back(static_cast<std::uint32_t>(key.hashes.size() * 512));
        }
        key.is_tokens = true;
        key.total = key.hashes.size() * 512;
        key.home = key.hashes.front();
        Ask ask;
        ask.key = key;
        ask.streams = true;
        return ask;
    }

    void finish(Ticket& ticket) {
        Outcome outcome;
        outcome.reported_prompt = ticket.decision().prompt_tokens;
        outcome.reported_cached = ticket.decision().expected_cached;
        router_.first_byte(ticket, now());
        router_.end(ticket, outcome, now());
        router_.take_released();
    }

    TimePoint now() const { return now_; }

    std::size_t backends_;
    TimePoint now_{std::chrono::hours(1)};
    Random random_{3};
    pool::Pool pool_{config::Health{}};
    prefix::PrefixMap map_{prefix::PrefixMap::Options{}};
    Router router_;
    std::vector<prompt::PromptKey> sessions_;
    std::deque<std::unique_ptr<Ticket>> live_;
};

void decide(benchmark::State& state) {
    Fleet fleet(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
    for (auto _ : state) {
        state.SetIterationTime(fleet.serve_one());
    }
}
BENCHMARK(decide)
    ->ArgNames({"backends", "holds"})
    ->ArgsProduct({{8, 64, 200}, {0, 1}})
    ->UseManualTime();

}  // namespace
}  // namespace prefix_router::routing
