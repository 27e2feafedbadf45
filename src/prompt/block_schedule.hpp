#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Where the canonical prompt is cut. Every cut depends on the bytes before it alone, so equal
/// prefixes have equal blocks, on the request's side (BlockChain) as on the answer's (AnswerChain).
namespace prefix_router::prompt {

/// Length of a block that begins at `position`: the relative precision stays, and 64 KB make 88
/// blocks.
constexpr std::uint32_t block_length(std::uint64_t position) {
    if (position < std::uint64_t{8} * 1024) return 256;
    if (position < std::uint64_t{64} * 1024) return 1024;
    return 4096;
}
inline constexpr std::uint32_t kMaxBlockLength = 4096;

/// Blocks that a prompt of `bytes` makes, with room for some message ends.
constexpr std::size_t likely_blocks(std::size_t bytes) {
    const std::size_t near = std::min<std::size_t>(bytes, std::size_t{8} * 1024);
    const std::size_t middle = std::min<std::size_t>(bytes - near, std::size_t{56} * 1024);
    return near / 256 + middle / 1024 + (bytes - near - middle) / 4096 + 24;
}

/// A message end always closes a block, but far on, where there are many blocks already, it is
/// listed in the key only when it is worth it: a body of a million empty messages must not make a
/// million blocks. The chain of hashes goes on through an end that is not listed.
inline constexpr std::size_t kBlocksAlwaysListed = 4096;
inline constexpr std::uint64_t kListedDistance = 4096;

constexpr bool message_end_is_listed(std::size_t blocks, std::uint64_t since_listed) {
    return since_listed > 0 && (blocks < kBlocksAlwaysListed || since_listed >= kListedDistance);
}

/// Token ids are hashed as four bytes each: 64, 256 and 1,024 ids a block.
inline constexpr std::uint32_t kBytesPerId = 4;

/// Units that an image, a sound or a file counts for: 1,024 tokens at four bytes. Real models take
/// between 256 and 1,600 tokens for a picture.
inline constexpr std::uint32_t kMediaUnits = 4096;
/// So many of a prompt count for that; those behind them for their hash alone. A part without
/// content is a medium, too: a body of a million must be no prompt of a billion tokens.
inline constexpr std::uint32_t kMediaInFull = 1024;
/// Of eight bytes that stand for something.
inline constexpr std::uint32_t kStandInUnits = 8;

/// PromptKey::ends holds 32 bits.
constexpr std::uint32_t clamp_end(std::uint64_t units) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(units, 0xffffffffU));
}

}  // namespace prefix_router::prompt
