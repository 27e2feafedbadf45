#include "engine_sim/settings.hpp"

#include <optional>

#include <nlohmann/json.hpp>

namespace prefix_router::engine_sim {
namespace {

constexpr double kMostRate = 1e12;
constexpr Tokens kMostTokens = Tokens{1} << 32;

}  // namespace

std::string change_settings(LiveEngine& engine, std::string_view body) {
    const auto json = nlohmann::json::parse(body, nullptr, false);
    if (!json.is_object()) return "the body must be a JSON object";
    std::optional<double> rate;
    std::optional<Tokens> tokens;
    for (const auto& [name, value] : json.items()) {
        if (name == "prefill_rate" && value.is_number())
            rate = value.get<double>();
        else if (name == "kv_tokens" && value.is_number_integer())
            tokens = value.get<Tokens>();
        else
            return "'" + name + "' is no setting, or not a number";
    }
    if (rate && !(*rate > 0 && *rate <= kMostRate)) return "'prefill_rate' must be positive";
    if (tokens && (*tokens < kBlockTokens || *tokens > kMostTokens))
        return "'kv_tokens' must be at least one block of 16";
    if (rate) engine.set_prefill_rate(*rate);
    if (tokens) engine.set_kv_tokens(*tokens);
    return "";
}

}  // namespace prefix_router::engine_sim
