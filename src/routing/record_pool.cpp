#include "routing/record_pool.hpp"

namespace prefix_router::routing {

std::unique_ptr<Record> RecordPool::take() {
    if (free_.empty()) {
        return std::make_unique<Record>();
    }
    std::unique_ptr<Record> record = std::move(free_.back());
    free_.pop_back();
    return record;
}

void RecordPool::give_back(std::unique_ptr<Record> record) {
    if (free_.size() < kMostKept && record->chain_tokens.capacity() <= kMostBlocks) {
        record->reset();
        free_.push_back(std::move(record));
    }
}

}  // namespace prefix_router::routing
