#include "chat_load/workload.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace prefix_router::chat_load {
namespace {

Workload small() {
    Workload workload;
    workload.tenants = 3;
    workload.system_tokens = 50;
    workload.turns = 2;
    workload.user_tokens = 10;
    workload.answer_tokens = 7;
    return workload;
}

TEST(Workload, MakesTextsOfTheLengthAskedFor) {
    EXPECT_EQ(make_text(1, 250).size(), 1000U);
    EXPECT_EQ(make_text(1, 250), make_text(1, 250));
    EXPECT_NE(make_text(1, 250), make_text(2, 250));
}

TEST(Conversation, SendsItsWholeHistoryWithEveryTurn) {
    const Workload workload = small();
    Conversation conversation(workload, 5);
    const ChatRequest request = conversation.next_request();
    const auto first = nlohmann::json::parse(request.body);
    ASSERT_EQ(first["messages"].size(), 2U);
    EXPECT_EQ(first["messages"][0]["role"], "system");
    EXPECT_EQ(first["messages"][0]["content"].get<std::string>().size(), 200U);
    EXPECT_EQ(first["messages"][1]["content"], request.question);
    EXPECT_EQ(first["max_tokens"], 7);
    EXPECT_EQ(first["stream_options"]["include_usage"], true);
    conversation.answered("an \"answer\"");
    EXPECT_FALSE(conversation.is_over());
    const auto second = nlohmann::json::parse(conversation.next_request().body);
    ASSERT_EQ(second["messages"].size(), 4U);
    EXPECT_EQ(second["messages"][0], first["messages"][0]);
    EXPECT_EQ(second["messages"][2]["content"], "an \"answer\"");
    EXPECT_NE(second["messages"][3], second["messages"][1]);
    EXPECT_TRUE(conversation.is_over());
}

TEST(Conversation, IsAFunctionOfItsNumberAndTheSeed) {
    Workload workload = small();
    const std::string body = Conversation(workload, 5).next_request().body;
    EXPECT_EQ(body, Conversation(workload, 5).next_request().body);
    EXPECT_NE(body, Conversation(workload, 6).next_request().body);
    workload.seed = 2;
    EXPECT_NE(body, Conversation(workload, 5).next_request().body);
}

TEST(Conversation, SpreadsOverAllTenantsWhichShareTheirSystemPrompt) {
    const Workload workload = small();
    std::set<std::string> prompts;
    std::set<std::size_t> tenants;
    for (std::uint64_t number = 0; number < 100; ++number) {
        Conversation conversation(workload, number);
        tenants.insert(conversation.tenant());
        const auto body = nlohmann::json::parse(conversation.next_request().body);
        prompts.insert(body["messages"][0].dump());
    }
    EXPECT_EQ(tenants.size(), 3U);
    EXPECT_EQ(prompts.size(), 3U);
}

}  // namespace
}  // namespace prefix_router::chat_load
