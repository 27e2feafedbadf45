// Random traffic of more blocks than the memory bound has room for: the bound holds at every step,
// and pins pair exactly whatever is forgotten meanwhile.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/base/random.hpp"
#include "prefix_router/prefix/prefix_map.hpp"

#include "unit/prefix/lru_model.hpp"

namespace prefix_router::prefix {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20;
constexpr std::size_t kBackends = 12;

class Pressure {
  public:
    explicit Pressure(std::uint64_t seed) : random_(seed) {
        for (std::size_t i = 0; i < kBackends; ++i) {
            slots_.push_back(BackendSlot(static_cast<std::uint16_t>(i)));
            map_.add_backend(slots_.back(), 500'000);
        }
    }

    void run(int steps) {
        for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
            SCOPED_TRACE("step " + std::to_string(step));
            now_ += random_.unit();
            map_.tick(now_);
            act();
            EXPECT_LE(map_.memory_bytes(), kBytes);
            peak_ = std::max(peak_, map_.memory_bytes());
            const BackendSlot slot = any();
            EXPECT_LE(map_.resident(slot), map_.capacity(slot));
        }
        EXPECT_GT(peak_, kBytes / 8 * 7) << "the bound was never near";
        while (!flights_.empty()) {
            finish();
        }
        for (const BackendSlot slot : slots_) {
            EXPECT_EQ(map_.pinned(slot), 0);
        }
    }

  private:
    struct Flight {
        BackendSlot backend;
        OwnedChain chain;
    };

    BackendSlot any() { return slots_[random_.below(kBackends)]; }

    /// Chains that share beginnings, 1-300 blocks long: some 150 new blocks each.
    OwnedChain random_chain() {
        OwnedChain chain;
        std::uint64_t hash = random_.below(50);
        const std::uint64_t shared = random_.below(100);
        for (std::uint64_t left = 1 + random_.below(300); left > 0; --left) {
            hash = chain.hashes.size() < shared ? mix(hash, 1) : random_();
            chain.add(hash, 1 + static_cast<std::uint32_t>(hash % 1000));
        }
        return chain;
    }

    void act() {
        const std::uint64_t dice = random_.below(1000);
        if (dice < 500) {
            const BackendSlot slot = any();
            const OwnedChain chain = random_chain();
            map_.touch_and_pin(chain.view(), slot);
            flights_.push_back({slot, chain});
            if (flights_.size() > 40) {
                finish();
            }
        } else if (dice < 990) {
            finish();
        } else if (dice < 996) {
            map_.set_capacity(any(), static_cast<Tokens>(random_.below(2'000'000)));
        } else if (dice < 998) {
            map_.clear_backend(any());
        } else {
            const BackendSlot slot = any();
            std::erase_if(flights_, [&](const Flight& each) { return each.backend == slot; });
            map_.remove_backend(slot);
            map_.add_backend(slot, 500'000);
        }
    }

    void finish() {
        if (flights_.empty()) {
            return;
        }
        const auto nth = static_cast<std::ptrdiff_t>(random_.below(flights_.size()));
        const Flight flight = std::move(flights_[static_cast<std::size_t>(nth)]);
        flights_.erase(flights_.begin() + nth);
        map_.unpin_computed(flight.chain.view(), flight.backend);
        if (random_.below(4) == 0) {
            map_.erase(flight.chain.view(), flight.backend, 0);
        } else {
            map_.touch(flight.chain.view(), flight.backend);
        }
    }

    Random random_;
    PrefixMap map_{PrefixMap::Options{.memory_bytes = kBytes, .renumber_after = 20'000}};
    std::vector<BackendSlot> slots_;
    std::vector<Flight> flights_;
    double now_ = 0;
    std::size_t peak_ = 0;
};

TEST(PrefixMapProperty, TheMemoryBoundHoldsUnderRandomTraffic) {
    const char* given = std::getenv("PREFIX_ROUTER_TEST_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    SCOPED_TRACE("PREFIX_ROUTER_TEST_SEED=" + std::to_string(seed));
    Pressure(seed).run(4000);
}

}  // namespace
}  // namespace prefix_router::prefix
