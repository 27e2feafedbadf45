#include "unit/prompt/reference_key.hpp"

#include <algorithm>
#include <cstring>

#include "prefix_router/base/hash.hpp"

#include "unit/prompt/prompt_samples.hpp"

namespace prefix_router::prompt::test {
namespace {

std::uint64_t text_hash(const std::string& text) {
    std::uint64_t hash = 0;
    std::size_t at = 0;
    for (; at + 1024 <= text.size(); at += 1024)
        hash = hash_bytes(std::string_view(text).substr(at, 1024), hash);
    return hash_bytes(std::string_view(text).substr(at), hash);
}

/// Model alone; the other separators are absent in the bodies that the reference reads.
std::uint64_t root_of(const Json& body, std::uint64_t family) {
    std::uint64_t root = mix(family, 0);
    const Json model = body.value("model", Json());
    root = mix(root, model.is_string() ? mix(0, text_hash(canonical_text(model))) : 0);
    for (int other = 0; other < 6; ++other) root = mix(root, 0);
    root = mix(root, 0);
    return mix(kSeed, root);
}

/// Segments, each cut into blocks of its own by position.
class Blocks {
  public:
    explicit Blocks(std::uint64_t root) : hash_(root) {}

    void segment(const std::string& bytes) {
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t length = position_ < 8192 ? 256 : position_ < 65536 ? 1024 : 4096;
            const std::string_view block = std::string_view(bytes).substr(at, length);
            hash_ = mix(hash_, keyed_(block));
            at += block.size();
            position_ += block.size();
            key_.hashes.push_back(hash_);
            key_.ends.push_back(static_cast<std::uint32_t>(position_));
        }
    }
    ReferenceKey take() { return std::move(key_); }

  private:
    KeyedHash keyed_{kSeed};
    std::uint64_t hash_;
    std::uint64_t position_ = 0;
    ReferenceKey key_;
};

std::optional<std::string> content_of(const Json& message) {
    const Json content = message.value("content", Json());
    if (content.is_string()) return canonical_text(content);
    std::string text;
    if (!content.is_array()) return content.is_object() ? std::nullopt : std::optional(text);
    for (const Json& part : content) {
        if (part.is_string()) {
            text += canonical_text(part);
        } else if (part.is_object()) {
            const Json part_text = part.value("text", Json());
            if (!part_text.is_string() || part.contains("refusal")) return std::nullopt;
            text += canonical_text(part_text);
        }
    }
    return text;
}

/// Floats have more than one spelling; the canonical text keeps the one that is given.
bool has_float(const Json& value) {
    if (!value.is_structured()) return value.is_number_float();
    return std::any_of(value.begin(), value.end(), has_float);
}

std::optional<std::string> arguments_of(const Json& arguments) {
    if (!arguments.is_string()) return std::nullopt;
    const Json parsed = Json::parse(arguments.get<std::string>(), nullptr, false);
    if (parsed.is_discarded() || has_float(parsed)) return std::nullopt;
    return parsed.dump();
}

std::optional<std::string> message_bytes(const Json& message) {
    const Json role = message.value("role", Json());
    if (!role.is_string() && !role.is_null()) return std::nullopt;
    std::string bytes = "\x01";
    if (role.is_string()) bytes += canonical_text(role);
    bytes += "\x02";
    const auto content = content_of(message);
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
    const Json name = message.value("name", Json());
    if (name.is_string()) bytes += "\x05" + canonical_text(name);
    return bytes;
}

}  // namespace

std::string canonical_text(const std::string& text) {
    const std::string quoted = Json(text).dump();
    return quoted.substr(1, quoted.size() - 2);
}

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
