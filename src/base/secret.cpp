#include "prefix_router/base/secret.hpp"

#include <algorithm>
#include <cstdlib>

#include "prefix_router/base/small_file.hpp"

namespace prefix_router {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 10;

}  // namespace

bool is_field_value(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

Result<std::string> read_secret(SecretPlace place, const std::string& source) {
    std::string value;
    const bool is_file = place == SecretPlace::File;
    const std::string where = (is_file ? "the file " : "the environment variable ") + source;
    const auto no_value = [&](const std::string& why) {
        return Error(ErrorKind::InvalidConfiguration, where + " " + why);
    };
    if (is_file) {
        auto text = read_small_file(source, kMostBytes);
        if (!text) {
            return no_value(text.error().message());
        }
        value = text->substr(0, text->find('\n'));
    } else if (const char* const found = std::getenv(source.c_str())) {
        value = found;
    } else {
        return no_value("is not set");
    }
    while (value.ends_with('\r') || value.ends_with(' ')) {
        value.pop_back();
    }
    if (!is_field_value(value)) {
        return no_value(
            "holds no value of a header field, such as 'Bearer KEY', in its first line");
    }
    return value;
}

}  // namespace prefix_router
