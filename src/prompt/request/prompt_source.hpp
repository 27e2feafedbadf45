#pragma once

#include <cstdint>

#include "prefix_router/prompt/dialect.hpp"

#include "prompt/prompt_writer.hpp"
#include "prompt/request_fields.hpp"

/// The interface that every request dialect implements: write the canonical prompt.
namespace prefix_router::prompt {

/// What a dialect reads.
struct PromptSource {
    Dialect dialect;
    const RequestFields& fields;
    PromptWriter& writer;

    const StringTape& tape() const { return writer.tape(); }
    const JsonValue& operator[](Field field) const { return fields[field]; }
};

/// What it found besides the prompt.
struct PromptShape {
    std::uint32_t prompts = 1;  ///< a batch is keyed on its first prompt
    bool is_tokens = false;
    bool is_chat = false;  ///< ends in messages that an answer could follow
};

PromptShape write_chat(const PromptSource& source);
PromptShape write_responses(const PromptSource& source);
PromptShape write_messages(const PromptSource& source);
PromptShape write_text_prompt(const PromptSource& source);
PromptShape write_ollama_generate(const PromptSource& source);
PromptShape write_invocation(const PromptSource& source);

}  // namespace prefix_router::prompt
