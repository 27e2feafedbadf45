#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "prefix_router/base/error.hpp"

namespace prefix_router::http {

/// The status that a client sees for an error of this kind. 499 (ClientGone) is only logged.
unsigned status_of(ErrorKind kind);

/// Whether the client's connection must end after this answer: the request's end is unknown or its
/// body was not read. Close lingering, or the client may never see the answer.
bool ends_connection(ErrorKind kind);

/// Whose clients are to understand it.
enum class ErrorShape : unsigned char { OpenAi, Anthropic, Ollama };
/// By the path that was asked for.
ErrorShape error_shape_of(std::string_view path);

struct ErrorAnswerOptions {
    std::string_view request_id = {};  ///< "": not known yet, no field
    bool is_head = false;              ///< no body is sent, its Content-Length is
    bool keeps_alive = false;          ///< the connection stays open, unless ends_connection(kind)
    /// For 429 and 503; sent in whole seconds, from 1 to 60, or to 3600 for RateLimited.
    std::chrono::seconds retry_after{1};
    ErrorShape shape = ErrorShape::OpenAi;
};

/// A whole answer, head and body: {"error": {"message", "type", "code"}} in the shape of OpenAI's
/// API, where code is to_string(kind) and type is "invalid_request_error", "rate_limit_error",
/// "overloaded_error" or "server_error"; or {"type": "error", "error": {...}} with Anthropic's
/// types; or {"error": message, "code"} for clients of Ollama. The message is the error's, or a
/// sentence for its kind when it has none.
std::string error_answer(const Error& error, const ErrorAnswerOptions& options);

}  // namespace prefix_router::http
