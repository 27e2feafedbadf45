#include "chat_load/report.hpp"

#include <cmath>
#include <cstdio>
#include <numeric>

#include <nlohmann/json.hpp>

namespace prefix_router::chat_load {
namespace {

// Dividing by a whole number, not multiplying by 0.1, keeps 1511.1 from printing as 1511.10000001.
double rounded(double value, double parts_of_one) {
    return std::round(value * parts_of_one) / parts_of_one;
}

double milliseconds_at(const std::vector<Seconds>& values, double quantile) {
    return rounded(quantile_of(values, quantile) * 1000, 10);
}

double mean(const std::vector<Seconds>& values) {
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void Tally::add(const Outcome& outcome, bool is_measured) {
    ++verdicts[static_cast<std::size_t>(outcome.verdict)];
    if (outcome.verdict == Verdict::Status) ++statuses[outcome.status];
    if (outcome.verdict != Verdict::Good || !is_measured) return;
    prompt_tokens += outcome.prompt_tokens;
    cached_tokens += outcome.cached_tokens;
    ttft.push_back(outcome.ttft);
    latency.push_back(outcome.latency);
}

std::uint64_t Tally::errors() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : verdicts) sum += count;
    return sum - verdicts[static_cast<std::size_t>(Verdict::Good)];
}

double Tally::token_hit_ratio() const {
    return prompt_tokens == 0
               ? 0
               : static_cast<double>(cached_tokens) / static_cast<double>(prompt_tokens);
}

double Tally::requests_per_s() const {
    return measured_seconds > 0 ? static_cast<double>(ttft.size()) / measured_seconds : 0;
}

std::string json_report(const std::string& label, const Tally& tally, const ClientWatch& client) {
    nlohmann::ordered_json report = {{"strategy", label},
                                     {"token_hit_ratio", rounded(tally.token_hit_ratio(), 10000)},
                                     {"ttft_mean_ms", rounded(mean(tally.ttft) * 1000, 10)},
                                     {"ttft_p50_ms", milliseconds_at(tally.ttft, 0.5)},
                                     {"ttft_p90_ms", milliseconds_at(tally.ttft, 0.9)},
                                     {"ttft_p99_ms", milliseconds_at(tally.ttft, 0.99)},
                                     {"requests_per_s", rounded(tally.requests_per_s(), 100)},
                                     {"latency_p50_ms", milliseconds_at(tally.latency, 0.5)},
                                     {"latency_p99_ms", milliseconds_at(tally.latency, 0.99)},
                                     {"requests", tally.ttft.size()},
                                     {"prompt_tokens", tally.prompt_tokens},
                                     {"tokens_not_computed", tally.cached_tokens},
                                     {"errors", tally.errors()},
                                     {"connections", tally.connections},
                                     {"client_cpu_share", rounded(client.cpu_share(), 100)},
                                     {"client_lag_p99_ms", rounded(client.lag_p99() * 1000, 10)},
                                     {"client_was_bottleneck", client.is_bottleneck()}};
    nlohmann::ordered_json errors = nlohmann::ordered_json::object();
    for (std::size_t i = 1; i < kVerdicts; ++i)
        if (tally.verdicts[i] > 0)
            errors[std::string(to_string(static_cast<Verdict>(i)))] = tally.verdicts[i];
    for (const auto& [status, count] : tally.statuses)
        errors["status_" + std::to_string(status)] = count;
    report["errors_by_kind"] = errors;
    return report.dump();
}

std::string table_report(const std::string& label, const Tally& tally, const ClientWatch& client) {
    char lines[1024];
    std::snprintf(lines, sizeof lines,
                  "%-28s %s\n%-28s %zu in %.1f s, %.1f per second, %llu errors\n"
                  "%-28s %.3f (%llu of %llu tokens not computed)\n"
                  "%-28s p50 %.1f  p90 %.1f  p99 %.1f\n%-28s p50 %.1f  p99 %.1f\n",
                  "strategy", label.empty() ? "-" : label.c_str(), "requests", tally.ttft.size(),
                  tally.measured_seconds, tally.requests_per_s(),
                  static_cast<unsigned long long>(tally.errors()), "token hit ratio",
                  tally.token_hit_ratio(), static_cast<unsigned long long>(tally.cached_tokens),
                  static_cast<unsigned long long>(tally.prompt_tokens), "time to first token, ms",
                  milliseconds_at(tally.ttft, 0.5), milliseconds_at(tally.ttft, 0.9),
                  milliseconds_at(tally.ttft, 0.99), "latency, ms",
                  milliseconds_at(tally.latency, 0.5), milliseconds_at(tally.latency, 0.99));
    std::string text = lines;
    for (std::size_t i = 1; i < kVerdicts; ++i)
        if (tally.verdicts[i] > 0)
            text += "error " + std::string(to_string(static_cast<Verdict>(i))) + ": " +
                    std::to_string(tally.verdicts[i]) + "\n";
    if (client.is_bottleneck())
        text +=
            "warning: the load client was a bottleneck itself; the times are not the server's\n";
    return text;
}

}  // namespace prefix_router::chat_load
