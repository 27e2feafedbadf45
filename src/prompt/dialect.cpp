#include "prefix_router/prompt/dialect.hpp"

#include <array>

namespace prefix_router::prompt {
namespace {

struct Endpoint {
    std::string_view path;
    Dialect dialect;
};

constexpr std::array kEndpoints = {
    Endpoint{"/v1/chat/completions", Dialect::OpenAiChat},
    Endpoint{"/v1/completions", Dialect::OpenAiCompletions},
    Endpoint{"/v1/responses", Dialect::OpenAiResponses},
    Endpoint{"/v1/messages", Dialect::AnthropicMessages},
    Endpoint{"/invocations", Dialect::SageMakerInvocations},
    Endpoint{"/generate", Dialect::Generate},
    Endpoint{"/generate_stream", Dialect::GenerateStream},
    Endpoint{"/completion", Dialect::LlamaCppCompletion},
    Endpoint{"/api/chat", Dialect::OllamaChat},
    Endpoint{"/api/generate", Dialect::OllamaGenerate},
};

std::string_view path_of(std::string_view target) {
    if (const std::size_t scheme = target.find("://");
        !target.starts_with('/') && scheme != std::string_view::npos) {
        const std::size_t slash = target.find('/', scheme + 3);
        target = slash == std::string_view::npos ? std::string_view{} : target.substr(slash);
    }
    return target.substr(0, target.find('?'));
}

}  // namespace

Dialect dialect_of(std::string_view method, std::string_view target) {
    if (method != "POST") return Dialect::None;
    const std::string_view path = path_of(target);
    for (const Endpoint& endpoint : kEndpoints)
        if (endpoint.path == path) return endpoint.dialect;
    return Dialect::None;
}

}  // namespace prefix_router::prompt
