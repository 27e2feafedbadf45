#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/error.hpp"

#include "engine_sim/options.hpp"

namespace prefix_router::engine_sim {

enum class Api : std::uint8_t { ChatCompletions, Completions, Responses, Messages };

/// The API that a path belongs to; nullopt for any other path.
std::optional<Api> api_of_path(std::string_view path);

/// A prompt as the engine computes it, four bytes a token.
struct Prompt {
    std::string text;
    std::uint32_t marker = 0;  ///< FNV-1a of the last user text: opens the answer
};

/// A request body, understood.
struct ApiRequest {
    Api api = Api::ChatCompletions;
    std::string model;  ///< "" when the request names none
    std::string cache_salt;
    std::vector<Prompt> prompts;  ///< at least one; several for a list of prompts or n > 1
    Tokens max_tokens = 1;
    bool stream = false;
    bool include_usage = false;
};

/// Reads a body. `default_tokens` is the answer's length where the request sets none. The error is
/// a sentence for the client.
Result<ApiRequest> read_request(Api api, std::string_view body, Tokens default_tokens);

}  // namespace prefix_router::engine_sim
