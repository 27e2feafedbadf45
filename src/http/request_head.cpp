#include "prefix_router/http/request_head.hpp"

#include <algorithm>
#include <charconv>

#include "http/ascii.hpp"
#include "http/field_text.hpp"
#include "http/request_head_writer.hpp"

namespace prefix_router::http {
namespace {

// RFC 9110 section 8.6: these say so when they bring no body.
bool calls_for_length(std::string_view method) {
    return method == "POST" || method == "PUT" || method == "PATCH";
}

bool are_equal_names(std::string_view one, std::string_view other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](char a, char b) { return to_lower(a) == to_lower(b); });
}

// A TLS handshake or any other protocol on this port is told at its first byte.
bool may_begin_request(std::string_view bytes) {
    return bytes.empty() || bytes.front() == '\r' || is_token_character(bytes.front());
}

}  // namespace

std::string_view RequestHead::field(std::string_view name) const {
    constexpr std::string_view kLineEnd = "\r\n";
    std::string_view rest = std::string_view(text_).substr(after_host_ + kLineEnd.size());
    std::string_view value;
    bool is_found = false;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find(kLineEnd));
        rest.remove_prefix(line.size() + kLineEnd.size());
        if (line.size() <= name.size() || line[name.size()] != ':' ||
            !are_equal_names(line.substr(0, name.size()), name)) {
            continue;
        }
        if (is_found) {
            return {};
        }
        is_found = true;
        value = line.substr(name.size() + 1);
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    }
    return value;
}

void RequestHead::replace_field(std::string_view name, std::string_view value) {
    constexpr std::string_view kLineEnd = "\r\n";
    for (std::size_t at = after_host_ + kLineEnd.size(); at < text_.size();) {
        const std::size_t size = text_.find(kLineEnd, at) + kLineEnd.size() - at;
        const std::string_view line = std::string_view(text_).substr(at, size);
        if (line.size() <= name.size() || line[name.size()] != ':' ||
            !are_equal_names(line.substr(0, name.size()), name)) {
            at += size;
            continue;
        }
        text_.erase(at, size);
        for (Slice* const slice : {&request_id_, &prefix_id_}) {
            if (slice->offset > at) {
                slice->offset -= static_cast<std::uint32_t>(size);
            }
        }
    }
    if (!value.empty()) {
        append_field(text_, name, value);
    }
}

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
    Result<std::size_t> end = scanner_.find_end(bytes);
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
