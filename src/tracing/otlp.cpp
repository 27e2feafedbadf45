#include "tracing/otlp.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace prefix_router::tracing {
namespace {

using nlohmann::json;

constexpr int kServerKind = 2;
constexpr int kErrorStatus = 2;

/// 64-bit integers are strings in protobuf's JSON.
json value_json(const AttributeValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return {{"intValue", std::to_string(*number)}};
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return {{"doubleValue", *number}};
    }
    return {{"stringValue", std::get<std::string>(value)}};
}

json attribute_json(std::string_view name, const AttributeValue& value) {
    return {{"key", name}, {"value", value_json(value)}};
}

template <class Id>
std::string hex(const Id& id) {
    std::string text;
    append_hex(text, id.data(), id.size());
    return text;
}

json span_json(const Span& span) {
    json attributes = json::array();
    for (const auto& [name, value] : span.attributes) {
        attributes.push_back(attribute_json(name, value));
    }
    json out{
        {"traceId", hex(span.context.trace)},
        {"spanId", hex(span.context.span)},
        {"flags", span.context.flags},
        {"name", span.name},
        {"kind", kServerKind},
        {"startTimeUnixNano", std::to_string(span.start.count())},
        {"endTimeUnixNano", std::to_string(span.end.count())},
        {"attributes", std::move(attributes)},
        {"status", span.has_failed ? json{{"code", kErrorStatus}} : json::object()},
    };
    if (span.parent) {
        out["parentSpanId"] = hex(*span.parent);
    }
    if (!span.trace_state.empty()) {
        out["traceState"] = span.trace_state;
    }
    return out;
}

}  // namespace

std::string encode_spans(const Service& service, std::span<const Span> spans) {
    json list = json::array();
    for (const Span& span : spans) {
        list.push_back(span_json(span));
    }
    json resource{
        {"attributes", json::array({attribute_json("service.name", service.name),
                                    attribute_json("service.version", service.version),
                                    attribute_json("service.instance.id", service.instance)})}};
    json scope{{"name", "prefix-router"}, {"version", service.version}};
    json scope_spans{{"scope", std::move(scope)}, {"spans", std::move(list)}};
    json resource_spans{{"resource", std::move(resource)},
                        {"scopeSpans", json::array({std::move(scope_spans)})}};
    const json request{{"resourceSpans", json::array({std::move(resource_spans)})}};
    return request.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::uint64_t rejected_spans(std::string_view answer) {
    const json value = json::parse(answer, nullptr, false);
    const json pointer = value.is_object() ? value.value("partialSuccess", json()) : json();
    if (!pointer.is_object() || !pointer.contains("rejectedSpans")) {
        return 0;
    }
    const json& count = pointer["rejectedSpans"];
    if (count.is_number_unsigned()) {
        return count.get<std::uint64_t>();
    }
    const std::string text = count.is_string() ? count.get<std::string>() : std::string();
    const bool is_number = !text.empty() && text.size() < 10 &&
                           text.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? std::stoull(text) : 0;
}

}  // namespace prefix_router::tracing
