#include "config/make_option.hpp"

namespace prefix_router::config {

const OptionTable<AdminToken>& admin_token_options() {
    static const OptionTable<AdminToken> table{
        option("name", Reload::Restart, &AdminToken::name, backend_ids(),
               "Whose token it is, in the log. Required."),
        option("sha256", Reload::Restart, &AdminToken::sha256, Sha256Codec{},
               "The token's hash, made by 'prefix-router hash-key'. Required."),
    };
    return table;
}

const OptionTable<ApiKey>& api_key_options() {
    static const OptionTable<ApiKey> table{
        option("name", Reload::Live, &ApiKey::name, backend_ids(),
               "Whose key it is, in logs and metrics. Required."),
        option("sha256", Reload::Live, &ApiKey::sha256, Sha256Codec{},
               "The key's hash: 'prefix-router hash-key' reads a key and prints it. Required."),
        option("priority", Reload::Live, &ApiKey::priority, priorities(),
               "Of its requests in the queue. queue.priority_header may lower it, never raise it."),
        option(
            "models", Reload::Live, &ApiKey::models, ModelNamesCodec{},
            "The models that it may use; others, and requests whose JSON body does not name one, "
            "once, get 403. An empty list allows all."),
        option("requests_per_second", Reload::Live, &ApiKey::requests_per_second,
               OrNoneCodec<RealCodec>{"off", {0.001, 1'000'000}},
               "Requests that it may send in the long run; above it the answer is 429 with "
               "Retry-After."),
        option("burst", Reload::Live, &ApiKey::burst, IntegerCodec<std::uint32_t>{1, 1'000'000},
               "Requests that it may send at once after a pause, where requests_per_second is "
               "set."),
    };
    return table;
}

}  // namespace prefix_router::config
