#include "prefix_router/proxy/backend_entry.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <spdlog/spdlog.h>

namespace prefix_router::proxy {
namespace {

using Kind = config::BackendAuthorization::Kind;

Error no_value(const std::string& where, const std::string& why) {
    return Error(ErrorKind::InvalidConfiguration, "authorization: " + where + " " + why);
}

bool is_field_value(const std::string& text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

Result<std::string> read_secret(const config::BackendAuthorization& from) {
    std::string value;
    const std::string where =
        (from.kind == Kind::File ? "the file " : "the environment variable ") + from.source;
    if (from.kind == Kind::File) {
        std::ifstream file(from.source);
        if (!file) {
            return no_value(where, std::string("cannot be read: ") + std::strerror(errno));
        }
        std::getline(file, value);
    } else if (const char* const found = std::getenv(from.source.c_str())) {
        value = found;
    } else {
        return no_value(where, "is not set");
    }
    while (value.ends_with('\r') || value.ends_with(' ')) {
        value.pop_back();
    }
    if (!is_field_value(value)) {
        return no_value(where, "holds no value such as 'Bearer KEY' in its first line");
    }
    return value;
}

}  // namespace

Result<std::optional<std::string>> load_authorization(const config::BackendAuthorization& from,
                                                      bool are_keys_asked_for) {
    switch (from.kind) {
        case Kind::Auto:
            return are_keys_asked_for ? std::optional(std::string()) : std::nullopt;
        case Kind::Pass:
            return std::optional<std::string>();
        case Kind::Remove:
            return std::optional(std::string());
        case Kind::Environment:
        case Kind::File:
            break;
    }
    auto secret = read_secret(from);
    if (!secret) {
        return secret.error();
    }
    return std::optional(std::move(*secret));
}

void BackendEntry::tell_trouble(const Error& error) {
    std::string what(to_string(error.kind()));
    if (!error.message().empty()) {
        what += ": " + error.message();
    }
    if (what != last_trouble()) {
        spdlog::warn("backend {} ({}): {}", spec.id, spec.url.text, what);
    }
    note_trouble(std::move(what));
}

void BackendEntry::note_trouble(std::string what) {
    const std::lock_guard lock(mutex_);
    trouble_ = std::move(what);
}

std::string BackendEntry::last_trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

}  // namespace prefix_router::proxy
