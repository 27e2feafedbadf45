#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "prefix_router/base/error.hpp"

namespace prefix_router::http {

/// Bounds on one message head.
struct HeadLimits {
    std::size_t bytes = std::size_t{64} << 10;       ///< start line, fields and the empty line
    std::size_t line_bytes = std::size_t{16} << 10;  ///< start line alone
    std::uint32_t fields = 256;
};

/// Finds the end of a message head in bytes that arrive piece by piece, and holds the limits and
/// the line discipline while it looks: every line ends in CRLF, none is folded, so that garbage is
/// refused at its first line and not when a timeout expires. Resumes where it stopped: a head that
/// comes one byte at a time is scanned once. No copy, no allocation; one per message being read.
class HeadScanner {
  public:
    /// Folded lines (RFC 9112 section 5.2) must be refused in requests; in answers they may be
    /// unfolded.
    enum class Folding : std::uint8_t { Refused, Allowed };

    HeadScanner(const HeadLimits& limits, Folding folding) : limits_(limits), folding_(folding) {}

    /// `bytes`: everything received from the head's first byte on, each call at least as long as
    /// the one before. Returns the length of the head once it is complete, 0 while it is not.
    /// Empty lines before the start line count as part of the head. Errors: TargetTooLong (the
    /// start line), HeaderTooLarge, BadRequest.
    Result<std::size_t> find_end(std::string_view bytes);

    /// Where the start line begins: after the empty lines that may come before it.
    std::size_t start() const { return start_; }

    /// Forgets the message: the next call begins a new one.
    void reset();

  private:
    enum class Verdict : std::uint8_t {
        Continue,
        End,
        BareLineFeed,
        Folded,
        LineTooLong,
        HeadTooLarge
    };
    Verdict take_line(std::string_view bytes, std::size_t line_feed);
    Verdict judge_wait(std::size_t received) const;
    static Error error_of(Verdict verdict);

    HeadLimits limits_;
    Folding folding_;
    std::size_t start_ = 0;
    std::size_t line_ = 0;     // first byte of the line being scanned
    std::size_t scanned_ = 0;  // no line feed before this
    std::uint32_t lines_ = 0;  // complete lines, the start line included
};

}  // namespace prefix_router::http
