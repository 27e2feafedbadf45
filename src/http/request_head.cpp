#include "prefix_router/http/request_head.hpp"

#include <charconv>

#include "http/ascii.hpp"
#include "http/request_head_writer.hpp"

namespace prefix_router::http {
namespace {

// RFC 9110 section 8.6: these say so when they bring no body.
bool calls_for_length(std::string_view method) {
    return method == "POST" || method == "PUT" || method == "PATCH";
}

// A TLS handshake or any other protocol on this port is told at its first byte.
bool may_begin_request(std::string_view bytes) {
    return bytes.empty() || bytes.front() == '\r' || is_token_character(bytes.front());
}

}  // namespace

void RequestHead::seal(std::uint64_t body_bytes) {
    if (sends_length_ || body_bytes > 0 || calls_for_length(method())) {
        std::array<char, 20> digits;
        const auto written =
            std::to_chars(digits.data(), digits.data() + digits.size(), body_bytes);
        text_ += "Content-Length: ";
        text_.append(digits.data(), written.ptr);
        text_ += "\r\n";
    }
    text_ += "\r\n";
}

std::array<std::string_view, 5> RequestHead::pieces(std::string_view base_path,
                                                    std::string_view authority) const {
    const std::string_view text = text_;
    return {text.substr(0, after_method_), target() == "*" ? std::string_view() : base_path,
            text.substr(after_method_, after_host_ - after_method_), authority,
            text.substr(after_host_)};
}

void RequestHead::clear() {
    std::string text = std::move(text_);
    std::string authority = std::move(authority_);
    text.clear();
    authority.clear();
    *this = RequestHead();
    text_ = std::move(text);
    authority_ = std::move(authority);
}

Result<std::size_t> RequestHeadParser::parse(std::string_view bytes, const Arrival& arrival,
                                             RequestHead& head) {
    const Result<std::size_t> end = scanner_.find_end(bytes);
    if (!end) {
        head.clear();
        return end;
    }
    const std::size_t start = scanner_.start();
    if (*end == 0) {
        if (!may_begin_request(bytes.substr(start))) {
            return Error(ErrorKind::BadRequest, "this is not an HTTP request");
        }
        return end;
    }
    RequestHeadWriter writer(head, arrival);
    const Result<void> written = writer.write(bytes.substr(start, *end - start));
    if (!written) {
        return written.error();
    }
    return end;
}

}  // namespace prefix_router::http
