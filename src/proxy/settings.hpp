#pragma once

#include <memory>
#include <utility>

#include "prefix_router/config/config.hpp"
#include "prefix_router/net/tls.hpp"

#include "proxy/api_keys.hpp"

namespace prefix_router::proxy {

/// What a reload replaces as a whole. Immutable but for the keys' rates: each worker holds one and
/// takes the next between two events, so that reading it costs no lock.
struct Settings {
    config::Config config;
    ApiKeys api_keys;
    std::shared_ptr<const net::TlsServer> tls;  ///< null: plain HTTP
};

}  // namespace prefix_router::proxy
