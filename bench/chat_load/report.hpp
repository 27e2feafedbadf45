#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "chat_load/answer_check.hpp"
#include "chat_load/client_watch.hpp"
#include "chat_load/exchange.hpp"

namespace prefix_router::chat_load {

/// The sums of a run.
struct Tally {
    std::array<std::uint64_t, kVerdicts> verdicts{};
    std::map<unsigned, std::uint64_t> statuses;  ///< of Verdict::Status
    std::uint64_t prompt_tokens = 0;
    std::uint64_t cached_tokens = 0;
    std::vector<Seconds> ttft;
    std::vector<Seconds> latency;
    Seconds measured_seconds = 0;
    std::size_t connections = 0;

    /// Only good answers enter the times and tokens; a warm-up one enters the verdicts alone.
    void add(const Outcome& outcome, bool is_measured);
    std::uint64_t errors() const;
    double token_hit_ratio() const;
    double requests_per_s() const;
};

std::string json_report(const std::string& label, const Tally& tally, const ClientWatch& client);
std::string table_report(const std::string& label, const Tally& tally, const ClientWatch& client);

}  // namespace prefix_router::chat_load
