#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "prefix_router/prefix/prefix_map.hpp"

namespace prefix_router::prefix {

/// A chain that owns its arrays.
struct OwnedChain {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> tokens;

    void add(std::uint64_t hash, std::uint32_t block_tokens) {
        hashes.push_back(hash);
        tokens.push_back((tokens.empty() ? 0 : tokens.back()) + block_tokens);
    }
    std::uint32_t block_tokens(std::size_t block) const {
        return tokens[block] - (block == 0 ? 0 : tokens[block - 1]);
    }
    OwnedChain first(std::size_t blocks) const {
        const auto end = static_cast<std::ptrdiff_t>(blocks);
        return {{hashes.begin(), hashes.begin() + end}, {tokens.begin(), tokens.begin() + end}};
    }
    Chain view() const { return {hashes, tokens}; }
};

/// One backend's history as a plain list in the order of the last touch: the definition that the
/// map must equal.
class LruModel {
  public:
    explicit LruModel(Tokens block_capacity) : capacity(block_capacity) {}

    void touch(const OwnedChain& chain, double now) {
        for (std::size_t block = chain.hashes.size(); block-- > 0;) {
            drop(chain.hashes[block]);
            blocks_.push_back({chain.hashes[block], chain.block_tokens(block), now});
            known_.insert(chain.hashes[block]);
        }
    }
    void erase(const OwnedChain& chain, std::size_t from) {
        for (std::size_t block = from; block < chain.hashes.size(); ++block) {
            if (!pins_.contains(chain.hashes[block])) {
                drop(chain.hashes[block]);
                known_.erase(chain.hashes[block]);
            }
        }
    }
    void pin(const OwnedChain& chain) {
        for (std::size_t block = 0; block < chain.hashes.size(); ++block) {
            Pin& pin = pins_[chain.hashes[block]];
            if (++pin.count == 1 && distance(chain.hashes[block]) == kNever) {
                known_.erase(chain.hashes[block]);
            }
            pin.tokens = chain.block_tokens(block);
        }
    }
    void unpin(const OwnedChain& chain) {
        for (const std::uint64_t hash : chain.hashes) {
            if (--pins_[hash].count == 0) {
                pins_.erase(hash);
            }
        }
    }
    void clear() {
        blocks_.clear();
        known_.clear();
    }

    /// Forgets what lies beyond `tokens` for good.
    void trim(Tokens tokens) {
        Tokens sum = 0;
        for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
            sum += block->tokens;
            if (sum > tokens) {
                blocks_.erase(blocks_.begin(), block.base());
                return;
            }
        }
    }

    StackDistance distance(std::uint64_t hash) const {
        Tokens sum = 0;
        for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
            if (block->hash == hash) {
                return sum;
            }
            sum += block->tokens;
        }
        return kNever;
    }
    bool has(std::uint64_t hash) const {
        Tokens sum = pinned() < capacity ? 0 : capacity;
        for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
            sum += block->tokens;
            if (sum > capacity) {
                break;
            }
            if (block->hash == hash) {
                return true;
            }
        }
        return pins_.contains(hash) && known_.contains(hash);
    }
    std::uint32_t depth(const OwnedChain& chain) const {
        std::uint32_t depth = 0;
        while (depth < chain.hashes.size() && has(chain.hashes[depth])) {
            ++depth;
        }
        return depth;
    }
    Tokens resident() const {
        Tokens sum = 0;
        for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
            if (sum + block->tokens > capacity) {
                return sum;
            }
            sum += block->tokens;
        }
        return sum;
    }
    Tokens touched_since(double from) const {
        Tokens sum = 0;
        for (const Block& block : blocks_) {
            sum += block.touched >= from ? Tokens{block.tokens} : 0;
        }
        return sum;
    }
    Tokens pinned() const {
        Tokens sum = 0;
        for (const auto& [hash, pin] : pins_) {
            sum += pin.tokens;
        }
        return sum;
    }
    std::size_t size() const { return blocks_.size(); }

    Tokens capacity;

  private:
    struct Block {
        std::uint64_t hash;
        std::uint32_t tokens;
        double touched;
    };
    struct Pin {
        std::uint32_t count = 0;
        std::uint32_t tokens = 0;
    };
    void drop(std::uint64_t hash) {
        const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                        [hash](const Block& block) { return block.hash == hash; });
        if (found != blocks_.end()) {
            blocks_.erase(found);
        }
    }

    std::vector<Block> blocks_;  ///< youngest last
    std::map<std::uint64_t, Pin> pins_;
    std::set<std::uint64_t> known_;  ///< touched and not cleared or erased since
};

}  // namespace prefix_router::prefix
