#include "net/socket_set.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace prefix_router::net {
namespace {

constexpr std::uint32_t kAlways = EPOLLIN | EPOLLRDHUP | EPOLLET;  // EPOLLHUP, EPOLLERR: unasked

}  // namespace

SocketSet::SocketSet() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_.is_open()) {
        throw std::system_error(errno, std::generic_category(), "epoll_create1");
    }
}

SocketSet::~SocketSet() {
    event_count_ = 0;
    while (first_queued_ != nullptr) {
        first_queued_->is_queued_ = false;
        first_queued_ = first_queued_->next_queued_;
    }
    bury();
}

void SocketSet::wait(std::chrono::milliseconds patience) {
    if (next_event_ < event_count_) {
        return;
    }
    const auto timeout = first_queued_ != nullptr ? 0 : static_cast<int>(patience.count());
    const int count = ::epoll_wait(epoll_.number(), events_.data(), kMostEvents, timeout);
    next_event_ = 0;
    event_count_ = std::max(0, count);
}

void SocketSet::tell() {
    tell_events();
    tell_queued();
    bury();
}

void SocketSet::tell_events() {
    while (next_event_ < event_count_) {
        const epoll_event& event = events_[static_cast<std::size_t>(next_event_++)];
        auto& member = *static_cast<Member*>(event.data.ptr);
        if (!member.is_retired_) {
            member.on_events(event.events);
        }
    }
}

/// Those that queue up again meanwhile are told in the next turn: sockets take turns.
void SocketSet::tell_queued() {
    const Member* const last = last_queued_;
    while (first_queued_ != nullptr) {
        Member& member = *first_queued_;
        first_queued_ = std::exchange(member.next_queued_, nullptr);
        member.is_queued_ = false;
        if (!member.is_retired_) {
            member.on_events(0);
        }
        if (&member == last) {
            break;
        }
    }
}

void SocketSet::bury() {
    Member* kept = nullptr;
    while (retired_ != nullptr) {
        Member* const member = std::exchange(retired_, retired_->next_retired_);
        if (member->is_queued_) {
            member->next_retired_ = std::exchange(kept, member);
        } else {
            delete member;
        }
    }
    retired_ = kept;
}

void SocketSet::Member::retire() {
    is_retired_ = true;
    next_retired_ = std::exchange(set_.retired_, this);
}

void SocketSet::Member::tell_readable() {
    if (!is_registered_) {
        ask(kAlways);
    }
}

void SocketSet::Member::tell_writable() {
    if (!std::exchange(tells_writable_, true)) {
        ask(kAlways | EPOLLOUT);
    }
}

void SocketSet::Member::ask(std::uint32_t events) {
    epoll_event wanted{};
    wanted.events = events;
    wanted.data.ptr = this;
    const int change = is_registered_ ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    is_registered_ = true;
    if (::epoll_ctl(set_.epoll_.number(), change, descriptor_, &wanted) != 0) {
        is_lost_ = true;
        tell_again();
    }
}

void SocketSet::Member::tell_again() {
    if (std::exchange(is_queued_, true)) {
        return;
    }
    if (set_.first_queued_ == nullptr) {
        set_.first_queued_ = this;
    } else {
        set_.last_queued_->next_queued_ = this;
    }
    set_.last_queued_ = this;
}

void SocketSet::Member::leave() {
    if (!is_registered_) {
        return;
    }
    ::epoll_ctl(set_.epoll_.number(), EPOLL_CTL_DEL, descriptor_, nullptr);
}

}  // namespace prefix_router::net
