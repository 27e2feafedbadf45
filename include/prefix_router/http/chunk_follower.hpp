#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prefix_router::http {

/// Follows chunked framing (RFC 9112 section 7.1) over bytes as they arrive: finds the payload and
/// the end of the message without copying or touching the payload. Strict: what another parser
/// could read differently breaks it. Extensions and trailers are checked, bounded and skipped.
///
/// Serves both directions: an answer is relayed as received while this tells where it ends; a
/// request's body is collected from the payload pieces.
///
///     std::string_view rest = received;
///     for (auto payload = follower.next(rest); !payload.empty(); payload = follower.next(rest)) {
///         ...
///     }
///     // received.size() - rest.size() bytes belonged to the message
///
/// Worked example: "5\r\nhello\r\n0\r\n\r\nGET" yields "hello", then "" with is_done(), and leaves
/// rest = "GET".
class ChunkFollower {
  public:
    /// Takes the next payload piece off the front of `bytes`, with the framing before it, and
    /// returns a view into `bytes`. Empty: `bytes` is used up, or the message is done or broken;
    /// then framing that follows the last payload has been taken off too.
    std::string_view next(std::string_view& bytes);

    /// The final chunk and its trailers are complete; bytes after them were left alone.
    bool is_done() const { return state_ == State::Done; }
    /// The framing is wrong; the connection cannot be used on.
    bool is_broken() const { return state_ == State::Broken; }

    void reset() { *this = ChunkFollower(); }

  private:
    enum class State : std::uint8_t {
        SizeStart,
        Size,
        ExtensionSpace,
        Extension,
        SizeLineFeed,
        Data,
        DataReturn,
        DataLineFeed,
        TrailerStart,
        TrailerName,
        TrailerValue,
        TrailerLineFeed,
        EndLineFeed,
        Done,
        Broken,
    };

    State step(char c);
    State step_size(char c);
    State step_trailer(char c);
    State spend_overhead(State next);

    std::uint64_t remaining_ = 0;  // of the chunk, or its size while it is read
    std::uint32_t overhead_ = 0;   // bytes of extensions and trailers so far
    std::uint8_t digits_ = 0;
    State state_ = State::SizeStart;
};

}  // namespace prefix_router::http
