#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"

namespace prefix_router::sim {

/// Sizes and rates of a simulated inference engine. The defaults are those of the replay.
struct EngineOptions {
    Tokens kv_tokens = 500'000;  ///< KV pool; whole blocks of it are used, at least one
    Tokens block_tokens = 512;   ///< size of a block in tokens
    Seconds overhead = 0.03;     ///< fixed prefill seconds of a request
    double prefill_rate = 8000;  ///< tokens/s at position 0
    /// Position at which a token's attention costs as much as all the rest of it: the prefill of
    /// the tokens [hit, n) takes overhead + ((n - hit) + (n^2 - hit^2) / 2L) / prefill_rate.
    /// Infinite: every token costs the same.
    double attention_length = std::numeric_limits<double>::infinity();
    double decode_rate = 40;       ///< tokens/s of one sequence
    std::uint32_t slots = 64;      ///< sequences running at once, prefilling ones included
    std::uint32_t interleave = 1;  ///< prefills that share one server (processor sharing); 1 = FIFO
    std::uint32_t lanes = 1;       ///< prefill servers at full speed side by side
    std::optional<std::size_t> max_waiting;  ///< more waiting requests than this are refused
};

/// A simplified vLLM v1 engine as a pure state machine: time is a parameter, in seconds from any
/// start, never decreasing; no I/O, no threads, not thread-safe. The replay drives it in virtual
/// time, engine-sim in real time.
///
/// * A KV pool of blocks, shared by running requests and the prefix cache. Blocks are looked up by
///   a 64-bit chained id when a request is scheduled; only full blocks count and at least one token
///   is always computed.
/// * Running requests pin their blocks. When they end, blocks become evictable leaf first (answer,
///   then the prompt from its tail to its root) and are reused in LRU order.
/// * Waiting requests are scheduled in order of arrival while a prefill place, a slot and enough
///   free or evictable blocks are there; the head waits for a finish when they are not.
/// * Up to lanes * interleave requests prefill at once; each gets min(1, lanes / their number) of
///   a server. The first token comes at the end of the prefill, the last output_tokens /
///   decode_rate later.
class Engine {
  public:
    /// Names a submitted request until it ends.
    using RequestId = std::uint64_t;

    struct Request {
        /// Ids of the prompt's full blocks from its start: distinct, and equal ids mean equal
        /// prefixes. Copied.
        std::span<const std::uint64_t> blocks;
        Tokens prompt_tokens = 1;  ///< at least blocks.size() * block_tokens, at least 1
        Tokens output_tokens = 1;  ///< at least 1
        /// Ids of the full blocks that prompt and answer make together beyond `blocks`, to be kept
        /// in the cache when the request ends; empty: the answer is not reusable. Copied.
        std::span<const std::uint64_t> answer_blocks;
    };

    enum class Submitted : std::uint8_t {
        Accepted,
        QueueFull,  ///< max_waiting
        TooLarge,   ///< could never fit into the KV pool
    };
    struct Submission {
        Submitted status = Submitted::Accepted;
        RequestId id = 0;  ///< with Accepted
    };

    struct Event {
        enum class Kind : std::uint8_t {
            Scheduled,    ///< left the queue; cached_tokens is known from here on
            PrefillDone,  ///< the first token is there
            Finished,     ///< the last token is there; the id is no longer valid
            Dropped,      ///< the pool has shrunk too far for it to leave the queue; as Finished
        } kind = Kind::Scheduled;
        RequestId id = 0;
        Seconds at = 0;            ///< when it happened: may be before the `now` of the call
        Tokens cached_tokens = 0;  ///< of the prompt, found in the cache
    };

    struct Counters {
        std::uint64_t prompt_tokens = 0;  ///< of scheduled requests (vLLM: prefix_cache_queries)
        std::uint64_t cached_tokens = 0;  ///< of those, found in the cache (prefix_cache_hits)
        std::uint64_t evicted_blocks = 0;
        std::uint64_t finished = 0;
        std::uint64_t cancelled = 0;
        std::uint64_t refused = 0;
        Seconds prefill_seconds = 0;  ///< work of scheduled requests
    };

    explicit Engine(const EngineOptions& options);
    ~Engine();
    Engine(Engine&&) noexcept;
    Engine& operator=(Engine&&) noexcept;

    /// Puts a request at the end of the queue; it is scheduled at once when nothing is in its way.
    Submission submit(const Request& request, Seconds now);

    /// Ends a request in whatever phase; what was computed stays cached. False: it has already
    /// finished, or never was.
    bool cancel(RequestId id, Seconds now);

    /// When the next PrefillDone or Finished is due; nullopt while nothing runs.
    std::optional<Seconds> next_event_time() const;

    /// Lets time pass. Returns what has happened since the last call, in order, each at its own
    /// time; valid until the next call of any non-const function. (submit and cancel let time pass
    /// too: their events are handed out here.)
    std::span<const Event> advance(Seconds now);

    std::size_t waiting() const;
    std::size_t running() const;       ///< prefilling and decoding
    double kv_usage() const;           ///< 0-1, blocks pinned by running requests
    std::size_t total_blocks() const;  ///< of the KV pool
    const Counters& counters() const;
    const EngineOptions& options() const;

    /// Leading blocks that are in the cache now (pinned or evictable).
    std::size_t match(std::span<const std::uint64_t> blocks) const;

    /// Forgets every evictable block (a flushed prefix cache).
    void flush();

    // What may change while it runs; options() tells the present values.
    /// Of the requests that are scheduled from now on.
    void set_prefill_rate(double tokens_per_second);
    /// A smaller pool gives up its oldest blocks; those that are pinned go when they are released.
    /// At least one block stays. Waiting requests that no longer fit are dropped when it is their
    /// turn.
    void set_kv_tokens(Tokens tokens);

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace prefix_router::sim
