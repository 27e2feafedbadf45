#pragma once

#include <cstddef>

#include "prefix_router/base/clock.hpp"

namespace prefix_router::routing {

/// The prefill work sent to one backend whose first byte has not come, in the order sent. Entries
/// are linked into their owners: adding, removing and reading are O(1). Not thread-safe.
///
/// The first `lanes` entries are being served. An entry in service counts what is left of its
/// expected time, at least 0.15 of it; once it is late by d seconds it counts d more (full decode
/// slots, full KV memory, a hang: expect as much again), so a backend that stopped is left within
/// seconds. An entry of a non-streaming answer gives no first byte: it is taken as served after its
/// expected time, and is watched from then on to its end (`Watch`).
/// Example, one lane: entries of 2 s and 3 s sent at 0: wait(1) = 1 + 3, wait(2) = 0.3 + 3, wait(4)
/// = 0.3 + 2 (late) + 3.
class Backlog {
  public:
    struct Entry {
        Entry* previous = nullptr;
        Entry* next = nullptr;
        Seconds start = 0;    ///< in service since, when in service
        Seconds service = 0;  ///< expected own prefill time
        bool streams = true;  ///< false: nothing tells its first byte
        enum class Place : unsigned char { None, Pending, Watched } place = Place::None;
    };

    Backlog() = default;
    Backlog(const Backlog&) = delete;
    Backlog& operator=(const Backlog&) = delete;

    void set_lanes(double lanes);
    double lanes() const { return lanes_; }

    void push(Entry& entry, Seconds now);
    /// Its first byte came, it ended, failed or was cancelled; whatever place it is in.
    void remove(Entry& entry, Seconds now);
    /// Takes entries of non-streaming answers as served whose expected time is over; true when
    /// there were any. Call before wait().
    bool settle(Seconds now);

    /// Seconds until a request sent now would be served.
    Seconds wait(Seconds now) const;
    std::size_t pending() const { return pending_.size; }
    const Entry* first() const { return pending_.head; }
    Entry* first() { return pending_.head; }
    /// Sum of the expected times of all pending entries.
    Seconds work() const { return work_; }

    /// How long a non-streaming answer may take after its prefill before it counts as late.
    void set_patience(Seconds patience) { patience_ = patience; }

  private:
    struct List {
        Entry* head = nullptr;
        Entry* tail = nullptr;
        std::size_t size = 0;
        void push_back(Entry& entry);
        void unlink(Entry& entry);
    };

    std::size_t servers() const;
    void next_in_service(Seconds now);
    void take_as_served(Entry& entry);

    List pending_;
    List watched_;  // ordered by the time their prefill was expected to end (start + service)
    Seconds work_ = 0;
    double lanes_ = 1;
    Seconds patience_ = 30;
    Seconds last_progress_ = 0;
};

}  // namespace prefix_router::routing
