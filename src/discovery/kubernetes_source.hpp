#pragma once

#include <string>
#include <string_view>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/web/http_client.hpp"

#include "discovery/announcer.hpp"
#include "discovery/cluster_access.hpp"
#include "discovery/pause.hpp"
#include "discovery/slice_set.hpp"
#include "discovery/source.hpp"
#include "discovery/unique_ids.hpp"

namespace prefix_router::discovery {

/// The EndpointSlices of a Service: listed once, then watched; a watch that ends goes on from the
/// version of its last event, and all is listed again when the server has forgotten that.
class KubernetesSource final : public Source {
  public:
    KubernetesSource(const config::KubernetesSource& source, const config::Discovery& config,
                     metrics::Registry& registry, const Publish& publish,
                     ServiceAccount account = ServiceAccount::of_this_pod());

    void run() override;
    void stop() override;

  private:
    enum class Next : unsigned char { Watch, List };

    Next list();
    Next watch();
    /// Takes one event; false: nothing more of this watch is wanted.
    bool take(std::string_view line);
    void announce();
    /// Says that an answer was an error, and waits for a while.
    void refused(const web::HttpAnswer& answer);
    void failed(std::string_view why);
    Result<web::HttpRequest> request(const std::string& query) const;

    config::KubernetesSource source_;
    ServiceAccount account_;
    Announcer announcer_;
    Pause pause_;
    SteadyClock clock_;
    web::HttpClient client_;
    SliceSet slices_;
    UniqueIds ids_;
    std::string version_;
    bool has_events_ = false;  // the watch that runs
    Next next_ = Next::List;
};

}  // namespace prefix_router::discovery
