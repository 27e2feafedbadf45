#pragma once

#include <string>

namespace prefix_router::engine_sim {

/// A request, read whole.
struct HttpRequest {
    std::string method;
    std::string path;  ///< without the query
    std::string body;
    bool keep_alive = true;
    bool is_http_1_0 = false;  ///< no chunked coding for such a client
};

}  // namespace prefix_router::engine_sim
