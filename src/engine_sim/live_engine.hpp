#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/sim/engine.hpp"

#include "engine_sim/metrics_page.hpp"
#include "engine_sim/net_types.hpp"
#include "engine_sim/options.hpp"

namespace prefix_router::engine_sim {

/// Who is told that something new is there to send. May be called from inside start() and the end
/// of a handle: an implementation notes it and wakes its coroutine, no more.
class ProgressListener {
  public:
    virtual ~ProgressListener() = default;
    virtual void on_progress() = 0;
};

/// One answer in the making.
struct Generation {
    Tokens total = 1;          ///< tokens it will have
    Tokens cached_tokens = 0;  ///< of its prompt; known from the first token on
    Tokens ready = 0;          ///< tokens made so far
    bool finished = false;
    bool is_dropped = false;               ///< finished without an answer
    bool wants_tokens = false;             ///< streamed: told of every batch, not only of the end
    Seconds first_at = 0;                  ///< engine time of the first token
    ProgressListener* listener = nullptr;  ///< nullptr: nobody waits any more
};

class LiveEngine;

/// Holds a submitted request: its end cancels the request unless it has finished or was released.
class GenerationHandle {
  public:
    GenerationHandle() = default;
    GenerationHandle(LiveEngine& engine, sim::Engine::RequestId id,
                     std::shared_ptr<Generation> generation)
        : engine_(&engine), id_(id), generation_(std::move(generation)) {}
    GenerationHandle(GenerationHandle&& other) noexcept { swap(other); }
    GenerationHandle& operator=(GenerationHandle&& other) noexcept {
        GenerationHandle taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~GenerationHandle();

    const Generation& operator*() const { return *generation_; }
    const Generation* operator->() const { return generation_.get(); }

    /// Lets the request go on with nobody listening.
    void release();

  private:
    void swap(GenerationHandle& other) noexcept;

    LiveEngine* engine_ = nullptr;
    sim::Engine::RequestId id_ = 0;
    std::shared_ptr<Generation> generation_;
};

/// A simulated engine in real time: one timer, set to the next thing that happens; tokens of
/// running streams are handed out in batches at most every 5 ms of real time, so that a fast engine
/// costs no more than a slow one. Lives on one io_context, single-threaded.
class LiveEngine {
  public:
    LiveEngine(net::io_context& io, const sim::EngineOptions& options, double time_scale);

    struct Started {
        sim::Engine::Submitted status = sim::Engine::Submitted::Accepted;
        GenerationHandle handle;  ///< with Accepted
    };
    /// `generation` says total, wants_tokens and listener.
    Started start(const sim::Engine::Request& request, Generation generation);

    const sim::Engine& engine() const { return engine_; }
    void flush() { engine_.flush(); }
    void set_prefill_rate(double rate) { engine_.set_prefill_rate(rate); }
    void set_kv_tokens(Tokens tokens) { engine_.set_kv_tokens(tokens); }
    /// Nothing happens any more; what runs may be cancelled.
    void stop();

  private:
    friend class GenerationHandle;

    Seconds now() const { return to_seconds(clock_.now().time_since_epoch()); }
    void cancel(sim::Engine::RequestId id);
    void advance();
    void apply(const sim::Engine::Event& event);
    void hand_out_tokens(Seconds now);
    Seconds next_token_time(const Generation& generation, Seconds now) const;
    void arm();

    SteadyClock clock_;
    double time_scale_;
    sim::Engine engine_;
    Timer timer_;
    bool stopped_ = false;
    Seconds armed_for_;
    Seconds next_tokens_;  ///< when the next batch of tokens is due
    std::unordered_map<sim::Engine::RequestId, std::shared_ptr<Generation>> generations_;
    std::vector<std::shared_ptr<Generation>> streaming_;  ///< decoding, wants_tokens
};

}  // namespace prefix_router::engine_sim
