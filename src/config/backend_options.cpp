#include "config/make_option.hpp"

namespace prefix_router::config {

const OptionTable<Backend>& backend_options() {
    static const OptionTable<Backend> table{
        option(
            "url", Reload::Live, &Backend::url, BackendUrlCodec{},
            "Where the inference server listens, such as http://host:8000. A base path goes before "
            "every request's path, which has its /v1 already. Required."),
        option("id", Reload::Live, &Backend::id, backend_ids(),
               "Its name in metrics, logs and the decision header. By default 8 hex digits of a "
               "hash of the URL, the same after every restart."),
        option("models", Reload::Live, &Backend::models, ModelNamesCodec{},
               "The models that it serves. An empty list asks its /v1/models."),
        option("weight", Reload::Live, &Backend::weight, RealCodec{0.001, 1000},
               "Its share under round_robin, random and least_outstanding_requests. adaptive "
               "measures each backend's speed instead."),
        option(
            "capacity_tokens", Reload::Live, &Backend::capacity_tokens,
            OrNoneCodec<IntegerCodec<Tokens>>{"auto", {1024, 10'000'000'000}},
            "Tokens that its KV cache holds, where its engine's /metrics do not say so: what they "
            "say counts instead, and the log tells when it is another number. auto asks the "
            "engine in other ways, too, else learns it from the cached tokens that answers "
            "report."),
        option("lanes", Reload::Live, &Backend::lanes, OrNoneCodec<RealCodec>{"auto", {1, 1024}},
               "Prompts that it computes side by side at full speed, such as its data-parallel "
               "ranks. auto learns it."),
        option("max_in_flight", Reload::Live, &Backend::max_in_flight,
               OrNoneCodec<IntegerCodec<std::uint32_t>>{"default", {1, 1'000'000}},
               "Requests that it gets at a time, retries included; more wait in the router, where "
               "the order can still change. A little above what the engine runs at once (vLLM: "
               "--max-num-seqs). default is limits.max_in_flight_per_backend."),
        option("authorization", Reload::Live, &Backend::authorization, AuthorizationCodec{},
               "What it gets as Authorization. pass: what the client sent; remove: neither that "
               "nor X-Api-Key; env:NAME or file:/PATH: the variable's value or the file's first "
               "line instead, such as 'Bearer KEY', in probes too. auto passes, but removes where "
               "api_keys are configured."),
    };
    return table;
}

const OptionTable<BackendTls>& backend_tls_options() {
    static const OptionTable<BackendTls> table{
        option("verify", Reload::Live, &BackendTls::verify, FlagCodec{},
               "Whether the backend's certificate must be valid for its name. false lets anybody "
               "between the router and the backend read and change everything: for tests."),
        option("ca", Reload::Live, &BackendTls::ca, OrNoneCodec<FileCodec>{"system", {}},
               "Who may sign the backend's certificate: the system's authorities, or those in a "
               "PEM file of your own."),
        option("server_name", Reload::Live, &BackendTls::server_name,
               OrNoneCodec<NameCodec>{"auto", host_names()},
               "The name to ask for (SNI) and to find in the certificate; auto is the URL's host. "
               "For backends that are dialled by address."),
        option("client_certificate", Reload::Live, &BackendTls::client_certificate,
               OrNoneCodec<FileCodec>{"off", {}},
               "PEM file of the certificate, with its chain, that the router shows to the "
               "backend."),
        option("client_key", Reload::Live, &BackendTls::client_key,
               OrNoneCodec<FileCodec>{"off", {}}, "PEM file of its private key."),
    };
    return table;
}

}  // namespace prefix_router::config
