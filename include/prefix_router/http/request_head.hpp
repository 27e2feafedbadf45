#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "prefix_router/base/error.hpp"
#include "prefix_router/base/random.hpp"
#include "prefix_router/http/framing.hpp"
#include "prefix_router/http/head_scanner.hpp"
#include "prefix_router/http/slice.hpp"

namespace prefix_router::http {

/// One request's head: what the router needs to know of it, and its text as a backend gets it.
///
/// The text is written once, while parsing, into one string that is reused from request to request.
/// Only the backend's base path and authority are missing, because the backend is chosen later and
/// may change on a retry; pieces() puts them in without copying.
///
/// What the backend gets: method and target unchanged (absolute form becomes origin form), always
/// HTTP/1.1; Host: the backend's own authority; all end-to-end fields in their order and
/// multiplicity; no hop-by-hop field but an offer of WebSocket, none that Connection nominates;
/// X-Forwarded-For with the peer appended; X-Forwarded-Host (the client's Host) and
/// X-Forwarded-Proto unless the client sent them; one X-Request-Id, the client's or a new one; Via;
/// one Content-Length from seal().
///
/// Owned by the connection; views live until the next parse into the same object.
class RequestHead {
  public:
    std::string_view method() const { return view(method_); }
    /// As sent to the backend, without the backend's base path: "/v1/models?x=1", or "*".
    std::string_view target() const { return view(target_); }
    /// The target without its query: what dialects and own endpoints match on.
    std::string_view path() const { return target().substr(0, path_size_); }
    /// The authority that the client asked for: Host, or that of an absolute-form target.
    std::string_view authority() const { return authority_; }
    std::string_view request_id() const { return view(request_id_); }
    /// X-Amzn-SageMaker-Prefix-Aware-Id, or "".
    std::string_view prefix_id() const { return view(prefix_id_); }
    /// The value of a field that goes on to the backend, by its name in any case; "" when it is
    /// absent, and when it comes twice: which one counts is not ours to guess. Searches the text.
    std::string_view field(std::string_view name) const;

    Version version() const { return version_; }
    /// `Content-Length: 0` reads as None.
    Framing framing() const { return framing_; }
    std::uint64_t content_length() const { return content_length_; }
    /// The client takes another answer on this connection. False for HTTP/1.0.
    bool keeps_alive() const { return keeps_alive_; }
    /// The client waits for kContinueAnswer before it sends the body. Never set without a body or
    /// for HTTP/1.0.
    bool expects_continue() const { return expects_continue_; }
    /// A GET without a body that offers to switch to WebSocket; the offer is forwarded. Others are
    /// not: a server may ignore them.
    bool wants_upgrade() const { return wants_upgrade_; }
    bool is_head() const { return method() == "HEAD"; }
    /// Unseeded hash of Authorization and X-Api-Key, 0 when the client sent neither.
    std::uint64_t credential_hash() const { return credential_hash_; }

    /// Sends the field once, with this value, whatever the client sent; an empty value sends none.
    /// Before seal().
    void replace_field(std::string_view name, std::string_view value);

    /// Ends the head once the body's size is known: Content-Length is sent when the client sent a
    /// body (whatever its coding was) or the method calls for one. Call once per request.
    void seal(std::uint64_t body_bytes);

    /// The whole head for one backend, in order, for one gathering write; call seal() before.
    /// `base_path` is "" or "/base" (not put before "*"), `authority` the Host to send. Some pieces
    /// may be empty. Valid while the head and both arguments live.
    std::array<std::string_view, 5> pieces(std::string_view base_path,
                                           std::string_view authority) const;

    void clear();

  private:
    friend class RequestHeadWriter;  // src/http/request_head_writer.hpp

    std::string_view view(Slice slice) const { return slice.in(text_); }

    // "POST " | "/v1/models HTTP/1.1\r\nHost: " | "\r\nAccept: */*\r\n...\r\n\r\n"
    std::string text_;
    std::uint32_t after_method_ = 0;  // where the base path goes
    std::uint32_t after_host_ = 0;    // where the authority goes
    Slice method_;
    Slice target_;
    std::uint32_t path_size_ = 0;
    Slice request_id_;
    Slice prefix_id_;
    std::string authority_;
    std::uint64_t content_length_ = 0;
    std::uint64_t credential_hash_ = 0;
    Version version_ = Version::Http11;
    Framing framing_ = Framing::None;
    bool keeps_alive_ = false;
    bool expects_continue_ = false;
    bool wants_upgrade_ = false;
    bool sends_length_ = false;
};

/// What the router adds to a head.
struct Arrival {
    std::string_view peer_address;  ///< without port, IPv6 without brackets
    std::string_view scheme = "http";
    Random& random;  ///< for new request ids
};

/// Parses request heads strictly (RFC 9110, RFC 9112): a head that two parsers could read in two
/// ways is refused. One per connection; holds no bytes: the caller keeps them until a head is
/// complete, and what comes after it (body, pipelined requests) stays with the caller.
class RequestHeadParser {
  public:
    explicit RequestHeadParser(const HeadLimits& limits)
        : scanner_(limits, HeadScanner::Folding::Refused) {}

    /// `bytes`: everything received from the message's first byte on. Returns the length of the
    /// head once it is complete and `head` is filled, 0 while more bytes are needed.
    ///
    /// Errors, each of which ends the connection after its answer: BadRequest (grammar, framing,
    /// Host, target form), UnknownCoding (a transfer coding other than chunked), TargetTooLong,
    /// HeaderTooLarge, ExpectationFailed. After an error `head` tells only method() and version()
    /// reliably, both possibly empty.
    Result<std::size_t> parse(std::string_view bytes, const Arrival& arrival, RequestHead& head);

    /// Before the next message: after a complete head, or when the bytes so far are dropped.
    void reset() { scanner_.reset(); }

  private:
    HeadScanner scanner_;
};

}  // namespace prefix_router::http
