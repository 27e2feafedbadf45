#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "prefix_router/admin/server.hpp"

#include "admin/allowed_hosts.hpp"

namespace prefix_router::admin {

/// What a request shows of who sent it.
struct Caller {
    std::string_view authorization;
    std::optional<std::string_view> host;
    std::optional<std::string_view> origin;  ///< browsers send it with all but GET and HEAD
    bool is_local = false;                   ///< from this machine
};

/// Who may ask the admin listener for what. Whoever shows a token may do everything. Where none is
/// asked for, only this machine may change something, and no web page: it is not asked under a name
/// that a page may have been given (AllowedHosts), but for what monitoring reads. Immutable.
class Access {
  public:
    explicit Access(Permissions permissions);

    /// Whose token it is; null: nobody's.
    const Token* token_of(const Caller& caller) const;
    /// Why the caller gets no answer; nullopt: it does. `route` is null for an unknown path.
    std::optional<Answer> refusal(const Route* route, std::string_view method,
                                  const Caller& caller) const;

  private:
    std::optional<Answer> refusal_without_token(const Route* route, const Caller& caller) const;

    std::vector<Token> tokens_;
    AllowedHosts hosts_;
};

}  // namespace prefix_router::admin
