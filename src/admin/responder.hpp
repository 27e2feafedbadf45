#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "prefix_router/admin/server.hpp"

#include "admin/access.hpp"

namespace prefix_router::admin {

using Message = boost::beast::http::request<boost::beast::http::string_body>;

/// The path of a request line, without its query.
std::string path_of(const Message& message);

/// Who may ask for what, and who answers. Immutable.
class Responder {
  public:
    Responder(std::vector<Route> routes, Permissions permissions)
        : routes_(std::move(routes)), access_(std::move(permissions)) {}

    const std::vector<Route>& routes() const { return routes_; }
    /// Whether its sender may have an answer, as far as the head tells.
    bool is_allowed(const Message& message, bool is_peer_local) const;
    /// Makes an answer that may take seconds; on any thread, while this lives.
    using Work = std::function<Answer()>;
    /// `message` is whole, but for the body of one that is not allowed.
    std::variant<Answer, Work> answer(const Message& message, bool is_peer_local) const;

  private:
    std::vector<Route> routes_;
    const Access access_;
};

}  // namespace prefix_router::admin
