// Codecs of what stands for a secret. A value that is refused is not repeated: it may be one.
#include <algorithm>
#include <optional>
#include <utility>

#include "config/codecs.hpp"

namespace prefix_router::config {
namespace {

using Kind = BackendAuthorization::Kind;

constexpr std::string_view kEnvironment = "env:";
constexpr std::string_view kFile = "file:";

Error refused_unseen(std::string_view why, const std::string& accepts) {
    return Error(ErrorKind::InvalidConfiguration, std::string(why) + "; write " + accepts);
}

bool is_variable_name(std::string_view name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !name.empty() && std::all_of(name.begin(), name.end(), allowed);
}

std::optional<SecretSource> parse_source(std::string_view text) {
    if (text.starts_with(kEnvironment) && is_variable_name(text.substr(kEnvironment.size()))) {
        return SecretSource{SecretSource::Kind::Environment,
                            std::string(text.substr(kEnvironment.size()))};
    }
    if (text.starts_with(kFile) && text.substr(kFile.size()).starts_with('/')) {
        return SecretSource{SecretSource::Kind::File, std::string(text.substr(kFile.size()))};
    }
    return std::nullopt;
}

}  // namespace

Result<std::string> Sha256Codec::parse(const RawNode& node) const {
    constexpr std::size_t kDigits = 64;
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    std::string digits(*text);
    const auto is_hex = [](char& c) {
        c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    };
    if (digits.size() != kDigits || !std::all_of(digits.begin(), digits.end(), is_hex)) {
        return refused_unseen("is no SHA-256", accepts());
    }
    return digits;
}

std::string Sha256Codec::show(const std::string& value) const {
    return yaml_text(value);
}
std::string Sha256Codec::accepts() const {
    return "64 hex digits in quotes, as 'prefix-router hash-key' prints them";
}

Result<BackendAuthorization> AuthorizationCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    for (const auto kind : {Kind::Auto, Kind::Pass, Kind::Remove}) {
        BackendAuthorization value;
        value.kind = kind;
        if (show(value) == *text) {
            return value;
        }
    }
    if (const auto source = parse_source(*text)) {
        BackendAuthorization value;
        value.kind = source->kind == SecretSource::Kind::File ? Kind::File : Kind::Environment;
        value.source = source->source;
        return value;
    }
    return refused_unseen("is none of what it may be", accepts());
}

std::string AuthorizationCodec::show(const BackendAuthorization& value) const {
    switch (value.kind) {
        case Kind::Auto:
            return "auto";
        case Kind::Pass:
            return "pass";
        case Kind::Remove:
            return "remove";
        case Kind::Environment:
            return yaml_text(std::string(kEnvironment) + value.source);
        case Kind::File:
            return yaml_text(std::string(kFile) + value.source);
    }
    return "auto";
}
Result<SecretSource> SecretSourceCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    if (auto source = parse_source(*text)) {
        return std::move(*source);
    }
    return refused_unseen("is no place of a secret", accepts());
}

std::string SecretSourceCodec::show(const SecretSource& value) const {
    const bool is_file = value.kind == SecretSource::Kind::File;
    return yaml_text(std::string(is_file ? kFile : kEnvironment) + value.source);
}
std::string SecretSourceCodec::accepts() const {
    return "env:NAME or file:/PATH";
}

std::string AuthorizationCodec::accepts() const {
    return "auto, pass, remove, env:NAME or file:/PATH";
}

}  // namespace prefix_router::config
