#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace prefix_router::prompt {

class JsonFollower;

/// Follows a stream of server-sent events that comes in pieces: hands the data of each event to a
/// JsonFollower and tells when the first line of data ended that counts: not of a `ping` or of what
/// is named an error.
class SseFollower {
  public:
    void feed(std::string_view piece, JsonFollower& json);

    /// Between events, with nothing left over from the last.
    bool rests() const {
        return line_ == Line::FieldName && token_size_ == 0 && !is_ping_ && !is_after_return_;
    }
    bool has_counted_line() const { return has_counted_line_; }
    bool has_error_event() const { return has_error_event_; }

  private:
    enum class Line : std::uint8_t { FieldName, Data, EventName, Other };

    const char* field_name(const char* p);
    const char* rest_of_line(const char* p, const char* end, JsonFollower& json);
    void line_ended(JsonFollower& json);
    void event_ended(JsonFollower& json);
    void keep(std::string_view bytes);
    std::string_view token() const { return {token_.data(), token_size_}; }

    Line line_ = Line::FieldName;
    std::uint8_t token_size_ = 0;
    bool is_ping_ = false;          ///< the open event is one
    bool is_after_return_ = false;  ///< a '\n' that comes next ends no line
    bool has_data_ = false;         ///< the open line
    bool has_counted_line_ = false;
    bool has_error_event_ = false;
    std::array<char, 16> token_;  ///< the field's name, or the event's
};

}  // namespace prefix_router::prompt
