#pragma once

#include <cstdint>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/pool/pool.hpp"

namespace prefix_router::routing {

/// Rendezvous hashing (Thaler, Ravishankar 1998): the candidate with the largest weight is the
/// key's home. Removing one moves only its own keys, adding one takes 1/N of each. Unseeded and by
/// backend id, so that several routers agree without speaking to each other.
inline std::uint64_t rendezvous_weight(std::uint64_t key, const pool::Backend& backend) {
    return mix(key, backend.home_weight);
}

}  // namespace prefix_router::routing
