/// Anthropic messages. In a stream message_start carries a first usage, which message_delta may
/// correct; "input" of a tool_use block is empty there, its JSON comes as partial_json.

#include "prompt/answer/node.hpp"

namespace prefix_router::prompt {
namespace {

Node usage_child(std::string_view key) {
    if (key == "input_tokens") return Node::UncachedTokens;
    if (key == "cache_read_input_tokens") return Node::CacheReadTokens;
    if (key == "cache_creation_input_tokens") return Node::CacheWriteTokens;
    if (key == "output_tokens") return Node::CompletionTokens;
    return Node::Ignore;
}

Node whole_block_child(std::string_view key) {
    if (key == "type") return Node::PartType;
    if (key == "text") return Node::Text;
    if (key == "thinking") return Node::Reasoning;
    if (key == "name") return Node::ToolName;
    if (key == "input") return Node::ToolArguments;
    return Node::Ignore;
}

Node delta_child(std::string_view key) {
    if (key == "text") return Node::Text;
    if (key == "partial_json") return Node::ToolArguments;
    if (key == "thinking") return Node::Reasoning;
    if (key == "stop_reason") return Node::FinishReason;
    return Node::Ignore;
}

Node root_child(std::string_view key) {
    if (key == "delta") return Node::Delta;
    if (key == "content_block") return Node::BlockStart;
    if (key == "message") return Node::Root;  // message_start holds what a plain answer is
    if (key == "content") return Node::Block;
    if (key == "usage") return Node::Usage;
    if (key == "stop_reason") return Node::FinishReason;
    if (key == "error") return Node::Error;
    return Node::Ignore;
}

}  // namespace

Node messages_answer_child(Node parent, std::string_view key) {
    switch (parent) {
        case Node::Root:
            return root_child(key);
        case Node::Block:
            return whole_block_child(key);
        case Node::BlockStart:
            return key == "input" ? Node::Ignore : whole_block_child(key);
        case Node::Delta:
            return delta_child(key);
        case Node::Usage:
            return usage_child(key);
        default:
            return Node::Ignore;
    }
}

}  // namespace prefix_router::prompt
