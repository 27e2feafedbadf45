#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include "prefix_router/base/error.hpp"

namespace prefix_router::net {

/// Coarse time of one worker: it counts up every kTickLength. Deadlines are checked once per tick
/// instead of with a timer per operation, which would cost more than the operation.
using Tick = std::uint32_t;
inline constexpr std::chrono::milliseconds kTickLength{250};
inline constexpr Tick kNeverTick = std::numeric_limits<Tick>::max();

/// A point in ticks, and what it means to miss it. Never early: a timeout t fires between t and t
/// plus two ticks. Zero length means never.
class Deadline {
  public:
    void arm(Tick now, std::chrono::milliseconds timeout, ErrorKind missed) {
        due_ = timeout.count() <= 0 ? kNeverTick : now + ticks_for(timeout);
        missed_ = missed;
    }
    void disarm() { due_ = kNeverTick; }
    bool is_due(Tick now) const { return now >= due_; }
    bool is_armed() const { return due_ != kNeverTick; }
    ErrorKind missed() const { return missed_; }

  private:
    static Tick ticks_for(std::chrono::milliseconds timeout) {
        return static_cast<Tick>((timeout + kTickLength - std::chrono::milliseconds(1)) /
                                 kTickLength) +
               1;
    }
    Tick due_ = kNeverTick;
    ErrorKind missed_ = ErrorKind::RequestHeaderTimeout;
};

class TickList;

/// Something that is told of every tick of its worker. Leaves the list when it is destroyed.
class Ticked {
  public:
    Ticked(const Ticked&) = delete;
    Ticked& operator=(const Ticked&) = delete;
    virtual ~Ticked();

    /// May destroy this object and any other in the list.
    virtual void on_tick(Tick now) = 0;

  protected:
    Ticked() = default;

  private:
    friend class TickList;
    TickList* list_ = nullptr;
    Ticked* previous_ = nullptr;
    Ticked* next_ = nullptr;
};

/// The intrusive list of everything ticked on one worker, and the tick itself. Entries may leave
/// or join while a tick is being told; those that join are told from the next one on.
class TickList {
  public:
    TickList() = default;
    TickList(const TickList&) = delete;
    TickList& operator=(const TickList&) = delete;
    ~TickList();

    Tick now() const { return now_; }
    void add(Ticked& entry);
    void remove(Ticked& entry);
    void advance();

    /// Calls `visit` for each entry, which may remove any.
    template <class Visit>
    void for_each(Visit visit) {
        cursor_ = first_;
        while (cursor_ != nullptr) {
            Ticked& entry = *cursor_;
            cursor_ = entry.next_;
            visit(entry);
        }
    }

  private:
    Ticked* first_ = nullptr;
    Ticked* cursor_ = nullptr;
    Tick now_ = 0;
};

}  // namespace prefix_router::net
