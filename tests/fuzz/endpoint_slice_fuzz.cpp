/// What an API server of Kubernetes sends: lists and the lines of a watch. Whatever comes in
/// whatever pieces, the backends that follow have a URL and an id of their own each.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "prefix_router/config/config.hpp"

#include "discovery/endpoint_slice.hpp"
#include "discovery/line_splitter.hpp"
#include "discovery/slice_set.hpp"
#include "fuzz/fuzzing.hpp"

namespace prefix_router::discovery {
namespace {

constexpr std::size_t kLongestLine = 2048;

bool is_id(std::string_view id) {
    return !id.empty() && id.size() <= 63 && std::ranges::all_of(id, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

void look_at(const SliceSet& slices, const config::KubernetesSource& source) {
    const auto backends = slices.backends(source);
    if (backends.has_error()) {
        fuzz::require(!backends.error().message().empty(), "an error says what is wrong");
        return;
    }
    std::set<std::string_view> ids;
    for (const config::Backend& backend : *backends) {
        fuzz::require(is_id(backend.id) && ids.insert(backend.id).second, "each has an id");
        const auto url = config::parse_backend_url(backend.url.text);
        fuzz::require(url.has_value() && *url == backend.url, "each has a URL");
    }
}

/// The pieces in which the lines come are of the input's own first bytes' length.
void follow(std::string_view input, SliceSet& slices, const config::KubernetesSource& source) {
    const std::size_t piece = std::size_t{1} + fuzz::take_byte(input);
    LineSplitter lines(kLongestLine);
    bool goes_on = true;
    for (; goes_on && !input.empty(); input.remove_prefix(std::min(piece, input.size()))) {
        goes_on = lines.take(input.substr(0, piece), [&](std::string_view line) {
            auto event = parse_slice_event(line);
            if (event.has_error()) return false;
            if (event->kind == SliceEvent::Kind::Put) {
                slices.put(std::move(event->slice));
            } else if (event->kind == SliceEvent::Kind::Deleted) {
                slices.remove(event->slice.name);
            }
            look_at(slices, source);
            return true;
        });
    }
}

}  // namespace
}  // namespace prefix_router::discovery

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace prefix_router;
    using namespace prefix_router::discovery;
    const std::string_view input = fuzz::view_of(bytes, size);
    config::KubernetesSource source;
    SliceSet slices;
    if (auto list = parse_slice_list(input); list.has_value()) {
        fuzz::require(!list->resource_version.empty(), "a list has a version");
        slices.replace(std::move(list->slices));
        look_at(slices, source);
    }
    follow(input, slices, source);
    source.port = "http";
    look_at(slices, source);
    source.port = "8000";
    look_at(slices, source);
    static_cast<void>(status_message(input));
    return 0;
}
