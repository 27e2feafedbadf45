#include "prompt/answer/sse_follower.hpp"

#include <algorithm>
#include <cstring>

#include "prompt/answer/json_follower.hpp"

namespace prefix_router::prompt {
namespace {

constexpr std::string_view kData = "data:";

/// The first '\n' or '\r', or `end`.
const char* line_end(const char* p, const char* end) {
    const auto find = [](const char* from, const char* to, char c) {
        const void* hit = std::memchr(from, c, static_cast<std::size_t>(to - from));
        return hit == nullptr ? to : static_cast<const char*>(hit);
    };
    return find(p, find(p, end, '\n'), '\r');
}

}  // namespace

void SseFollower::feed(std::string_view piece, JsonFollower& json) {
    const char* p = piece.data();
    const char* const end = p + piece.size();
    while (p != end) {
        if (line_ == Line::FieldName && token_size_ == 0 &&
            std::string_view(p, static_cast<std::size_t>(end - p)).starts_with(kData)) {
            line_ = Line::Data;
            p += kData.size();
        } else if (*p == '\n' || *p == '\r') {
            const bool is_second = *p == '\n' && is_after_return_;
            if (!is_second) line_ended(json);
            is_after_return_ = *p++ == '\r';
            continue;
        } else if (line_ == Line::FieldName) {
            p = field_name(p);
        } else {
            p = rest_of_line(p, end, json);
        }
        is_after_return_ = false;
    }
}

void SseFollower::keep(std::string_view bytes) {
    const std::size_t count = std::min(bytes.size(), token_.size() - token_size_);
    std::memcpy(token_.data() + token_size_, bytes.data(), count);
    token_size_ = static_cast<std::uint8_t>(token_size_ + count);
}

const char* SseFollower::field_name(const char* p) {
    if (*p != ':') {
        keep({p, 1});
        return p + 1;
    }
    if (token() == "data") {
        line_ = Line::Data;
    } else if (token() == "event") {
        line_ = Line::EventName;
    } else {
        line_ = Line::Other;
        has_counted_line_ |= !token().empty() && token() != "id" && token() != "retry";
    }
    token_size_ = 0;
    return p + 1;
}

const char* SseFollower::rest_of_line(const char* p, const char* end, JsonFollower& json) {
    const char* const stop = line_end(p, end);
    const std::string_view bytes(p, static_cast<std::size_t>(stop - p));
    if (line_ == Line::Data) {
        has_data_ = true;
        json.feed(bytes);
    } else if (line_ == Line::EventName) {
        keep(bytes);
    }
    return stop;
}

void SseFollower::line_ended(JsonFollower& json) {
    if (line_ == Line::EventName) {
        const std::string_view name = token().substr(token().starts_with(' ') ? 1 : 0);
        is_ping_ = name == "ping";
        has_error_event_ |= name == "error";
    } else if (line_ == Line::Data) {
        has_counted_line_ |= has_data_ && !is_ping_ && !has_error_event_;
        has_data_ = false;
    } else if (line_ == Line::FieldName) {
        has_counted_line_ |= token_size_ != 0;  // no event stream, but an answer
        if (token_size_ == 0) event_ended(json);
    }
    line_ = Line::FieldName;
    token_size_ = 0;
}

void SseFollower::event_ended(JsonFollower& json) {
    json.reset();
    is_ping_ = false;
}

}  // namespace prefix_router::prompt
