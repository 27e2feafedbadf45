#pragma once

#include <cstdint>
#include <string_view>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/config/config.hpp"

namespace prefix_router::pool {

/// One backend's health and circuit breaker. Pure: time is a parameter, no I/O. Not thread-safe
/// (routing lock).
///
///            first good probe                      failures in a row (active or passive)
///   Unknown -----------------> Healthy ------------------------------> Ejected
///                                 ^                                        | open time over
///                                 (doubles to 60 s), and | one good probe or request v the active
///                                 probe says alive
///                                 +------------------------------------ HalfOpen (one request at a
///                                 time)
///
/// Unknown: never probed yet; not used while any backend is Healthy. 4xx, 429 and 503 answers are
/// not failures.
class Health {
  public:
    enum class State : std::uint8_t { Unknown, Healthy, Ejected, HalfOpen };

    explicit Health(const config::Health& policy);

    void probe_succeeded(TimePoint now);
    void probe_failed(TimePoint now);
    /// A connect failure, a reset before or inside an answer, an answer that broke HTTP, an error
    /// event in a stream.
    void request_failed(TimePoint now);
    void request_succeeded(TimePoint now);

    /// True when normal traffic may go there.
    bool is_usable(TimePoint now) const;
    /// True when one trial request may go there; `begin_trial` reserves it until it succeeds, fails
    /// or is abandoned.
    bool wants_trial(TimePoint now) const;
    void begin_trial(TimePoint now);
    void abandon_trial();

    State state(TimePoint now) const;
    /// Orders backends in panic mode: lower is less bad (recent successes first).
    std::uint64_t badness() const;

  private:
    config::Health policy_;
    State state_ = State::Unknown;
    std::uint32_t probe_failures_ = 0;
    std::uint32_t probe_successes_ = 0;
    std::uint32_t request_failures_ = 0;
    std::uint32_t ejections_ = 0;
    bool trial_in_flight_ = false;
    TimePoint opened_at_{};
    TimePoint last_success_{};
};

std::string_view to_string(Health::State state);

}  // namespace prefix_router::pool
