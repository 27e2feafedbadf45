#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/error.hpp"

namespace prefix_router::discovery {

/// One endpoint of a slice. In the API's words a condition that is not there counts as ready,
/// serving, and not terminating.
struct SliceEndpoint {
    std::string address;
    std::string pod;         ///< "" where it is no pod
    bool is_usable = false;  ///< ready, serving, not terminating
};

struct SlicePort {
    std::string name;
    std::optional<std::uint16_t> number;
};

/// What the router wants to know of discovery.k8s.io/v1 EndpointSlice.
struct EndpointSlice {
    enum class Family : unsigned char { Ipv4, Ipv6, Name };

    std::string name;
    Family family = Family::Ipv4;
    std::vector<SliceEndpoint> endpoints;
    std::vector<SlicePort> ports;  ///< empty: the Service has none
};

struct SliceList {
    std::string resource_version;
    std::vector<EndpointSlice> slices;
};

/// One line of a watch.
struct SliceEvent {
    enum class Kind : unsigned char {
        Put,       ///< added or modified
        Deleted,   ///< of the slice only the name counts
        Bookmark,  ///< nothing but a newer version
        Expired,   ///< 410 Gone: what happened since the version is forgotten; list again
        Failed,    ///< another error of the server
    };
    Kind kind = Kind::Bookmark;
    std::string resource_version;
    EndpointSlice slice;
    std::string message;  ///< of an error
};

/// All pure. Error: BadResponse.
Result<SliceList> parse_slice_list(std::string_view json);
Result<SliceEvent> parse_slice_event(std::string_view json);
/// The message of a Status object, as the body of an error is; "" where it is none.
std::string status_message(std::string_view json);

}  // namespace prefix_router::discovery
