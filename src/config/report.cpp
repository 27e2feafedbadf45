#include "config/report.hpp"

#include <algorithm>

#include "prefix_router/base/logging.hpp"

namespace prefix_router::config {

std::vector<Problem> Report::take() {
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const Problem& a, const Problem& b) { return a.line < b.line; });
    return std::move(problems_);
}

std::string in_quotes(std::string_view text) {
    constexpr std::size_t kShown = 60;
    std::string shown = "'" + escape_for_log(text.substr(0, kShown));
    return shown + (text.size() > kShown ? "...'" : "'");
}

std::string to_string(const Problem& problem) {
    const std::string line = problem.line > 0 ? ":" + std::to_string(problem.line) : "";
    return problem.file + line + ": " + problem.message;
}

}  // namespace prefix_router::config
