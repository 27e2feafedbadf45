/// Ollama api/generate: {"system", "prompt", "images", "context"}: the context is the token ids of
/// the conversation before.

#include "prompt/canonical.hpp"
#include "prompt/request/prompt_source.hpp"

namespace prefix_router::prompt {

PromptShape write_ollama_generate(const PromptSource& source) {
    PromptWriter& writer = source.writer;
    if (source[Field::System].is_string()) {
        writer.text(source[Field::System]);
        writer.end_segment();
    }
    if (source[Field::Context].is_array()) {
        writer.raw(canonical::kIds);
        writer.ids(source[Field::Context]);
        writer.end_segment();
    }
    if (source[Field::Images].is_array() && !source[Field::Images].is_empty())
        writer.media(source[Field::Images]);
    writer.text(source[Field::Prompt]);
    return {};
}

}  // namespace prefix_router::prompt
