#include "admin/access.hpp"

#include <gtest/gtest.h>

namespace prefix_router::admin {
namespace {

Route route(const char* method, bool is_change = false) {
    Route made{method, "/x", nullptr};
    made.is_change = is_change;
    return made;
}

Caller local(std::string_view host = "127.0.0.1:9191") {
    Caller caller;
    caller.host = host;
    caller.is_local = true;
    return caller;
}

/// 200: the caller gets its answer.
unsigned status(const Access& access, const Route& asked, const Caller& caller) {
    const auto refusal = access.refusal(&asked, asked.method, caller);
    return refusal ? refusal->status : 200;
}

class WithoutAToken : public ::testing::Test {
  protected:
    const Access access{Permissions{{}, {"router.internal"}}};
};

TEST_F(WithoutAToken, NoNameThatAPageCouldHaveIsServed) {
    const Route reads = route("GET");
    const Route writes = route("POST", true);
    for (const char* host :
         {"127.0.0.1:9191", "[::1]:9191", "10.0.0.7", "localhost", "localhost:9191", "LocalHost.",
          "a.localhost:1", "router.internal:9191", "Router.Internal"}) {
        EXPECT_EQ(status(access, reads, local(host)), 200U) << host;
        EXPECT_EQ(status(access, writes, local(host)), 200U) << host;
    }
    for (const char* host :
         {"evil.example:9191", "", ":9191", "localhost.evil.example", "evillocalhost",
          "127.0.0.1.evil.example", "[::1", "[evil]:9191", "router.internal.evil.example"}) {
        EXPECT_EQ(status(access, reads, local(host)), 421U) << host;
        EXPECT_EQ(status(access, writes, local(host)), 421U) << host;
        EXPECT_EQ(access.refusal(nullptr, "GET", local(host))->status, 421U) << host;
    }
}

TEST_F(WithoutAToken, WhatSendsNoHostIsNoBrowser) {
    Caller caller = local();
    caller.host.reset();
    EXPECT_EQ(status(access, route("GET"), caller), 200U);
}

TEST_F(WithoutAToken, MonitoringAsksByAnyName) {
    Route metrics = route("GET");
    metrics.is_for_monitoring = true;
    EXPECT_EQ(status(access, metrics, local("prefix-router.serving.svc:9191")), 200U);
}

TEST_F(WithoutAToken, OnlyThisMachineChangesAnythingAndNoPage) {
    Caller remote = local();
    remote.is_local = false;
    EXPECT_EQ(status(access, route("GET"), remote), 200U);
    EXPECT_EQ(status(access, route("POST", true), remote), 403U);
    Caller page = local();
    page.origin = "http://127.0.0.1:9191";
    EXPECT_EQ(status(access, route("POST", true), page), 403U);
    EXPECT_EQ(status(access, route("POST"), page), 200U) << "the listener's own page asks";
    page.origin = "https://evil.example";
    EXPECT_EQ(status(access, route("POST"), page), 403U);
    EXPECT_EQ(status(access, route("GET"), page), 200U) << "no page can read what it gets";
}

class WithAToken : public ::testing::Test {
  protected:
    Caller caller(std::string_view authorization) {
        Caller made = local("any.example:9191");
        made.authorization = authorization;
        made.is_local = false;
        return made;
    }

    const Access access{Permissions{{{"ada", sha256("secret")}}, {"admin.example"}}};
};

TEST_F(WithAToken, WhoeverShowsItMayDoEverythingByAnyName) {
    for (const char* shown : {"Bearer secret", "bearer secret", "BEARER secret"}) {
        EXPECT_EQ(status(access, route("POST", true), caller(shown)), 200U) << shown;
        ASSERT_NE(access.token_of(caller(shown)), nullptr);
        EXPECT_EQ(access.token_of(caller(shown))->name, "ada");
    }
    for (const char* shown : {"", "secret", "Bearer", "Bearer ", "Bearer secrets", "Basic secret",
                              "Bearersecret", "Bearer  secret"}) {
        EXPECT_EQ(status(access, route("GET"), caller(shown)), 401U) << shown;
        EXPECT_EQ(access.token_of(caller(shown)), nullptr) << shown;
    }
    Route open = route("GET");
    open.is_open = true;
    EXPECT_EQ(status(access, open, caller("")), 200U);
}

TEST_F(WithAToken, PagesFromElsewhereMayAskForNothingButReads) {
    Caller page = caller("Bearer secret");
    const auto change = [&](std::string_view origin) {
        page.origin = origin;
        return status(access, route("POST", true), page);
    };
    EXPECT_EQ(change("http://any.example:9191"), 200U);
    EXPECT_EQ(change("https://admin.example"), 200U) << "a proxy may stand before the listener";
    for (const char* origin : {"http://any.example", "http://any.example:9192", "null", "",
                               "https://evil.example", "https://admin.example.evil.example"}) {
        EXPECT_EQ(change(origin), 403U) << origin;
    }
}

}  // namespace
}  // namespace prefix_router::admin
