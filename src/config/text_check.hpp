#pragma once

#include <optional>
#include <string_view>

namespace prefix_router::config {

/// The line (from 1) of the first byte that is no UTF-8 text: a broken sequence, or a control
/// character other than tab, line feed and carriage return.
std::optional<int> first_line_that_is_not_text(std::string_view text);

/// Line `number` (from 1) of `text` without its end; empty when there is none.
std::string_view line_at(std::string_view text, int number);

}  // namespace prefix_router::config
