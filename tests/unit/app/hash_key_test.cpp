#include "app/hash_key.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::app {
namespace {

TEST(HashKey, PrintsTheHashOfALine) {
    for (const char* text : {"abc", "abc\n", "abc\r\n", "abc\nmore\n"}) {
        std::istringstream in(text);
        std::ostringstream out;
        std::ostringstream err;
        EXPECT_EQ(hash_key(in, out, err), 0);
        EXPECT_EQ(out.str(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n");
        EXPECT_EQ(err.str(), "");
    }
}

TEST(HashKey, RefusesWhatIsNoKey) {
    for (const std::string& text :
         {std::string(), std::string("\n"), std::string("two words"), std::string(20'000, 'k')}) {
        std::istringstream in(text);
        std::ostringstream out;
        std::ostringstream err;
        EXPECT_EQ(hash_key(in, out, err), 2);
        EXPECT_EQ(out.str(), "");
        EXPECT_THAT(err.str(), testing::HasSubstr("one key on standard input"));
    }
}

}  // namespace
}  // namespace prefix_router::app
