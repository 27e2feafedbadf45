#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// What client and backend of the data-plane bench say to each other. A request's body asks for its
/// answer; the answer holds a hash of the body as it arrived and is else known to the byte, so the
/// client can tell whether a proxy changed anything in either direction.
namespace prefix_router::dataplane {

/// The answer that a body asks for: JSON of kJsonBytes, or `events` events, one each `gap_us`.
struct Wish {
    bool streams = false;
    unsigned events = 0;
    unsigned gap_us = 0;
};

/// A conversation of `bytes` bytes as JSON: a system prompt that all seeds share and turns that
/// differ by `seed`. The wish stands at its front.
std::string request_body(std::uint64_t seed, std::size_t bytes, const Wish& wish,
                         std::string_view model = "bench");
Wish read_wish(std::string_view body);

inline constexpr std::size_t kJsonBytes = 1024;
std::string json_answer(std::uint64_t body_hash);

/// One event of a stream. The client checks all of it but the stamp: the backend's steady clock in
/// nanoseconds, zero in expected_event().
inline constexpr std::size_t kEventBytes = 150;
inline constexpr std::string_view kStreamEnd = "data: [DONE]\n\n";
std::string first_event(std::uint64_t body_hash);
void number_event(std::string& event, std::uint64_t index);
void stamp_event(std::string& event, std::uint64_t nanoseconds);
/// The stamp of `event`, which is zeroed there.
std::uint64_t take_stamp(std::string& event);

std::uint64_t hash_of(std::string_view body);

}  // namespace prefix_router::dataplane
