// Whose request it is, and what that client may do.
#include <algorithm>
#include <chrono>

#include <prometheus/counter.h>

#include "prefix_router/http/credentials.hpp"

#include "proxy/exchange.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

constexpr char kLowerCase = 0x20;

}  // namespace

/// Before the body is read: a stranger's is not kept in memory. False, with `failure_`, for one. A
/// browser's preflight has no key to show; the request that it asks for has.
bool Exchange::knows_client() {
    const ApiKeys& keys = context_.settings->api_keys;
    if (!keys.are_asked_for()) {
        return true;
    }
    key_ = keys.find(http::presented_key(head_));
    if (key_ == nullptr && !http::is_preflight(head_)) {
        fail(ErrorKind::InvalidApiKey);
        return false;
    }
    return true;
}

bool Exchange::is_strangers() const {
    return key_ == nullptr && context_.settings->api_keys.are_asked_for();
}

/// Once per request, after its body: a refused client keeps its connection.
bool Exchange::is_within_rate() {
    if (key_ == nullptr) {
        return true;
    }
    key_->metrics->requests.Increment();
    const Duration wait = key_->rate.take(now());
    if (wait > Duration::zero()) {
        key_->metrics->rate_limited.Increment();
        retry_after_ = std::chrono::ceil<std::chrono::seconds>(wait);
        fail(ErrorKind::RateLimited);
    }
    return !failure_;
}

/// A client with a list of models may not ask for one that cannot be read off its request, or that
/// its engine may read in another way, but what has no body asks for none. `facts`: as the
/// dialect's reader found them.
bool Exchange::may_use_model(const prompt::RequestFacts& facts) {
    if (key_ == nullptr || key_->spec.models.empty()) {
        return true;
    }
    const bool asks_for_none =
        (head_.method() == "GET" || head_.is_head()) && body_size_ == 0 && !head_.wants_upgrade();
    if (asks_for_none) {
        return true;
    }
    const bool is_unknown = dialect_ == prompt::Dialect::None;
    const std::string_view body(body_.data(), body_size_);
    const prompt::RequestFacts& named = is_unknown ? context_.reader.read_model(body) : facts;
    if (named.is_model_doubtful || !key_->may_use(named.model) ||
        (is_unknown && !has_json_body())) {
        fail(ErrorKind::ModelForbidden);
    }
    return !failure_;
}

/// By its own word: a form can be written so that it reads as JSON, too.
bool Exchange::has_json_body() const {
    constexpr std::string_view kJson = "json";
    std::string_view type = head_.field("content-type");
    type = type.substr(0, type.find(';'));
    type = type.substr(0, type.find_last_not_of(' ') + 1);
    type.remove_prefix(type.size() - std::min(type.size(), kJson.size()));
    return std::ranges::equal(type, kJson,
                              [](char c, char lower) { return (c | kLowerCase) == lower; });
}

/// Who must not profit from what others asked; 0: nobody in particular.
std::uint64_t Exchange::isolated_tenant() const {
    if (!context_.config().routing.isolate_tenants) {
        return 0;
    }
    return key_ != nullptr ? key_->tenant : head_.credential_hash();
}

}  // namespace prefix_router::proxy
