#include "prefix_router/sim/trace.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <openssl/sha.h>

#include "prefix_router/base/hash.hpp"

#include "sim/flat_index.hpp"
#include "sim/line_reader.hpp"
#include "sim/trace_row.hpp"

namespace prefix_router::sim {
namespace {

constexpr Tokens kDefaultBlock = 512;
constexpr Seconds kLongestSpread = 5;
constexpr Seconds kLastSpread = 3;  // after the last stamp there is no next one

struct RawTrace {
    std::vector<TraceRow> rows;
    std::optional<Tokens> block_size;
};

Error at_line(const std::string& path, std::size_t line, const Error& error) {
    return Error(error.kind(), path + ":" + std::to_string(line) + ": " + error.message());
}

Result<RawTrace> read_rows(const std::string& path) {
    auto reader = LineReader::open(path);
    if (!reader) return reader.error();
    RawTrace raw;
    for (;;) {
        const auto text = reader->next();
        if (!text) return text.error();
        if (!*text) break;
        if ((*text)->find_first_not_of(" \t\r") == std::string_view::npos) continue;
        auto line = parse_trace_line(**text);
        if (!line) return at_line(path, reader->line_number(), line.error());
        if (!line->header) {
            raw.rows.push_back(std::move(line->row));
        } else if (!raw.block_size) {
            raw.block_size = line->header->block_size;
        }
    }
    if (raw.rows.empty()) {
        return Error(ErrorKind::InvalidConfiguration, "'" + path + "' holds no request");
    }
    return raw;
}

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest session_rank(std::uint64_t seed, const std::string& session) {
    const std::string text = std::to_string(seed) + ":" + session;
    Digest digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    return digest;
}

/// Keeps the first `count` sessions by SHA-256 of "SEED:SESSION": the same subset in any language.
Result<bool> keep_sessions(RawTrace& raw, std::size_t count, std::uint64_t seed) {
    std::set<std::string> names;
    for (const TraceRow& row : raw.rows) {
        if (!row.session) {
            return Error(ErrorKind::InvalidConfiguration,
                         "--sessions needs a trace whose requests all have a 'session'");
        }
        names.insert(*row.session);
    }
    std::vector<std::pair<Digest, std::string>> ranked;
    ranked.reserve(names.size());
    for (const std::string& name : names) ranked.emplace_back(session_rank(seed, name), name);
    std::sort(ranked.begin(), ranked.end());
    for (std::size_t k = count; k < ranked.size(); ++k) names.erase(ranked[k].second);
    std::erase_if(raw.rows, [&](const TraceRow& row) { return !names.contains(*row.session); });
    return true;
}

/// Arrivals in seconds from the first, with groups of equal stamps spread until the next stamp.
std::vector<Seconds> arrivals(const std::vector<TraceRow>& rows) {
    std::vector<Seconds> times;
    times.reserve(rows.size());
    for (const TraceRow& row : rows) times.push_back(row.timestamp_ms / 1000);
    for (std::size_t begin = 0; begin < times.size();) {
        std::size_t end = begin;
        const Seconds stamp = times[begin];
        while (end < times.size() && times[end] == stamp) ++end;
        const Seconds gap = end < times.size() ? times[end] - stamp : kLastSpread;
        const Seconds spread = std::min(gap, kLongestSpread);
        for (std::size_t k = begin; k < end; ++k) {
            times[k] =
                stamp + spread * static_cast<double>(k - begin) / static_cast<double>(end - begin);
        }
        begin = end;
    }
    const Seconds start = times.front();
    for (Seconds& time : times) time -= start;
    return times;
}

/// Turns blocks of unequal size into blocks of `size` tokens. A new block is named after the old
/// one that its last token lies in. The size of an old block is that of its first appearance:
/// estimates may drift over a recording, and equal prefixes must stay equal.
class Reblocker {
  public:
    explicit Reblocker(Tokens size) : size_(size) {}

    void convert(TraceRow& row) {
        if (row.block_tokens.empty()) return;
        std::vector<std::uint64_t> ids;
        Tokens end = 0;
        for (std::size_t k = 0; k < row.hash_ids.size(); ++k) {
            const std::uint64_t id = row.hash_ids[k];
            end += first_size_.try_emplace(id, row.block_tokens[k]).first->second;
            end = std::min(end, row.input_length);  // what is beyond is no part of the prompt
            while (static_cast<Tokens>(ids.size() + 1) * size_ <= end) {
                ids.push_back(mix(id, ids.size()));
            }
        }
        row.hash_ids = std::move(ids);
    }

  private:
    Tokens size_;
    std::unordered_map<std::uint64_t, std::uint32_t> first_size_;
};

class Builder {
  public:
    Builder(Trace& trace, bool cache_answers) : trace_(trace), cache_answers_(cache_answers) {}

    void add(const TraceRow& row, Seconds arrival) {
        TraceRequest request;
        request.arrival = arrival;
        request.prompt_tokens = row.input_length;
        request.output_tokens = row.output_length;
        request.think = row.think_s;
        request.first_block = trace_.blocks.size();
        request.block_count = add_blocks(row);
        trace_.requests.push_back(request);
        if (row.session) link(*row.session);
    }

  private:
    std::size_t add_blocks(const TraceRow& row) {
        const auto inside = static_cast<std::size_t>(row.input_length / trace_.block_tokens);
        const std::size_t limit = std::min(row.hash_ids.size(), inside);
        // Chained again here: a file whose ids name blocks and not prefixes is read right too.
        std::uint64_t chain = 0;
        for (std::size_t k = 0; k < limit; ++k) {
            chain = mix(chain, row.hash_ids[k]);
            trace_.blocks.push_back(intern(chain, row.hash_ids[k]));
        }
        return limit;
    }

    std::uint64_t intern(std::uint64_t chain, std::uint64_t recorded) {
        std::uint32_t dense = index_.find(chain);
        if (dense == FlatIndex::kNone) {
            dense = static_cast<std::uint32_t>(trace_.recorded_ids.size());
            index_.insert(chain, dense);
            trace_.recorded_ids.push_back(recorded);
        }
        return dense;
    }

    void link(const std::string& session) {
        trace_.has_sessions = true;
        const std::size_t number = trace_.requests.size() - 1;
        const auto [last, is_new] = last_turn_.try_emplace(session, number);
        if (is_new) return;
        trace_.requests[number].opens_session = false;
        trace_.requests[last->second].next_turn = number;
        if (cache_answers_) note_answer(trace_.requests[last->second], trace_.requests[number]);
        last->second = number;
    }

    /// The part of the next prompt that lies inside this prompt and its answer.
    void note_answer(TraceRequest& request, const TraceRequest& next) const {
        const auto prompt = trace_.prompt_blocks(request);
        const auto longer = trace_.prompt_blocks(next);
        if (longer.size() < prompt.size()) return;
        if (!std::equal(prompt.begin(), prompt.end(), longer.begin())) return;
        const auto whole = static_cast<std::size_t>(
            (request.prompt_tokens + request.output_tokens) / trace_.block_tokens);
        request.first_answer_block = next.first_block + prompt.size();
        request.answer_block_count =
            std::min(whole, longer.size()) - std::min(whole, prompt.size());
    }

    Trace& trace_;
    bool cache_answers_;
    FlatIndex index_;
    std::unordered_map<std::string, std::size_t> last_turn_;
};

}  // namespace

std::span<const std::uint64_t> Trace::prompt_blocks(const TraceRequest& request) const {
    return std::span(blocks).subspan(request.first_block, request.block_count);
}

std::span<const std::uint64_t> Trace::answer_blocks(const TraceRequest& request) const {
    return std::span(blocks).subspan(request.first_answer_block, request.answer_block_count);
}

Result<Trace> load_trace(const std::string& path, const TraceOptions& options) {
    auto raw = read_rows(path);
    if (!raw) return raw.error();
    if (options.sessions > 0) {
        const auto kept = keep_sessions(*raw, options.sessions, options.seed);
        if (!kept) return kept.error();
    }
    Trace trace;
    trace.name = path.substr(path.find_last_of('/') + 1);
    trace.block_tokens = options.block_tokens.value_or(raw->block_size.value_or(kDefaultBlock));
    std::stable_sort(raw->rows.begin(), raw->rows.end(), [](const TraceRow& a, const TraceRow& b) {
        return a.timestamp_ms < b.timestamp_ms;
    });
    const std::vector<Seconds> times = arrivals(raw->rows);
    Reblocker reblocker(trace.block_tokens);
    Builder builder(trace, options.cache_answers);
    for (std::size_t k = 0; k < raw->rows.size() && times[k] < options.until; ++k) {
        reblocker.convert(raw->rows[k]);
        builder.add(raw->rows[k], times[k]);
    }
    return trace;
}

}  // namespace prefix_router::sim
