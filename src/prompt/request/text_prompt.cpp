/// Plain prompts: OpenAI completions and llama.cpp completion ("prompt"), TGI ("inputs"), SGLang
/// ("text", "input_ids"). A prompt is a string or token ids; a list of prompts is a batch, keyed on
/// its first. llama.cpp also mixes strings and ids in one prompt.

#include "prompt/request/prompt_source.hpp"

namespace prefix_router::prompt {
namespace {

/// ["text", 7, 8, "more"]: one prompt.
void write_mixed(const JsonValue& prompt, PromptWriter& writer) {
    JsonCursor cursor(prompt, writer.tape());
    cursor.enter_array();
    while (cursor.next_element()) {
        const JsonValue piece = cursor.take();
        if (piece.kind == JsonKind::Scalar)
            writer.id(piece);
        else
            writer.text(piece);
    }
}

bool is_mixed(const JsonValue& prompt, const StringTape& tape) {
    JsonCursor cursor(prompt, tape);
    cursor.enter_array();
    bool has_ids = false;
    bool has_text = false;
    while (cursor.next_element()) {
        const JsonKind kind = cursor.take().kind;
        has_ids |= kind == JsonKind::Scalar;
        has_text |= kind == JsonKind::String;
    }
    return has_ids && has_text;
}

PromptShape write_list(const JsonValue& list, const PromptSource& source) {
    JsonCursor cursor(list, source.tape());
    cursor.enter_array();
    if (!cursor.next_element()) return {};
    if (source.dialect == Dialect::LlamaCppCompletion && is_mixed(list, source.tape())) {
        write_mixed(list, source.writer);
        return {};
    }
    if (cursor.peek() == JsonKind::Scalar) {
        source.writer.ids(list);
        return {.is_tokens = true};
    }
    const JsonValue first = cursor.take();
    PromptShape shape;
    while (cursor.next_element()) {
        cursor.skip();
        ++shape.prompts;
    }
    source.writer.text(first);
    if (first.is_array()) source.writer.ids(first);
    shape.is_tokens = first.is_array();
    return shape;
}

}  // namespace

PromptShape write_text_prompt(const PromptSource& source) {
    for (const Field field : {Field::Prompt, Field::Inputs, Field::Text, Field::InputIds}) {
        const JsonValue& prompt = source[field];
        if (prompt.is_array()) return write_list(prompt, source);
        if (!prompt.is_string()) continue;
        source.writer.text(prompt);
        return {};
    }
    return {};
}

}  // namespace prefix_router::prompt
