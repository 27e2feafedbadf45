#include "engine_sim/http_text.hpp"

#include <gtest/gtest.h>

namespace prefix_router::engine_sim {
namespace {

HttpRequest request_of(const char* method) {
    HttpRequest request;
    request.method = method;
    return request;
}

TEST(HttpText, GivesHeadTheLengthWithoutTheBody) {
    const std::string text = whole_answer(request_of("HEAD"), 200, "text/plain", "abc");
    EXPECT_NE(text.find("Content-Length: 3\r\n"), std::string::npos);
    EXPECT_TRUE(text.ends_with("\r\n\r\n"));
    EXPECT_TRUE(whole_answer(request_of("GET"), 200, "text/plain", "abc").ends_with("\r\n\r\nabc"));
}

TEST(HttpText, AnnouncesAClosingConnection) {
    HttpRequest request = request_of("GET");
    request.keep_alive = false;
    EXPECT_NE(whole_answer(request, 200, "text/plain", "").find("Connection: close\r\n"),
              std::string::npos);
    EXPECT_NE(stream_head(request, true).find("Connection: close\r\n"), std::string::npos);
}

TEST(HttpText, CodesPiecesInChunks) {
    const HttpRequest request = request_of("POST");
    EXPECT_EQ(stream_piece(request, "0123456789abcdefg"), "11\r\n0123456789abcdefg\r\n");
    EXPECT_EQ(stream_end(request), "0\r\n\r\n");
}

TEST(HttpText, DoesNotEndAStreamByAnEmptyPiece) {
    EXPECT_EQ(stream_piece(request_of("POST"), ""), "");
}

TEST(HttpText, EndsAStreamForHttp10ByClosing) {
    HttpRequest request = request_of("POST");
    request.is_http_1_0 = true;
    EXPECT_EQ(stream_head(request, false).find("chunked"), std::string::npos);
    EXPECT_EQ(stream_piece(request, "abc"), "abc");
    EXPECT_EQ(stream_end(request), "");
}

}  // namespace
}  // namespace prefix_router::engine_sim
