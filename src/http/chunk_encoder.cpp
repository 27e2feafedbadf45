#include "prefix_router/http/chunk_encoder.hpp"

namespace prefix_router::http {

ChunkSizeLine::ChunkSizeLine(std::uint64_t size) : begin_(kSize) {
    text_[--begin_] = '\n';
    text_[--begin_] = '\r';
    do {
        text_[--begin_] = "0123456789abcdef"[size & 15];
        size >>= 4;
    } while (size > 0);
}

}  // namespace prefix_router::http
