/// OpenAI chat/completions and Ollama api/chat: {"messages": [{"role", "content", "tool_calls"}],
/// "tools"}. They differ in that Ollama's tool arguments are objects and its pictures stand in
/// "images" of a message.

#include "prompt/request/chat_parts.hpp"

namespace prefix_router::prompt {
namespace {

struct Message {
    JsonValue role;
    JsonValue content;
    JsonValue name;
    JsonValue tool_calls;
    JsonValue function_call;  // the older form of one tool call
    JsonValue images;

    void forget() {
        role.forget();
        content.forget();
        name.forget();
        tool_calls.forget();
        function_call.forget();
        images.forget();
    }

    JsonValue* field(std::string_view key) {
        if (key == "role") return &role;
        if (key == "content") return &content;
        if (key == "tool_calls") return &tool_calls;
        if (key == "name") return &name;
        if (key == "function_call") return &function_call;
        if (key == "images") return &images;
        return nullptr;
    }
};

void read_message(JsonCursor& cursor, Message& message) {
    message.forget();
    while (cursor.next_field()) {
        if (JsonValue* field = message.field(cursor.key()))
            *field = cursor.take();
        else
            cursor.skip();
    }
}

void write_message(const Message& message, PromptWriter& writer) {
    writer.begin_message(message.role);
    write_content(message.content, writer);
    if (message.images.is_array() && !message.images.is_empty()) writer.media(message.images);
    write_tool_calls(message.tool_calls, writer);
    if (message.function_call) write_function(message.function_call, writer);
    writer.name(message.name);
    writer.end_message();
}

}  // namespace

PromptShape write_chat(const PromptSource& source) {
    write_tools(source);
    const JsonValue& messages = source[Field::Messages];
    JsonCursor cursor(messages, source.tape());
    if (cursor.enter_array()) {
        Message message;
        while (cursor.next_element()) {
            if (!cursor.enter_object()) {
                cursor.skip();
                continue;
            }
            read_message(cursor, message);
            write_message(message, source.writer);
        }
    }
    source.writer.end_history();
    write_rendered_fields(source);
    return {.is_chat = true};
}

}  // namespace prefix_router::prompt
