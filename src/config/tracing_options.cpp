#include "config/make_option.hpp"

namespace prefix_router::config {
namespace {

/// An http:// or https:// URL, as it is written.
struct CollectorCodec {
    Result<std::string> parse(const RawNode& node) const {
        const auto url = BackendUrlCodec{}.parse(node);
        if (url.has_error() || !url->unix_path.empty()) {
            return Error(ErrorKind::InvalidConfiguration,
                         "is no address of a collector; write " + accepts());
        }
        return url->text;
    }
    std::string show(const std::string& value) const { return yaml_text(value); }
    std::string accepts() const { return "a URL such as http://collector:4318"; }
};

}  // namespace

const OptionTable<Tracing>& tracing_options() {
    static const OptionTable<Tracing> table{
        option(
            "endpoint", Reload::Restart, &Tracing::endpoint, OrNoneCodec<CollectorCodec>{"off", {}},
            "The collector's address; spans are posted to /v1/traces there. With it the router's "
            "span is the parent of the backend's; without it traceparent and tracestate pass "
            "untouched."),
        option("headers", Reload::Restart, &Tracing::headers,
               OrNoneCodec<SecretSourceCodec>{"off", {}},
               "Where the headers are that the collector asks for, as name=value,name=value with "
               "percent-encoded values: env:OTEL_EXPORTER_OTLP_HEADERS, or the first line of a "
               "file."),
        option("sample_ratio", Reload::Restart, &Tracing::sample_ratio, RealCodec{0, 1},
               "Share of the traces that begin at the router and are recorded. A request that "
               "comes with a traceparent is recorded when that says so."),
        option(
            "service_name", Reload::Restart, &Tracing::service_name,
            NameCodec{128, [](char) { return true; }, "is no name", "a name of at most 128 bytes"},
            "What the spans name as their service (service.name)."),
    };
    return table;
}

}  // namespace prefix_router::config
