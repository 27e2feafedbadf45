#pragma once

#include <string>
#include <string_view>

namespace prefix_router::engine_sim {

/// A refusal in OpenAI's shape, as vLLM words it.
struct ApiError {
    unsigned status = 400;
    std::string type;     ///< "BadRequestError"
    std::string message;  ///< a sentence for the client

    std::string to_json() const;
};

ApiError bad_request(std::string_view message);
ApiError unknown_model(std::string_view model);
ApiError unknown_path(std::string_view path);
ApiError wrong_method();
ApiError body_too_large();
ApiError context_too_long(long long tokens, long long room);
/// vLLM with a bounded queue: no Retry-After, the client is told to go elsewhere.
ApiError queue_full();
ApiError engine_died();

}  // namespace prefix_router::engine_sim
