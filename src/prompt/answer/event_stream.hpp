#pragma once

#include <string_view>

#include "prompt/answer/answer_collector.hpp"
#include "prompt/answer/event_template.hpp"
#include "prompt/answer/json_follower.hpp"
#include "prompt/answer/sse_follower.hpp"

namespace prefix_router::prompt {

/// Reads a stream of server-sent events into an AnswerCollector. An event that is like the last one
/// but for its text costs a tenth of one that is read in full; nearly all of a stream are.
class EventStream {
  public:
    void feed(std::string_view piece, JsonFollower& json, AnswerCollector& collector);

    /// A line that counts came, and no error before or in it.
    bool has_counted_line() const { return has_counted_line_; }
    bool has_error_event() const { return sse_.has_error_event(); }

  private:
    /// One event from `event`'s begin to its end, both between events.
    void read(std::string_view event, JsonFollower& json, AnswerCollector& collector);

    SseFollower sse_;
    EventTemplate template_;
    bool has_counted_line_ = false;
};

}  // namespace prefix_router::prompt
