#include "prompt/answer/answer_chain.hpp"

#include <algorithm>

#include "prompt/block_schedule.hpp"

namespace prefix_router::prompt {
namespace {

constexpr std::size_t kLikelyBlocks = 8;

}  // namespace

AnswerChain::AnswerChain(const PromptKey& key)
    : history_(key.history), keyed_(key.history.seed), offset_(key.total - key.history.position) {
    restart();
}

void AnswerChain::restart() {
    hashes.clear();
    ends.clear();
    chain_ = history_.hash;
    position_ = history_.position;
    listed_ = position_ - history_.unlisted;
    fill_ = 0;
    length_ = block_length(position_);
}

void AnswerChain::add(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::string_view part = bytes.substr(0, length_ - fill_);
        bytes.remove_prefix(part.size());
        if (part.size() == length_) {
            close(keyed_(part), length_);
            list();
            continue;
        }
        if (fill_ == 0) open_.start(keyed_);
        open_.add(part);
        fill_ += static_cast<std::uint32_t>(part.size());
        if (fill_ < length_) return;
        close(open_.digest(), length_);
        list();
    }
}

void AnswerChain::close(std::uint64_t hash, std::uint64_t bytes) {
    chain_ = mix(chain_, hash);
    position_ += bytes;
    fill_ = 0;
    length_ = block_length(position_);
}

void AnswerChain::list() {
    if (hashes.empty()) {  // what a short answer needs, instead of growing step by step
        hashes.reserve(kLikelyBlocks);
        ends.reserve(kLikelyBlocks);
    }
    hashes.push_back(chain_);
    ends.push_back(clamp_end(position_ + offset_));
    listed_ = position_;
}

void AnswerChain::close_message() {
    if (fill_ != 0) close(open_.digest(), fill_);
    if (message_end_is_listed(history_.blocks + hashes.size(), position_ - listed_)) list();
}

}  // namespace prefix_router::prompt
