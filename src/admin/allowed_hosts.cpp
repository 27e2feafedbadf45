#include "admin/allowed_hosts.hpp"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace prefix_router::admin {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool are_alike(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

/// Without port, brackets and the dot of the root.
std::string_view host_of(std::string_view authority) {
    if (authority.starts_with('[')) {
        const auto end = authority.find(']');
        return end == std::string_view::npos ? std::string_view() : authority.substr(1, end - 1);
    }
    std::string_view host = authority.substr(0, authority.find(':'));
    if (host.ends_with('.')) {
        host.remove_suffix(1);
    }
    return host;
}

bool is_address(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> address;
    return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

bool is_local_name(std::string_view host) {
    constexpr std::string_view kLocal = "localhost";
    const std::string_view last = host.substr(host.size() - std::min(host.size(), kLocal.size()));
    const std::string_view before = host.substr(0, host.size() - last.size());
    return are_alike(last, kLocal) && (before.empty() || before.ends_with('.'));
}

std::string own_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data())
                                                            : std::string();
}

}  // namespace

AllowedHosts::AllowedHosts(std::vector<std::string> names) : names_(std::move(names)) {
    names_.push_back(own_name());
}

bool AllowedHosts::are_named(std::string_view host) const {
    return !host.empty() && std::ranges::any_of(names_, [host](const std::string& name) {
        return are_alike(host_of(name), host);
    });
}

bool AllowedHosts::hold(std::string_view authority) const {
    const std::string_view host = host_of(authority);
    return is_address(std::string(host)) || is_local_name(host) || are_named(host);
}

bool AllowedHosts::hold_origin(std::string_view origin, std::string_view authority) const {
    constexpr std::string_view kAfterScheme = "://";
    const auto scheme_end = origin.find(kAfterScheme);
    if (scheme_end == std::string_view::npos) {
        return false;
    }
    const std::string_view asking = origin.substr(scheme_end + kAfterScheme.size());
    return are_alike(asking, authority) || are_named(host_of(asking));
}

}  // namespace prefix_router::admin
