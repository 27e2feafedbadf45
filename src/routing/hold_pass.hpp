#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "prefix_router/config/config.hpp"

#include "routing/hold_class.hpp"

namespace prefix_router::routing {

using HoldClasses = std::array<HoldClass, config::kPriorities>;

/// One walk over the held requests in the order in which they would be sent: class by class, within
/// a class as its fair queue would have it if each that was shown was sent. Shows them one by one,
/// so that a walk over the first few costs nothing for the rest. Each is shown once. The one shown
/// last may be removed or change its key; nothing else may change during a walk. Keeps its memory.
class HoldPass {
  public:
    struct Step {
        Record* record = nullptr;  ///< nullptr: the end
        std::size_t priority = 0;
        Seconds tag = 0;
    };

    void begin(HoldClasses& classes);
    Step next();
    /// Shows no more requests for this model.
    void skip(ModelId model);
    /// Where the next request of this tenant of `in` would start if it came now.
    Seconds tag_of(const HoldClass& in, const HoldTenant* tenant) const;

  private:
    struct Entry {
        Seconds tag;
        HoldLine* line;
        Record* record;
        bool is_first;  // of its line: the next line of its model comes in when it is seen
    };
    static bool goes_later(const Entry& a, const Entry& b);

    void open(HoldClass& of);
    void push(Entry entry);
    Entry pop();
    Record* unshown_after(const Entry& entry) const;
    void bring_in_after(HoldLine& line);
    Seconds tag(const HoldTenant& tenant) const;
    bool is_skipped(ModelId model) const;

    HoldClasses* classes_ = nullptr;
    std::size_t class_ = 0;
    std::uint64_t pass_ = 0;
    std::vector<Entry> heap_;
    std::vector<ModelId> skipped_;
};

}  // namespace prefix_router::routing
