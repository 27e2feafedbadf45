#pragma once

#include <string>
#include <string_view>

#include "engine_sim/http_request.hpp"

namespace prefix_router::engine_sim {

/// A whole answer with Content-Length, without the body when the request was HEAD.
std::string whole_answer(const HttpRequest& request, unsigned status, std::string_view content_type,
                         std::string_view body);

/// The head of a streamed answer: chunked, or until the connection ends for HTTP/1.0.
/// `says_keep_alive` announces a connection that stays open, as llama.cpp does.
std::string stream_head(const HttpRequest& request, bool says_keep_alive);

/// One piece of a streamed answer in the coding that stream_head() announced.
std::string stream_piece(const HttpRequest& request, std::string_view bytes);
std::string_view stream_end(const HttpRequest& request);

}  // namespace prefix_router::engine_sim
