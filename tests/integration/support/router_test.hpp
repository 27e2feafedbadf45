#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/app/application.hpp"
#include "prefix_router/config/config.hpp"

#include "integration/support/fake_backend.hpp"
#include "integration/support/gate.hpp"
#include "integration/support/test_client.hpp"

namespace prefix_router::testing {

/// Starts the whole router in this process, on free ports, in front of scripted backends. After
/// each test nothing may be left in flight, held, or buffered, in the router's own words.
class RouterTest : public ::testing::Test {
  protected:
    RouterTest();
    ~RouterTest() override;
    void TearDown() override;

    /// Change it before start(). One thread; backends are probed once; no scrapes.
    config::Config config;
    std::optional<double> lanes;  ///< of each backend
    /// How fast the routing's time runs. Near zero, the machine's load is no speed of a backend.
    double routing_time = 1;
    /// The router publishes some gauges by the tick: not after it was stopped.
    bool is_published_to_the_end = true;

    std::string admin_fields;  ///< sent with what is asked of the admin listener

    /// Serves when it returns, and believes every backend healthy: all must answer probes.
    void start(const std::vector<std::string>& backend_urls);
    /// Serves when it returns, whatever the backends do.
    void launch(const std::vector<std::string>& backend_urls);
    /// Probes and scrapes often, for tests of what they find out.
    void probe_often();

    app::Application& router() { return *router_; }
    std::uint16_t port() const { return router_->port(); }

    /// Sum of the samples of a metric, `name` without the prefix; those whose labels hold `label`.
    /// Throws when there are none.
    double metric(std::string_view name, std::string_view label = {}) const;
    /// The admin listener's answer to a GET.
    Answer admin(std::string_view path) const;
    /// True once `holds` is; false when it does not become so within the patience.
    static bool wait_until(const std::function<bool()>& holds);
    /// True once metric() is `value`.
    bool wait_for_metric(std::string_view name, double value, std::string_view label = {}) const;

  private:
    std::unique_ptr<app::Application> router_;
};

}  // namespace prefix_router::testing
