#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "routing/record.hpp"

namespace prefix_router::routing {

/// Records between two requests, with the memory of their vectors. Bounded; records that have
/// grown beyond a long prompt's size are not kept.
class RecordPool {
  public:
    std::unique_ptr<Record> take();
    void give_back(std::unique_ptr<Record> record);

  private:
    static constexpr std::size_t kMostKept = 1024;
    static constexpr std::size_t kMostBlocks = 4096;

    std::vector<std::unique_ptr<Record>> free_;
};

}  // namespace prefix_router::routing
