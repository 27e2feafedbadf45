#pragma once

#include <chrono>
#include <string_view>

/// What two processes say to each other during a take-over, one message each:
///
///     newcomer                         predecessor
///     hello                       ->
///                                 <-   data, with listening sockets (as often as needed)
///                                 <-   admin, with one socket (when there is one)
///                                      (either "given", where a service manager gave them)
///                                 <-   meeting point, with the Unix socket itself
///                                 <-   that is all from, and its process number
///     (starts, accepts) ready     ->
///                                 <-   leaving, and drains; or late, and goes on
namespace prefix_router::app::words {

inline constexpr std::string_view kHello = "prefix-router take-over 1";
inline constexpr std::string_view kData = "data";
inline constexpr std::string_view kAdmin = "admin";
inline constexpr std::string_view kGivenData = "given data";
inline constexpr std::string_view kGivenAdmin = "given admin";
inline constexpr std::string_view kMeetingPoint = "meeting point";
inline constexpr std::string_view kAllFrom = "that is all from ";
inline constexpr std::string_view kReady = "ready";
inline constexpr std::string_view kLeaving = "leaving";
inline constexpr std::string_view kLate = "late";

/// Both sides answer at once; a newcomer reads its files and binds before it is ready.
inline constexpr std::chrono::milliseconds kAnswerTime{10'000};
inline constexpr std::chrono::milliseconds kReadyTime{60'000};

}  // namespace prefix_router::app::words
