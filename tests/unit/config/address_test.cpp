#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/config/options.hpp"

namespace prefix_router::config {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view url) {
    const auto parsed = parse_backend_url(url);
    return parsed.has_error() ? parsed.error().message() : "";
}

struct UrlCase {
    std::string_view text;
    std::string_view normal;
    std::string_view host;
    int port;
    std::string_view base_path;
    std::string_view authority;
};

TEST(BackendUrl, IsReadInEveryForm) {
    const UrlCase cases[] = {
        {"http://a:8000", "http://a:8000", "a", 8000, "", "a:8000"},
        {"http://a:8000/", "http://a:8000", "a", 8000, "", "a:8000"},
        {"a:8000", "http://a:8000", "a", 8000, "", "a:8000"},
        {"HTTP://Host.Example:8000/V1/", "http://host.example:8000/V1", "host.example", 8000, "/V1",
         "host.example:8000"},
        {"http://a", "http://a", "a", 80, "", "a"},
        {"http://a:80/x", "http://a/x", "a", 80, "/x", "a"},
        {"http://[::1]:8000", "http://[::1]:8000", "::1", 8000, "", "[::1]:8000"},
        {"[::1]:8000", "http://[::1]:8000", "::1", 8000, "", "[::1]:8000"},
        {"[0:0::1]:8000", "http://[::1]:8000", "::1", 8000, "", "[::1]:8000"},
        {"http://[2001:DB8::7]", "http://[2001:db8::7]", "2001:db8::7", 80, "", "[2001:db8::7]"},
        {"127.0.0.1:1", "http://127.0.0.1:1", "127.0.0.1", 1, "", "127.0.0.1:1"},
        {"http://vllm_a.internal.:65535", "http://vllm_a.internal.:65535", "vllm_a.internal.",
         65535, "", "vllm_a.internal.:65535"},
        {"https://a:8443", "https://a:8443", "a", 8443, "", "a:8443"},
        {"HTTPS://a/v1", "https://a/v1", "a", 443, "/v1", "a"},
        {"https://a:443", "https://a", "a", 443, "", "a"},
        {"https://a:80", "https://a:80", "a", 80, "", "a:80"},
        {"http://a:443", "http://a:443", "a", 443, "", "a:443"},
        {"http://a:8000/base//", "http://a:8000/base", "a", 8000, "/base", "a:8000"},
    };
    for (const UrlCase& expected : cases) {
        const auto url = parse_backend_url(expected.text);
        ASSERT_TRUE(url.has_value()) << expected.text << ": " << error_of(expected.text);
        EXPECT_EQ(url->text, expected.normal) << expected.text;
        EXPECT_EQ(url->host, expected.host) << expected.text;
        EXPECT_EQ(url->port, expected.port) << expected.text;
        EXPECT_EQ(url->base_path, expected.base_path) << expected.text;
        EXPECT_EQ(url->authority, expected.authority) << expected.text;
        EXPECT_EQ(url->unix_path, "") << expected.text;
        EXPECT_EQ(url->is_tls, expected.normal.starts_with("https")) << expected.text;
    }
}

TEST(BackendUrl, OfAUnixSocketHasAPathAndNoHost) {
    for (const auto* text : {"unix:/run/a.sock", "unix:///run/a.sock"}) {
        const auto url = parse_backend_url(text);
        ASSERT_TRUE(url.has_value()) << error_of(text);
        EXPECT_EQ(url->text, "unix:/run/a.sock");
        EXPECT_EQ(url->unix_path, "/run/a.sock");
        EXPECT_EQ(url->host, "");
        EXPECT_EQ(url->authority, "localhost");
    }
    EXPECT_THAT(error_of("unix:run/a.sock"), HasSubstr("absolute path"));
    EXPECT_THAT(error_of("unix:"), HasSubstr("absolute path"));
    EXPECT_THAT(error_of("unix:/"), HasSubstr("absolute path"));
    EXPECT_THAT(error_of("unix:/" + std::string(107, 'a')), HasSubstr("107 bytes"));
    EXPECT_EQ(error_of("unix:/" + std::string(106, 'a')), "");
}

TEST(BackendUrl, ThatCannotWorkIsRefusedWithWhatToDo) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"ftp://a:1", "scheme must be http://"},
        {"http://a:0", "1 to 65535"},
        {"http://a:70000", "1 to 65535"},
        {"http://a:", "1 to 65535"},
        {"http://a:80x", "1 to 65535"},
        {"http://a:-1", "1 to 65535"},
        {"http://a:+1", "1 to 65535"},
        {"localhost", "port is missing"},
        {"[::1]", "port is missing"},
        {"::1:8000", "in brackets"},
        {"http://[::1:8000", "IPv6"},
        {"http://[]:8000", "IPv6"},
        {"http://[1.2.3.4]:8000", "IPv6"},
        {"http://[fe80::1%eth0]:8000", "IPv6"},
        {"http://[::1]x:8000", "IPv6"},
        {"http://", "http://host:port"},
        {"", "http://host:port"},
        {":8000", "http://host:port"},
        {"http://user:secret@a:8000", "user names and passwords"},
        {"http://a:8000/x?y=1", "http://host:port/base"},
        {"http://a:8000#x", "http://host:port/base"},
        {"http://a:8000/a b", "http://host:port/base"},
        {"http://a b:8000", "neither a host name nor an IP address"},
        {"http://300.0.0.1:8000", "neither a host name nor an IP address"},
        {"http://127.1:8000", "neither a host name nor an IP address"},
        {"http://a..b:8000", "neither a host name nor an IP address"},
        {"http://a\n:8000", "neither a host name nor an IP address"},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_THAT(error_of(text), HasSubstr(std::string(expected))) << text;
        EXPECT_THAT(error_of(text), HasSubstr("backend URL '")) << text;
    }
}

TEST(BackendUrl, ErrorsNeverShowRawControlCharacters) {
    EXPECT_EQ(error_of("http://a\n\x01:8000").find_first_of("\n\x01"), std::string::npos);
}

TEST(BackendUrl, ErrorsNeverShowCredentials) {
    for (const std::string url :
         {"http://user:secret@a:1", "user:secret@a:1", "ftp://u:secret@x@a"}) {
        const std::string error = error_of(url);
        EXPECT_EQ(error.find("secret"), std::string::npos) << error;
        EXPECT_NE(error.find("@a"), std::string::npos) << error;
    }
}

TEST(BackendId, IsPinnedToTheNormalUrl) {
    const auto a = backend_from_url("http://127.0.0.1:8000");
    const auto b = backend_from_url("127.0.0.1:8000/");
    const auto c = backend_from_url("http://127.0.0.1:8001");
    ASSERT_TRUE(a.has_value() && b.has_value() && c.has_value());
    EXPECT_EQ(a->id, "459c5878");
    EXPECT_EQ(a->id, b->id);
    EXPECT_NE(a->id, c->id);
    EXPECT_TRUE(backend_from_url("ftp://a:1").has_error());
}

TEST(Listen, IsReadInEveryForm) {
    const std::pair<std::string_view, ListenAddress> cases[] = {
        {"0.0.0.0:8080", {"0.0.0.0", 8080}}, {"[::1]:8080", {"::1", 8080}},
        {":8080", {"0.0.0.0", 8080}},        {"[::]:0", {"::", 0}},
        {"localhost:1", {"localhost", 1}},   {"127.0.0.1:65535", {"127.0.0.1", 65535}},
    };
    for (const auto& [text, expected] : cases) {
        const auto address = parse_listen(text);
        ASSERT_TRUE(address.has_value()) << text;
        EXPECT_EQ(*address, expected) << text;
        const auto again = parse_listen(to_string(*address));
        ASSERT_TRUE(again.has_value()) << text;
        EXPECT_EQ(*again, expected) << text;
    }
}

TEST(Listen, RefusesWhatIsNoAddress) {
    for (const auto* text : {"", "8080", "localhost", ":", ":65536", ":-1", "::1:80", "[::1]",
                             "[::1]80", "a b:80", "1.2.3:80", "http://a:80", "[::1]:", "unix:/x"}) {
        const auto address = parse_listen(text);
        EXPECT_TRUE(address.has_error()) << text;
    }
}

}  // namespace
}  // namespace prefix_router::config
