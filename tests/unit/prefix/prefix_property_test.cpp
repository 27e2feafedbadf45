// Random traffic on the map and on a plain list per backend, compared after every step.

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <limits>
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

constexpr std::uint32_t kExact = std::numeric_limits<std::uint32_t>::max();

struct Traffic {
    PrefixMap::Options options;
    std::size_t backends = 4;
    Tokens capacity = 2000;
    int steps = 700;
    /// Capacities change and blocks are erased: coarse buckets of ghosts come within the capacity.
    bool revives_ghosts = true;
    Tokens tolerance = 0;  ///< tokens by which residency and distances may be off
};

/// A chain out of a tree: every node has three children, so that prefixes are shared at all depths.
/// The size of a block follows from its hash.
OwnedChain random_chain(Random& random) {
    OwnedChain chain;
    const std::uint64_t length = 1 + random.below(24);
    std::uint64_t hash = 7;
    for (std::uint64_t block = 0; block < length; ++block) {
        const std::uint64_t branch = block < 4 ? random.below(2) : random.below(3);
        hash = mix(hash, branch);
        chain.add(hash, 1 + static_cast<std::uint32_t>(hash % 40));
    }
    return chain;
}

class Comparison {
  public:
    Comparison(const Traffic& traffic, std::uint64_t seed)
        : traffic_(traffic), random_(seed), map_(traffic.options) {
        for (std::size_t i = 0; i < traffic.backends; ++i) {
            slots_.push_back(BackendSlot(static_cast<std::uint16_t>(i)));
            map_.add_backend(slots_.back(), traffic.capacity);
            models_.emplace_back(traffic.capacity);
        }
        out_.resize(traffic.backends);
    }

    void run() {
        for (int step = 0; step < traffic_.steps && !testing::Test::HasFailure(); ++step) {
            SCOPED_TRACE("step " + std::to_string(step));
            now_ += random_.unit();
            map_.tick(now_, 120.0);
            act();
            compare();
        }
    }

  private:
    struct Flight {
        std::size_t backend;
        OwnedChain chain;
    };

    void act() {
        const auto i = static_cast<std::size_t>(random_.below(traffic_.backends));
        const std::uint64_t dice = random_.below(100);
        if (dice < 47) {
            dispatch(i);
        } else if (dice < 90) {
            finish();
        } else if (dice < 94 && traffic_.revives_ghosts) {
            const OwnedChain chain = random_chain(random_);
            const auto from = static_cast<std::size_t>(random_.below(chain.hashes.size()));
            erase_subtree(i, chain, from);
        } else if (dice >= 94 && dice < 98 && traffic_.revives_ghosts) {
            models_[i].capacity = static_cast<Tokens>(
                random_.below(static_cast<std::uint64_t>(traffic_.capacity) * 2));
            map_.set_capacity(slots_[i], models_[i].capacity);
            trim(i);
        } else if (dice == 99) {
            map_.clear_backend(slots_[i]);
            models_[i].clear();
        }
    }

    void dispatch(std::size_t i) {
        const OwnedChain chain = random_chain(random_);
        touched_.push_back(chain);
        models_[i].touch(chain, now_);
        map_.touch_and_pin(chain.view(), slots_[i]);
        models_[i].pin(chain);
        trim(i);
        flights_.push_back({i, chain});
    }

    void finish() {
        if (flights_.empty()) {
            return;
        }
        const auto nth = static_cast<std::ptrdiff_t>(random_.below(flights_.size()));
        const Flight flight = flights_[static_cast<std::size_t>(nth)];
        flights_.erase(flights_.begin() + nth);
        const BackendSlot slot = slots_[flight.backend];
        if (random_.below(2) == 0) {
            const auto middle =
                static_cast<std::size_t>(random_.below(flight.chain.hashes.size() + 1));
            map_.unpin_and_touch(flight.chain.view(), slot, middle);
            map_.unpin_and_touch(flight.chain.first(middle).view(), slot);
        } else {
            map_.unpin_computed(flight.chain.view(), slot);
            map_.touch(flight.chain.view(), slot);
        }
        models_[flight.backend].unpin(flight.chain);
        models_[flight.backend].touch(flight.chain, now_);
        trim(flight.backend);
    }

    void trim(std::size_t i) {
        models_[i].trim(static_cast<Tokens>(traffic_.options.ghost_factor *
                                            static_cast<double>(models_[i].capacity)));
    }

    /// All chains through a block, so that presence stays monotone.
    void erase_subtree(std::size_t i, const OwnedChain& chain, std::size_t from) {
        for (const OwnedChain& touched : touched_) {
            if (touched.hashes.size() > from && touched.hashes[from] == chain.hashes[from]) {
                map_.erase(touched.view(), slots_[i], from);
                models_[i].erase(touched, from);
            }
        }
    }

    void compare() {
        const OwnedChain chain = random_chain(random_);
        map_.match(chain.view(), slots_, out_);
        for (std::size_t i = 0; i < models_.size(); ++i) {
            SCOPED_TRACE("backend " + std::to_string(i));
            compare_depth(i, chain);
            EXPECT_NEAR(static_cast<double>(map_.resident(slots_[i])),
                        static_cast<double>(models_[i].resident()),
                        static_cast<double>(traffic_.tolerance));
            EXPECT_LE(map_.resident(slots_[i]), models_[i].capacity);
            EXPECT_EQ(map_.pinned(slots_[i]), models_[i].pinned());
            // Touches are booked, and expire, to the precision of window / 256.
            const Tokens working_set = map_.working_set(slots_[i]);
            const Tokens slack = traffic_.tolerance == 0 ? 0 : traffic_.tolerance + working_set / 5;
            EXPECT_GE(working_set, models_[i].touched_since(now_ - 119.5) - slack);
            EXPECT_LE(working_set, models_[i].touched_since(now_ - 120.5) + slack);
        }
        const auto i = static_cast<std::size_t>(random_.below(models_.size()));
        compare_distances(i, chain);
    }

    void compare_depth(std::size_t i, const OwnedChain& chain) {
        const Match& match = out_[i];
        EXPECT_EQ(match.tokens, match.blocks == 0 ? 0 : Tokens{chain.tokens[match.blocks - 1]});
        if (traffic_.tolerance == 0) {
            EXPECT_EQ(match.blocks, models_[i].depth(chain));
            return;
        }
        LruModel& model = models_[i];
        model.capacity -= traffic_.tolerance;
        EXPECT_GE(match.blocks, model.depth(chain));
        model.capacity += 2 * traffic_.tolerance;
        EXPECT_LE(match.blocks, model.depth(chain));
        model.capacity -= traffic_.tolerance;
    }

    void compare_distances(std::size_t i, const OwnedChain& chain) {
        map_.distances(chain.view(), slots_[i], distances_);
        ASSERT_EQ(distances_.size(), chain.hashes.size());
        for (std::size_t block = 0; block < chain.hashes.size(); ++block) {
            const StackDistance expected = models_[i].distance(chain.hashes[block]);
            if (traffic_.tolerance == 0) {
                EXPECT_EQ(distances_[block], expected) << "block " << block;
            } else if (expected != kNever && expected <= models_[i].capacity) {
                EXPECT_NEAR(static_cast<double>(distances_[block]), static_cast<double>(expected),
                            static_cast<double>(traffic_.tolerance));
            }
            EXPECT_TRUE(block == 0 || distances_[block - 1] <= distances_[block]);
        }
    }

    Traffic traffic_;
    Random random_;
    PrefixMap map_;
    std::vector<BackendSlot> slots_;
    std::vector<LruModel> models_;
    std::vector<Match> out_;
    std::vector<StackDistance> distances_;
    std::deque<Flight> flights_;
    std::vector<OwnedChain> touched_;
    double now_ = 0;
};

void compare_over_seeds(const Traffic& traffic) {
    const char* given = std::getenv("PREFIX_ROUTER_TEST_SEED");
    const std::uint64_t first = given != nullptr ? std::stoull(given) : std::random_device{}();
    for (std::uint64_t seed = first; seed < first + 4 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("PREFIX_ROUTER_TEST_SEED=" + std::to_string(seed));
        Comparison(traffic, seed).run();
    }
}

PrefixMap::Options exact_options() {
    PrefixMap::Options options;
    options.memory_bytes = std::size_t{16} << 20;
    options.resolution = kExact;
    return options;
}

TEST(PrefixMapProperty, EqualsAnLruListPerBackendAtTheFinestResolution) {
    compare_over_seeds({.options = exact_options()});
}

TEST(PrefixMapProperty, EqualsAnLruListWhileStampsAreRenumberedAllTheTime) {
    Traffic traffic{.options = exact_options()};
    traffic.options.renumber_after = 700;
    compare_over_seeds(traffic);
    traffic.options.renumber_after = 50;
    compare_over_seeds(traffic);
}

TEST(PrefixMapProperty, EqualsAnLruListWithoutGhosts) {
    Traffic traffic{.options = exact_options()};
    traffic.options.ghost_factor = 1.0;
    compare_over_seeds(traffic);
}

TEST(PrefixMapProperty, DiffersByAtMostOneBucketAtACoarseResolution) {
    Traffic traffic{.options = exact_options()};
    traffic.options.resolution = 20;
    traffic.revives_ghosts = false;
    traffic.tolerance = traffic.capacity / 20 + 40;
    compare_over_seeds(traffic);
}

}  // namespace
}  // namespace prefix_router::prefix
