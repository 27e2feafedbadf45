#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/base/random.hpp"
#include "prefix_router/sim/engine.hpp"
#include "prefix_router/sim/trace.hpp"

#include "sim/policy.hpp"

namespace prefix_router::sim {

/// A request as a rival router sees it.
struct Prompt {
    std::size_t number = 0;
    Tokens tokens = 1;
    std::span<const std::uint64_t> blocks;
    /// The first block as recorded: what consistent hashing hashes; unique where there is no block.
    std::uint64_t first_block_key = 0;
};

/// The fleet as a rival router sees it.
struct RivalFleet {
    std::span<const Engine> engines;  ///< read only by rivals that scrape them
    Tokens block_tokens = 512;
    Tokens believed_kv_tokens = 0;  ///< per backend
    double prefill_rate = 0;        ///< tokens/s, for a rival that is calibrated
    std::uint64_t seed = 1;

    std::size_t size() const { return engines.size(); }
    std::size_t believed_blocks() const {
        return static_cast<std::size_t>(std::max<Tokens>(1, believed_kv_tokens / block_tokens));
    }
};

/// How another router chooses, reduced to what a replay needs. One file per rival; each names what
/// it models. Not offered by the daemon.
class Rival {
  public:
    virtual ~Rival() = default;
    virtual std::size_t choose(const Prompt& prompt, Seconds now) = 0;
    virtual void sent(const Prompt& prompt, std::size_t backend, Seconds now) = 0;
    virtual void first_token(const Prompt&, std::size_t) {}
    virtual void finished(const Prompt& prompt, std::size_t backend) = 0;
};

std::unique_ptr<Rival> make_rival_cache_aware(const RivalFleet& fleet);
std::unique_ptr<Rival> make_rival_blend(const RivalFleet& fleet);
std::unique_ptr<Rival> make_rival_sticky(const RivalFleet& fleet);
std::unique_ptr<Rival> make_rival_bounded_hash(const RivalFleet& fleet);
std::unique_ptr<Rival> make_rival_product(const RivalFleet& fleet);
std::unique_ptr<Rival> make_rival_kv_router(const RivalFleet& fleet);

/// Names of all rivals, as --strategy takes them.
std::span<const std::string_view> rival_names();
/// The rival of that name as a policy of the replay; null when there is none. The trace and the
/// engines must outlive it.
std::unique_ptr<Policy> make_rival_policy(std::string_view name, const RivalFleet& fleet,
                                          const Trace& trace);

}  // namespace prefix_router::sim
