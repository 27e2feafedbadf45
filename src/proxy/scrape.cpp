#include "proxy/scrape.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

namespace prefix_router::proxy {
namespace {

using nlohmann::json;

constexpr std::size_t kMostModels = 1000;
constexpr std::size_t kLongestName = 256;
constexpr Tokens kMostSlots = 1024;
// More than any engine has, and so little that sums of two do not overflow.
constexpr Tokens kMostTokens = 1'000'000'000'000'000;

/// One line of an exposition: name, the text between its braces, value.
struct Sample {
    std::string_view name;
    std::string_view labels;
    double value = 0;
};

std::optional<double> read_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end == text.data() || !std::isfinite(value)) {
        return std::nullopt;
    }
    return value;
}

/// Where the label set that begins at `open` ends: a brace outside of quotes.
std::size_t end_of_labels(std::string_view line, std::size_t open) {
    bool is_quoted = false;
    for (std::size_t i = open + 1; i < line.size(); ++i) {
        if (is_quoted && line[i] == '\\') {
            ++i;
        } else if (line[i] == '"') {
            is_quoted = !is_quoted;
        } else if (line[i] == '}' && !is_quoted) {
            return i;
        }
    }
    return std::string_view::npos;
}

std::optional<Sample> read_sample(std::string_view line) {
    if (line.empty() || line.front() == '#') {
        return std::nullopt;
    }
    Sample sample;
    std::size_t after_name = line.find_first_of("{ ");
    if (after_name == std::string_view::npos) {
        return std::nullopt;
    }
    sample.name = line.substr(0, after_name);
    if (line[after_name] == '{') {
        const auto close = end_of_labels(line, after_name);
        if (close == std::string_view::npos) {
            return std::nullopt;
        }
        sample.labels = line.substr(after_name + 1, close - after_name - 1);
        after_name = close + 1;
    }
    const auto begin = line.find_first_not_of(' ', after_name);
    if (begin == std::string_view::npos) {
        return std::nullopt;
    }
    const auto value = read_number(line.substr(begin));
    if (!value) {
        return std::nullopt;
    }
    sample.value = *value;
    return sample;
}

/// The number in label `name`, as in num_gpu_blocks="512".
std::optional<double> label_number(std::string_view labels, std::string_view name) {
    const std::string pattern = std::string(name) + "=\"";
    for (std::size_t at = labels.find(pattern); at != std::string_view::npos;
         at = labels.find(pattern, at + 1)) {
        if (at == 0 || labels[at - 1] == ',' || labels[at - 1] == ' ') {
            return read_number(labels.substr(at + pattern.size()));
        }
    }
    return std::nullopt;
}

std::optional<double> vllm_capacity(std::string_view labels) {
    if (const auto tokens = label_number(labels, "kv_cache_size_tokens")) {
        return tokens;
    }
    const auto blocks = label_number(labels, "num_gpu_blocks");
    const auto size = label_number(labels, "block_size");
    if (blocks && size) {
        return *blocks * *size;
    }
    return std::nullopt;
}

Tokens bounded_sum(Tokens a, Tokens b) {
    return std::min(a + b, kMostTokens);
}

void add_capacity(std::optional<double> tokens, pool::ScrapedLoad& load) {
    if (tokens && *tokens >= 1 && *tokens < static_cast<double>(kMostTokens)) {
        load.capacity = bounded_sum(load.capacity.value_or(0), static_cast<Tokens>(*tokens));
    }
}

Engine engine_of(std::string_view name) {
    if (name.starts_with("vllm:")) {
        return Engine::Vllm;
    }
    if (name.starts_with("sglang:")) {
        return Engine::SgLang;
    }
    if (name.starts_with("llamacpp:")) {
        return Engine::LlamaCpp;
    }
    return name.starts_with("tgi_") ? Engine::Tgi : Engine::Unknown;
}

bool is_running(std::string_view name) {
    return name == "vllm:num_requests_running" || name == "sglang:num_running_reqs" ||
           name == "llamacpp:requests_processing" || name == "tgi_batch_current_size";
}

bool is_waiting(std::string_view name) {
    return name == "vllm:num_requests_waiting" || name == "sglang:num_queue_reqs" ||
           name == "llamacpp:requests_deferred" || name == "tgi_queue_size";
}

bool is_usage(std::string_view name) {
    return name == "vllm:kv_cache_usage_perc" || name == "vllm:gpu_cache_usage_perc" ||
           name == "sglang:token_usage" || name == "llamacpp:kv_cache_usage_ratio";
}

/// Finds the largest bucket with a sample in vLLM's histogram of tokens per engine step. Buckets
/// are cumulative and come in ascending order, one engine after the other.
class StepReader {
  public:
    void take(const Sample& sample, pool::ScrapedLoad& load) {
        const auto limit = label_number(sample.labels, "le");
        if (!limit) {
            return;  // +Inf
        }
        if (*limit <= last_limit_) {
            below_ = 0;
        }
        if (sample.value > below_ && *limit >= 1 && *limit < 1e9) {
            load.step = std::max(load.step.value_or(0), static_cast<Tokens>(*limit));
        }
        below_ = sample.value;
        last_limit_ = *limit;
    }

  private:
    double last_limit_ = 0;
    double below_ = 0;
};

void take(const Sample& sample, StepReader& steps, Exposition& out) {
    pool::ScrapedLoad& load = out.load;
    if (const Engine engine = engine_of(sample.name); engine != Engine::Unknown) {
        out.engine = engine;
    }
    if (is_running(sample.name)) {
        load.running = load.running.value_or(0) + sample.value;
    } else if (is_waiting(sample.name)) {
        load.waiting = load.waiting.value_or(0) + sample.value;
    } else if (is_usage(sample.name)) {
        load.kv_usage = std::max(load.kv_usage.value_or(0), sample.value);
    } else if (sample.name == "vllm:cache_config_info") {
        add_capacity(vllm_capacity(sample.labels), load);
    } else if (sample.name == "vllm:iteration_tokens_total_bucket") {
        steps.take(sample, load);
    } else if (sample.name == "sglang:max_total_num_tokens") {
        add_capacity(sample.value, load);
    }
}

/// A positive integer member, no larger than kMostTokens, or nullopt.
std::optional<Tokens> positive(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number_integer() || found->get<std::int64_t>() <= 0) {
        return std::nullopt;
    }
    return std::min(found->get<std::int64_t>(), kMostTokens);
}

}  // namespace

Exposition read_exposition(std::string_view text) {
    Exposition out;
    StepReader steps;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        if (const auto sample = read_sample(line)) {
            take(*sample, steps, out);
        }
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return out;
}

std::vector<std::string> read_models(std::string_view text) {
    std::vector<std::string> names;
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("data") || !document["data"].is_array()) {
        return names;
    }
    for (const json& model : document["data"]) {
        if (names.size() == kMostModels) {
            break;
        }
        if (!model.is_object() || !model.contains("id") || !model["id"].is_string()) {
            continue;
        }
        auto name = model["id"].get<std::string>();
        if (!name.empty() && name.size() <= kLongestName) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

EngineFacts read_sglang_facts(std::string_view text) {
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object()) {
        return {};
    }
    return {positive(document, "max_total_num_tokens"), positive(document, "chunked_prefill_size"),
            std::nullopt};
}

EngineFacts read_llamacpp_facts(std::string_view text) {
    const json document = json::parse(text, nullptr, false);
    EngineFacts facts;
    Tokens slots = 0;
    Tokens context = 0;
    if (document.is_array()) {
        for (const json& slot : document) {
            const auto own = slot.is_object() ? positive(slot, "n_ctx") : std::nullopt;
            slots += own ? 1 : 0;
            context = bounded_sum(context, own.value_or(0));
        }
    } else if (document.is_object() && document.contains("default_generation_settings") &&
               document["default_generation_settings"].is_object()) {
        slots = positive(document, "total_slots").value_or(1);
        context = positive(document["default_generation_settings"], "n_ctx").value_or(0);
        context = context > kMostTokens / slots ? kMostTokens : context * slots;
    }
    if (context > 0) {
        facts.capacity = context;
        facts.slots =
            slots <= kMostSlots ? std::optional(static_cast<std::uint32_t>(slots)) : std::nullopt;
    }
    return facts;
}

}  // namespace prefix_router::proxy
