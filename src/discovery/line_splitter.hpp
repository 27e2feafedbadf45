#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace prefix_router::discovery {

/// Cuts a stream into lines. Bounded: a line may have so many bytes and no more.
class LineSplitter {
  public:
    explicit LineSplitter(std::size_t longest) : longest_(longest) {}

    /// Calls visit(line) for each line that ends in `piece`, until one returns false. False then,
    /// and when a line grows too long.
    template <class Visitor>
    bool take(std::string_view piece, Visitor&& visit) {
        for (std::size_t end = piece.find('\n'); end != piece.npos; end = piece.find('\n')) {
            line_ += piece.substr(0, end);
            piece.remove_prefix(end + 1);
            const bool goes_on = line_.empty() || visit(std::string_view(line_));
            line_.clear();
            if (!goes_on) {
                return false;
            }
        }
        line_ += piece;
        return line_.size() <= longest_;
    }

  private:
    std::size_t longest_;
    std::string line_;
};

}  // namespace prefix_router::discovery
