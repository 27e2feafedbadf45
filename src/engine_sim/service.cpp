#include "engine_sim/service.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>

#include "engine_sim/answer_format.hpp"
#include "engine_sim/http_text.hpp"
#include "engine_sim/settings.hpp"

namespace prefix_router::engine_sim {
namespace {

constexpr std::string_view kJson = "application/json";

/// Counts a generating request while it is alive.
class LoadGuard {
  public:
    explicit LoadGuard(std::size_t& load) : load_(load) { ++load_; }
    ~LoadGuard() { --load_; }
    LoadGuard(const LoadGuard&) = delete;
    LoadGuard& operator=(const LoadGuard&) = delete;

  private:
    std::size_t& load_;
};

Afterwards after(const HttpRequest& request, bool is_sent) {
    if (!is_sent) return Afterwards::Drop;
    return request.keep_alive ? Afterwards::KeepAlive : Afterwards::Close;
}

}  // namespace

Service::Service(net::io_context& io, const Options& options)
    : options_(options), engine_(io, options.engine, options.time_scale), random_(options.seed) {}

Awaitable<Afterwards> Service::answer(ClientConnection& client, const HttpRequest& request) {
    const std::optional<Api> api = api_of_path(request.path);
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (api && request.method == "POST") {
        const Afterwards afterwards = co_await generate(client, request, *api);
        co_return afterwards;
    }
    if (!api && is_read) {
        const Afterwards afterwards = co_await answer_get(client, request);
        co_return afterwards;
    }
    if (request.path == "/reset_prefix_cache" && request.method == "POST") {
        engine_.flush();
        const Afterwards afterwards = co_await reply(client, request, kJson, "{}");
        co_return afterwards;
    }
    if (request.path == "/engine_sim/settings" && request.method == "POST") {
        const std::string complaint = change_settings(engine_, request.body);
        if (complaint.empty()) {
            const Afterwards afterwards = co_await reply(client, request, kJson, "{}");
            co_return afterwards;
        }
        const ApiError refusal = bad_request(complaint);
        const Afterwards afterwards = co_await refuse(client, request, refusal);
        co_return afterwards;
    }
    const ApiError error = api ? wrong_method() : unknown_path(request.path);
    const Afterwards afterwards = co_await refuse(client, request, error);
    co_return afterwards;
}

Awaitable<Afterwards> Service::answer_get(ClientConnection& client, const HttpRequest& request) {
    std::string body;
    std::string_view type = kJson;
    if (request.path == "/health" || request.path == "/ping") {
        type = "text/plain";
    } else if (request.path == "/v1/models") {
        body = models_json();
    } else if (request.path == "/load") {
        body = "{\"server_load\":" + std::to_string(load_) + "}";
    } else if (request.path == "/metrics") {
        type = "text/plain; version=0.0.4; charset=utf-8";
        body = metrics_page(engine_.engine(), counters_, options_.models.front(),
                            options_.habits.tells_capacity);
    } else {
        const ApiError error = unknown_path(request.path);
        const Afterwards afterwards = co_await refuse(client, request, error);
        co_return afterwards;
    }
    const Afterwards afterwards = co_await reply(client, request, type, body);
    co_return afterwards;
}

Awaitable<Afterwards> Service::generate(ClientConnection& client, const HttpRequest& request,
                                        Api api) {
    Result<ApiRequest> parsed = read_request(api, request.body, options_.max_tokens);
    std::optional<ApiError> refusal;
    Computation computation;
    if (!parsed)
        refusal = bad_request(parsed.error().message());
    else if (!serves(parsed->model))
        refusal = unknown_model(parsed->model);
    if (!refusal) {
        if (parsed->model.empty()) parsed->model = options_.models.front();
        refusal = computation.start(engine_, *parsed, client);
    }
    if (refusal) {
        const Afterwards afterwards = co_await refuse(client, request, *refusal);
        co_return afterwards;
    }
    const LoadGuard guard(load_);
    const std::unique_ptr<AnswerFormat> format = make_answer_format(*parsed, next_name(*parsed));
    client.begin_watch();
    Afterwards afterwards = Afterwards::Drop;
    if (parsed->stream)
        afterwards = co_await answer_stream(client, request, computation, *format);
    else
        afterwards = co_await answer_whole(client, request, computation, *format);
    client.end_watch();
    co_return afterwards;
}

Awaitable<Afterwards> Service::answer_whole(ClientConnection& client, const HttpRequest& request,
                                            Computation& computation, const AnswerFormat& format) {
    while (!computation.is_finished() && !client.departed()) co_await client.wait_for_progress();
    if (client.departed()) {
        if (options_.habits.abort_non_streaming)
            ++counters_.aborts;
        else
            computation.release();
        co_return Afterwards::Drop;
    }
    if (computation.is_dropped()) {
        ++counters_.faults;
        const ApiError error = engine_died();
        const Afterwards afterwards = co_await refuse(client, request, error);
        co_return afterwards;
    }
    count_answer(computation);
    const std::string body = format.whole(computation.texts(), computation.usage());
    const Afterwards afterwards = co_await reply(client, request, kJson, body);
    co_return afterwards;
}

Awaitable<Afterwards> Service::answer_stream(ClientConnection& client, const HttpRequest& request,
                                             Computation& computation, const AnswerFormat& format) {
    // The head goes out at once, long before the first token, as vLLM's does.
    const std::string head = stream_head(request, options_.habits.close_after_stream);
    const bool is_sent = co_await client.send(head);
    StreamEnd end = StreamEnd::ClientLeft;
    const StreamFault fault = draw_fault(computation);
    if (is_sent) end = co_await stream_answer(client, request, computation, format, fault);
    switch (end) {
        case StreamEnd::ClientLeft:
            ++counters_.aborts;
            co_return Afterwards::Drop;
        case StreamEnd::Dropped:
            ++counters_.faults;
            co_return Afterwards::Drop;
        case StreamEnd::ErrorEvent:
            ++counters_.faults;
            break;
        case StreamEnd::Complete:
            count_answer(computation);
            break;
    }
    const bool closes = options_.habits.close_after_stream || request.is_http_1_0;
    co_return closes ? Afterwards::Close : after(request, true);
}

Awaitable<Afterwards> Service::refuse(ClientConnection& client, const HttpRequest& request,
                                      const ApiError& error) {
    const std::string text = whole_answer(request, error.status, kJson, error.to_json());
    const bool is_sent = co_await client.send(text);
    co_return after(request, is_sent);
}

Awaitable<Afterwards> Service::reply(ClientConnection& client, const HttpRequest& request,
                                     std::string_view content_type, std::string_view body) {
    const std::string text = whole_answer(request, 200, content_type, body);
    const bool is_sent = co_await client.send(text);
    co_return after(request, is_sent);
}

bool Service::serves(const std::string& model) const {
    return options_.any_model || model.empty() ||
           std::find(options_.models.begin(), options_.models.end(), model) !=
               options_.models.end();
}

AnswerName Service::next_name(const ApiRequest& request) {
    const char* prefix = request.api == Api::ChatCompletions ? "chatcmpl-"
                         : request.api == Api::Completions   ? "cmpl-"
                         : request.api == Api::Responses     ? "resp_"
                                                             : "msg_";
    AnswerName name;
    name.id = prefix + std::to_string(port_) + "-" + std::to_string(++answers_named_);
    name.model = request.model;
    name.created = static_cast<std::int64_t>(std::time(nullptr));
    return name;
}

StreamFault Service::draw_fault(const Computation& computation) {
    StreamFault fault;
    const auto total = static_cast<std::uint64_t>(computation.generation(0).total);
    const double drawn = random_.unit();
    if (drawn < options_.habits.error_event_rate)
        fault.kind = StreamFault::Kind::ErrorEvent;
    else if (drawn < options_.habits.error_event_rate + options_.habits.die_mid_stream_rate)
        fault.kind = StreamFault::Kind::Drop;
    fault.after = 1 + static_cast<Tokens>(random_.below(total));
    return fault;
}

void Service::count_answer(const Computation& computation) {
    ++counters_.answers;
    counters_.generated_tokens += static_cast<std::uint64_t>(computation.usage().completion_tokens);
}

std::string Service::models_json() const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const std::string& model : options_.models)
        list.push_back({{"id", model},
                        {"object", "model"},
                        {"created", 0},
                        {"owned_by", "engine-sim"},
                        {"max_model_len", options_.engine.kv_tokens}});
    return nlohmann::ordered_json{{"object", "list"}, {"data", std::move(list)}}.dump();
}

}  // namespace prefix_router::engine_sim
