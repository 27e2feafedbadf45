#include "discovery/endpoint_slice.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace prefix_router::discovery {
namespace {

using Json = nlohmann::json;

Error unexpected(const std::string& what) {
    return Error(ErrorKind::BadResponse, "the API server's answer is not understood: " + what);
}

/// The member of an object; null where there is none.
const Json& member(const Json& object, const char* key) {
    static const Json null;
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : null;
}

std::string text(const Json& object, const char* key) {
    const Json& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : "";
}

bool condition(const Json& conditions, const char* key, bool if_absent) {
    const Json& value = member(conditions, key);
    return value.is_boolean() ? value.get<bool>() : if_absent;
}

std::optional<EndpointSlice::Family> parse_family(const std::string& type) {
    if (type == "IPv4") {
        return EndpointSlice::Family::Ipv4;
    }
    if (type == "IPv6") {
        return EndpointSlice::Family::Ipv6;
    }
    return type == "FQDN" ? std::optional(EndpointSlice::Family::Name) : std::nullopt;
}

SliceEndpoint endpoint_of(const Json& json) {
    SliceEndpoint endpoint;
    // "Consumers should use the first": they are the same endpoint's.
    const Json& addresses = member(json, "addresses");
    if (addresses.is_array() && !addresses.empty() && addresses.front().is_string()) {
        endpoint.address = addresses.front().get<std::string>();
    }
    const Json& target = member(json, "targetRef");
    if (text(target, "kind") == "Pod") {
        endpoint.pod = text(target, "name");
    }
    const Json& conditions = member(json, "conditions");
    const bool is_ready = condition(conditions, "ready", true);
    endpoint.is_usable = is_ready && condition(conditions, "serving", is_ready) &&
                         !condition(conditions, "terminating", false);
    return endpoint;
}

SlicePort port_of(const Json& json) {
    SlicePort port;
    port.name = text(json, "name");
    const Json& number = member(json, "port");
    if (number.is_number_unsigned() && number.get<std::uint64_t>() >= 1 &&
        number.get<std::uint64_t>() <= 65'535) {
        port.number = static_cast<std::uint16_t>(number.get<std::uint64_t>());
    }
    return port;
}

Result<EndpointSlice> slice_of(const Json& json) {
    EndpointSlice slice;
    slice.name = text(member(json, "metadata"), "name");
    const auto family = parse_family(text(json, "addressType"));
    if (slice.name.empty() || !family) {
        return unexpected("an EndpointSlice has no name or no known addressType");
    }
    slice.family = *family;
    for (const Json& endpoint : member(json, "endpoints")) {
        if (auto one = endpoint_of(endpoint); !one.address.empty()) {
            slice.endpoints.push_back(std::move(one));
        }
    }
    for (const Json& port : member(json, "ports")) {
        slice.ports.push_back(port_of(port));
    }
    return slice;
}

Json parse(std::string_view json) {
    return Json::parse(json, nullptr, false);
}

/// The object of an ERROR event is a Status.
SliceEvent failure_of(const Json& status) {
    constexpr int kGone = 410;
    SliceEvent event;
    const Json& code = member(status, "code");
    const bool is_gone = code.is_number_integer() && code.get<std::int64_t>() == kGone;
    event.kind = is_gone ? SliceEvent::Kind::Expired : SliceEvent::Kind::Failed;
    event.message = text(status, "message");
    return event;
}

}  // namespace

Result<SliceList> parse_slice_list(std::string_view json) {
    const Json root = parse(json);
    SliceList list;
    list.resource_version = text(member(root, "metadata"), "resourceVersion");
    if (text(root, "kind") != "EndpointSliceList" || list.resource_version.empty()) {
        return unexpected("it is no EndpointSliceList with a resourceVersion");
    }
    for (const Json& item : member(root, "items")) {
        auto slice = slice_of(item);
        if (slice.has_error()) {
            return slice.error();
        }
        list.slices.push_back(std::move(*slice));
    }
    return list;
}

Result<SliceEvent> parse_slice_event(std::string_view json) {
    const Json root = parse(json);
    const std::string type = text(root, "type");
    const Json& object = member(root, "object");
    if (type == "ERROR") {
        return failure_of(object);
    }
    SliceEvent event;
    event.resource_version = text(member(object, "metadata"), "resourceVersion");
    if (event.resource_version.empty()) {
        return unexpected("an event of a watch has no resourceVersion");
    }
    if (type == "BOOKMARK") {
        return event;
    }
    if (type != "ADDED" && type != "MODIFIED" && type != "DELETED") {
        return unexpected("an event of a watch has an unknown type");
    }
    auto slice = slice_of(object);
    if (slice.has_error()) {
        return slice.error();
    }
    event.kind = type == "DELETED" ? SliceEvent::Kind::Deleted : SliceEvent::Kind::Put;
    event.slice = std::move(*slice);
    return event;
}

std::string status_message(std::string_view json) {
    return text(parse(json), "message");
}

}  // namespace prefix_router::discovery
