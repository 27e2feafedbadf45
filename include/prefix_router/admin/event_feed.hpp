#pragma once

#include <chrono>
#include <string>

namespace prefix_router::admin {

/// What one path of the admin listener sends as Server-Sent Events. Called on the admin thread.
class EventFeed {
  public:
    enum class Listeners : unsigned char { None, Some };

    virtual ~EventFeed() = default;

    virtual std::chrono::milliseconds period() const = 0;
    /// The events that a stream begins with.
    virtual std::string greeting() = 0;
    /// Comes every period. The events that all streams get now; without any it is not looked at.
    virtual std::string next(Listeners listeners) = 0;
};

}  // namespace prefix_router::admin
