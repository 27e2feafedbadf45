/// Ollama chat and generate: one JSON object, or JSON lines whose messages add up; the last has
/// "done": true and the counts. Tool calls are whole, their arguments objects.

#include "prompt/answer/node.hpp"

namespace prefix_router::prompt {

Node ollama_answer_child(Node parent, std::string_view key) {
    switch (parent) {
        case Node::Root:
            if (key == "message") return Node::Message;
            if (key == "done_reason") return Node::FinishReason;
            if (key == "done") return Node::Done;
            if (key == "prompt_eval_count") return Node::PromptTokens;
            if (key == "eval_count") return Node::CompletionTokens;
            if (key == "error") return Node::Error;
            return Node::Ignore;
        case Node::Message:
            if (key == "content") return Node::Text;
            if (key == "thinking") return Node::Reasoning;
            if (key == "tool_calls") return Node::ToolCall;
            return Node::Ignore;
        case Node::ToolCall:
            return key == "function" ? Node::Function : Node::Ignore;
        case Node::Function:
            if (key == "name") return Node::ToolName;
            if (key == "arguments") return Node::ToolArguments;
            return Node::Ignore;
        default:
            return Node::Ignore;
    }
}

}  // namespace prefix_router::prompt
