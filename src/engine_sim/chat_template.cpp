#include "engine_sim/chat_template.hpp"

namespace prefix_router::engine_sim {

std::string render(const Conversation& conversation) {
    std::string text = "<|begin|>";
    if (!conversation.tools.empty()) {
        text += "<|tools|>\n";
        for (const Json& tool : conversation.tools) text += tool.dump() + "\n";
        text += "<|end|>\n";
    }
    for (const Message& message : conversation.messages) {
        text += "<|" + message.role + "|>\n";
        text += message.text;
        text += "<|end|>\n";
    }
    if (!conversation.effort.empty()) text += "<|effort|>" + conversation.effort + "\n";
    return text + "<|assistant|>\n";
}

}  // namespace prefix_router::engine_sim
