#pragma once

#include "prefix_router/net/parker.hpp"

namespace prefix_router::proxy {

// What one client connection's coroutine may wait for.
inline constexpr net::Events kClientReadable = 1U << 0;
inline constexpr net::Events kClientWritable = 1U << 1;
inline constexpr net::Events kBackendReadable = 1U << 2;
inline constexpr net::Events kBackendWritable = 1U << 3;
inline constexpr net::Events kReleased = 1U << 4;  // the held ticket was decided
inline constexpr net::Events kExpired = 1U << 5;   // a deadline
inline constexpr net::Events kTicked = 1U << 6;    // asked for with wake_on_tick()

inline constexpr net::Events kClientGone = 1U << 16;
inline constexpr net::Events kStopped = 1U << 17;  // hard stop
inline constexpr net::Events kDraining = 1U << 18;

/// What a tunnel waits for.
inline constexpr net::Events kTunnelEvents =
    kClientReadable | kClientWritable | kBackendReadable | kBackendWritable | kDraining;

/// Ends any wait of a request, in every phase.
inline constexpr net::Events kInterrupts = kExpired | kClientGone | kStopped;

/// A fast pair must not hold up the worker's other connections: after so many reads that all gave
/// something, a loop waits for the next event.
inline constexpr unsigned kReadsInARow = 16;

}  // namespace prefix_router::proxy
