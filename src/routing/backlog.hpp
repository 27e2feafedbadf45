#pragma once

#include <cstddef>

#include "prefix_router/base/clock.hpp"

#include "routing/learning/answer_times.hpp"

namespace prefix_router::routing {

/// The prefill work sent to one backend whose first byte has not come, in the order sent. Entries
/// are linked into their owners: adding, removing and reading are O(1). Not thread-safe.
///
/// The first `lanes` entries are being served. An entry in service counts what is left of its
/// expected time, at least 0.15 of it; once it is late by d seconds it counts d more (full decode
/// slots, full KV memory, a hang: expect as much again), so a backend that stopped is left within
/// seconds. An entry of a non-streaming answer gives no first byte: it is taken as served after its
/// expected time and watched from then on. When the watched ones are silent for longer than answers
/// ever are (all together: with ten of them, a second may be enough), that silence counts as
/// lateness. Only answers end a silence: a client that gives up on a late backend leaves it late.
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
        const AnswerTimes* answers = nullptr;  ///< of its model; when it does not stream
        Seconds served() const { return start + service; }
    };
    enum class Leaves : bool { Unanswered, Answered };

    Backlog() = default;
    Backlog(const Backlog&) = delete;
    Backlog& operator=(const Backlog&) = delete;

    void set_lanes(double lanes);
    double lanes() const { return lanes_; }

    void push(Entry& entry, Seconds now);
    /// Answered: its first byte or its end came. Else it failed or was cancelled. Whatever place it
    /// is in.
    void remove(Entry& entry, Seconds now, Leaves leaves = Leaves::Answered);
    /// Takes entries of non-streaming answers as served whose expected time is over; true when
    /// there were any. Call before wait().
    bool settle(Seconds now);

    /// Seconds until a request sent now would be served.
    Seconds wait(Seconds now) const;
    std::size_t pending() const { return pending_.size; }
    const Entry* first() const { return pending_.head; }
    Entry* first() { return pending_.head; }

  private:
    struct List {
        Entry* head = nullptr;
        Entry* tail = nullptr;
        std::size_t size = 0;
        void push_back(Entry& entry);
        void unlink(Entry& entry);
    };

    Entry* last_in_service();
    bool is_in_service(const Entry& entry) const;
    void next_in_service(Seconds now);
    void take_as_served(Entry& entry);
    Seconds lateness(const Entry& entry, Seconds now) const;
    Seconds silence(Seconds now) const;

    List pending_;
    List watched_;  // in the order taken as served: with one lane, by served()
    Seconds work_ = 0;
    double lanes_ = 1;
    std::size_t servers_ = 1;  // the lanes, in whole ones
    Seconds last_answer_ = 0;
};

}  // namespace prefix_router::routing
