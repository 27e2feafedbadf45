#include "sim/bounds.hpp"

#include <algorithm>
#include <limits>

#include "sim/block_cache.hpp"

namespace prefix_router::sim {
namespace {

double hit_ratio(const Trace& trace, std::size_t capacity_blocks) {
    BlockCache cache(capacity_blocks);
    Tokens prompt_tokens = 0;
    Tokens cached_tokens = 0;
    std::vector<std::uint64_t> whole;
    for (const TraceRequest& request : trace.requests) {
        const auto blocks = trace.prompt_blocks(request);
        const auto answer = trace.answer_blocks(request);
        const auto useful =
            static_cast<std::size_t>((request.prompt_tokens - 1) / trace.block_tokens);
        const std::size_t hit = std::min(cache.match(blocks), useful);
        cached_tokens += static_cast<Tokens>(hit) * trace.block_tokens;
        prompt_tokens += request.prompt_tokens;
        whole.assign(blocks.begin(), blocks.end());
        whole.insert(whole.end(), answer.begin(), answer.end());
        whole.resize(std::min(whole.size(), capacity_blocks));
        if (cache.acquire(whole, 0)) cache.release(whole, whole.size(), {}, 0);
    }
    return static_cast<double>(cached_tokens) / static_cast<double>(prompt_tokens);
}

}  // namespace

Bounds compute_bounds(const Trace& trace, Tokens fleet_kv_tokens) {
    const auto fleet_blocks =
        static_cast<std::size_t>(std::max<Tokens>(1, fleet_kv_tokens / trace.block_tokens));
    return {hit_ratio(trace, std::numeric_limits<std::uint32_t>::max()),
            hit_ratio(trace, fleet_blocks)};
}

Seconds prefill_work_left(const Trace& trace, const EngineOptions& engine, double ratio) {
    double tokens = 0;
    for (const TraceRequest& request : trace.requests) {
        const auto length = static_cast<double>(request.prompt_tokens);
        tokens += length + length * length / (2 * engine.attention_length);
    }
    return tokens * (1 - ratio) / engine.prefill_rate +
           engine.overhead * static_cast<double>(trace.requests.size());
}

}  // namespace prefix_router::sim
