#include "sim/replay_report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "sim/replay_assets.hpp"

namespace prefix_router::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kQuantiles = 400;  // points of a TTFT curve on the page

template <class... Values>
std::string format(const char* pattern, Values... values) {
    std::array<char, 256> text{};
    const int size = std::snprintf(text.data(), text.size(), pattern, values...);
    return std::string(text.data(), std::min(text.size() - 1, static_cast<std::size_t>(size)));
}

/// File names may hold any bytes, JSON may not.
std::string to_text(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json as_json(const ReplayResult& result) {
    return Json{{"strategy", result.strategy},
                {"requests", result.requests},
                {"token_hit_ratio", result.token_hit_ratio},
                {"expected_over_found",
                 result.expected_over_found ? Json(*result.expected_over_found) : Json(nullptr)},
                {"ttft_mean_s", result.ttft_mean},
                {"ttft_p50_s", result.ttft_p50},
                {"ttft_p90_s", result.ttft_p90},
                {"ttft_p99_s", result.ttft_p99},
                {"work_max_over_mean", result.work_max_over_mean},
                {"bound_infinite", result.bound_infinite},
                {"bound_lru", result.bound_lru},
                {"time_scale", result.time_scale},
                {"held", result.held},
                {"held_mean_s", result.held_mean},
                {"span_s", result.span}};
}

Json quantiles(const std::vector<Seconds>& ascending) {
    Json result = Json::array();
    const std::size_t points = std::min(kQuantiles, ascending.size());
    for (std::size_t k = 1; k <= points; ++k) {
        result.push_back(ascending[k * ascending.size() / points - 1]);
    }
    return result;
}

/// JSON inside a script element: no text in it may look like the element's end.
std::string without_tags(std::string text) {
    for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
        text.replace(at, 1, "\\u003c");
    }
    return text;
}

void fill(std::string& page, const std::string& name, std::string_view value) {
    const std::string mark = "{{" + name + "}}";
    page.replace(page.find(mark), mark.size(), value);
}

}  // namespace

std::string describe_setting(const Trace& trace, const ReplayOptions& options,
                             const ReplayResult& first) {
    const EngineOptions& engine = options.engine;
    std::string text = format(
        "%s: %zu requests in blocks of %lld tokens; %zu backends, %lld KV tokens each",
        trace.name.c_str(), trace.requests.size(), static_cast<long long>(trace.block_tokens),
        options.backends, static_cast<long long>(engine.kv_tokens));
    text += format("; prefill %g tokens/s + %g s, decode %g tokens/s; %s at %.3g times its speed",
                   engine.prefill_rate, engine.overhead, engine.decode_rate,
                   options.closed_loop ? "closed loop" : "open loop", first.time_scale);
    text +=
        format("; hit ratio of an infinite cache %.3f, of one LRU cache of the fleet's size %.3f",
               first.bound_infinite, first.bound_lru);
    return text;
}

std::string render_table(const std::vector<ReplayResult>& results) {
    std::string text = format("%-28s %9s %9s %9s %9s %9s %9s %6s\n", "strategy", "hit ratio",
                              "TTFT mean", "p50", "p90", "p99", "busiest", "held");
    for (const ReplayResult& result : results) {
        text +=
            format("%-28s %9.3f %8.2fs %8.2fs %8.2fs %8.2fs %8.2fx %6zu\n", result.strategy.c_str(),
                   result.token_hit_ratio, result.ttft_mean, result.ttft_p50, result.ttft_p90,
                   result.ttft_p99, result.work_max_over_mean, result.held);
    }
    return text;
}

std::string render_json(const ReplayResult& result) {
    return to_text(as_json(result));
}

std::string render_page(const std::string& setting, const std::vector<ReplayResult>& results) {
    Json list = Json::array();
    for (const ReplayResult& result : results) {
        Json entry = as_json(result);
        entry["ttft_quantiles_s"] = quantiles(result.ttft);
        entry["load"] = result.load;
        list.push_back(std::move(entry));
    }
    const Json data = {{"setting", setting}, {"results", std::move(list)}};
    std::string page(assets::replay_html);
    fill(page, "uplot_css", assets::uplot_css);
    fill(page, "uplot_js", assets::uplot_js);
    fill(page, "replay_js", assets::replay_js);
    fill(page, "results", without_tags(to_text(data)));
    return page;
}

}  // namespace prefix_router::sim
