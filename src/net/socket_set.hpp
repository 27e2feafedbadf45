#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "prefix_router/net/descriptor.hpp"

namespace prefix_router::net {

/// The sockets of one worker in an epoll set that tells of changes only (edge-triggered): each is
/// registered once, and to wait for it again takes no call. Not thread-safe.
class SocketSet {
  public:
    class Member;

    /// Throws std::system_error when the process has no descriptor left.
    SocketSet();
    SocketSet(const SocketSet&) = delete;
    SocketSet& operator=(const SocketSet&) = delete;
    ~SocketSet();

    /// Waits until something happens to a member, for at most `patience`.
    void wait(std::chrono::milliseconds patience);
    /// Tells the members what happened to them. Should one throw, the next call goes on with the
    /// others.
    void tell();

  private:
    static constexpr int kMostEvents = 512;

    void tell_events();
    void tell_queued();
    void bury();

    Descriptor epoll_;
    std::array<epoll_event, kMostEvents> events_;
    int next_event_ = 0;
    int event_count_ = 0;
    Member* first_queued_ = nullptr;  // to be told without asking the kernel
    Member* last_queued_ = nullptr;
    Member* retired_ = nullptr;  // until no event can refer to them
};

/// One socket of the set, which owns it from retire() on. It is registered when it first asks to
/// be told: one that is served and closed at once never is.
class SocketSet::Member {
  public:
    Member(SocketSet& set, int descriptor) : set_(set), descriptor_(descriptor) {}
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Is told nothing any more, and freed when nobody can be in the middle of telling it. Close
    /// the descriptor first, or leave().
    void retire();

  protected:
    virtual ~Member() = default;

    /// `events`: what is new, of EPOLLIN, EPOLLOUT, EPOLLRDHUP, EPOLLHUP and EPOLLERR; 0 when it
    /// asked for this call itself. May retire any member.
    virtual void on_events(std::uint32_t events) = 0;

    /// Has the kernel tell of what comes, or of room to write, too: first of what is there already.
    void tell_readable();
    void tell_writable();
    /// Calls on_events(0) before the set waits again.
    void tell_again();
    /// For a socket that somebody else holds, too: closing the descriptor would not end its events.
    void leave();

    bool is_registered() const { return is_registered_; }
    /// The kernel had no memory or no place (max_user_watches) for it, and tells nothing.
    bool is_lost() const { return is_lost_; }

  private:
    friend class SocketSet;

    void ask(std::uint32_t events);

    SocketSet& set_;
    Member* next_queued_ = nullptr;
    Member* next_retired_ = nullptr;
    const int descriptor_;
    bool is_registered_ = false;
    bool is_lost_ = false;
    bool tells_writable_ = false;
    bool is_queued_ = false;
    bool is_retired_ = false;
};

}  // namespace prefix_router::net
