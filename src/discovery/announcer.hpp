#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/discovery/discovery.hpp"

namespace prometheus {
class Counter;
class Gauge;
}  // namespace prometheus

namespace prefix_router::discovery {

/// What one source says to the rest: its set of backends, and whether it works. Keeps the last set
/// in force while the source fails, and says each change of state once. Used by the source's thread
/// alone.
class Announcer {
  public:
    enum class Tell : unsigned char {
        Changes,  ///< in the log when it worked before
        Always,   ///< in the log each time: the caller knows that it is news
    };

    Announcer(std::string source, const config::Discovery& config, metrics::Registry& registry,
              Publish publish);

    /// The source answered, with its whole set. An empty one that may not be is a failure.
    void found(std::vector<config::Backend> backends);
    /// The source did not answer. `why` is free of credentials; it is escaped here.
    void failed(std::string_view why) { fail(why, Tell::Changes); }
    /// The source answered with something that cannot be used, until it says something else.
    void unusable(std::string_view why, Tell tell = Tell::Changes);
    /// The source answers, and says what it said last time, whatever that was. What was refused is
    /// published again, since the reason may be gone.
    void same_as_before();

  private:
    void confirm();
    void fail(std::string_view why, Tell tell);
    void publish(std::vector<config::Backend> backends);

    std::string source_;
    bool allows_empty_;
    Publish publish_;
    prometheus::Gauge& up_;
    prometheus::Gauge& last_success_;
    prometheus::Gauge& count_;
    prometheus::Counter& failures_;
    std::optional<bool> works_;    // nullopt: nothing is known yet
    bool is_answer_good_ = false;  // the last one is what is in force
    std::vector<config::Backend> in_force_;
    std::optional<std::vector<config::Backend>> refused_;
};

}  // namespace prefix_router::discovery
