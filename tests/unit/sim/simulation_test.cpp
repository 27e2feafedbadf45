#include "sim/simulation.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/sim/replay.hpp"

#include "sim/policy.hpp"

namespace prefix_router::sim {
namespace {

Trace requests_at(const std::vector<Seconds>& arrivals) {
    Trace trace;
    trace.name = "test";
    for (const Seconds arrival : arrivals) {
        TraceRequest request;
        request.arrival = arrival;
        request.prompt_tokens = 100;
        request.output_tokens = 10;
        trace.requests.push_back(request);
    }
    return trace;
}

/// Sends every other request and loses the rest.
class Forgetful final : public Policy {
  public:
    std::optional<std::size_t> arrive(std::size_t request, Seconds) override {
        return request % 2 == 0 ? std::optional<std::size_t>(0) : std::nullopt;
    }
    void first_token(std::size_t, Seconds) override {}
    void finish(std::size_t, Tokens, Seconds) override {}
};

TEST(Simulation, FailsWhenARequestIsNeverServed) {
    const Trace trace = requests_at({0, 1, 2});
    std::vector<Engine> engines;
    engines.emplace_back(EngineOptions{});
    Forgetful policy;
    const auto simulated = simulate(trace, engines, policy, {}, {});
    ASSERT_FALSE(simulated);
    EXPECT_NE(simulated.error().message().find("request 2 of the trace"), std::string::npos);
}

TEST(Replay, CannotScaleATraceThatSpansNoTime) {
    ReplayOptions options;
    options.load = 0.5;
    const auto result = replay(requests_at({0}), options, "round_robin");
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message().find("--load"), std::string::npos);
    options.load.reset();
    EXPECT_TRUE(replay(requests_at({0}), options, "round_robin"));
}

}  // namespace
}  // namespace prefix_router::sim
