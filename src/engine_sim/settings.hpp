#pragma once

#include <string>
#include <string_view>

#include "engine_sim/live_engine.hpp"

namespace prefix_router::engine_sim {

/// POST /engine_sim/settings: what a test changes while the engine runs. A JSON object with any of
/// `prefill_rate` (tokens per second, of requests scheduled from now on) and `kv_tokens`. Returns
/// what is wrong with it, a sentence for the client; "" when it was applied, wholly or not at all.
///
///     {"prefill_rate": 4000, "kv_tokens": 100000}
std::string change_settings(LiveEngine& engine, std::string_view body);

}  // namespace prefix_router::engine_sim
