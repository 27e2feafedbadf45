#include "prompt/message_list.hpp"

namespace prefix_router::prompt {

JsonValue* Message::field(std::string_view key) {
    if (key == "role") return &role;
    if (key == "content") return &content;
    if (key == "tool_calls") return &tool_calls;
    if (key == "name") return &name;
    if (key == "function_call") return &function_call;
    if (key == "images") return &images;
    return nullptr;
}

void Message::read(JsonCursor& cursor) {
    while (cursor.next_field()) {
        if (JsonValue* found = field(cursor.key()))
            *found = cursor.take();
        else
            cursor.skip();
    }
}

JsonValue MessageList::take(JsonCursor& cursor, StringTape& tape) {
    is_whole_ = false;
    if (cursor.peek() != JsonKind::Array) return cursor.take();
    const char* const begin = cursor.position();
    const std::size_t recorded = tape.size();
    is_whole_ = read(cursor);
    if (is_whole_) return JsonValue::between(begin, cursor.position(), JsonKind::Array, true);
    tape.shrink(recorded);
    cursor.rewind(begin);
    return cursor.take();
}

/// False when the array is broken or too long.
bool MessageList::read(JsonCursor& cursor) {
    messages_.clear();
    cursor.enter_array();
    while (cursor.next_element()) {
        if (!cursor.enter_object()) {
            cursor.skip();
            continue;
        }
        if (messages_.size() == kMost) return false;
        messages_.emplace_back().read(cursor);
    }
    return !cursor.failed();
}

}  // namespace prefix_router::prompt
