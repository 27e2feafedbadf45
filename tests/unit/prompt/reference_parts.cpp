#include "unit/prompt/reference_parts.hpp"

#include <algorithm>
#include <vector>

namespace prefix_router::prompt::test {
namespace {

std::uint64_t text_hash(const std::string& text) {
    std::uint64_t hash = 0;
    std::size_t at = 0;
    for (; at + 1024 <= text.size(); at += 1024)
        hash = hash_bytes(std::string_view(text).substr(at, 1024), hash);
    return hash_bytes(std::string_view(text).substr(at), hash);
}

bool is_reasoning(const Json& type) {
    return type == "thinking" || type == "redacted_thinking" || type == "reasoning" ||
           type == "reasoning_text";
}

}  // namespace

std::string canonical_text(const std::string& text) {
    const std::string quoted = Json(text).dump();
    return quoted.substr(1, quoted.size() - 2);
}

std::uint64_t root_of(const Json& body, std::uint64_t family) {
    std::uint64_t root = mix(family, 0);
    const Json model = body.value("model", Json());
    root = mix(root, model.is_string() ? mix(0, text_hash(canonical_text(model))) : 0);
    for (int other = 0; other < 6; ++other) root = mix(root, 0);
    root = mix(root, 0);
    return mix(kSeed, root);
}

void Blocks::segment(const std::string& bytes) {
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

std::optional<Json> parse_plainly(const std::string& text) {
    std::vector<std::vector<std::string>> keys;
    bool unique = true;
    const auto check = [&](int, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key) {
            for (const std::string& key : keys.back()) unique &= key != parsed.get<std::string>();
            keys.back().push_back(parsed);
        }
        return true;
    };
    Json body = Json::parse(text, check, false);
    if (body.is_discarded() || !unique || has_float(body)) return std::nullopt;
    return text.find("-0") == std::string::npos ? std::optional(std::move(body)) : std::nullopt;
}

bool has_float(const Json& value) {
    if (!value.is_structured()) return value.is_number_float();
    return std::any_of(value.begin(), value.end(), has_float);
}

std::optional<std::string> content_of(const Json& content) {
    if (content.is_string()) return canonical_text(content);
    std::string text;
    if (!content.is_array()) return content.is_object() ? std::nullopt : std::optional(text);
    for (const Json& part : content) {
        if (part.is_string()) {
            text += canonical_text(part);
        } else if (part.is_object()) {
            if (is_reasoning(part.value("type", Json()))) continue;
            const Json part_text = part.value("text", Json());
            if (!part_text.is_string() || part.contains("refusal")) return std::nullopt;
            text += canonical_text(part_text);
        }
    }
    return text;
}

std::optional<std::string> arguments_of(const Json& arguments) {
    if (arguments.is_null() || arguments == "") return "{}";
    if (!arguments.is_string())
        return has_float(arguments) ? std::nullopt : std::optional(arguments.dump());
    const auto parsed = parse_plainly(arguments.get<std::string>());
    return parsed ? std::optional(parsed->dump()) : std::nullopt;
}

}  // namespace prefix_router::prompt::test
