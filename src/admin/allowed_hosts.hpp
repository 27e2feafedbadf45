#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace prefix_router::admin {

/// The names that a browser may know the admin listener by. Whoever owns a name may point it at
/// this machine, and a page under that name then counts as coming from here (DNS rebinding). An IP
/// address cannot be pointed elsewhere, and localhost belongs to nobody. Immutable.
class AllowedHosts {
  public:
    /// `names`: beside localhost and what is under it, IP addresses, and this machine's own name.
    explicit AllowedHosts(std::vector<std::string> names);

    /// `authority`: a Host field, "name", "name:port" or "[address]:port".
    bool hold(std::string_view authority) const;

    /// Whether a page of `origin` ("http://name:port", "null") is of the listener that was asked as
    /// `authority`, or of one of the names.
    bool hold_origin(std::string_view origin, std::string_view authority) const;

  private:
    bool are_named(std::string_view host) const;

    std::vector<std::string> names_;
};

}  // namespace prefix_router::admin
