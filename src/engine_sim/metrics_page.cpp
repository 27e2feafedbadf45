#include "engine_sim/metrics_page.hpp"

#include <cstdio>
#include <string_view>

namespace prefix_router::engine_sim {
namespace {

/// Writes families one after the other, all with the same base labels.
class Page {
  public:
    explicit Page(const std::string& model) {
        for (const char c : model) {
            if (c == '"' || c == '\\') base_ += '\\';
            base_ += c;
        }
        base_ = "engine=\"0\",model_name=\"" + base_ + "\"";
    }

    void family(std::string_view name, std::string_view type, std::string_view help) {
        text_.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ");
        text_.append(name).append(" ").append(type).append("\n");
    }

    void sample(std::string_view name, double value, const std::string& labels = {}) {
        char number[32];
        static_cast<void>(std::snprintf(number, sizeof number, "%.17g", value));
        text_.append(name).append("{").append(base_);
        if (!labels.empty()) text_.append(",").append(labels);
        text_.append("} ").append(number).append("\n");
    }

    void gauge(std::string_view name, double value, std::string_view help) {
        family(name, "gauge", help);
        sample(name, value);
    }

    void counter(std::string_view name, std::uint64_t value, std::string_view help) {
        family(name, "counter", help);
        sample(name, static_cast<double>(value));
    }

    std::string take() { return std::move(text_); }

  private:
    std::string base_;
    std::string text_;
};

std::string cache_labels(const sim::Engine& engine) {
    const auto blocks = static_cast<Tokens>(engine.total_blocks());
    const Tokens block = engine.options().block_tokens;
    return "block_size=\"" + std::to_string(block) + "\",num_gpu_blocks=\"" +
           std::to_string(blocks) + "\",kv_cache_size_tokens=\"" + std::to_string(blocks * block) +
           "\",enable_prefix_caching=\"True\"";
}

}  // namespace

std::string metrics_page(const sim::Engine& engine, const ServerCounters& counters,
                         const std::string& model, bool tells_capacity) {
    Page page(model);
    page.gauge("vllm:num_requests_running", static_cast<double>(engine.running()),
               "Requests prefilling or decoding.");
    page.gauge("vllm:num_requests_waiting", static_cast<double>(engine.waiting()),
               "Requests waiting for the prefill.");
    page.gauge("vllm:kv_cache_usage_perc", engine.kv_usage(),
               "Share of the KV cache held by running requests.");
    page.counter("vllm:prefix_cache_queries_total", engine.counters().prompt_tokens,
                 "Prompt tokens looked up in the prefix cache.");
    page.counter("vllm:prefix_cache_hits_total", engine.counters().cached_tokens,
                 "Prompt tokens found in the prefix cache.");
    page.counter("vllm:prompt_tokens_total", engine.counters().prompt_tokens, "Prompt tokens.");
    page.counter("vllm:generation_tokens_total", counters.generated_tokens, "Answer tokens.");
    page.family("vllm:request_success_total", "counter", "Requests ended, by reason.");
    page.sample("vllm:request_success_total", static_cast<double>(counters.answers),
                "finished_reason=\"stop\"");
    page.sample("vllm:request_success_total", static_cast<double>(counters.aborts),
                "finished_reason=\"abort\"");
    if (tells_capacity) {
        page.family("vllm:cache_config_info", "gauge", "Size of the KV cache.");
        page.sample("vllm:cache_config_info", 1, cache_labels(engine));
    }
    page.counter("engine_sim_evicted_blocks_total", engine.counters().evicted_blocks,
                 "Cached blocks given up for new ones.");
    page.counter("engine_sim_refused_total", engine.counters().refused,
                 "Requests refused because the queue was full.");
    page.counter("engine_sim_faults_total", counters.faults, "Streams broken on purpose.");
    return page.take();
}

}  // namespace prefix_router::engine_sim
