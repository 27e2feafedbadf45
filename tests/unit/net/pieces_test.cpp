#include <string>

#include <gtest/gtest.h>

#include "prefix_router/net/stream.hpp"

namespace prefix_router::net {
namespace {

std::string left_in(const Pieces& pieces) {
    std::string text;
    for (const iovec& piece : pieces.vectors()) {
        text.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
    }
    return text;
}

TEST(Pieces, AreConsumedAcrossTheirBorders) {
    const std::string whole = "abcdefghij";
    for (std::size_t taken = 0; taken <= whole.size(); ++taken) {
        Pieces pieces;
        pieces.add("abc");
        pieces.add("");
        pieces.add("defg");
        pieces.add("hij");
        pieces.consume(taken);
        EXPECT_EQ(left_in(pieces), whole.substr(taken));
        EXPECT_EQ(pieces.left(), whole.size() - taken);
        EXPECT_EQ(pieces.empty(), taken == whole.size());
    }
}

TEST(Pieces, MayBeConsumedStepByStep) {
    Pieces pieces;
    pieces.add("abc");
    pieces.add("defg");
    pieces.consume(2);
    pieces.consume(1);
    pieces.consume(3);
    EXPECT_EQ(left_in(pieces), "g");
}

}  // namespace
}  // namespace prefix_router::net
