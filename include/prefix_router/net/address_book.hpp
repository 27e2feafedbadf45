#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "prefix_router/base/snapshot.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/net/endpoint.hpp"

namespace prefix_router::net {

/// Where one backend is now. Numeric addresses and Unix paths are known at once; a name is looked
/// up on a thread of its own, so that a resolver that does not answer delays nobody else, and the
/// last good answer stays in use until there is a better one. Thread-safe.
class BackendAddress {
  public:
    using Endpoints = std::vector<Endpoint>;
    /// Empty when the name is not known now. May block for long.
    using Resolver = std::function<Endpoints(const std::string& host, std::uint16_t port)>;
    /// The system's: hosts file, DNS.
    static Endpoints resolve(const std::string& host, std::uint16_t port);

    explicit BackendAddress(const config::BackendUrl& url, Resolver resolver = resolve);
    ~BackendAddress();
    BackendAddress(const BackendAddress&) = delete;
    BackendAddress& operator=(const BackendAddress&) = delete;

    /// In the resolver's order, both families; empty until a name was resolved once.
    std::shared_ptr<const Endpoints> endpoints() const;

    /// Why there are no endpoints, for the operator; "" when there are.
    std::string trouble() const;

    /// Another number whenever the set of endpoints is another: what was connected before may lead
    /// to somebody else by now.
    std::uint32_t generation() const;

    /// Looks the name up again, unless a lookup is under way; returns at once. A lookup may outlive
    /// this object.
    void refresh();
    bool is_name() const { return is_name_; }

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;
    bool is_name_ = false;
};

}  // namespace prefix_router::net
