#pragma once

#include <string_view>
#include <vector>

#include "prompt/json_cursor.hpp"

namespace prefix_router::prompt {

/// The fields of one message of a chat that any dialect looks at.
struct Message {
    JsonValue role;
    JsonValue content;
    JsonValue name;
    JsonValue tool_calls;
    JsonValue function_call;  // the older form of one tool call
    JsonValue images;

    /// Reads the fields of an object that was entered, to its end.
    void read(JsonCursor& cursor);

  private:
    JsonValue* field(std::string_view key);
};

/// The messages of a body, found while its top level is read, so that they are walked once. Broken
/// ones, and more than kMost, are left to a second walk. One per reader, reused.
class MessageList {
  public:
    static constexpr std::size_t kMost = 4096;

    void forget() { is_whole_ = false; }

    /// Takes the value that comes next, as cursor.take() does, whatever it is.
    JsonValue take(JsonCursor& cursor, StringTape& tape);

    /// Calls visit(const Message&) for each object in `messages`, the value that was taken last.
    template <class Visit>
    void for_each(const JsonValue& messages, const StringTape& tape, Visit&& visit) const {
        if (is_whole_) {
            for (const Message& message : messages_) visit(message);
            return;
        }
        JsonCursor cursor(messages, tape);
        if (!cursor.enter_array()) return;
        while (cursor.next_element()) {
            if (!cursor.enter_object()) {
                cursor.skip();
                continue;
            }
            Message message;
            message.read(cursor);
            visit(message);
        }
    }

  private:
    bool read(JsonCursor& cursor);

    std::vector<Message> messages_;
    bool is_whole_ = false;
};

}  // namespace prefix_router::prompt
