#include "prefix_router/http/credentials.hpp"

#include <string>

#include <gtest/gtest.h>

#include "unit/http/feeding.hpp"

namespace prefix_router::http {
namespace {

std::string key_of(const std::string& fields) {
    const ParsedRequest parsed = parse_request("GET / HTTP/1.1\r\nHost: r\r\n" + fields + "\r\n");
    EXPECT_FALSE(parsed.error) << fields;
    return std::string(presented_key(parsed.head));
}

TEST(PresentedKey, IsABearersOrThatOfXApiKey) {
    EXPECT_EQ(key_of("Authorization: Bearer k\r\n"), "k");
    EXPECT_EQ(key_of("authorization: BEARER  k\r\n"), "k");
    EXPECT_EQ(key_of("x-api-key: k\r\n"), "k");
    EXPECT_EQ(key_of("Authorization: Basic b\r\nX-Api-Key: k\r\n"), "k");
    EXPECT_EQ(key_of("Authorization: Bearer a\r\nX-Api-Key: k\r\n"), "a");
    EXPECT_EQ(key_of("Authorization: Basic b\r\n"), "");
    EXPECT_EQ(key_of("X-Api-Key: a\r\nX-Api-Key: b\r\n"), "");
    EXPECT_EQ(key_of("Authorization: Bearer\r\n"), "");
}

TEST(Credentials, AreReplacedWhereverTheyStand) {
    const std::array<std::string_view, 4> pieces{
        "GET ", "/base",
        "/x HTTP/1.1\r\nHost: backend\r\nAUTHORIZATION: Bearer a\r\nX-A: Authorization: no\r\n",
        "x-api-key: b\r\nAuthorization-Info: c\r\n\r\n"};
    std::string out = "before";
    replace_credentials(pieces, "", out);
    EXPECT_EQ(out,
              "GET /base/x HTTP/1.1\r\nHost: backend\r\nX-A: Authorization: no\r\n"
              "Authorization-Info: c\r\n\r\n");
    replace_credentials(pieces, "Bearer own", out);
    EXPECT_EQ(out,
              "GET /base/x HTTP/1.1\r\nHost: backend\r\nX-A: Authorization: no\r\n"
              "Authorization-Info: c\r\nAuthorization: Bearer own\r\n\r\n");
}

}  // namespace
}  // namespace prefix_router::http
