#include "routing/backlog.hpp"

#include <algorithm>
#include <cmath>

namespace prefix_router::routing {
namespace {

constexpr double kLeastShareLeft = 0.15;
constexpr Seconds kMostLateness = 120;
constexpr Seconds kShortSilence = 0.5;    // not worth a look
constexpr double kTelling = 4.6;          // one silence in a hundred
constexpr std::size_t kMostWatched = 16;  // the oldest are looked at

}  // namespace

void Backlog::List::push_back(Entry& entry) {
    entry.previous = tail;
    entry.next = nullptr;
    (tail != nullptr ? tail->next : head) = &entry;
    tail = &entry;
    ++size;
}

void Backlog::List::unlink(Entry& entry) {
    (entry.previous != nullptr ? entry.previous->next : head) = entry.next;
    (entry.next != nullptr ? entry.next->previous : tail) = entry.previous;
    entry.previous = nullptr;
    entry.next = nullptr;
    --size;
}

void Backlog::set_lanes(double lanes) {
    if (lanes != lanes_) {
        lanes_ = std::max(1.0, lanes);
        servers_ = static_cast<std::size_t>(std::lround(lanes_));
    }
}

void Backlog::push(Entry& entry, Seconds now) {
    entry.start = now;
    entry.place = Entry::Place::Pending;
    pending_.push_back(entry);
    work_ += entry.service;
}

Backlog::Entry* Backlog::last_in_service() {
    Entry* entry = pending_.head;
    for (std::size_t i = 1; entry != nullptr && i < servers_; ++i) {
        entry = entry->next;
    }
    return entry;
}

bool Backlog::is_in_service(const Entry& entry) const {
    const Entry* each = pending_.head;
    for (std::size_t i = 0; each != nullptr && i < servers_; ++i, each = each->next) {
        if (each == &entry) {
            return true;
        }
    }
    return false;
}

// The entry that has just come into service starts now. An entry served out of order restarts the
// last one in service too: the backend makes progress, so that one is not late yet.
void Backlog::next_in_service(Seconds now) {
    Entry* entry = last_in_service();
    if (entry != nullptr) {
        entry->start = std::max(entry->start, now);
    }
}

void Backlog::remove(Entry& entry, Seconds now, Leaves leaves) {
    if (leaves == Leaves::Answered) {
        last_answer_ = std::max(last_answer_, now);
    }
    if (entry.place == Entry::Place::Pending) {
        const bool is_progress = leaves == Leaves::Answered;
        const bool was_in_service = is_progress || is_in_service(entry);
        const Seconds late = is_progress ? 0 : lateness(entry, now);
        pending_.unlink(entry);
        work_ = pending_.size == 0 ? 0 : work_ - entry.service;  // no drift of the sum
        if (was_in_service) {
            next_in_service(now - late);
        }
    } else if (entry.place == Entry::Place::Watched) {
        watched_.unlink(entry);
    }
    entry.place = Entry::Place::None;
}

void Backlog::take_as_served(Entry& entry) {
    const Seconds served = entry.served();
    pending_.unlink(entry);
    work_ = pending_.size == 0 ? 0 : work_ - entry.service;
    next_in_service(served);
    entry.place = Entry::Place::Watched;
    watched_.push_back(entry);
}

bool Backlog::settle(Seconds now) {
    bool has_settled = false;
    Entry* entry = pending_.head;
    for (std::size_t i = 0; entry != nullptr && i < servers_;) {
        Entry* following = entry->next;
        if (!entry->streams && now >= entry->served()) {
            take_as_served(*entry);
            has_settled = true;
        } else {
            ++i;
        }
        entry = following;
    }
    return has_settled;
}

Seconds Backlog::wait(Seconds now) const {
    Seconds sum = work_;
    const Entry* entry = pending_.head;
    for (std::size_t i = 0; entry != nullptr && i < servers_; ++i, entry = entry->next) {
        const Seconds left = entry->served() - now;
        sum += std::max(kLeastShareLeft * entry->service, left) - entry->service;
        sum += std::min(kMostLateness, lateness(*entry, now));
    }
    sum += std::min(kMostLateness, silence(now));
    return std::max(0.0, sum) / lanes_;
}

Seconds Backlog::lateness(const Entry& entry, Seconds now) const {
    return std::max(0.0, now - entry.served());
}

/// How long the watched entries have all been silent, when that is longer than chance allows.
Seconds Backlog::silence(Seconds now) const {
    if (watched_.head == nullptr) {
        return 0;
    }
    const Seconds silent = now - std::max(last_answer_, watched_.head->served());
    if (silent < kShortSilence) {
        return 0;
    }
    double surprise = 0;
    const Entry* entry = watched_.head;
    for (std::size_t i = 0; entry != nullptr && i < kMostWatched; ++i, entry = entry->next) {
        surprise += entry->answers->surprise(now - entry->served()) -
                    entry->answers->surprise(last_answer_ - entry->served());
        if (surprise > kTelling) {
            return silent;
        }
    }
    return 0;
}

}  // namespace prefix_router::routing
