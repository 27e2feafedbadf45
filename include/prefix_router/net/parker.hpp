#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

namespace prefix_router::net {

/// A set of things that can happen to a conversation; the owner names the bits.
using Events = std::uint32_t;

/// Events from here on stay set once signalled (a client that left does not come back); lower ones
/// are taken by the park() that sees them.
inline constexpr Events kStickyEvents = 0xffff0000U;

/// The one place where a coroutine waits for the first of several events: a socket ready, a
/// deadline, the client gone, a place in the queue granted. So every wait of a request, in every
/// phase, is ended by whatever ends the request, without cancelling anything.
///
/// One coroutine waits at a time, on the Parker's own thread; signal() belongs to that thread too
/// and resumes the waiter before it returns, so the caller must survive its own destruction by the
/// resumed coroutine. An event signalled while nobody waits is kept.
class Parker {
  public:
    Parker() = default;
    Parker(const Parker&) = delete;
    Parker& operator=(const Parker&) = delete;

    void signal(Events events) {
        signalled_ |= events;
        if (waiting_ && (signalled_ & mask_) != 0) {
            std::exchange(waiting_, nullptr).resume();
        }
    }

    /// Forgets events that were signalled and not yet waited for.
    void clear(Events events) { signalled_ &= ~events; }
    bool has(Events events) const { return (signalled_ & events) != 0; }

    class Awaiter {
      public:
        Awaiter(Parker& parker, Events mask) : parker_(parker), mask_(mask) {}
        bool await_ready() const { return parker_.has(mask_); }
        void await_suspend(std::coroutine_handle<> waiting) {
            parker_.mask_ = mask_;
            parker_.waiting_ = waiting;
        }
        Events await_resume() {
            const Events seen = parker_.signalled_ & mask_;
            parker_.signalled_ &= ~(seen & ~kStickyEvents);
            return seen;
        }

      private:
        Parker& parker_;
        Events mask_;
    };

    /// Waits until one of `mask` is signalled; returns those that are.
    Awaiter park(Events mask) { return Awaiter(*this, mask); }

  private:
    Events signalled_ = 0;
    Events mask_ = 0;
    std::coroutine_handle<> waiting_;
};

}  // namespace prefix_router::net
