#pragma once

#include <span>
#include <string>
#include <string_view>

#include "prefix_router/http/request_head.hpp"

namespace prefix_router::http {

/// The key that a request shows: that of `Authorization: Bearer KEY`, else X-Api-Key; "" when there
/// is none or it comes twice. Lives as long as the head.
std::string_view presented_key(const RequestHead& head);

/// A browser's question before a cross-origin request (Fetch standard, "CORS-preflight request"):
/// it has no body and never carries the user's credentials.
bool is_preflight(const RequestHead& head);

/// The head in `pieces` without Authorization and X-Api-Key; with `authorization` as the one
/// Authorization field when it is not empty. Written over `out`.
void replace_credentials(std::span<const std::string_view> pieces, std::string_view authorization,
                         std::string& out);

}  // namespace prefix_router::http
