#pragma once

#include <cstdint>
#include <string_view>

namespace prefix_router::prompt {

/// The request formats whose prompts are read. Everything else is None: forwarded and balanced by
/// load.
enum class Dialect : std::uint8_t {
    None,
    OpenAiChat,            // POST /v1/chat/completions
    OpenAiCompletions,     // POST /v1/completions
    OpenAiResponses,       // POST /v1/responses
    AnthropicMessages,     // POST /v1/messages
    SageMakerInvocations,  // POST /invocations
    Generate,              // POST /generate (TGI "inputs", SGLang "text" or "input_ids")
    GenerateStream,        // POST /generate_stream (TGI): always streams
    LlamaCppCompletion,    // POST /completion
    OllamaChat,            // POST /api/chat
    OllamaGenerate,        // POST /api/generate
};

/// By method and path (exact match; a query, and in absolute form scheme and authority, are
/// ignored). No allocation.
Dialect dialect_of(std::string_view method, std::string_view target);

}  // namespace prefix_router::prompt
