/// Answers to plain prompts: OpenAI completions, TGI, SGLang's own ("meta_info"), llama.cpp's own
/// ("tokens_evaluated", "timings"; its "tokens_cached" counts what is cached afterwards, not hits).
/// Their text earns no credit, only counts are read. Ollama's generate is in ollama.cpp.

#include "prompt/answer/node.hpp"

namespace prefix_router::prompt {

Node text_answer_child(Node parent, std::string_view key) {
    switch (parent) {
        case Node::Root:
            if (key == "choices") return Node::Choice;
            if (key == "usage") return Node::Usage;
            if (key == "timings") return Node::Timings;
            if (key == "error") return Node::Error;
            if (key == "object") return Node::EventType;
            if (key == "meta_info") return Node::MetaInfo;
            if (key == "details") return Node::Choice;  // TGI
            if (key == "tokens_evaluated") return Node::PromptTokens;
            if (key == "tokens_predicted") return Node::CompletionTokens;
            if (key == "stop_type") return Node::FinishReason;
            return Node::Ignore;
        case Node::Choice:
            if (key == "finish_reason") return Node::FinishReason;
            if (key == "generated_tokens") return Node::CompletionTokens;
            return Node::Ignore;
        case Node::MetaInfo:
            if (key == "prompt_tokens") return Node::PromptTokens;
            if (key == "completion_tokens") return Node::CompletionTokens;
            if (key == "cached_tokens") return Node::CachedTokens;
            if (key == "finish_reason") return Node::FinishReason;
            return Node::Ignore;
        case Node::FinishReason:  // SGLang: {"type": "stop", ...}
            return key == "type" ? Node::FinishReason : Node::Ignore;
        default:
            return openai_usage_child(parent, key);
    }
}

Node invocation_answer_child(Node parent, std::string_view key) {
    const Node node = chat_answer_child(parent, key);
    return node != Node::Ignore ? node : text_answer_child(parent, key);
}

}  // namespace prefix_router::prompt
