#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "prefix_router/base/error.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/net/address_book.hpp"
#include "prefix_router/net/tls.hpp"
#include "prefix_router/proxy/metrics.hpp"

namespace prefix_router::proxy {

/// One backend as the data plane dials it. Immutable but for the address, which follows the name,
/// and its last trouble. Thread-safe.
class BackendEntry {
  public:
    BackendEntry(BackendSlot slot_, config::Backend spec_, std::shared_ptr<BackendMetrics> metrics_,
                 net::BackendAddress::Resolver resolver = net::BackendAddress::resolve)
        : slot(slot_),
          spec(std::move(spec_)),
          address(spec.url, std::move(resolver)),
          metrics(std::move(metrics_)) {}

    BackendSlot slot;
    config::Backend spec;
    net::BackendAddress address;
    std::shared_ptr<BackendMetrics> metrics;
    std::shared_ptr<net::TlsClient> tls;  ///< null: http://
    /// Its Authorization in place of what clients send as keys; "": none; nullopt: the client's.
    std::optional<std::string> authorization;

    /// Remembers why it cannot be reached, for /backends, and logs it unless it is the same again.
    void tell_trouble(const Error& error);
    void note_trouble(std::string what);
    std::string last_trouble() const;

  private:
    mutable std::mutex mutex_;
    std::string trouble_;
};
/// What a backend gets as Authorization, as BackendEntry has it. Error: InvalidConfiguration, for a
/// variable or a file that is not there or holds no value of a header field.
Result<std::optional<std::string>> load_authorization(const config::BackendAuthorization& from,
                                                      bool are_keys_asked_for);

using BackendRef = std::shared_ptr<BackendEntry>;

}  // namespace prefix_router::proxy
