// Spans on their way to a collector: when it is slow, full, rude or gone.
#include "prefix_router/tracing/tracer.hpp"

#include <csignal>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <prometheus/counter.h>

#include "integration/support/fake_backend.hpp"
#include "integration/support/gate.hpp"

namespace prefix_router::testing {
namespace {

using nlohmann::json;
using tracing::Span;
using tracing::Tracer;

constexpr int kMostQueued = 4096;

class TracerTest : public ::testing::Test {
  protected:
    TracerTest() { static_cast<void>(std::signal(SIGPIPE, SIG_IGN)); }

    void start(const FakeBackend& collector) { start(collector.url()); }
    void start(const std::string& url) {
        config::Tracing settings;
        settings.endpoint = url;
        tracer_ = Tracer::start(settings, "1", metrics_).value();
    }
    void send(int spans) {
        for (int i = 0; i < spans; ++i) {
            Span span;
            span.context = tracer_->begin(std::nullopt, random_);
            tracer_->end(std::move(span));
        }
    }
    /// Flushes.
    void end() { tracer_.reset(); }

    static std::size_t spans_in(const BackendRequest& request) {
        const json body = json::parse(request.body);
        return body["resourceSpans"][0]["scopeSpans"][0]["spans"].size();
    }

    metrics::Registry registry_;
    tracing::Metrics metrics_{registry_};
    Random random_{7};
    std::unique_ptr<Tracer> tracer_;
};

TEST_F(TracerTest, SendsSpansTogetherToTheCollectorsPath) {
    FakeBackend collector([](BackendLine& line, const BackendRequest&) { line.answer("{}"); });
    start(collector);
    send(3);
    ASSERT_TRUE(collector.wait_for_requests(1));
    end();
    EXPECT_EQ(collector.requests().front().start_line, "POST /v1/traces HTTP/1.1");
    EXPECT_EQ(metrics_.exported.Value(), 3);
}

TEST_F(TracerTest, SendsWhatIsQueuedAtItsEnd) {
    FakeBackend collector([](BackendLine& line, const BackendRequest&) { line.answer("{}"); });
    start(collector);
    send(1000);
    end();
    std::size_t came = 0;
    for (const BackendRequest& request : collector.requests()) {
        EXPECT_LE(spans_in(request), 512U);
        came += spans_in(request);
    }
    EXPECT_EQ(came, 1000U);
    EXPECT_EQ(metrics_.exported.Value(), 1000);
}

TEST_F(TracerTest, DropsWhatASlowCollectorLeavesNoRoomForAndWaitsForNothing) {
    Gate gate;
    FakeBackend collector([&](BackendLine& line, const BackendRequest&) {
        gate.wait();
        line.answer("{}");
    });
    start(collector);
    send(1);
    ASSERT_TRUE(collector.wait_for_requests(1));
    send(kMostQueued + 10);  // returns although nothing is taken
    EXPECT_EQ(metrics_.dropped_queue_full.Value(), 10);
    gate.open();
    end();
    EXPECT_EQ(metrics_.exported.Value(), kMostQueued + 1);
}

TEST_F(TracerTest, SendsTheSameAgainWhenTheCollectorAsksForTime) {
    FakeBackend collector([](BackendLine& line, const BackendRequest& request) {
        if (request.number == 0 && request.connection == 0) {
            line.answer("{}", "503 Service Unavailable", "Retry-After: 1\r\n");
        } else {
            line.answer("{}");
        }
    });
    start(collector);
    send(2);
    ASSERT_TRUE(collector.wait_for_requests(2));
    end();
    EXPECT_EQ(collector.requests()[0].body, collector.requests()[1].body);
    EXPECT_EQ(metrics_.exported.Value(), 2);
}

TEST_F(TracerTest, CountsWhatTheCollectorRefuses) {
    FakeBackend collector([](BackendLine& line, const BackendRequest& request) {
        if (request.number == 0) {
            line.answer("no", "500 Internal Server Error", "Retry-After: 1\r\n");
        } else {
            line.answer(R"({"partialSuccess": {"rejectedSpans": "1"}})");
        }
    });
    start(collector);
    send(2);
    ASSERT_TRUE(collector.wait_for_requests(1));
    send(3);
    end();
    EXPECT_EQ(collector.requests().size(), 2U);
    EXPECT_EQ(metrics_.dropped_refused.Value(), 3);
    EXPECT_EQ(metrics_.exported.Value(), 2);
}

TEST_F(TracerTest, EndsWithoutACollector) {
    FakeBackend collector;
    collector.refuse();
    start(collector);
    send(2);
    end();
    EXPECT_EQ(metrics_.exported.Value(), 0);
    EXPECT_EQ(metrics_.dropped_undelivered.Value(), 2);
}

TEST_F(TracerTest, EndsWithACollectorThatNeverAnswers) {
    Gate gate;
    FakeBackend collector([&](BackendLine&, const BackendRequest&) { gate.wait(); });
    start(collector);
    send(2);
    ASSERT_TRUE(collector.wait_for_requests(1));
    end();
    gate.open();
    EXPECT_EQ(metrics_.dropped_undelivered.Value(), 2);
}

TEST_F(TracerTest, IsNotStartedWithHeadersThatAreNotThere) {
    config::Tracing settings;
    settings.endpoint = "http://127.0.0.1:1";
    settings.headers = config::SecretSource{config::SecretSource::Kind::File, "/nonexistent"};
    const auto started = Tracer::start(settings, "1", metrics_);
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().message().find("tracing.headers"), std::string::npos);
}

}  // namespace
}  // namespace prefix_router::testing
