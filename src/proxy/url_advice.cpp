#include "prefix_router/proxy/url_advice.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "prefix_router/prompt/dialect.hpp"

namespace prefix_router::proxy {
namespace {

/// What clients and the router's own probes ask for, beside the paths of the dialects.
constexpr std::array<std::string_view, 8> kAskedFor{"/v1",         "/v1/models", "/v1/embeddings",
                                                    "/embeddings", "/v1/rerank", "/health",
                                                    "/ping",       "/metrics"};

bool is_asked_for(std::string_view path) {
    const auto is_prompted = [](std::string_view asked) {
        return prompt::dialect_of("POST", asked) != prompt::Dialect::None;
    };
    return std::ranges::find(kAskedFor, path) != kAskedFor.end() || is_prompted(path) ||
           is_prompted("/v1" + std::string(path));
}

/// Where in a base path something begins that requests bring along; npos: nowhere.
std::size_t begin_of_asked(std::string_view base_path) {
    std::size_t begin = base_path.find('/');
    while (begin != base_path.npos && !is_asked_for(base_path.substr(begin))) {
        begin = base_path.find('/', begin + 1);
    }
    return begin;
}

}  // namespace

std::optional<std::string> advice_on(const config::BackendUrl& url) {
    const std::size_t begin = begin_of_asked(url.base_path);
    if (begin == std::string::npos) {
        return std::nullopt;
    }
    const std::size_t surplus = url.base_path.size() - begin;
    return "the URL '" + url.text +
           "' ends in a path that clients send themselves: a request for " +
           "/v1/models would go to " + url.base_path + "/v1/models; write " +
           url.text.substr(0, url.text.size() - surplus);
}

std::vector<std::string> advice_on(std::span<const config::Backend> backends) {
    std::vector<std::string> said;
    for (const config::Backend& backend : backends) {
        if (const auto advice = advice_on(backend.url)) {
            said.push_back("backend " + backend.id + ": " + *advice);
        }
    }
    return said;
}

}  // namespace prefix_router::proxy
