#pragma once

#include <string>
#include <utility>
#include <vector>

#include "prefix_router/config/config.hpp"

namespace prefix_router::config {

/// Collects every problem of one file. Not thread-safe; lives as long as one load.
class Report {
  public:
    explicit Report(std::string file) : file_(std::move(file)) {}

    void add(int line, std::string message) {
        problems_.push_back(Problem{file_, line, std::move(message)});
    }
    bool empty() const { return problems_.empty(); }
    /// The problems in the order of their lines.
    std::vector<Problem> take();

  private:
    std::string file_;
    std::vector<Problem> problems_;
};

/// Text from the file as messages show it: in single quotes, escaped, cut after 60 bytes.
std::string in_quotes(std::string_view text);

}  // namespace prefix_router::config
