#include "chat_load/trace_prompt.hpp"

#include "prefix_router/base/hash.hpp"

#include "chat_load/workload.hpp"

namespace prefix_router::chat_load {
namespace {

constexpr std::uint64_t kBlockSalt = 0xb10c;
constexpr std::uint64_t kRestSalt = 0x4e57;

}  // namespace

std::string prompt_text(const sim::Trace& trace, std::size_t number) {
    const sim::TraceRequest& request = trace.requests[number];
    const auto block_tokens = static_cast<std::size_t>(trace.block_tokens);
    std::string text;
    for (const std::uint64_t block : trace.prompt_blocks(request)) {
        text += make_text(mix(kBlockSalt, trace.recorded_ids[block]), block_tokens);
    }
    const auto tokens = static_cast<std::size_t>(request.prompt_tokens);
    const std::size_t rest = tokens - request.block_count * block_tokens;
    return text + make_text(mix(kRestSalt, number), rest);
}

}  // namespace prefix_router::chat_load
