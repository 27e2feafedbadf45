#include "proxy/server_control.hpp"

#include <gtest/gtest.h>

namespace prefix_router::proxy {
namespace {

TEST(ServerControl, IsWhatChangesOneServer) {
    for (const char* path : {"/reset_prefix_cache", "/reset_prefix_cache/", "/flush_cache",
                             "/sleep", "/wake_up", "/v1/load_lora_adapter", "/slots/0"}) {
        EXPECT_TRUE(is_server_control(path)) << path;
    }
}

TEST(ServerControl, IsSeenThroughEscapes) {
    for (const char* path : {"/%73leep", "/flush%5Fcache", "/flush%5fcache/", "/%73%6C%65%65%70",
                             "/slots%2F0", "%2fsleep", "/sleep%2f"}) {
        EXPECT_TRUE(is_server_control(path)) << path;
    }
    for (const char* path :
         {"/sleep%", "/sleep%2", "/%7", "/%zzsleep", "/%2573leep", "/%73leepy"}) {
        EXPECT_FALSE(is_server_control(path)) << path;
    }
}

TEST(ServerControl, IsNothingElse) {
    for (const char* path : {"", "/", "*", "/slots", "/v1/models", "/v1/rerank", "/sleepy",
                             "/x/sleep", "/reset_prefix_cache/x", "/abort_request"}) {
        EXPECT_FALSE(is_server_control(path)) << path;
    }
}

}  // namespace
}  // namespace prefix_router::proxy
