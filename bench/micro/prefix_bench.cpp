// The prefix map at the sizes of docs/adr/0002-prefix-map.md: memory per entry and time per call.
// Tables of millions of entries are filled once and shared by the benchmarks that only read them.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "prefix_router/base/random.hpp"
#include "prefix_router/prefix/prefix_map.hpp"

namespace prefix_router::prefix {
namespace {

constexpr std::size_t kBlocks = 128;
constexpr std::uint32_t kBlockTokens = 64;

struct BenchChain {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> tokens;
    Chain view() const { return {hashes, tokens}; }
};

/// `shared` blocks named after `prefix`, the rest after `seed`.
BenchChain make_chain(std::uint64_t prefix, std::size_t shared, std::uint64_t seed) {
    BenchChain chain;
    Random common(prefix);
    Random own(seed);
    for (std::size_t block = 0; block < kBlocks; ++block) {
        const std::uint64_t hash = block < shared ? common() : own();
        chain.hashes.push_back(hash);
        chain.tokens.push_back(static_cast<std::uint32_t>(block + 1) * kBlockTokens);
    }
    return chain;
}

std::vector<BackendSlot> slots(std::size_t count) {
    std::vector<BackendSlot> out;
    for (std::size_t i = 0; i < count; ++i) {
        out.push_back(BackendSlot(static_cast<std::uint16_t>(i)));
    }
    return out;
}

/// A map in which `entries` blocks are spread over `backends` as chains of 128; chain n has seed n
/// and lies on backend n modulo `backends`.
std::unique_ptr<PrefixMap> filled_map(std::size_t entries, std::size_t backends) {
    PrefixMap::Options options;
    options.memory_bytes = std::max(options.memory_bytes, entries * 24);
    auto map = std::make_unique<PrefixMap>(options);
    const std::vector<BackendSlot> all = slots(backends);
    for (const BackendSlot slot : all) {
        map->add_backend(slot, static_cast<Tokens>(entries * kBlockTokens / backends) + 1'000'000);
    }
    for (std::size_t chain = 0; chain < entries / kBlocks; ++chain) {
        map->touch(make_chain(0, 0, chain).view(), all[chain % backends]);
    }
    return map;
}

PrefixMap& shared_map(std::size_t entries, std::size_t backends) {
    static std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<PrefixMap>> maps;
    auto& map = maps[{entries, backends}];
    if (map == nullptr) {
        maps.clear();
        return *(maps[{entries, backends}] = filled_map(entries, backends));
    }
    return *map;
}

/// Chains of the map in random order. A benchmark copies each before use: a request's hashes have
/// just been computed and lie in the cache, its blocks in the table do not.
std::vector<BenchChain> sample(std::size_t entries, std::size_t count) {
    std::vector<BenchChain> chains;
    Random random(99);
    for (std::size_t i = 0; i < count; ++i) {
        chains.push_back(make_chain(0, 0, random.below(entries / kBlocks)));
    }
    return chains;
}

void bytes_per_entry(benchmark::State& state) {
    const auto entries = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        const auto map = filled_map(entries, 8);
        state.counters["bytes_per_entry"] =
            static_cast<double>(map->memory_bytes()) / static_cast<double>(map->entries());
        state.counters["ns_per_insert"] = benchmark::Counter(
            static_cast<double>(entries) / 1e9,
            benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    }
}
BENCHMARK(bytes_per_entry)
    ->Arg(10'000)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void copy_chain(benchmark::State& state) {
    const std::vector<BenchChain> chains = sample(10'000'000, 4096);
    std::size_t next = 0;
    BenchChain chain;
    for (auto _ : state) {
        chain = chains[next++ % chains.size()];
        benchmark::DoNotOptimize(chain.hashes.data());
    }
}
BENCHMARK(copy_chain);

/// A chain that one of the backends holds to its end.
void match_held_by_one(benchmark::State& state) {
    const auto entries = static_cast<std::size_t>(state.range(0));
    const auto backends = static_cast<std::size_t>(state.range(1));
    const PrefixMap& map = shared_map(entries, backends);
    const std::vector<BackendSlot> all = slots(backends);
    const std::vector<BenchChain> chains = sample(entries, 4096);
    std::vector<Match> out(backends);
    std::size_t next = 0;
    BenchChain chain;
    for (auto _ : state) {
        chain = chains[next++ % chains.size()];
        map.match(chain.view(), all, out);
        benchmark::DoNotOptimize(out.data());
    }
}
BENCHMARK(match_held_by_one)
    ->Args({10'000, 8})
    ->Args({1'000'000, 8})
    ->Args({10'000'000, 8})
    ->Args({10'000'000, 64})
    ->Args({10'000'000, 200});

/// 100 of 128 blocks held, the rest new: the usual next turn of a conversation.
void match_next_turn(benchmark::State& state) {
    const auto entries = static_cast<std::size_t>(state.range(0));
    const PrefixMap& map = shared_map(entries, 8);
    const std::vector<BackendSlot> all = slots(8);
    std::vector<BenchChain> chains = sample(entries, 4096);
    Random random(5);
    for (BenchChain& chain : chains) {
        for (std::size_t block = 100; block < kBlocks; ++block) {
            chain.hashes[block] = random();
        }
    }
    std::vector<Match> out(8);
    std::size_t next = 0;
    BenchChain chain;
    for (auto _ : state) {
        chain = chains[next++ % chains.size()];
        map.match(chain.view(), all, out);
        benchmark::DoNotOptimize(out.data());
    }
}
BENCHMARK(match_next_turn)->Arg(10'000)->Arg(1'000'000)->Arg(10'000'000);

/// 60 blocks held by every backend, then 20 more by each at another depth of its own.
void match_hot_prefix(benchmark::State& state) {
    const auto backends = static_cast<std::size_t>(state.range(0));
    PrefixMap map{PrefixMap::Options{}};
    const std::vector<BackendSlot> all = slots(backends);
    for (const BackendSlot slot : all) {
        map.add_backend(slot, 10'000'000);
        map.touch(make_chain(1, 60, slot.index()).view(), slot);
    }
    const BenchChain chain = make_chain(1, 60, 7);
    std::vector<Match> out(backends);
    for (auto _ : state) {
        map.match(chain.view(), all, out);
        benchmark::DoNotOptimize(out.data());
    }
}
BENCHMARK(match_hot_prefix)->Arg(8)->Arg(64)->Arg(200)->Arg(1000);

void touch_held(benchmark::State& state) {
    const auto entries = static_cast<std::size_t>(state.range(0));
    PrefixMap& map = shared_map(entries, 8);
    Random random(3);
    std::vector<BenchChain> chains;
    std::vector<std::size_t> backends;
    for (std::size_t i = 0; i < 4096; ++i) {
        const std::uint64_t seed = random.below(entries / kBlocks);
        chains.push_back(make_chain(0, 0, seed));
        backends.push_back(seed % 8);
    }
    std::size_t next = 0;
    BenchChain chain;
    for (auto _ : state) {
        const std::size_t i = next++ % chains.size();
        chain = chains[i];
        map.touch(chain.view(), BackendSlot(static_cast<std::uint16_t>(backends[i])));
    }
}
BENCHMARK(touch_held)->Arg(10'000)->Arg(1'000'000)->Arg(10'000'000);

/// New chains into a map that is at its memory bound: inserts, evictions and upkeep.
void touch_new_at_the_bound(benchmark::State& state) {
    PrefixMap::Options options;
    options.memory_bytes = static_cast<std::size_t>(state.range(0)) << 20;
    PrefixMap map(options);
    const std::vector<BackendSlot> all = slots(8);
    for (const BackendSlot slot : all) {
        map.add_backend(slot, 1'000'000'000);
    }
    std::uint64_t seed = 0;
    const auto touch_next = [&] {
        map.touch(make_chain(0, 0, seed).view(), all[seed % 8]);
        ++seed;
    };
    while (seed * kBlocks * 15 < options.memory_bytes) {
        touch_next();
    }
    for (auto _ : state) {
        touch_next();
    }
    state.counters["full"] =
        static_cast<double>(map.memory_bytes()) / static_cast<double>(options.memory_bytes);
}
BENCHMARK(touch_new_at_the_bound)->Arg(16)->Arg(256);

void send_and_end(benchmark::State& state) {
    PrefixMap& map = shared_map(1'000'000, 8);
    const BenchChain chain = make_chain(0, 0, 8);
    for (auto _ : state) {
        map.touch_and_pin(chain.view(), BackendSlot(0), chain.view().hashes.size());
        map.unpin_and_touch(chain.view(), BackendSlot(0));
    }
}
BENCHMARK(send_and_end);

void working_set_of_each(benchmark::State& state) {
    PrefixMap& map = shared_map(1'000'000, 200);
    double now = 0;
    for (auto _ : state) {
        map.tick(now += 0.01);
        Tokens sum = 0;
        for (const BackendSlot slot : slots(200)) {
            sum += map.working_set(slot);
        }
        benchmark::DoNotOptimize(sum);
    }
}
BENCHMARK(working_set_of_each);

}  // namespace
}  // namespace prefix_router::prefix
