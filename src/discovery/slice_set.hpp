#pragma once

#include <map>
#include <string>
#include <vector>

#include "prefix_router/config/config.hpp"

#include "discovery/endpoint_slice.hpp"

namespace prefix_router::discovery {

/// All slices of one Service, merged. Pure.
class SliceSet {
  public:
    void replace(std::vector<EndpointSlice> slices);
    void put(EndpointSlice slice);
    void remove(const std::string& name);

    /// One backend for each usable endpoint. A pod that several slices hold, such as those of its
    /// two address families, counts once, by its IPv4 address where it has one. Ids that follow
    /// from URLs may be the same. Error: InvalidConfiguration, where no slice has the port.
    Result<std::vector<config::Backend>> backends(const config::KubernetesSource& source) const;

  private:
    std::map<std::string, EndpointSlice> slices_;  // by name
};

}  // namespace prefix_router::discovery
