#include "admin/route_path.hpp"

namespace prefix_router::admin {
namespace {

/// Takes the part up to the next '/', and that, off.
std::string_view next_segment(std::string_view& rest) {
    const auto end = rest.find('/');
    const auto segment = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return segment;
}

std::size_t slashes(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) {
        count += c == '/' ? 1 : 0;
    }
    return count;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view path,
             std::map<std::string, std::string>& parameters) {
    parameters.clear();
    if (slashes(pattern) != slashes(path)) {
        return false;
    }
    while (!pattern.empty() || !path.empty()) {
        const auto wanted = next_segment(pattern);
        const auto found = next_segment(path);
        if (wanted.starts_with('{') && wanted.ends_with('}')) {
            if (found.empty()) {
                return false;
            }
            parameters[std::string(wanted.substr(1, wanted.size() - 2))] = std::string(found);
        } else if (wanted != found) {
            return false;
        }
    }
    return true;
}

}  // namespace prefix_router::admin
