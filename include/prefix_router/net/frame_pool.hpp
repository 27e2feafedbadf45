#pragma once

#include <cstddef>

namespace prefix_router::net::frame_pool {

/// Memory for coroutine frames, of which a request takes half a dozen: each thread keeps those that
/// ended, up to a bound, for the next of their size. Under a sanitizer it is the heap, so that the
/// use of an ended frame is seen. Throws std::bad_alloc.
void* take(std::size_t bytes);
void give_back(void* frame, std::size_t bytes) noexcept;

}  // namespace prefix_router::net::frame_pool
