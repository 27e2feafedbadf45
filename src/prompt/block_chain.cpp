#include "prompt/block_chain.hpp"

#include <algorithm>
#include <cstring>

namespace prefix_router::prompt {
namespace {

constexpr std::uint64_t kEarlyHome = 4096;
constexpr std::size_t kHomeBlock = 256;
constexpr std::size_t kHomeSample = 128;

}  // namespace

void BlockChain::start(PromptKey& key, std::uint64_t root, std::uint64_t home_root,
                       HomeScope scope) {
    key_ = &key;
    chain_ = root;
    position_ = 0;
    listed_ = 0;
    fill_ = 0;
    length_ = block_length(0);
    media_ = 0;
    home_ = home_root;
    early_home_ = 0;
    scope_ = scope;
    home_is_fixed_ = false;
}

/// The bytes reach the end of the open block at least.
void BlockChain::add_across(std::string_view bytes) {
    if (fill_ != 0) {
        const std::size_t count = length_ - fill_;
        std::memcpy(buffer_.data() + fill_, bytes.data(), count);
        bytes.remove_prefix(count);
        close({buffer_.data(), length_});
        list();
    }
    while (bytes.size() >= length_) {
        const std::string_view block = bytes.substr(0, length_);
        bytes.remove_prefix(length_);
        close(block);
        list();
    }
    std::memcpy(buffer_.data(), bytes.data(), bytes.size());
    fill_ = static_cast<std::uint32_t>(bytes.size());
}

void BlockChain::close(std::string_view block) {
    chain_ = mix(chain_, keyed_(block));
    if (!home_is_fixed_) sample_home(block);
    fill_ = 0;
    position_ += block.size();
    length_ = block_length(position_);
}

void BlockChain::list() {
    key_->hashes.push_back(chain_);
    key_->ends.push_back(clamp_end(position_));
    listed_ = position_;
}

void BlockChain::close_block() {
    if (fill_ != 0) close({buffer_.data(), fill_});
    if (message_end_is_listed(key_->hashes.size(), position_ - listed_)) list();
}

void BlockChain::add_media(const StandIn& media) {
    const bool is_full = media_ < kMediaInFull;
    media_ += is_full ? 1 : 0;
    close_stand_in(media, is_full ? kMediaUnits : kStandInUnits);
}

void BlockChain::add_fields(const StandIn& fields) {
    close_stand_in(fields, kStandInUnits);
}

// Its home is sampled before it counts for its units, as that of a text block is.
void BlockChain::close_stand_in(const StandIn& stand_in, std::uint32_t units) {
    close_block();
    char bytes[kStandInUnits];
    static_assert(sizeof bytes == sizeof stand_in.keyed);
    std::memcpy(bytes, &stand_in.keyed, sizeof bytes);
    chain_ = mix(chain_, keyed_({bytes, sizeof bytes}));
    std::memcpy(bytes, &stand_in.plain, sizeof bytes);
    if (!home_is_fixed_) sample_home({bytes, sizeof bytes});
    position_ += units;
    length_ = block_length(position_);
    if (message_end_is_listed(key_->hashes.size(), position_ - listed_)) list();
}

void BlockChain::sample_home(std::string_view block) {
    const std::size_t looked_at = block.size() <= kHomeBlock ? block.size() : kHomeSample;
    home_ = mix(home_, hash_bytes(block.substr(0, looked_at), 0));
    if (early_home_ == 0 && position_ + block.size() >= kEarlyHome) {
        early_home_ = home_;
        home_is_fixed_ = scope_ == HomeScope::FirstBytes;
    }
}

void BlockChain::mark_home() {
    if (home_is_fixed_) return;
    home_is_fixed_ = true;
    early_home_ = home_;
}

void BlockChain::mark_history() {
    key_->history = {seed_, chain_, position_, position_ - listed_,
                     static_cast<std::uint32_t>(key_->hashes.size())};
}

void BlockChain::finish() {
    close_block();
    if (listed_ != position_) list();
    key_->total = position_;
    key_->home = key_->hashes.empty() ? 0 : early_home_ != 0 ? early_home_ : home_;
}

}  // namespace prefix_router::prompt
