#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "prefix_router/config/config.hpp"

namespace prefix_router::discovery {

/// Tells backends of one source apart that would have the same id, since two URLs have the same
/// hash: with 1,024 of them once in 8,000 fleets. The first keeps the id, others get it with a
/// number: "5b1e09c2", "5b1e09c2-2". Each keeps what it has for as long as the source names it,
/// whoever comes or goes, because another id would be another backend. Used by the source's thread
/// alone.
class UniqueIds {
  public:
    /// `backends` is all that the source names now; ties are broken by URL.
    void assign(std::vector<config::Backend>& backends);

  private:
    using Wish = std::pair<std::string, std::string>;  // URL and id

    std::map<Wish, std::string> given_;
};

}  // namespace prefix_router::discovery
