/// Targets of the admin listener: a query that is written out again, every byte escaped, reads the
/// same; the path is what stands before the question mark; no order of escapes takes bytes along.

#include <map>
#include <string>

#include "admin/query.hpp"
#include "fuzz/fuzzing.hpp"

namespace {

using Query = std::map<std::string, std::string>;

std::string escaped(const std::string& text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 15U];
    }
    return out;
}

std::string written(const std::string& path, const Query& query) {
    std::string target = path + "?";
    for (const auto& [name, value] : query) target += escaped(name) + "=" + escaped(value) + "&";
    return target;
}

std::size_t bytes_of(const Query& query) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : query) bytes += name.size() + value.size();
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using prefix_router::fuzz::require;
    const std::string_view target = prefix_router::fuzz::view_of(bytes, size);
    std::string path = "left from before";
    Query query{{"left", "from before"}};
    prefix_router::admin::split_target(target, path, query);
    require(path == target.substr(0, target.find('?')), "the path ends at the question mark");
    require(query.empty() || target.size() > path.size(), "no query without a question mark");
    require(path.size() + bytes_of(query) <= target.size(), "nothing is added");

    std::string path_again;
    Query query_again;
    prefix_router::admin::split_target(written(path, query), path_again, query_again);
    require(path_again == path && query_again == query, "the same when written out again");
    return 0;
}
