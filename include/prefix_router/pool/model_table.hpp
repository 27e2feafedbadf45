#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "prefix_router/base/ids.hpp"

namespace prefix_router::pool {

/// Names of the models that backends serve, interned. Only backends add names, so it is bounded; a
/// name from a client is looked up and is kUnknownModel when no backend ever served it.
class ModelTable {
  public:
    ModelId intern(std::string_view name);  ///< kUnknownModel once 65,535 names exist
    ModelId find(std::string_view name) const;
    std::string_view name(ModelId id) const;
    std::size_t size() const { return names_.size(); }

  private:
    std::unordered_map<std::string, ModelId> ids_;
    std::vector<std::string> names_{"unknown"};
};

}  // namespace prefix_router::pool
