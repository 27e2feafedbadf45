#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace prefix_router::prompt {

/// Where the long strings of a body end, recorded by the first walk so that later walks do not
/// search them again: escaped text costs more to search than to hash. Bounded: strings beyond the
/// limit are just searched again. One per reader, reused.
class StringTape {
  public:
    struct Entry {
        const char* begin = nullptr;  ///< after the opening quote
        const char* end = nullptr;    ///< the closing quote
        bool plain = true;
    };
    static constexpr std::size_t kShortest = 48;
    static constexpr std::size_t kMaxEntries = std::size_t{1} << 16;

    /// `text_end`: of the body that is walked next.
    void start(const char* text_end) {
        entries_.clear();
        text_end_ = text_end;
    }
    const char* text_end() const { return text_end_; }

    void record(const char* begin, const char* end, bool plain) {
        if (static_cast<std::size_t>(end - begin) >= kShortest && entries_.size() < kMaxEntries)
            entries_.push_back({begin, end, plain});
    }

    std::size_t size() const { return entries_.size(); }
    void shrink(std::size_t size) { entries_.resize(size); }  ///< forgets the entries behind

    /// A reading position that only moves forward.
    class Replay {
      public:
        Replay() = default;
        Replay(const StringTape& tape, const char* from)
            : next_(std::lower_bound(
                  tape.entries_.data(), tape.entries_.data() + tape.entries_.size(), from,
                  [](const Entry& entry, const char* begin) { return entry.begin < begin; })),
              last_(tape.entries_.data() + tape.entries_.size()) {}

        /// The entry of the string that begins at `begin`, or nullptr.
        const Entry* find(const char* begin) {
            while (next_ != last_ && next_->begin < begin) ++next_;
            return next_ != last_ && next_->begin == begin ? next_ : nullptr;
        }

      private:
        const Entry* next_ = nullptr;
        const Entry* last_ = nullptr;
    };

  private:
    std::vector<Entry> entries_;
    const char* text_end_ = nullptr;
};

}  // namespace prefix_router::prompt
