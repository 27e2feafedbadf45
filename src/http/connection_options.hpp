#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "prefix_router/http/slice.hpp"

namespace prefix_router::http {

/// What the Connection fields of one message say, and the fields that they nominate as hop-by-hop
/// (RFC 9110 section 7.6.1). A field may stand before the Connection field that nominates it, so
/// nominated fields are taken out of the written head at its end; the usual message nominates
/// none beyond those that never pass, and pays nothing.
class ConnectionOptions {
  public:
    /// One Connection field's value.
    void add(std::string_view value);

    bool has_close() const { return close_; }
    bool has_keep_alive() const { return keep_alive_; }
    bool has_upgrade() const { return upgrade_; }

    /// Removes the nominated fields from `text`, which holds "Name: value\r\n" lines from `from`
    /// on, and moves `slices` of it along; slices of removed lines become empty.
    void strip_nominated(std::string& text, std::size_t from, std::span<Slice* const> slices) const;

  private:
    void add_option(std::string_view option);
    bool nominates(std::string_view name) const;

    bool close_ = false;
    bool keep_alive_ = false;
    bool upgrade_ = false;
    std::string nominated_;  // lower case, each name between commas: ",x-a,x-b,"
};

}  // namespace prefix_router::http
