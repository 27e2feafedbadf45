#include "admin/access.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "admin/answers.hpp"

namespace prefix_router::admin {
namespace {

constexpr std::string_view kScheme = "bearer ";

/// RFC 9110 section 11.1: the scheme is case-insensitive.
bool has_scheme(std::string_view authorization) {
    return std::ranges::equal(
        authorization.substr(0, kScheme.size()), kScheme, [](char c, char lower) {
            return c == lower || (c >= 'A' && c <= 'Z' && c - 'A' + 'a' == lower);
        });
}

Answer unknown_name(std::string_view host) {
    return refusal(421, "without a token the admin listener is not served under the name '" +
                            std::string(host) +
                            "', which any web page could be given: use an IP address or localhost, "
                            "or set admin_token_sha256");
}

}  // namespace

Access::Access(Permissions permissions)
    : tokens_(std::move(permissions.tokens)), hosts_(std::move(permissions.allowed_hosts)) {}

const Token* Access::token_of(const Caller& caller) const {
    std::string_view value = caller.authorization;
    if (!has_scheme(value)) {
        return nullptr;
    }
    value.remove_prefix(kScheme.size());
    const Sha256 hash = sha256(value);
    const auto found = std::ranges::find_if(
        tokens_, [&](const Token& token) { return are_equal_secrets(hash, token.hash); });
    return found != tokens_.end() ? &*found : nullptr;
}

std::optional<Answer> Access::refusal(const Route* route, std::string_view method,
                                      const Caller& caller) const {
    const bool is_open = route != nullptr && route->is_open;
    if (!tokens_.empty() && !is_open && token_of(caller) == nullptr) {
        Answer asks = admin::refusal(401, "send the admin token as Authorization: Bearer TOKEN");
        asks.fields.emplace_back("WWW-Authenticate", "Bearer");
        return asks;
    }
    if (tokens_.empty()) {
        if (auto refused = refusal_without_token(route, caller)) {
            return refused;
        }
    }
    const bool only_reads = method == "GET" || method == "HEAD";
    if (!only_reads && caller.origin &&
        !hosts_.hold_origin(*caller.origin, caller.host.value_or(""))) {
        return admin::refusal(403,
                              "web pages from elsewhere may ask for nothing but reads; is there a "
                              "proxy that changes the Host field?");
    }
    return std::nullopt;
}

std::optional<Answer> Access::refusal_without_token(const Route* route,
                                                    const Caller& caller) const {
    const bool is_for_monitoring = route != nullptr && route->is_for_monitoring;
    if (!is_for_monitoring && caller.host && !hosts_.hold(*caller.host)) {
        return unknown_name(*caller.host);
    }
    if (route == nullptr || !route->is_change) {
        return std::nullopt;
    }
    if (!caller.is_local) {
        return admin::refusal(
            403, "without a token (admin_token_sha256) changes are taken from this machine only");
    }
    if (caller.origin) {
        return admin::refusal(403,
                              "without a token (admin_token_sha256) web pages may change nothing");
    }
    return std::nullopt;
}

}  // namespace prefix_router::admin
