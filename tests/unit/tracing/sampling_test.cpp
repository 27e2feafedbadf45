#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "prefix_router/tracing/tracer.hpp"

namespace prefix_router::tracing {
namespace {

class Sampling : public testing::Test {
  protected:
    std::unique_ptr<Tracer> tracer(double ratio) {
        config::Tracing settings;
        settings.endpoint = "http://127.0.0.1:1";  // nothing is sent
        settings.sample_ratio = ratio;
        return Tracer::start(settings, "1", metrics_).value();
    }
    int sampled_of(int traces, double ratio) {
        const auto asked = tracer(ratio);
        int sampled = 0;
        for (int i = 0; i < traces; ++i) {
            sampled += asked->begin(std::nullopt, random_).is_sampled() ? 1 : 0;
        }
        return sampled;
    }

    metrics::Registry registry_;
    Metrics metrics_{registry_};
    Random random_{7};
};

TEST_F(Sampling, TakesItsShareOfTheTracesThatBeginHere) {
    EXPECT_EQ(sampled_of(1000, 0), 0);
    EXPECT_EQ(sampled_of(1000, 1), 1000);
    EXPECT_NEAR(sampled_of(10'000, 0.25), 2500, 250);
}

TEST_F(Sampling, FollowsTheParentWhateverTheRatio) {
    const auto sampled =
        parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    const auto unsampled =
        parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
    const TraceContext of_sampled = tracer(0)->begin(sampled, random_);
    EXPECT_TRUE(of_sampled.is_sampled());
    EXPECT_EQ(of_sampled.trace, sampled->trace);
    EXPECT_NE(of_sampled.span, sampled->span);
    EXPECT_FALSE(tracer(1)->begin(unsampled, random_).is_sampled());
}

}  // namespace
}  // namespace prefix_router::tracing
