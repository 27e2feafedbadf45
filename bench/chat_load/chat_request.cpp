#include "chat_load/chat_request.hpp"

#include <nlohmann/json.hpp>

namespace prefix_router::chat_load {

std::string message_json(std::string_view role, std::string_view text) {
    return "{\"role\":\"" + std::string(role) +
           "\",\"content\":" + nlohmann::json(std::string(text)).dump() + "}";
}

std::string chat_body(std::string_view model, std::string_view messages, std::size_t answer_tokens,
                      bool stream) {
    std::string body = "{\"model\":" + nlohmann::json(std::string(model)).dump();
    body += ",\"messages\":[";
    body += messages;
    body += "],\"max_tokens\":" + std::to_string(answer_tokens);
    if (stream) body += ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";
    return body + "}";
}

}  // namespace prefix_router::chat_load
