#pragma once

#include <cstdint>
#include <string_view>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/config/config.hpp"

namespace prefix_router::pool {

/// One backend's health and circuit breaker. Pure: time is a parameter, no I/O. Not thread-safe
/// (routing lock).
///
///            first good probe               failures in a row (active or passive)
///   Unknown -----------------> Healthy ----------------------------------------> Ejected
///      |      a good probe    ^  ^                                                  |
///      +----> Unhealthy ------+  |         open time over (doubles up to 60 s)      |
///    a failed probe              |         and the last probe did not fail          v
///                                +---------------------------------------------- HalfOpen
///                       one good request, or `successes` good probes     (one request at a time)
///
/// Unknown: not probed yet. Unhealthy: no good answer since the start; further failed probes change
/// nothing (an engine that still loads its model says 503). Neither is used while any backend is
/// Healthy. 4xx, 429 and 503 answers are not failures. A failed trial ejects again, for twice as
/// long; a minute of health forgets that.
class Health {
  public:
    enum class State : std::uint8_t { Unknown, Unhealthy, Healthy, Ejected, HalfOpen };

    explicit Health(const config::Health& policy);
    /// For what comes from now on; what was counted stays.
    void set_policy(const config::Health& policy) { policy_ = policy; }

    void probe_succeeded(TimePoint now);
    void probe_failed(TimePoint now);
    /// A connect failure, a reset before or inside an answer, an answer that broke HTTP, an error
    /// event in a stream.
    void request_failed(TimePoint now);
    void request_succeeded(TimePoint now);

    /// True when normal traffic may go there.
    bool is_usable(TimePoint now) const { return state(now) == State::Healthy; }
    /// True for a backend of which nothing is known, good or bad: usable while none is Healthy.
    bool is_untested() const { return state_ == State::Unknown; }
    /// True when one trial request may go there; `begin_trial` reserves it until it succeeds, fails
    /// or is abandoned. The trial's number is what abandons it, and no later one.
    using Trial = std::uint32_t;
    static constexpr Trial kNoTrial = 0;
    bool wants_trial(TimePoint now) const;
    Trial begin_trial(TimePoint now);
    void abandon_trial(Trial trial);

    State state(TimePoint now) const;
    /// Orders backends in panic mode: the one that succeeded last is the least bad.
    bool is_less_bad_than(const Health& other) const;
    /// As bad as the least bad one, or its last success was some seconds before at most.
    bool is_hardly_worse_than(const Health& least_bad) const;

    /// How often it came back from Ejected, and how long its last outage was.
    std::uint32_t returns() const { return returns_; }
    Duration last_outage() const { return last_outage_; }

  private:
    void eject(TimePoint now);
    void become_healthy(TimePoint now);
    Duration open_time() const;

    config::Health policy_;
    State state_ = State::Unknown;  // never HalfOpen: that is Ejected with its open time over
    std::uint32_t probe_failures_ = 0;
    std::uint32_t probe_successes_ = 0;
    std::uint32_t request_failures_ = 0;
    std::uint32_t ejections_ = 0;  // in a row, without a minute of health between
    std::uint32_t returns_ = 0;
    Trial trials_ = 0;        // begun
    Trial trial_ = kNoTrial;  // in flight
    bool is_probe_bad_ = false;
    bool has_succeeded_ = false;
    TimePoint opened_at_{};
    TimePoint outage_began_{};
    TimePoint healthy_since_{};
    TimePoint last_success_{};
    Duration last_outage_{};
};

std::string_view to_string(Health::State state);

}  // namespace prefix_router::pool
