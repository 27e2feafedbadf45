#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Places in an answer's JSON that matter. Each dialect says which field leads from one place to
/// another; arrays are transparent: their elements are at the place of the array.
namespace prefix_router::prompt {

enum class Node : std::uint8_t {
    Ignore,  // and everything below it
    Root,
    // Containers.
    Choice,
    Message,        // an assistant message as a whole
    Delta,          // a part of one
    Block,          // Anthropic or Responses content block
    BlockStart,     // the same in a stream, without its contents
    Item,           // Responses output item
    Response,       // Responses: the whole answer inside an event
    ToolCall,       // whole
    DeltaToolCall,  // a part of one
    Function,
    Usage,
    UsageDetails,
    Timings,
    MetaInfo,
    // Strings.
    Text,
    Reasoning,
    ToolName,
    ToolArguments,  // or an object
    PartType,
    FinishReason,
    EventType,
    Error,  // of any kind but null
    // Scalars.
    Done,
    // Counters, kept by place.
    PromptTokens,    // cached ones included
    UncachedTokens,  // Anthropic's input_tokens
    CacheReadTokens,
    CacheWriteTokens,
    CachedTokens,
    CompletionTokens,
    TimingsPrompt,  // llama.cpp: computed, without the cached ones
    TimingsCached,
    TimingsPredicted,
    End,
};

inline constexpr Node kFirstCounter = Node::PromptTokens;
inline constexpr std::size_t kCounters =
    static_cast<std::size_t>(Node::End) - static_cast<std::size_t>(kFirstCounter);

constexpr bool is_counter(Node node) {
    return node >= kFirstCounter && node < Node::End;
}
constexpr std::size_t counter_index(Node node) {
    return static_cast<std::size_t>(node) - static_cast<std::size_t>(kFirstCounter);
}

/// Where `key` leads from an object at `parent`.
using ChildOf = Node (*)(Node parent, std::string_view key);

Node chat_answer_child(Node parent, std::string_view key);
Node text_answer_child(Node parent, std::string_view key);
Node invocation_answer_child(Node parent, std::string_view key);
Node responses_answer_child(Node parent, std::string_view key);
Node messages_answer_child(Node parent, std::string_view key);
Node ollama_answer_child(Node parent, std::string_view key);

/// Shared by several dialects: "usage" in OpenAI's shape, "timings" of llama.cpp.
Node openai_usage_child(Node parent, std::string_view key);

}  // namespace prefix_router::prompt
