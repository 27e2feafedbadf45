#include "unit/prompt/reference_key.hpp"

#include "unit/prompt/reference_parts.hpp"

namespace prefix_router::prompt::test {
namespace {

std::optional<std::string> message_bytes(const Json& message) {
    const Json role = message.value("role", Json());
    if (!role.is_string() && !role.is_null()) return std::nullopt;
    std::string bytes = "\x01";
    if (role.is_string()) bytes += canonical_text(role);
    bytes += "\x02";
    const auto content = content_of(message.value("content", Json()));
    if (!content) return std::nullopt;
    bytes += *content;
    const Json tool_calls = message.value("tool_calls", Json::array());
    if (!tool_calls.is_array()) return std::nullopt;
    for (const Json& call : tool_calls) {
        if (!call.is_object() || !call.contains("function")) return std::nullopt;
        if (!call["function"].is_object()) return std::nullopt;
        const Json& function = call["function"];
        const auto arguments = arguments_of(function.value("arguments", Json()));
        const Json name = function.value("name", Json());
        if (!arguments || !name.is_string()) return std::nullopt;
        bytes += "\x03" + *arguments + "\x04" + canonical_text(name);
    }
    if (message.contains("images") || message.contains("function_call")) return std::nullopt;
    const Json name = message.value("name", Json());
    if (name.is_string()) bytes += "\x05" + canonical_text(name);
    return bytes;
}

}  // namespace

std::optional<ReferenceKey> reference_chat_key(const Json& body) {
    Blocks blocks(root_of(body, 1));
    const Json tools = body.value("tools", Json());
    if (has_float(tools)) return std::nullopt;
    if (!tools.is_null() && !tools.empty()) blocks.segment("\x06" + tools.dump());
    const Json messages = body.value("messages", Json());
    if (!messages.is_array()) return std::nullopt;
    for (const Json& message : messages) {
        if (!message.is_object()) continue;
        const auto bytes = message_bytes(message);
        if (!bytes) return std::nullopt;
        blocks.segment(*bytes);
    }
    return blocks.take();
}

std::optional<ReferenceKey> reference_completion_key(const Json& body) {
    Blocks blocks(root_of(body, 0));
    const Json prompt = body.value("prompt", Json());
    if (prompt.is_string()) {
        blocks.segment(canonical_text(prompt));
        return blocks.take();
    }
    std::string bytes;
    for (const Json& id : prompt) {
        if (!id.is_number_unsigned()) return std::nullopt;
        const auto value = id.get<std::uint32_t>();
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    blocks.segment(bytes);
    ReferenceKey key = blocks.take();
    for (std::uint32_t& end : key.ends) end /= 4;
    return key;
}

}  // namespace prefix_router::prompt::test
