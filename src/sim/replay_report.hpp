#pragma once

#include <string>
#include <vector>

#include "prefix_router/sim/replay.hpp"
#include "prefix_router/sim/trace.hpp"

namespace prefix_router::sim {

/// One line that says what was replayed on what.
std::string describe_setting(const Trace& trace, const ReplayOptions& options,
                             const ReplayResult& first);

/// The comparison as a text table, one row per strategy.
std::string render_table(const std::vector<ReplayResult>& results);

/// One JSON object, on one line without its end.
std::string render_json(const ReplayResult& result);

/// A self-contained HTML page with the table and charts.
std::string render_page(const std::string& setting, const std::vector<ReplayResult>& results);

}  // namespace prefix_router::sim
