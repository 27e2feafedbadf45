#include "prefix_router/pool/model_table.hpp"

#include <string>

#include <gtest/gtest.h>

namespace prefix_router::pool {
namespace {

TEST(ModelTableTest, OneNameHasOneId) {
    ModelTable table;
    const ModelId llama = table.intern("llama");
    EXPECT_NE(llama, kUnknownModel);
    EXPECT_EQ(table.intern("llama"), llama);
    EXPECT_NE(table.intern("qwen"), llama);
    EXPECT_EQ(table.find("llama"), llama);
    EXPECT_EQ(table.name(llama), "llama");
}

TEST(ModelTableTest, ANameThatNobodyServesIsUnknownAndIsNotRemembered) {
    ModelTable table;
    EXPECT_EQ(table.find("made-up"), kUnknownModel);
    EXPECT_EQ(table.size(), 1U);
    EXPECT_EQ(table.intern(""), kUnknownModel);
}

TEST(ModelTableTest, ATableThatIsFullStaysBounded) {
    ModelTable table;
    for (int i = 0; i < 65'536; ++i) {
        table.intern("m" + std::to_string(i));
    }
    EXPECT_EQ(table.size(), 65'536U);
    EXPECT_EQ(table.intern("one more"), kUnknownModel);
    EXPECT_EQ(table.name(table.find("m65534")), "m65534");
}

}  // namespace
}  // namespace prefix_router::pool
