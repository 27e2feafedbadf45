#include "http/response_head_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <boost/beast/http/error.hpp>

#include "http/ascii.hpp"
#include "http/field_text.hpp"

namespace prefix_router::http {
namespace {

// About what is added; a head that needs more takes it.
constexpr std::size_t kOwnFields = 96;
constexpr int kSwitchingProtocols = 101;

enum class Case : unsigned char { Counts, IsOne };

/// Takes `part` off the front of `text` if something of a URL ends there. Where case does not
/// count, `part` is in lower case.
bool take_part(std::string_view& text, std::string_view part, Case letters) {
    const std::string_view front = text.substr(0, part.size());
    const std::string_view rest = text.substr(front.size());
    const bool is_there =
        (letters == Case::Counts ? front == part : equals_ignoring_case(front, part)) &&
        (rest.empty() || std::string_view("/?#").find(rest.front()) != std::string_view::npos);
    text = is_there ? rest : text;
    return is_there;
}

/// A reference to the backend itself, in the form in which it works here: a path without what the
/// router puts before every path. Others stay as they are.
std::string_view local_reference(std::string_view reference, const Asker& asker) {
    std::string_view path = reference;
    for (const std::string_view scheme : {"http://", "https://", "//"}) {
        if (equals_ignoring_case(path.substr(0, scheme.size()), scheme)) {
            path.remove_prefix(scheme.size());
            if (asker.backend_authority.empty() ||
                !take_part(path, asker.backend_authority, Case::IsOne)) {
                return reference;
            }
            break;
        }
    }
    if (path.starts_with('/') && !path.starts_with("//")) {
        take_part(path, asker.backend_base_path, Case::Counts);
    }
    return path;
}

void append_number(std::string& out, std::uint64_t value) {
    std::array<char, 20> digits;
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    out.append(digits.data(), written.ptr);
}

}  // namespace

ResponseHeadWriter::ResponseHeadWriter(ResponseHead& head, const Asker& asker, Lengths lengths)
    : head_(head), asker_(asker), lengths_(lengths) {
    head_.clear();
    header_limit(std::numeric_limits<std::uint32_t>::max());  // HeadScanner holds the limit
    body_limit(boost::none);                                  // bodies are the caller's
    skip(asker.is_head);
}

Result<void> ResponseHeadWriter::write(std::string_view bytes) {
    head_.text_.reserve(bytes.size() + kOwnFields);
    ErrorCode code;
    const std::size_t used = put(boost::asio::const_buffer(bytes.data(), bytes.size()), code);
    if (problem_ != nullptr) {
        return Error(ErrorKind::BadResponse, problem_);
    }
    // Beast stops at the second of them before it shows it.
    has_both_framings_ =
        (code == boost::beast::http::error::bad_transfer_encoding && has_length_) ||
        (code == boost::beast::http::error::bad_content_length && codings_ > 0);
    if (code || used != bytes.size() || !is_header_done()) {
        return Error(ErrorKind::BadResponse, "malformed answer head: " + code.message());
    }
    return boost::system::in_place_value;
}

void ResponseHeadWriter::on_response_impl(int status, StringView reason, int version,
                                          ErrorCode& code) {
    if (status < 100 || (status == kSwitchingProtocols && !asker_.wants_upgrade)) {
        problem_ = "the answer's status is not one that was asked for";
        code = boost::beast::http::error::bad_status;
        return;
    }
    head_.status_ = static_cast<unsigned>(status);
    is_http10_ = version == 10;
    std::string& text = head_.text_;
    text += "HTTP/1.1 ";
    append_number(text, head_.status_);
    text += ' ';
    text.append(reason);
    text += "\r\n";
    fields_start_ = position(text);
}

void ResponseHeadWriter::on_field_impl(Field field, StringView name, StringView value,
                                       ErrorCode& code) {
    if (!take_field(field, name, value) && !is_own_field(name)) {
        append_field(head_.text_, name, value);
    }
    if (is_unknown_coding_) {
        problem_ = "the answer has a transfer coding other than chunked";
        code = boost::beast::http::error::bad_transfer_encoding;
    }
}

bool ResponseHeadWriter::take_field(Field field, std::string_view name, std::string_view value) {
    switch (field) {
        case Field::content_length:
            has_length_ = true;
            return true;
        case Field::transfer_encoding:
            ++codings_;
            is_unknown_coding_ = !equals_ignoring_case(value, "chunked");
            return true;
        case Field::connection:
            connection_.add(value);
            return true;
        case Field::upgrade:
            has_upgrade_ = has_upgrade_ || equals_ignoring_case(value, "websocket");
            return true;
        case Field::keep_alive:
        case Field::proxy_connection:
        case Field::proxy_authenticate:
        case Field::proxy_authorization:
        case Field::proxy_authentication_info:
        case Field::te:
        case Field::alt_svc:  // other places of the backend's, not of this router
            return true;
        case Field::location:
        case Field::content_location:
            append_location(name, value);
            return true;
        case Field::content_type:
            head_.content_type_ = append_field(head_.text_, name, value);
            return true;
        case Field::content_encoding:
            head_.content_encoding_ = append_field(head_.text_, name, value);
            return true;
        default:
            return false;
    }
}

bool ResponseHeadWriter::is_own_field(std::string_view name) const {
    return equals_ignoring_case(name, "x-request-id") ||
           (!asker_.decision.empty() && equals_ignoring_case(name, "x-prefix-router-decision"));
}

/// A framework that adds or takes away a slash redirects to the Host that it was sent: to an
/// address that only the router reaches.
void ResponseHeadWriter::append_location(std::string_view name, std::string_view value) {
    const std::string_view local = local_reference(value, asker_);
    const bool needs_root = local.size() != value.size() && !local.starts_with('/');
    head_.text_.append(name).append(needs_root ? ": /" : ": ").append(local).append("\r\n");
}

void ResponseHeadWriter::on_header_impl(ErrorCode& code) {
    if (head_.is_switch() && !(has_upgrade_ && connection_.has_upgrade())) {
        problem_ = "the backend switches to another protocol than WebSocket";
        code = boost::beast::http::error::bad_status;
        return;
    }
    set_framing();
    set_relay();
    append_own_fields();
}

bool ResponseHeadWriter::has_no_body() const {
    return asker_.is_head || head_.status_ < 200 || head_.status_ == 204 || head_.status_ == 304;
}

void ResponseHeadWriter::set_framing() {
    head_.content_length_ = content_length().value_or(0);
    if (has_no_body()) {
        head_.framing_ = Framing::None;
    } else if (codings_ > 0) {
        head_.framing_ = Framing::Chunked;
    } else if (has_length_) {
        head_.framing_ = head_.content_length_ > 0 ? Framing::Length : Framing::None;
    } else {
        head_.framing_ = Framing::UntilClose;
    }
    const bool is_suspect =
        lengths_ == Lengths::TakenOut || (is_http10_ && codings_ > 0);  // RFC 9112 section 6.1
    head_.backend_keeps_alive_ = keep_alive() && !is_suspect && !head_.is_switch();
}

void ResponseHeadWriter::set_relay() {
    const bool is_http11 = asker_.version == Version::Http11;
    head_.client_keeps_alive_ = is_http11 && asker_.keeps_alive && !head_.is_switch();
    head_.forwards_interim_ = is_http11 && head_.is_interim() && head_.status_ != 100;
    switch (head_.framing_) {
        case Framing::None:
            head_.relay_ = Relay::Nothing;
            break;
        case Framing::Length:
            head_.relay_ = Relay::AsReceived;
            break;
        case Framing::Chunked:
            head_.relay_ = is_http11 ? Relay::AsReceived : Relay::RemoveChunks;
            break;
        case Framing::UntilClose:
            head_.relay_ = is_http11 ? Relay::AddChunks : Relay::AsReceived;
            break;
    }
}

void ResponseHeadWriter::append_own_fields() {
    std::string& text = head_.text_;
    Slice* const slices[] = {&head_.content_type_, &head_.content_encoding_};
    connection_.strip_nominated(text, fields_start_, slices);
    if (!head_.is_interim()) {
        append_framing_field();
        if (!asker_.request_id.empty()) {
            append_field(head_.text_, "X-Request-Id", asker_.request_id);
        }
        if (!asker_.decision.empty()) {
            append_field(head_.text_, "X-Prefix-Router-Decision", asker_.decision);
        }
        if (head_.is_switch()) {
            text += "Connection: Upgrade\r\nUpgrade: websocket\r\n";
        } else if (!head_.client_keeps_alive_) {
            text += "Connection: close\r\n";
        }
    }
    text += "\r\n";
}

void ResponseHeadWriter::append_framing_field() {
    std::string& text = head_.text_;
    const bool is_http11 = asker_.version == Version::Http11;
    const bool is_chunked =
        head_.framing_ == Framing::Chunked || head_.framing_ == Framing::UntilClose;
    if (is_chunked && is_http11) {
        text += "Transfer-Encoding: chunked\r\n";
    } else if (has_length_ && head_.status_ >= 200 && head_.status_ != 204 && !is_chunked) {
        text += "Content-Length: ";
        append_number(text, head_.content_length_);
        text += "\r\n";
    }
}

}  // namespace prefix_router::http
