#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/prompt/prompt_key.hpp"

namespace prefix_router::prompt {

/// Continues a PromptKey's chain from its last message, block by block as BlockChain would, while
/// text trickles in. Holds no text: a running hash stands for the open block.
class AnswerChain {
  public:
    explicit AnswerChain(const PromptKey& key);
    AnswerChain(const AnswerChain&) = delete;
    AnswerChain& operator=(const AnswerChain&) = delete;

    void restart();  ///< forgets what was added
    void add(std::string_view bytes);
    void close_message();

    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> ends;

  private:
    void close(std::uint64_t hash, std::uint64_t bytes);
    void list();

    PromptKey::History history_;
    KeyedHash keyed_;
    std::uint64_t offset_;  ///< what to add to a position so that `ends` continues the key's
    std::uint64_t chain_ = 0;
    std::uint64_t position_ = 0;
    std::uint64_t listed_ = 0;
    std::uint32_t fill_ = 0;
    std::uint32_t length_ = 0;
    RunningHash open_;
};

}  // namespace prefix_router::prompt
