#include "http/request_head_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include <boost/beast/http/error.hpp>

#include "prefix_router/base/hash.hpp"

#include "http/ascii.hpp"
#include "http/field_text.hpp"
#include "http/request_target.hpp"

namespace prefix_router::http {
namespace {

// About what is added; a head that needs more takes it.
constexpr std::size_t kOwnFields = 208;
constexpr std::size_t kMaxRequestId = 200;

bool is_usable_request_id(std::string_view id) {
    return !id.empty() && id.size() <= kMaxRequestId &&
           std::all_of(id.begin(), id.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

using RequestId = std::array<char, 32>;

/// The eight digits of `bits`, all at once: a byte for each, from which '0' or 'a' - 10 is not far.
constexpr std::uint64_t hex_digits(std::uint32_t bits) {
    constexpr std::uint64_t kEachByte = 0x0101010101010101;
    std::uint64_t nibbles = bits;
    nibbles = (nibbles | nibbles << 16) & 0x0000ffff0000ffff;
    nibbles = (nibbles | nibbles << 8) & 0x00ff00ff00ff00ff;
    nibbles = (nibbles | nibbles << 4) & 0x0f0f0f0f0f0f0f0f;
    const std::uint64_t letters = (nibbles + 6 * kEachByte) >> 4 & kEachByte;
    return nibbles + '0' * kEachByte + letters * ('a' - '0' - 10);
}
static_assert(hex_digits(0xfa09) == 0x3030303066613039);

RequestId make_request_id(Random& random) {
    RequestId id;
    for (std::size_t at = 0; at < id.size(); at += 8) {
        const std::uint64_t digits = hex_digits(static_cast<std::uint32_t>(random()));
        std::memcpy(&id[at], &digits, sizeof digits);
    }
    return id;
}

}  // namespace

RequestHeadWriter::RequestHeadWriter(RequestHead& head, const Arrival& arrival)
    : head_(head), arrival_(arrival) {
    head_.clear();
    header_limit(std::numeric_limits<std::uint32_t>::max());  // HeadScanner holds the limit
    body_limit(boost::none);                                  // bodies are the caller's
}

Result<void> RequestHeadWriter::write(std::string_view bytes) {
    head_.text_.reserve(bytes.size() + kOwnFields);
    ErrorCode code;
    const std::size_t used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), code);
    if (error_) {
        return *error_;
    }
    if (code || used != bytes.size() || !is_header_done()) {
        return Error(ErrorKind::BadRequest, "malformed request head: " + code.message());
    }
    return boost::system::in_place_value;
}

void RequestHeadWriter::fail(ErrorKind kind, const char* message) {
    if (!error_) {
        error_ = Error(kind, message);
    }
}

void RequestHeadWriter::on_request_impl(boost::beast::http::verb, StringView method,
                                        StringView target, int version, ErrorCode& code) {
    std::string& text = head_.text_;
    head_.version_ = version == 10 ? Version::Http10 : Version::Http11;
    text.append(method);
    head_.method_ = {0, position(text)};
    text += ' ';
    head_.after_method_ = position(text);
    const Result<RequestTarget> parsed = parse_request_target(method, target);
    if (!parsed) {
        error_ = parsed.error();
        code = boost::beast::http::error::bad_target;
        return;
    }
    is_absolute_ = parsed->is_absolute;
    head_.authority_ = parsed->authority;
    if (parsed->lacks_path) {
        text += '/';
    }
    text.append(parsed->origin);
    head_.target_ = {head_.after_method_, position(text) - head_.after_method_};
    const std::string_view written = head_.target();
    head_.path_size_ = static_cast<std::uint32_t>(std::min(written.find('?'), written.size()));
    text += " HTTP/1.1\r\nHost: ";
    head_.after_host_ = position(text);
    text += "\r\n";
}

void RequestHeadWriter::on_field_impl(Field field, StringView name, StringView value,
                                      ErrorCode& code) {
    if (!take_known_field(field, value) && !take_own_field(name, value)) {
        append_field(head_.text_, name, value);
    }
    if (error_) {
        code = boost::beast::http::error::bad_field;
    }
}

// Fields that are consumed here or need a closer look; false: pass it on.
bool RequestHeadWriter::take_known_field(Field field, std::string_view value) {
    switch (field) {
        case Field::host:
            take_host(value);
            return true;
        case Field::content_length:
            take_content_length(value);
            return true;
        case Field::transfer_encoding:
            ++codings_;
            coding_ = value;
            return true;
        case Field::connection:
            connection_.add(value);
            return true;
        case Field::expect:
            if (!equals_ignoring_case(value, "100-continue")) {
                fail(ErrorKind::ExpectationFailed, "the only known expectation is 100-continue");
            }
            expects_continue_ = true;
            return true;
        case Field::upgrade:
            // Other protocols (h2c) are offers that may be ignored.
            has_upgrade_ = has_upgrade_ || equals_ignoring_case(value, "websocket");
            return true;
        case Field::keep_alive:
        case Field::proxy_connection:
        case Field::proxy_authenticate:
        case Field::proxy_authorization:
        case Field::proxy_authentication_info:
        case Field::te:
        case Field::trailer:
            return true;
        case Field::authorization:
            head_.credential_hash_ = mix(head_.credential_hash_, hash_bytes(value, 0));
            return false;
        default:
            return false;
    }
}

// Fields that Beast has no name for, told apart by their length first.
bool RequestHeadWriter::take_own_field(std::string_view name, std::string_view value) {
    switch (name.size()) {
        case 9:
            if (equals_ignoring_case(name, "x-api-key")) {
                head_.credential_hash_ = mix(head_.credential_hash_, hash_bytes(value, 0));
            }
            return false;
        case 12:
            if (equals_ignoring_case(name, "x-request-id")) {
                request_id_ = request_id_.empty() ? value : request_id_;
                return true;
            }
            return false;
        case 15:
            if (equals_ignoring_case(name, "x-forwarded-for")) {
                forwarded_for_.append(value).append(value.empty() ? "" : ", ");
                return true;
            }
            return false;
        case 16:
            if (equals_ignoring_case(name, "x-forwarded-host")) {
                forwarded_host_ = forwarded_host_.empty() ? value : forwarded_host_;
                return true;
            }
            return false;
        case 17:
            if (equals_ignoring_case(name, "x-forwarded-proto")) {
                forwarded_proto_ = forwarded_proto_.empty() ? value : forwarded_proto_;
                return true;
            }
            return false;
        case 32:
            if (equals_ignoring_case(name, "x-amzn-sagemaker-prefix-aware-id")) {
                head_.prefix_id_ = append_field(head_.text_, name, value);
                return true;
            }
            return false;
        default:
            return false;
    }
}

void RequestHeadWriter::take_host(std::string_view value) {
    if (++hosts_ > 1) {
        fail(ErrorKind::BadRequest, "more than one Host field");
    } else if (!is_valid_authority(value)) {
        fail(ErrorKind::BadRequest, "the Host field is not host[:port]");
    } else if (!is_absolute_) {  // RFC 9112 section 3.2.2: the target's authority wins
        head_.authority_ = value;
    }
}

void RequestHeadWriter::take_content_length(std::string_view value) {
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, head_.content_length_);
    const bool is_number = error == std::errc() && stop == end && !value.empty();
    if (++lengths_ > 1) {
        fail(ErrorKind::BadRequest, "more than one Content-Length field");
    } else if (!is_number || head_.content_length_ > std::numeric_limits<std::int64_t>::max()) {
        fail(ErrorKind::BadRequest, "the Content-Length field is not a number");
    }
}

void RequestHeadWriter::on_header_impl(ErrorCode& code) {
    if (hosts_ == 0 && head_.version_ == Version::Http11) {
        fail(ErrorKind::BadRequest, "the Host field is missing");
    }
    set_framing();
    if (error_) {
        code = boost::beast::http::error::bad_field;
        return;
    }
    const bool is_http11 = head_.version_ == Version::Http11;
    head_.keeps_alive_ = is_http11 && !connection_.has_close();
    head_.expects_continue_ = is_http11 && expects_continue_ && head_.framing_ != Framing::None;
    head_.wants_upgrade_ = is_http11 && has_upgrade_ && connection_.has_upgrade() &&
                           head_.framing_ == Framing::None && head_.method() == "GET";
    append_own_fields();
}

void RequestHeadWriter::set_framing() {
    head_.sends_length_ = lengths_ + codings_ > 0;
    if (codings_ == 0) {
        head_.framing_ = head_.content_length_ > 0 ? Framing::Length : Framing::None;
        return;
    }
    head_.framing_ = Framing::Chunked;
    if (lengths_ > 0) {
        fail(ErrorKind::BadRequest, "both Content-Length and Transfer-Encoding");
    } else if (head_.version_ == Version::Http10) {
        fail(ErrorKind::BadRequest, "Transfer-Encoding in an HTTP/1.0 request");
    } else if (codings_ > 1 || coding_.empty()) {
        fail(ErrorKind::BadRequest, "not exactly one transfer coding");
    } else if (!equals_ignoring_case(coding_, "chunked")) {
        fail(ErrorKind::UnknownCoding, "the only known transfer coding is chunked");
    }
}

void RequestHeadWriter::append_own_fields() {
    std::string& text = head_.text_;
    Slice* const slices[] = {&head_.prefix_id_};
    connection_.strip_nominated(text, head_.after_host_ + 2, slices);
    append_forwarded_for();
    const std::string_view host = forwarded_host_.empty() ? head_.authority_ : forwarded_host_;
    if (!host.empty()) {
        append_field(text, "X-Forwarded-Host", host);
    }
    append_field(text, "X-Forwarded-Proto",
                 forwarded_proto_.empty() ? arrival_.scheme : forwarded_proto_);
    append_request_id();
    if (head_.wants_upgrade_) {
        text += "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    }
    text += head_.version_ == Version::Http11 ? "Via: 1.1 prefix-router\r\n"
                                              : "Via: 1.0 prefix-router\r\n";
}

void RequestHeadWriter::append_forwarded_for() {
    std::string& text = head_.text_;
    text += "X-Forwarded-For: ";
    text += forwarded_for_;
    text += arrival_.peer_address;
    text += "\r\n";
}

void RequestHeadWriter::append_request_id() {
    if (is_usable_request_id(request_id_)) {
        head_.request_id_ = append_field(head_.text_, "X-Request-Id", request_id_);
        return;
    }
    const RequestId id = make_request_id(arrival_.random);
    head_.request_id_ =
        append_field(head_.text_, "X-Request-Id", std::string_view(id.data(), id.size()));
}

}  // namespace prefix_router::http
