#include "proxy/request_class.hpp"

#include <string>

#include <gtest/gtest.h>

#include "prefix_router/base/random.hpp"

namespace prefix_router::proxy {
namespace {

using config::DeadlineUnit;
using config::Priority;

class RequestClassTest : public testing::Test {
  protected:
    RequestClass of(const std::string& fields) {
        http::RequestHeadParser parser{http::HeadLimits{}};
        const http::Arrival arrival{"192.0.2.1", "http", random_};
        const std::string text = "POST /v1/completions HTTP/1.1\r\nHost: r\r\n" + fields + "\r\n";
        EXPECT_TRUE(parser.parse(text, arrival, head_).has_value()) << text;
        head_.seal(0);
        return classify(head_, queue, arrived);
    }
    std::optional<Duration> time_left(const std::string& value) {
        const auto deadline = of("X-Deadline: " + value + "\r\n").deadline;
        return deadline ? std::optional(*deadline - arrived) : std::nullopt;
    }

    config::Queue queue;
    const TimePoint arrived{std::chrono::seconds(100)};

  private:
    Random random_{1};
    http::RequestHead head_;
};

TEST_F(RequestClassTest, HeadersCountOnlyWhenTheyAreConfigured) {
    const RequestClass kind = of("Priority: high\r\nX-Tenant: a\r\nX-Deadline: 1\r\n");
    EXPECT_EQ(kind.priority, Priority::Normal);
    EXPECT_EQ(kind.tenant, 0U);
    EXPECT_FALSE(kind.deadline.has_value());
}

TEST_F(RequestClassTest, APriorityIsAWordInAnyCase) {
    queue.priority_header = "X-Priority";
    EXPECT_EQ(of("X-Priority: high\r\n").priority, Priority::High);
    EXPECT_EQ(of("x-priority:  LOW\r\n").priority, Priority::Low);
    EXPECT_EQ(of("X-PRIORITY: Normal\r\n").priority, Priority::Normal);
    EXPECT_EQ(of("X-Priority: highest\r\n").priority, Priority::Normal);
    EXPECT_EQ(of("X-Priority: \r\n").priority, Priority::Normal);
    EXPECT_EQ(of("").priority, Priority::Normal);
    EXPECT_EQ(of("X-Priority-2: high\r\nX-Priorit: high\r\n").priority, Priority::Normal);
}

TEST_F(RequestClassTest, AFieldThatComesTwiceIsAsIfItWereAbsent) {
    queue.priority_header = "X-Priority";
    queue.tenant_header = "X-Tenant";
    const RequestClass kind =
        of("X-Priority: low\r\nX-Tenant: a\r\nX-Tenant: b\r\nX-Priority: high\r\n");
    EXPECT_EQ(kind.priority, Priority::Normal);
    EXPECT_EQ(kind.tenant, 0U);
}

TEST_F(RequestClassTest, TenantsAreToldApart) {
    queue.tenant_header = "X-Tenant";
    const auto tenant = [&](const std::string& name) {
        return of("X-Tenant: " + name + "\r\n").tenant;
    };
    EXPECT_NE(tenant("a"), 0U);
    EXPECT_EQ(tenant("a"), tenant("a"));
    EXPECT_NE(tenant("a"), tenant("b"));
    EXPECT_NE(tenant("a"), tenant("A"));
    EXPECT_EQ(of("X-Tenant:\r\n").tenant, 0U);
}

TEST_F(RequestClassTest, ADeadlineCountsFromTheArrivalInTheConfiguredUnit) {
    queue.deadline_header = "X-Deadline";
    EXPECT_EQ(time_left("30"), std::chrono::seconds(30));
    EXPECT_EQ(time_left("0.25"), std::chrono::milliseconds(250));
    EXPECT_EQ(time_left("0"), std::chrono::seconds(0));
    queue.deadline_unit = DeadlineUnit::Milliseconds;
    EXPECT_EQ(time_left("30"), std::chrono::milliseconds(30));
    EXPECT_EQ(time_left("99999999999999999999"), std::chrono::hours(24));
}

TEST_F(RequestClassTest, ADeadlineThatCannotBeReadIsNone) {
    queue.deadline_header = "X-Deadline";
    for (const char* value : {"", "-1", "-0", "soon", "1s", "nan", "inf", "1e3", "1 2", "+5"}) {
        EXPECT_EQ(time_left(value), std::nullopt) << value;
    }
}

}  // namespace
}  // namespace prefix_router::proxy
