#include "admin/backend_requests.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "prefix_router/base/logging.hpp"

namespace prefix_router::admin {
namespace {

using nlohmann::json;
using Kind = config::BackendAuthorization::Kind;

constexpr std::array<std::string_view, 3> kFields{"weight", "capacity_tokens", "models"};

/// Whether it can be copied and written: both are recursive, and a client says how deep it is.
bool is_flat(const json& value) {
    const auto is_primitive = [](const json& item) { return item.is_primitive(); };
    return is_primitive(value) || (value.is_array() && std::ranges::all_of(value, is_primitive));
}

Error refused(const std::string& why) {
    return Error(ErrorKind::InvalidConfiguration, why);
}

}  // namespace

Result<config::Backend> read_new_backend(const std::string& body) {
    auto backend = config::parse_backend(body);
    if (!backend) {
        return backend;
    }
    const bool names_a_secret = backend->authorization.kind == Kind::Environment ||
                                backend->authorization.kind == Kind::File;
    if (names_a_secret || backend->tls.client_key || backend->tls.ca) {
        return refused(
            "authorization: env:, file: and files of tls are taken from the configuration only");
    }
    return backend;
}

Result<proxy::Roster::Wishes> read_wishes(const std::string& body) {
    json fields = json::parse(body, nullptr, false);
    const auto is_known = [](const auto& field) {
        return std::ranges::find(kFields, field.key()) != kFields.end() && is_flat(field.value());
    };
    bool is_good = fields.is_object() && !fields.empty();
    for (auto field = fields.begin(); is_good && field != fields.end(); ++field) {
        is_good = is_known(field);
    }
    if (!is_good) {
        return refused(
            R"(send what to set of weight, capacity_tokens and models, such as {"weight": 2})");
    }
    json entry = fields;
    entry["url"] = "http://unused:1";
    auto read = config::parse_backend(entry.dump(-1, ' ', false, json::error_handler_t::replace));
    if (!read) {
        return read.error();
    }
    proxy::Roster::Wishes wishes;
    if (fields.contains("weight")) {
        wishes.weight = read->weight;
    }
    if (fields.contains("capacity_tokens")) {
        wishes.capacity_tokens = read->capacity_tokens;
    }
    if (fields.contains("models")) {
        wishes.models = std::move(read->models);
    }
    return wishes;
}

std::string in_words(const proxy::Roster::Wishes& wishes) {
    std::string words;
    const auto add = [&words](const std::string& what) {
        words += (words.empty() ? "" : ", ") + what;
    };
    if (wishes.weight) {
        add("weight " + json(*wishes.weight).dump());
    }
    if (wishes.capacity_tokens) {
        const auto& capacity = *wishes.capacity_tokens;
        add("capacity_tokens " + (capacity ? std::to_string(*capacity) : "auto"));
    }
    if (wishes.models) {
        std::string names;
        for (const std::string& name : *wishes.models) {
            names += (names.empty() ? "" : " ") + escape_for_log(name);
        }
        add("models [" + names + "]");
    }
    return words;
}

}  // namespace prefix_router::admin
