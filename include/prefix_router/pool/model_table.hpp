#pragma once

#include <cstddef>
#include <functional>
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
    ModelId intern(std::string_view name);  ///< kUnknownModel for "" and once 65,535 exist
    ModelId find(std::string_view name) const;
    std::string_view name(ModelId id) const;
    std::size_t size() const { return names_.size(); }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view name) const {
            return std::hash<std::string_view>{}(name);
        }
    };

    std::unordered_map<std::string, ModelId, Hash, std::equal_to<>> ids_;  // lookups copy nothing
    std::vector<std::string> names_{"unknown"};
};

}  // namespace prefix_router::pool
