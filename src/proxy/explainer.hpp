#pragma once

#include <mutex>

#include "prefix_router/base/error.hpp"
#include "prefix_router/prompt/request_reader.hpp"
#include "prefix_router/proxy/explanation.hpp"

#include "proxy/services.hpp"

namespace prefix_router::proxy {

/// Answers what would be decided about a request: reads it as a worker would, and asks the routing
/// without a trace. Thread-safe; one question at a time.
class Explainer {
  public:
    Explainer(Services& services, const prompt::RequestReaderOptions& options)
        : services_(services), reader_(options) {}

    /// Errors: BadRequest (an API key that there is not), ServerControl, ModelForbidden.
    Result<Explanation> explain(const HypotheticalRequest& request);

  private:
    Services& services_;
    std::mutex mutex_;
    prompt::RequestReader reader_;
};

}  // namespace prefix_router::proxy
