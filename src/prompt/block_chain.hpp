#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "prefix_router/base/hash.hpp"
#include "prefix_router/prompt/prompt_key.hpp"

#include "prompt/block_schedule.hpp"
#include "prompt/order_free_hash.hpp"

namespace prefix_router::prompt {

/// How far the unseeded home looks: to the end of the first user message, or 4 KB at most.
enum class HomeScope : std::uint8_t { FirstUserMessage, FirstBytes };

/// Cuts the canonical prompt into blocks and chains their hashes into a PromptKey. Long pieces are
/// hashed where they stand; only what crosses a cut is copied. One per reader, reused.
class BlockChain {
  public:
    explicit BlockChain(std::uint64_t hash_seed) : seed_(hash_seed), keyed_(hash_seed) {}

    /// `root` seeds the first block; `home_root` the unseeded home. Appends to a cleared `key`.
    void start(PromptKey& key, std::uint64_t root, std::uint64_t home_root, HomeScope scope);

    void add(std::string_view bytes) {
        if (bytes.empty()) return;  // memcpy wants a pointer even then
        if (bytes.size() >= length_ - fill_) return add_across(bytes);
        std::memcpy(buffer_.data() + fill_, bytes.data(), bytes.size());
        fill_ += static_cast<std::uint32_t>(bytes.size());
    }
    void close_block();  ///< a segment ends: the next bytes begin a block
    /// A block of its own for a picture, a sound or a file, which is not hashed as text.
    void add_media(const StandIn& media);
    /// A block of its own for small fields that a template renders.
    void add_fields(const StandIn& fields);
    void mark_home();     ///< the first user message ended here
    void mark_history();  ///< the last message ended here: an answer would go on
    void finish();

    /// The secret under which blocks are hashed.
    const KeyedHash& keyed() const { return keyed_; }

  private:
    void add_across(std::string_view bytes);
    void close(std::string_view block);
    void close_stand_in(const StandIn& stand_in, std::uint32_t units);
    void list();
    void sample_home(std::string_view block);

    std::uint64_t seed_;
    KeyedHash keyed_;
    PromptKey* key_ = nullptr;
    std::uint64_t chain_ = 0;     ///< hash of everything before the open block
    std::uint64_t position_ = 0;  ///< where the open block begins
    std::uint64_t listed_ = 0;    ///< the last position in key_->ends
    std::uint32_t fill_ = 0;      ///< bytes of the open block in buffer_
    std::uint32_t length_ = 0;    ///< where the open block is cut
    std::uint32_t media_ = 0;     ///< counted so far
    std::uint64_t home_ = 0;
    std::uint64_t early_home_ = 0;  ///< home_ after the first 4 KB
    HomeScope scope_ = HomeScope::FirstBytes;
    bool home_is_fixed_ = false;
    std::array<char, kMaxBlockLength> buffer_;
};

}  // namespace prefix_router::prompt
