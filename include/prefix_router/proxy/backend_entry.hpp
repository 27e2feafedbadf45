#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "prefix_router/base/error.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/base/sha256.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/net/address_book.hpp"
#include "prefix_router/net/tls.hpp"
#include "prefix_router/proxy/metrics.hpp"

namespace prefix_router::proxy {

/// What a backend is dialled with: files and variables as they were read.
struct BackendAccess {
    std::shared_ptr<net::TlsClient> tls;  ///< null: http://
    /// Its Authorization in place of what clients send as keys; "": none; nullopt: the client's.
    std::optional<std::string> authorization;
    Sha256 fingerprint{};  ///< the same for the same configuration and files
};

/// Whether API keys are configured: what "authorization: auto" means.
enum class AskedForKeys : bool { No, Yes };

/// Reads what `spec` names. `present` is returned where that would be the same, so that no TLS
/// context is made in vain. Error: InvalidConfiguration, for a file or a variable that is not there
/// or cannot be used.
Result<BackendAccess> load_access(const config::Backend& spec, AskedForKeys keys,
                                  const BackendAccess* present = nullptr);

/// One backend as the data plane dials it. What it is dialled with is immutable: a change makes
/// another entry, which shares address and metrics. The address follows the name. Thread-safe once
/// it has a place.
class BackendEntry {
  public:
    BackendEntry(const config::Backend& spec, BackendAccess access_,
                 std::shared_ptr<BackendMetrics> metrics_,
                 net::BackendAddress::Resolver resolver = net::BackendAddress::resolve);
    /// The same backend, dialled otherwise.
    BackendEntry(const BackendEntry& present, BackendAccess access_);
    BackendEntry& operator=(const BackendEntry&) = delete;

    BackendSlot slot;  ///< set by the desk with its place, before others than the roster see it
    const std::string id;
    const config::BackendUrl url;

  private:
    const std::shared_ptr<net::BackendAddress> address_;

  public:
    net::BackendAddress& address;
    const std::shared_ptr<BackendMetrics> metrics;
    const BackendAccess access;
    /// It gets no new request: connections to it are not kept.
    std::atomic<bool> is_leaving{false};
    /// Somebody has told its KV capacity: the engine need not be asked.
    std::atomic<bool> is_capacity_told;

    /// Remembers why it cannot be reached, for /backends, and logs it unless it is the same again.
    void tell_trouble(const Error& error);
    void note_trouble(std::string what);
    std::string last_trouble() const;

  private:
    mutable std::mutex mutex_;
    std::string trouble_;
};

using BackendRef = std::shared_ptr<BackendEntry>;

}  // namespace prefix_router::proxy
