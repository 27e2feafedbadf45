/// Chunked framing: the payload, the end and the verdict do not depend on how the bytes are cut.

#include <string>

#include "prefix_router/http/chunk_follower.hpp"

#include "fuzz/fuzzing.hpp"

namespace {

struct Followed {
    std::string payload;
    std::size_t consumed = 0;
    bool is_done = false;
    bool is_broken = false;
    friend bool operator==(const Followed&, const Followed&) = default;
};

Followed follow(std::string_view bytes, std::size_t piece) {
    Followed followed;
    prefix_router::http::ChunkFollower follower;
    for (std::size_t at = 0; at < bytes.size() && !follower.is_done() && !follower.is_broken();
         at += piece) {
        const std::string_view received = bytes.substr(at, piece);
        std::string_view rest = received;
        for (auto payload = follower.next(rest); !payload.empty(); payload = follower.next(rest))
            followed.payload += payload;
        followed.consumed += received.size() - rest.size();
    }
    followed.is_done = follower.is_done();
    followed.is_broken = follower.is_broken();
    if (followed.is_broken) followed.consumed = 0;  // of a broken body nobody uses the rest
    return followed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    std::string_view input = prefix_router::fuzz::view_of(bytes, size);
    const std::size_t cut = 2 + prefix_router::fuzz::take_byte(input);
    const Followed whole = follow(input, input.size() + 1);
    prefix_router::fuzz::require(whole == follow(input, 1), "the same by single bytes");
    prefix_router::fuzz::require(whole == follow(input, cut), "the same in pieces");
    return 0;
}
