#include <algorithm>

#include "config/codecs.hpp"

namespace prefix_router::config {
namespace {

bool is_label_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

bool is_host_letter(char c) {
    return c > ' ' && c < '\x7f' &&
           std::string_view("/?#@[]*\\\"'").find(c) == std::string_view::npos;
}

}  // namespace

Result<std::string> NameCodec::parse(const RawNode& node) const {
    const auto text = scalar(node, accepts());
    if (text.has_error()) {
        return text.error();
    }
    if (text->empty() || text->size() > longest ||
        !std::all_of(text->begin(), text->end(), allows)) {
        return refused(*text, complaint, accepts());
    }
    return std::string(*text);
}

std::string NameCodec::show(const std::string& value) const {
    return yaml_text(value);
}
std::string NameCodec::accepts() const {
    return std::string(accepted);
}

NameCodec backend_ids() {
    return {63, is_label_letter, "is no id", "1 to 63 characters out of a-z, 0-9 and -, unique"};
}

NameCodec cluster_names() {
    return {63, is_label_letter, "is no name in Kubernetes",
            "1 to 63 characters out of a-z, 0-9 and -"};
}

NameCodec host_names() {
    return {253, is_host_letter, "is no host name", "a host name or an IP address"};
}

}  // namespace prefix_router::config
