/// Anthropic messages: {"system", "messages": [{"role", "content": text or blocks}], "tools"}.
/// Blocks are text, tool_use (a tool call of the assistant), tool_result (a message of its own, as
/// in the other chat dialects), thinking (left out) and media. `cache_control` says nothing about
/// the prompt.

#include "prompt/canonical.hpp"
#include "prompt/request/chat_parts.hpp"

namespace prefix_router::prompt {
namespace {

struct Block {
    JsonValue whole;
    JsonValue type;
    JsonValue text;
    JsonValue name;
    JsonValue input;
    JsonValue content;

    JsonValue* field(std::string_view key) {
        if (key == "type") return &type;
        if (key == "text") return &text;
        if (key == "name") return &name;
        if (key == "input") return &input;
        if (key == "content") return &content;
        return nullptr;
    }
};

Block read_block(const JsonValue& value, const StringTape& tape) {
    Block block;
    block.whole = value;
    JsonCursor cursor(value, tape);
    cursor.enter_object();
    while (cursor.next_field()) {
        if (JsonValue* field = block.field(cursor.key()))
            *field = cursor.take();
        else
            cursor.skip();
    }
    return block;
}

/// One message; its role is written when the first block that belongs to it comes.
class MessageWriter {
  public:
    MessageWriter(const JsonValue& role, PromptWriter& writer) : role_(role), writer_(writer) {}

    void write(const Block& block) {
        const Word word(block.type);
        const std::string_view type = word.text();
        if (type == "tool_result") {
            end();
            writer_.begin_message("tool");
            write_content(block.content, writer_);
            writer_.end_message();
            has_results_ = true;
        } else if (type == "tool_use") {
            begin();
            writer_.tool_call(block.input, block.name);
        } else if (!canonical::is_reasoning(type)) {
            begin();
            if (block.text.is_string())
                writer_.text(block.text);
            else
                writer_.media(block.whole);
        }
    }

    void text(const JsonValue& content) {
        begin();
        writer_.text(content);
    }

    /// A message without any block of its own is a message all the same.
    void finish() {
        if (!has_results_) begin();
        end();
    }

  private:
    void begin() {
        if (!is_open_) writer_.begin_message(role_);
        is_open_ = true;
    }
    void end() {
        if (is_open_) writer_.end_message();
        is_open_ = false;
    }

    JsonValue role_;
    PromptWriter& writer_;
    bool is_open_ = false;
    bool has_results_ = false;
};

void write_message(const Message& read, PromptWriter& writer) {
    MessageWriter message(read.role, writer);
    JsonCursor blocks(read.content, writer.tape());
    if (read.content.is_string()) {
        message.text(read.content);
    } else if (blocks.enter_array()) {
        while (blocks.next_element()) {
            const JsonValue value = blocks.take();
            if (value.is_object()) message.write(read_block(value, writer.tape()));
        }
    }
    message.finish();
}

/// As canonical JSON text, like the tools of other dialects.
void write_tool(const JsonValue& tool, PromptWriter& writer) {
    JsonCursor cursor(tool, writer.tape());
    if (!cursor.enter_object()) return writer.json(tool);
    std::string_view separator = "{";
    while (cursor.next_field()) {
        if (cursor.key() == "cache_control") {
            cursor.skip();
            continue;
        }
        writer.raw(separator);
        writer.json(cursor.written_key());
        writer.raw(":");
        writer.json(cursor.take());
        separator = ",";
    }
    writer.raw(separator == "{" ? "{}" : "}");
}

void write_tool_list(const JsonValue& tools, PromptWriter& writer) {
    JsonCursor cursor(tools, writer.tape());
    if (!cursor.enter_array() || tools.is_empty()) return;
    writer.raw(canonical::kTools);
    std::string_view separator = "[";
    while (cursor.next_element()) {
        writer.raw(separator);
        write_tool(cursor.take(), writer);
        separator = ",";
    }
    writer.raw("]");
    writer.end_segment();
}

}  // namespace

PromptShape write_messages(const PromptSource& source) {
    PromptWriter& writer = source.writer;
    write_tool_list(source[Field::Tools], writer);
    const JsonValue& system = source[Field::System];
    if (system && !system.is_empty()) {
        writer.begin_message("system");
        write_content(system, writer);
        writer.end_message();
    }
    source.fields.messages().for_each(
        source[Field::Messages], source.tape(),
        [&writer](const Message& message) { write_message(message, writer); });
    writer.end_history();
    write_rendered_fields(source);
    return {.is_chat = true};
}

}  // namespace prefix_router::prompt
