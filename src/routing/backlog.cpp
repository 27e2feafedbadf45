#include "routing/backlog.hpp"

#include <algorithm>
#include <cmath>

namespace prefix_router::routing {
namespace {

constexpr double kLeastShareLeft = 0.15;
constexpr Seconds kMostLateness = 120;

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
    lanes_ = std::max(1.0, lanes);
}

std::size_t Backlog::servers() const {
    return static_cast<std::size_t>(std::lround(lanes_));
}

void Backlog::push(Entry& entry, Seconds now) {
    entry.start = now;
    entry.place = Entry::Place::Pending;
    pending_.push_back(entry);
    work_ += entry.service;
}

// The entry that has just come into service starts now. An entry served out of order restarts the
// last one in service too: the backend makes progress, so that one is not late yet.
void Backlog::next_in_service(Seconds now) {
    Entry* entry = pending_.head;
    for (std::size_t i = 1; entry != nullptr && i < servers(); ++i) {
        entry = entry->next;
    }
    if (entry != nullptr) {
        entry->start = std::max(entry->start, now);
    }
}

void Backlog::remove(Entry& entry, Seconds now) {
    last_progress_ = std::max(last_progress_, now);
    if (entry.place == Entry::Place::Pending) {
        pending_.unlink(entry);
        work_ = pending_.size == 0 ? 0 : work_ - entry.service;  // no drift of the sum
        next_in_service(now);
    } else if (entry.place == Entry::Place::Watched) {
        watched_.unlink(entry);
    }
    entry.place = Entry::Place::None;
}

void Backlog::take_as_served(Entry& entry) {
    const Seconds served = entry.start + entry.service;
    pending_.unlink(entry);
    work_ = pending_.size == 0 ? 0 : work_ - entry.service;
    next_in_service(served);
    entry.place = Entry::Place::Watched;
    watched_.push_back(entry);
}

bool Backlog::settle(Seconds now) {
    bool has_settled = false;
    Entry* entry = pending_.head;
    for (std::size_t i = 0; entry != nullptr && i < servers();) {
        Entry* following = entry->next;
        if (!entry->streams && now >= entry->start + entry->service) {
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
    for (std::size_t i = 0; entry != nullptr && i < servers(); ++i, entry = entry->next) {
        const Seconds late = now - entry->start - entry->service;
        sum += std::max(kLeastShareLeft * entry->service, -late) - entry->service;
        sum += std::clamp(late, 0.0, kMostLateness);
    }
    if (watched_.head != nullptr) {
        const Seconds due = watched_.head->start + watched_.head->service + patience_;
        sum += std::clamp(now - std::max(due, last_progress_ + patience_), 0.0, kMostLateness);
    }
    return std::max(0.0, sum) / lanes_;
}

}  // namespace prefix_router::routing
