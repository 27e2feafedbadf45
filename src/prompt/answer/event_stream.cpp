#include "prompt/answer/event_stream.hpp"

namespace prefix_router::prompt {
namespace {

/// Where the first event ends, behind its blank line; 0 when `bytes` do not hold its end.
std::size_t event_end(std::string_view bytes) {
    for (std::size_t at = bytes.find('\n'); at != std::string_view::npos;
         at = bytes.find('\n', at + 1)) {
        const std::string_view next = bytes.substr(at + 1, 2);
        if (next.starts_with('\n')) return at + 2;
        if (next == "\r\n") return at + 3;
    }
    return 0;
}

}  // namespace

void EventStream::feed(std::string_view piece, JsonFollower& json, AnswerCollector& collector) {
    while (!piece.empty()) {
        const bool rests = sse_.rests() && json.rests() && collector.rests();
        if (rests) {
            if (const EventTemplate::Match known = template_.match(piece); known.size != 0) {
                if (!known.text.empty()) collector.string_piece(template_.node(), known.text);
                collector.string_end(template_.node());
                piece.remove_prefix(known.size);
                continue;
            }
        }
        const std::size_t end = event_end(piece);
        const std::string_view event = piece.substr(0, end == 0 ? piece.size() : end);
        if (rests && end != 0)
            read(event, json, collector);
        else
            sse_.feed(event, json);
        if (!has_counted_line_)
            has_counted_line_ = sse_.has_counted_line() && !collector.has_error();
        piece.remove_prefix(event.size());
    }
}

void EventStream::read(std::string_view event, JsonFollower& json, AnswerCollector& collector) {
    collector.start_trace();
    sse_.feed(event, json);
    const AnswerCollector::Trace& trace = collector.trace();
    if (trace.is_one_string() && sse_.rests() && json.rests() && collector.rests())
        template_.learn(event, trace.text, trace.node);
}

}  // namespace prefix_router::prompt
