#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/base/ids.hpp"

namespace prefix_router::sim {

/// One request of a trace. Block numbers index Trace::blocks.
struct TraceRequest {
    static constexpr std::size_t kNoTurn = std::numeric_limits<std::size_t>::max();

    Seconds arrival = 0;  ///< since the first request of the trace, at its recorded speed
    Tokens prompt_tokens = 1;
    Tokens output_tokens = 1;
    std::size_t first_block = 0;  ///< the prompt's full blocks
    std::size_t block_count = 0;
    std::size_t first_answer_block = 0;  ///< what the session's next prompt holds of this answer
    std::size_t answer_block_count = 0;  ///< 0 unless TraceOptions::cache_answers
    bool opens_session = true;           ///< false: comes after the previous turn of its session
    std::size_t next_turn = kNoTurn;     ///< request number of the session's next turn
    Seconds think = 0;                   ///< from the previous answer's end to this request
};

/// A request trace in memory, ordered by arrival. Block ids are dense, from 0 in order of first
/// appearance: equal ids mean equal prompts up to the end of that block.
struct Trace {
    std::string name;  ///< the file's name without folders
    Tokens block_tokens = 512;
    std::vector<TraceRequest> requests;
    std::vector<std::uint64_t> blocks;        ///< of all requests, one after the other
    std::vector<std::uint64_t> recorded_ids;  ///< by dense id: as the file has it
    bool has_sessions = false;

    std::span<const std::uint64_t> prompt_blocks(const TraceRequest& request) const;
    std::span<const std::uint64_t> answer_blocks(const TraceRequest& request) const;
};

struct TraceOptions {
    std::optional<Tokens> block_tokens;  ///< overrides the file's own block size
    std::size_t sessions = 0;  ///< keep the first this many by SHA-256 of "SEED:SESSION"; 0 = all
    std::uint64_t seed = 1;
    bool cache_answers = false;  ///< fill answer_block_count
    /// Keep what arrives before this time, at the recorded speed; sessions lose their later turns.
    Seconds until = std::numeric_limits<Seconds>::infinity();
};

/// Reads JSON lines, plain, gzip or xz (told by their first bytes): an optional header line with
/// `version` (1) and `block_size` (tokens, default 512), then per request `timestamp` (ms),
/// `input_length`, `output_length`, `hash_ids` (one per block of the prompt, numbers or strings),
/// optionally `block_tokens` (size of each block, for blocks of unequal size), `session` and
/// `think` (seconds). Requests with one stamp are spread evenly until the next, over at most 5 s.
/// Only blocks wholly inside input_length count. Errors name file and line.
Result<Trace> load_trace(const std::string& path, const TraceOptions& options);

}  // namespace prefix_router::sim
