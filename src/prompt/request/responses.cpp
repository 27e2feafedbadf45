/// OpenAI responses: {"instructions", "input": text or items, "tools"}. Items are messages, tool
/// calls (function_call) and their results (function_call_output); neighbouring items of the
/// assistant are one message, as in the other chat dialects.

#include "prompt/canonical.hpp"
#include "prompt/request/chat_parts.hpp"

namespace prefix_router::prompt {
namespace {

struct Item {
    JsonValue type;
    JsonValue role;
    JsonValue content;
    JsonValue name;
    JsonValue arguments;
    JsonValue output;

    void forget() {
        type.forget();
        role.forget();
        content.forget();
        name.forget();
        arguments.forget();
        output.forget();
    }

    JsonValue* field(std::string_view key) {
        if (key == "type") return &type;
        if (key == "role") return &role;
        if (key == "content") return &content;
        if (key == "name") return &name;
        if (key == "arguments") return &arguments;
        if (key == "output") return &output;
        return nullptr;
    }
};

void read_item(JsonCursor& cursor, Item& item) {
    item.forget();
    while (cursor.next_field()) {
        if (JsonValue* field = item.field(cursor.key()))
            *field = cursor.take();
        else
            cursor.skip();
    }
}

/// Keeps the assistant's message open as long as items of the assistant follow.
class ItemWriter {
  public:
    explicit ItemWriter(PromptWriter& writer) : writer_(writer) {}

    void write(const Item& item) {
        const Word type(item.type);
        if (type.text() == "function_call") {
            continue_assistant();
            writer_.tool_call(item.arguments, item.name);
        } else if (type.text() == "function_call_output") {
            end();
            writer_.begin_message("tool");
            write_content(item.output, writer_);
            writer_.end_message();
        } else if (Word(item.role).text() == canonical::kAssistant) {
            continue_assistant();
            write_content(item.content, writer_);
        } else if (item.role.is_string()) {
            end();
            writer_.begin_message(item.role);
            write_content(item.content, writer_);
            writer_.end_message();
        }
    }

    void end() {
        if (is_open_) writer_.end_message();
        is_open_ = false;
    }

  private:
    void continue_assistant() {
        if (!is_open_) writer_.begin_message(canonical::kAssistant);
        is_open_ = true;
    }

    PromptWriter& writer_;
    bool is_open_ = false;
};

void write_message(std::string_view role, const JsonValue& text, PromptWriter& writer) {
    if (!text.is_string()) return;
    writer.begin_message(role);
    writer.text(text);
    writer.end_message();
}

}  // namespace

PromptShape write_responses(const PromptSource& source) {
    write_tools(source);
    write_message("system", source[Field::Instructions], source.writer);
    const JsonValue& input = source[Field::Input];
    write_message("user", input, source.writer);
    JsonCursor cursor(input, source.tape());
    if (cursor.enter_array()) {
        ItemWriter items(source.writer);
        Item item;
        while (cursor.next_element()) {
            if (!cursor.enter_object()) {
                cursor.skip();
                continue;
            }
            read_item(cursor, item);
            items.write(item);
        }
        items.end();
    }
    source.writer.end_history();
    write_rendered_fields(source);
    return {.is_chat = true};
}

}  // namespace prefix_router::prompt
