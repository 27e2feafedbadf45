/// OpenAI chat/completions and Ollama api/chat: {"messages": [{"role", "content", "tool_calls"}],
/// "tools"}. They differ in that Ollama's tool arguments are objects and its pictures stand in
/// "images" of a message.

#include "prompt/request/chat_parts.hpp"

namespace prefix_router::prompt {
namespace {

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
    source.fields.messages().for_each(
        source[Field::Messages], source.tape(),
        [&source](const Message& message) { write_message(message, source.writer); });
    source.writer.end_history();
    write_rendered_fields(source);
    return {.is_chat = true};
}

}  // namespace prefix_router::prompt
