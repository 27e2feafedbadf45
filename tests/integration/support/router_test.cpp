#include "integration/support/router_test.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "prefix_router/base/clock.hpp"

namespace prefix_router::testing {

RouterTest::RouterTest() {
    config.listen.port = 0;
    config.admin = config::ListenAddress{"127.0.0.1", 0};
    config.threads = 1;
    config.log.access = "off";
    config.health.interval = std::chrono::hours(1);
    config.health.scrape_interval = std::chrono::milliseconds(0);
}

RouterTest::~RouterTest() = default;

void RouterTest::start(const std::vector<std::string>& backend_urls) {
    launch(backend_urls);
    ASSERT_TRUE(wait_for_metric("backend_healthy", static_cast<double>(config.backends.size())));
}

void RouterTest::probe_often() {
    config.health.interval = std::chrono::milliseconds(100);
    config.health.scrape_interval = std::chrono::milliseconds(100);
}

void RouterTest::launch(const std::vector<std::string>& backend_urls) {
    for (const std::string& url : backend_urls) {
        auto backend = config::backend_from_url(url);
        ASSERT_TRUE(backend.has_value()) << url;
        backend->lanes = lanes;
        config.backends.push_back(*backend);
    }
    auto started = app::Application::start(config, routing_time);
    ASSERT_TRUE(started.has_value()) << started.error().message();
    router_ = std::move(*started);
}

void RouterTest::TearDown() {
    if (!router_ || HasFatalFailure()) {
        return;
    }
    for (const char* name : {"requests_in_flight", "requests_held"}) {
        EXPECT_TRUE(wait_for_metric(name, 0)) << name << " is " << metric(name);
    }
    for (const char* name : {"backend_in_flight", "backend_backlog_seconds", "buffered_bytes"}) {
        EXPECT_TRUE(!is_published_to_the_end || wait_for_metric(name, 0))
            << name << " is " << metric(name);
    }
    router_->stop();
}

Answer RouterTest::admin(std::string_view path) const {
    TestClient client(*router_->admin_port());
    client.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + admin_fields +
                "Connection: close\r\n\r\n");
    return client.read();
}

double RouterTest::metric(std::string_view name, std::string_view label) const {
    const Answer answer = admin("/metrics");
    const std::string full = "prefix_router_" + std::string(name);
    double sum = 0;
    bool is_there = false;
    for (std::size_t at = 0; at < answer.body.size();) {
        const std::size_t end = std::min(answer.body.find('\n', at), answer.body.size());
        const std::string line = answer.body.substr(at, end - at);
        const std::size_t name_end = line.find_first_of("{ ");
        if (line.substr(0, name_end) == full && line.find(label) != std::string::npos) {
            is_there = true;
            sum += std::stod(line.substr(line.rfind(' ') + 1));
        }
        at = end + 1;
    }
    if (!is_there) {
        throw std::runtime_error("no sample of " + full + " with '" + std::string(label) + "'");
    }
    return sum;
}

bool RouterTest::wait_until(const std::function<bool()>& holds) {
    const SteadyClock clock;
    const TimePoint begin = clock.now();
    while (!holds()) {
        if (clock.now() - begin > kPatience) {
            return false;
        }
    }
    return true;
}

bool RouterTest::wait_for_metric(std::string_view name, double value,
                                 std::string_view label) const {
    return wait_until([&] { return metric(name, label) == value; });
}

}  // namespace prefix_router::testing
