#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "prefix_router/base/error.hpp"
#include "prefix_router/http/framing.hpp"
#include "prefix_router/http/head_scanner.hpp"
#include "prefix_router/http/slice.hpp"

namespace prefix_router::http {

/// What the sender of the body has to do with the bytes that the backend sends.
enum class Relay : std::uint8_t {
    Nothing,       ///< there is no body
    AsReceived,    ///< the bytes as they come; chunk framing, if any, is only followed
    AddChunks,     ///< frame each piece as a chunk (chunk_encoder.hpp), end with kLastChunk
    RemoveChunks,  ///< pass on the payload alone; the client's connection ends the body
};

/// One answer's head: what the router needs to know of it, and its text as the client gets it.
///
/// What the client gets: status and reason unchanged, always HTTP/1.1; all end-to-end fields in
/// their order and multiplicity; no hop-by-hop field, none that Connection nominates; exactly one
/// X-Request-Id, the request's; X-Prefix-Router-Decision when it is given; the framing that relay()
/// produces; `Connection: close` when the client's connection ends after it. Nothing about the
/// backend is added, and a Location on it becomes a path here: clients cannot reach its address.
///
/// Owned by the exchange; views live until the next parse into the same object.
class ResponseHead {
  public:
    /// The whole head for the client, empty line included.
    std::string_view text() const { return text_; }
    unsigned status() const { return status_; }
    /// 1xx but 101: another head follows. Pass it on if should_forward_interim(), else drop it.
    bool is_interim() const { return status_ < 200 && !is_switch(); }
    /// 101, which the client asked for: from here on the connection is WebSocket's.
    bool is_switch() const { return status_ == 101; }
    /// Not for 100 (the router answers Expect itself) and never to an HTTP/1.0 client.
    bool should_forward_interim() const { return forwards_interim_; }

    /// How the backend frames the body that it sends.
    Framing framing() const { return framing_; }
    std::uint64_t content_length() const { return content_length_; }
    Relay relay() const { return relay_; }
    /// The backend's connection may carry another request once this answer is complete.
    bool backend_keeps_alive() const { return backend_keeps_alive_; }
    /// The client's connection may carry another request once this answer is complete.
    bool client_keeps_alive() const { return client_keeps_alive_; }

    std::string_view content_type() const { return view(content_type_); }
    std::string_view content_encoding() const { return view(content_encoding_); }

    void clear();

  private:
    friend class ResponseHeadWriter;  // src/http/response_head_writer.hpp

    std::string_view view(Slice slice) const { return slice.in(text_); }

    std::string text_;
    Slice content_type_;
    Slice content_encoding_;
    std::uint64_t content_length_ = 0;
    unsigned status_ = 0;
    Framing framing_ = Framing::None;
    Relay relay_ = Relay::Nothing;
    bool forwards_interim_ = false;
    bool backend_keeps_alive_ = false;
    bool client_keeps_alive_ = false;
};

/// The request that an answer belongs to, as far as it shapes the answer.
struct Asker {
    bool is_head = false;  ///< the method was HEAD: no body, whatever the fields say
    Version version = Version::Http11;
    bool keeps_alive = true;     ///< the client's connection should stay open
    bool wants_upgrade = false;  ///< offered WebSocket: 101 is an answer
    std::string_view request_id = {};
    std::string_view decision = {};  ///< value of X-Prefix-Router-Decision; "": no such field
    std::string_view backend_authority = {};  ///< the Host that the backend was sent
    std::string_view backend_base_path = {};  ///< what was put before the target
};

/// Parses answer heads. One per backend exchange; holds no bytes: the caller keeps them until a
/// head is complete, and what comes after it stays with the caller.
class ResponseHeadParser {
  public:
    explicit ResponseHeadParser(const HeadLimits& limits)
        : scanner_(limits, HeadScanner::Folding::Allowed) {}

    /// `bytes`: everything received from the message's first byte on. Returns the length of the
    /// head once it is complete and `head` is filled, 0 while more bytes are needed. The only error
    /// is BadResponse, given as soon as the bytes cannot become an HTTP/1.x answer.
    Result<std::size_t> parse(std::string_view bytes, const Asker& asker, ResponseHead& head);

    /// Before the next head: after an interim answer, or for the next exchange.
    void reset() { scanner_.reset(); }

  private:
    HeadScanner scanner_;
};

}  // namespace prefix_router::http
