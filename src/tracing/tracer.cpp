#include "prefix_router/tracing/tracer.hpp"

#include <cmath>
#include <utility>

#include "prefix_router/tracing/headers.hpp"

#include "tracing/exporter.hpp"

namespace prefix_router::tracing {
namespace {

constexpr std::string_view kPath = "/v1/traces";

/// The collector's address, or that of its traces.
std::string traces_url(std::string endpoint) {
    if (!endpoint.ends_with(kPath)) {
        endpoint += kPath;
    }
    return endpoint;
}

/// As OpenTelemetry's ratio sampler: by the last seven bytes of the trace id, so that all who
/// sample one ratio sample the same traces.
std::uint64_t random_part(const TraceId& trace) {
    std::uint64_t bits = 0;
    for (std::size_t i = 9; i < trace.size(); ++i) {
        bits = bits << 8 | trace[i];
    }
    return bits;
}

std::string instance_id() {
    Random random(seed_from_system());
    const SpanId id = make_span_id(random);
    std::string text;
    append_hex(text, id.data(), id.size());
    return text;
}

}  // namespace

Result<std::unique_ptr<Tracer>> Tracer::start(const config::Tracing& config,
                                              const std::string& version, Metrics& metrics) {
    web::HttpRequest request;
    request.method = "POST";
    request.url = traces_url(*config.endpoint);
    request.most_body_bytes = std::size_t{64} << 10;
    request.headers = {"Content-Type: application/json", "User-Agent: prefix-router/" + version};
    if (config.headers) {
        auto headers = load_headers(*config.headers);
        if (!headers) {
            return headers.error();
        }
        for (std::string& header : *headers) {
            request.headers.push_back(std::move(header));
        }
    }
    auto exporter = std::make_unique<Exporter>(
        std::move(request), Service{config.service_name, version, instance_id()}, metrics);
    return std::unique_ptr<Tracer>(new Tracer(config.sample_ratio, std::move(exporter)));
}

Tracer::Tracer(double sample_ratio, std::unique_ptr<Exporter> exporter)
    : sampled_below_(static_cast<std::uint64_t>(std::ldexp(sample_ratio, 56))),
      samples_all_(sample_ratio >= 1),
      exporter_(std::move(exporter)) {}

Tracer::~Tracer() = default;

TraceContext Tracer::begin(const std::optional<TraceContext>& parent, Random& random) const {
    TraceContext context;
    context.span = make_span_id(random);
    if (parent) {
        context.trace = parent->trace;
        context.flags = parent->flags;
        return context;
    }
    context.trace = make_trace_id(random);
    if (samples_all_ || random_part(context.trace) < sampled_below_) {
        context.flags = TraceContext::kSampled;
    }
    return context;
}

void Tracer::end(Span span) {
    exporter_->offer(std::move(span));
}

}  // namespace prefix_router::tracing
