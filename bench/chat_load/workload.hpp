#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "chat_load/chat_request.hpp"
#include "chat_load/options.hpp"

namespace prefix_router::chat_load {

/// `tokens` times four bytes of pseudo-words, a function of the seed alone.
std::string make_text(std::uint64_t seed, std::size_t tokens);

/// One client's conversation with one tenant's system prompt: makes the body of each turn from the
/// history. The same number gives the same conversation whatever happens around it, so that every
/// strategy is asked the same questions.
class Conversation {
  public:
    Conversation(const Workload& workload, std::uint64_t number);

    std::size_t tenant() const { return tenant_; }
    bool is_over() const { return turn_ == workload_.turns; }

    ChatRequest next_request();
    /// The answer becomes part of the history.
    void answered(std::string_view text);

  private:
    const Workload& workload_;
    std::uint64_t number_;
    std::size_t tenant_;
    std::size_t turn_ = 0;
    std::string messages_;  ///< JSON of the history, without the brackets
};

}  // namespace prefix_router::chat_load
