#include "prompt/request/chat_parts.hpp"

#include "prefix_router/base/hash.hpp"

#include "prompt/canonical.hpp"
#include "prompt/order_free_hash.hpp"

namespace prefix_router::prompt {
namespace {

void write_part(const JsonValue& part, PromptWriter& writer) {
    JsonValue type;
    JsonValue text;
    JsonCursor cursor(part, writer.tape());
    cursor.enter_object();
    while (cursor.next_field()) {
        if (cursor.key() == "type")
            type = cursor.take();
        else if (cursor.key() == "text" || cursor.key() == "refusal")
            text = cursor.take();
        else
            cursor.skip();
    }
    if (canonical::is_reasoning(Word(type).text())) return;
    if (text.is_string())
        writer.text(text);
    else
        writer.media(part);
}

/// {"name", "arguments"}: what a tool call calls.
struct Function {
    bool is_there = false;
    JsonValue name;
    JsonValue arguments;

    /// Takes the next value; the last of several counts.
    void take(JsonCursor& cursor) {
        *this = {};
        is_there = cursor.enter_object();
        if (!is_there) return cursor.skip();
        while (cursor.next_field()) {
            if (cursor.key() == "name")
                name = cursor.take();
            else if (cursor.key() == "arguments")
                arguments = cursor.take();
            else
                cursor.skip();
        }
    }
    void write(PromptWriter& writer) const {
        if (is_there) writer.tool_call(arguments, name);
    }
};

/// The value of `key` in an object.
JsonValue member(const JsonValue& object, std::string_view key, const StringTape& tape) {
    JsonValue value;
    JsonCursor cursor(object, tape);
    if (!cursor.enter_object()) return value;
    while (cursor.next_field()) {
        if (cursor.key() == key)
            value = cursor.take();
        else
            cursor.skip();
    }
    return value;
}

}  // namespace

void write_content(const JsonValue& content, PromptWriter& writer) {
    if (content.is_string()) return writer.text(content);
    if (content.is_object()) return write_part(content, writer);
    if (!content.is_array()) return;
    JsonCursor cursor(content, writer.tape());
    cursor.enter_array();
    while (cursor.next_element()) {
        const JsonValue part = cursor.take();
        if (part.is_object())
            write_part(part, writer);
        else
            writer.text(part);
    }
}

void write_function(const JsonValue& function, PromptWriter& writer) {
    JsonCursor cursor(function, writer.tape());
    Function read;
    read.take(cursor);
    read.write(writer);
}

void write_tool_calls(const JsonValue& tool_calls, PromptWriter& writer) {
    if (!tool_calls.is_array()) return;
    JsonCursor cursor(tool_calls, writer.tape());
    cursor.enter_array();
    while (cursor.next_element()) {
        if (!cursor.enter_object()) {
            cursor.skip();
            continue;
        }
        Function function;
        while (cursor.next_field()) {
            if (cursor.key() == "function")
                function.take(cursor);
            else
                cursor.skip();
        }
        function.write(writer);
    }
}

void write_tools(const PromptSource& source) {
    const JsonValue& tools = source[Field::Tools];
    if (!tools || tools.is_empty()) return;
    source.writer.raw(canonical::kTools);
    source.writer.json(tools);
    source.writer.end_segment();
}

void write_rendered_fields(const PromptSource& source) {
    StandIn small;
    if (const JsonValue& kwargs = source[Field::ChatTemplateKwargs])
        small += order_free_hash(kwargs, source.tape(), source.writer.keyed());
    JsonValue effort = source[Field::ReasoningEffort];
    if (!effort) effort = member(source[Field::Reasoning], "effort", source.tape());
    if (effort.is_string()) small += stand_in(effort, source.writer.keyed()).mixed(1);
    if (small) source.writer.rendered(small);
    if (const JsonValue& documents = source[Field::Documents]) {
        source.writer.raw(canonical::kDocuments);
        source.writer.json(documents);
        source.writer.end_segment();
    }
}

}  // namespace prefix_router::prompt
