/// OpenAI responses. A stream repeats the whole answer in its last event (response.completed), so
/// the deltas need not be followed: everything is read from "response", or from the root of a plain
/// answer.

#include "prompt/answer/node.hpp"

namespace prefix_router::prompt {
namespace {

Node response_child(std::string_view key) {
    if (key == "output") return Node::Item;
    if (key == "usage") return Node::Usage;
    if (key == "status") return Node::FinishReason;
    if (key == "error") return Node::Error;
    return Node::Ignore;
}

Node root_child(std::string_view key) {
    if (key == "response") return Node::Response;
    if (key == "type") return Node::EventType;
    return response_child(key);
}

Node item_child(std::string_view key) {
    if (key == "type") return Node::PartType;
    if (key == "content") return Node::Block;
    if (key == "name") return Node::ToolName;
    if (key == "arguments") return Node::ToolArguments;
    return Node::Ignore;
}

}  // namespace

Node responses_answer_child(Node parent, std::string_view key) {
    switch (parent) {
        case Node::Root:
            return root_child(key);
        case Node::Response:
            return response_child(key);
        case Node::Item:
            return item_child(key);
        case Node::Block:
            if (key == "text" || key == "refusal") return Node::Text;
            if (key == "type") return Node::PartType;
            return Node::Ignore;
        case Node::Usage:
            if (key == "input_tokens") return Node::PromptTokens;
            if (key == "output_tokens") return Node::CompletionTokens;
            if (key == "input_tokens_details") return Node::UsageDetails;
            return Node::Ignore;
        case Node::UsageDetails:
            return key == "cached_tokens" ? Node::CachedTokens : Node::Ignore;
        default:
            return Node::Ignore;
    }
}

}  // namespace prefix_router::prompt
