#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace prefix_router::prompt {

/// The prompt key: a chain of block hashes. hash[k] is mixed with hash[k-1] (the first with the
/// root: model, cache salt, family), so equal hash[k] means equal prompt up to the end of block k.
/// Blocks grow with depth (256 B up to 8 KB, 1 KB up to 64 KB, 4 KB beyond) and a message end
/// closes one, so that history + new turn aligns. Example, one message of 600 bytes: ends = {256,
/// 512, 600}.
///
/// Far on (beyond 4,096 blocks) a message end is listed only 4 KB after the last one, so that a
/// body of a million tiny messages stays small; the chain itself runs through every message end.
///
/// Sizes are in units: bytes of the canonical prompt, or tokens for token-id prompts and trace
/// replay.
struct PromptKey {
    /// The chain's state after the last message, where the answer continues. Fields that a template
    /// renders after the messages (chat_template_kwargs) come behind it.
    struct History {
        std::uint64_t seed = 0;  ///< RequestReaderOptions::hash_seed
        std::uint64_t hash = 0;
        std::uint64_t position = 0;  ///< units before it
        std::uint64_t unlisted = 0;  ///< units since the last end listed in `ends`
        std::uint32_t blocks = 0;    ///< blocks listed up to there
    };

    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t>
        ends;                 ///< units from the prompt's start to the end of block k; ascending
    std::uint64_t total = 0;  ///< units of the whole prompt, at least ends.back()
    bool is_tokens = false;   ///< units are tokens, not bytes
    // What the engine reports of the prompt is then about something else.
    bool lacks_history = false;      ///< the engine has more before it (previous_response_id)
    bool goes_around_cache = false;  ///< the engine computes all of it (cache_prompt: false)

    History history;

    /// Unseeded, equal on every router and over restarts: the chain to the end of the first user
    /// message, else of the first 4 KB. Breaks ties (rendezvous). 0 when there is no key.
    std::uint64_t home = 0;
    /// Unseeded hash of the first `prefix_length` characters and the optional id (strategy
    /// `prefix_aware`).
    std::uint64_t fixed_prefix = 0;

    bool empty() const { return hashes.empty(); }
    std::size_t size() const { return hashes.size(); }
    void clear();
};

}  // namespace prefix_router::prompt
