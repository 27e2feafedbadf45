/// OpenAI chat.completion and chat.completion.chunk, as vLLM, SGLang, TGI and llama.cpp send them.

#include "prompt/answer/node.hpp"

namespace prefix_router::prompt {
namespace {

Node message_child(std::string_view key, Node tool_call) {
    if (key == "content") return Node::Text;
    if (key == "tool_calls") return tool_call;
    if (key == "reasoning_content" || key == "reasoning") return Node::Reasoning;
    return Node::Ignore;
}

}  // namespace

Node openai_usage_child(Node parent, std::string_view key) {
    switch (parent) {
        case Node::Usage:
            if (key == "prompt_tokens") return Node::PromptTokens;
            if (key == "completion_tokens") return Node::CompletionTokens;
            if (key == "prompt_tokens_details") return Node::UsageDetails;
            return Node::Ignore;
        case Node::UsageDetails:
            return key == "cached_tokens" ? Node::CachedTokens : Node::Ignore;
        case Node::Timings:
            if (key == "cache_n") return Node::TimingsCached;
            if (key == "prompt_n") return Node::TimingsPrompt;
            if (key == "predicted_n") return Node::TimingsPredicted;
            return Node::Ignore;
        default:
            return Node::Ignore;
    }
}

Node chat_answer_child(Node parent, std::string_view key) {
    switch (parent) {
        case Node::Root:
            if (key == "choices") return Node::Choice;
            if (key == "usage") return Node::Usage;
            if (key == "timings") return Node::Timings;
            if (key == "error") return Node::Error;
            if (key == "object") return Node::EventType;  // "error" in older vLLM
            return Node::Ignore;
        case Node::Choice:
            if (key == "delta") return Node::Delta;
            if (key == "message") return Node::Message;
            if (key == "finish_reason") return Node::FinishReason;
            return Node::Ignore;
        case Node::Delta:
            return message_child(key, Node::DeltaToolCall);
        case Node::Message:
            return message_child(key, Node::ToolCall);
        case Node::DeltaToolCall:
        case Node::ToolCall:
            return key == "function" ? Node::Function : Node::Ignore;
        case Node::Function:
            if (key == "name") return Node::ToolName;
            if (key == "arguments") return Node::ToolArguments;
            return Node::Ignore;
        default:
            return openai_usage_child(parent, key);
    }
}

}  // namespace prefix_router::prompt
