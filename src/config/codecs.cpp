#include "config/codecs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "prefix_router/config/options.hpp"

#include "config/quantities.hpp"

namespace prefix_router::config {
namespace {

bool is_visible_ascii(char c) {
    return c > ' ' && c < '\x7f';
}

bool reads_as_null(std::string_view text) {
    return text == "null" || text == "Null" || text == "NULL" || text == "~";
}

}  // namespace

Error refused(std::string_view text, std::string_view why, const std::string& accepts) {
    return Error(ErrorKind::InvalidConfiguration,
                 in_quotes(text) + " " + std::string(why) + "; write " + accepts);
}

Result<std::string_view> scalar(const RawNode& node, const std::string& accepts) {
    switch (node.kind) {
        case RawNode::Kind::Scalar:
            return std::string_view(node.text);
        case RawNode::Kind::Null:
            return Error(ErrorKind::InvalidConfiguration,
                         "has no value; write " + accepts + ", or delete the line");
        case RawNode::Kind::List:
            return Error(ErrorKind::InvalidConfiguration,
                         "is a list; write " + accepts + " (in quotes if it holds brackets)");
        case RawNode::Kind::Map:
            break;
    }
    return Error(ErrorKind::InvalidConfiguration, "is a map; write " + accepts);
}

std::string yaml_text(const std::string& text) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '/' || c == '.' || c == '_' || c == '-' || c == ':' || c == '+';
    };
    const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), plain) &&
                          text.front() != '-' && text.front() != ':' && text.back() != ':' &&
                          !reads_as_null(text);
    if (is_plain) {
        return text;
    }
    std::string out = "\"";
    for (const char c : text) {
        out += c == '"' || c == '\\' ? "\\" : "";
        out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : std::string(1, c);
    }
    return out + "\"";
}

Result<milliseconds> DurationCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    auto value = parse_duration(*text);
    if (value.has_error()) {
        return value;
    }
    const bool is_allowed_zero = zero == Zero::Allowed && *value == milliseconds{0};
    if (!is_allowed_zero && (*value < least || *value > most)) {
        return refused(*text, "is out of range", accepts());
    }
    return *value;
}

std::string DurationCodec::show(milliseconds value) const {
    return format_duration(value);
}

std::string DurationCodec::accepts() const {
    return (zero == Zero::Allowed ? "0, or a duration from " : "a duration from ") +
           format_duration(least) + " to " + format_duration(most);
}

Result<std::size_t> SizeCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    const auto value = parse_size(*text);
    if (value.has_error()) {
        return value.error();
    }
    if (*value < least || *value > most) {
        return refused(*text, "is out of range", accepts());
    }
    return std::size_t{*value};
}

std::string SizeCodec::show(std::size_t value) const {
    return format_size(value);
}

std::string SizeCodec::accepts() const {
    return "a size from " + format_size(least) + " to " + format_size(most);
}

Result<double> RealCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    double value = 0;
    const char* const end = text->data() + text->size();
    const auto [rest, code] = std::from_chars(text->data(), end, value);
    if (rest != end || code == std::errc::invalid_argument || !std::isfinite(value)) {
        return refused(*text, "is no number", accepts());
    }
    if (code != std::errc{} || value < least || value > most) {
        return refused(*text, "is out of range", accepts());
    }
    return value;
}

std::string RealCodec::show(double value) const {
    return format_real(value);
}

std::string RealCodec::accepts() const {
    return "a number from " + format_real(least) + " to " + format_real(most);
}

Result<bool> FlagCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    if (*text != "true" && *text != "false") {
        return refused(*text, "is neither", accepts());
    }
    return *text == "true";
}

std::string FlagCodec::show(bool value) const {
    return value ? "true" : "false";
}
std::string FlagCodec::accepts() const {
    return "true or false";
}

Result<ListenAddress> ListenCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    return text.has_error() ? text.error() : parse_listen(*text);
}

std::string ListenCodec::show(const ListenAddress& value) const {
    return yaml_text(to_string(value));
}
std::string ListenCodec::accepts() const {
    return "host:port, [IPv6]:port or :port (all IPv4 addresses); port 0 takes a free one";
}

Result<BackendUrl> BackendUrlCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    return text.has_error() ? text.error() : parse_backend_url(*text);
}

std::string BackendUrlCodec::show(const BackendUrl& value) const {
    return yaml_text(value.text);
}
std::string BackendUrlCodec::accepts() const {
    return "http://host:port, https://host:port, either with /base after it, or unix:/path";
}

Result<std::vector<std::string>> ModelNamesCodec::parse(const RawNode& node) const {
    constexpr std::size_t kLongest = 256;
    if (node.kind != RawNode::Kind::List) {
        return Error(ErrorKind::InvalidConfiguration, "must be a list; write " + accepts());
    }
    std::vector<std::string> names;
    for (const RawNode& child : node.children) {
        const auto name = scalar(child, accepts());
        if (name.has_error()) {
            return name.error();
        }
        if (name->empty() || name->size() > kLongest) {
            return refused(*name, "is no model name", accepts());
        }
        if (std::find(names.begin(), names.end(), *name) != names.end()) {
            return refused(*name, "is in the list twice", accepts());
        }
        names.emplace_back(*name);
    }
    return names;
}

std::string ModelNamesCodec::show(const std::vector<std::string>& value) const {
    std::string out = "[";
    for (const std::string& name : value) {
        out += (out.size() > 1 ? ", " : "") + yaml_text(name);
    }
    return out + "]";
}
std::string ModelNamesCodec::accepts() const {
    return "a list of model names of at most 256 bytes each, such as [llama-3-8b]";
}

Result<std::string> RequestPathCodec::parse(const RawNode& node) const {
    constexpr std::size_t kLongest = 1024;
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    if (!text->starts_with('/') || text->size() > kLongest ||
        !std::all_of(text->begin(), text->end(), is_visible_ascii)) {
        return refused(*text, "is no path", accepts());
    }
    return std::string(*text);
}

std::string RequestPathCodec::show(const std::string& value) const {
    return yaml_text(value);
}
std::string RequestPathCodec::accepts() const {
    return "a path that starts with /, without spaces, such as /health";
}

Result<std::string> HeaderNameCodec::parse(const RawNode& node) const {
    constexpr std::size_t kLongest = 64;
    constexpr std::array<std::string_view, 8> kConsumed{
        "connection", "content-length",    "expect", "host", "te",
        "trailer",    "transfer-encoding", "upgrade"};
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    const auto is_token = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
    };
    if (text->empty() || text->size() > kLongest ||
        !std::all_of(text->begin(), text->end(), is_token)) {
        return refused(*text, "is no header name", accepts());
    }
    std::string lower(*text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (std::find(kConsumed.begin(), kConsumed.end(), lower) != kConsumed.end()) {
        return refused(*text, "belongs to HTTP itself", accepts());
    }
    return std::string(*text);
}

std::string HeaderNameCodec::show(const std::string& value) const {
    return yaml_text(value);
}
std::string HeaderNameCodec::accepts() const {
    return "a header name of at most 64 letters, digits, - and _";
}

ChoiceCodec<Priority> priorities() {
    ChoiceCodec<Priority> codec;
    for (const auto priority : {Priority::High, Priority::Normal, Priority::Low}) {
        codec.words.emplace_back(to_string(priority), priority);
    }
    return codec;
}

}  // namespace prefix_router::config
