#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/metrics/metrics.hpp"

namespace prefix_router::discovery {

class Source;

/// Takes the whole set of backends that `source` names. Called on the source's thread, never twice
/// at a time for one source; an error means that the set before stays in force.
using Publish =
    std::function<Result<void>(const std::string& source, std::vector<config::Backend> backends)>;

/// Looks for backends where the configuration says: by DNS, in a file, in Kubernetes. Each source
/// has a thread of its own, so that a silent one holds up nobody. A source that fails keeps what it
/// named last. One owner; stop() may be called from any thread, once all is built.
class Discovery {
  public:
    /// Returns at once: what the sources name comes later. Throws std::system_error without threads
    /// or descriptors.
    Discovery(const config::Discovery& config, metrics::Registry& registry, const Publish& publish);
    ~Discovery();
    Discovery(const Discovery&) = delete;
    Discovery& operator=(const Discovery&) = delete;

    /// Nothing is published any more when it returns. Waits for no timeout. Idempotent.
    void stop();

  private:
    std::vector<std::unique_ptr<Source>> sources_;
    std::vector<std::thread> threads_;
};

}  // namespace prefix_router::discovery
