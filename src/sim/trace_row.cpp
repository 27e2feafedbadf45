#include "sim/trace_row.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "prefix_router/base/hash.hpp"

namespace prefix_router::sim {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kVersion = 1;
constexpr Tokens kLongestPrompt = 1'000'000'000;

Error malformed(const std::string& what) {
    return Error(ErrorKind::InvalidConfiguration, what);
}

Result<double> parse_number(const Json& object, const char* key, double low, double high) {
    const auto found = object.find(key);
    if (found == object.end()) return malformed(std::string("'") + key + "' is missing");
    if (!found->is_number()) return malformed(std::string("'") + key + "' is not a number");
    const double value = found->get<double>();
    if (!(value >= low && value <= high)) {
        return malformed(std::string("'") + key + "' is out of range: " + found->dump());
    }
    return value;
}

Result<double> parse_number_or(const Json& object, const char* key, double low, double high,
                               double missing) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return missing;
    return parse_number(object, key, low, high);
}

/// Block ids are integers of either sign or strings.
Result<std::uint64_t> parse_block_id(const Json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (value.is_number_integer()) return static_cast<std::uint64_t>(value.get<std::int64_t>());
    if (value.is_string()) return hash_bytes(value.get_ref<const std::string&>(), 0);
    return malformed("'hash_ids' holds something that is neither an integer nor a string");
}

Result<std::vector<std::uint64_t>> parse_hash_ids(const Json& ids) {
    if (!ids.is_array()) return malformed("'hash_ids' is not a list");
    std::vector<std::uint64_t> result;
    result.reserve(ids.size());
    for (const Json& value : ids) {
        const Result<std::uint64_t> id = parse_block_id(value);
        if (!id) return id.error();
        result.push_back(*id);
    }
    return result;
}

Result<std::vector<std::uint32_t>> parse_block_tokens(const Json& object, std::size_t blocks) {
    std::vector<std::uint32_t> result;
    const auto found = object.find("block_tokens");
    if (found == object.end()) return result;
    if (!found->is_array() || found->size() != blocks) {
        return malformed("'block_tokens' is not a list with one entry for each of 'hash_ids'");
    }
    for (const Json& value : *found) {
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
            value.get<std::uint64_t>() > kLongestPrompt) {
            return malformed("'block_tokens' holds something that is not a size: " + value.dump());
        }
        result.push_back(value.get<std::uint32_t>());
    }
    return result;
}

Result<TraceHeader> parse_header(const Json& object) {
    TraceHeader header;
    const auto version = object.find("version");
    if (version != object.end() && (!version->is_number_integer() || *version != kVersion)) {
        return malformed("trace version " + version->dump() +
                         " is not known to this program, which reads 1");
    }
    if (object.contains("block_size")) {
        const auto size = parse_number(object, "block_size", 1, 1 << 20);
        if (!size) return size.error();
        header.block_size = static_cast<Tokens>(*size);
    }
    return header;
}

Result<TraceRow> parse_row(const Json& object) {
    TraceRow row;
    const auto timestamp = parse_number(object, "timestamp", -1e15, 1e15);
    if (!timestamp) return timestamp.error();
    const auto input = parse_number(object, "input_length", 0, kLongestPrompt);
    if (!input) return input.error();
    const auto output = parse_number(object, "output_length", 0, kLongestPrompt);
    if (!output) return output.error();
    const auto think = parse_number_or(object, "think", 0, 1e9, 0);
    if (!think) return think.error();
    auto ids = parse_hash_ids(object["hash_ids"]);
    if (!ids) return ids.error();
    auto sizes = parse_block_tokens(object, ids->size());
    if (!sizes) return sizes.error();
    const auto session = object.find("session");
    if (session != object.end() && !session->is_null()) {
        row.session = session->is_string() ? session->get<std::string>() : session->dump();
    }
    row.timestamp_ms = *timestamp;
    row.input_length = std::max<Tokens>(1, static_cast<Tokens>(*input));
    row.output_length = std::max<Tokens>(1, static_cast<Tokens>(*output));
    row.think_s = *think;
    row.hash_ids = std::move(*ids);
    row.block_tokens = std::move(*sizes);
    return row;
}

}  // namespace

Result<TraceLine> parse_trace_line(std::string_view text) {
    Json object = Json::parse(text, nullptr, false);
    if (object.is_discarded()) return malformed("not valid JSON");
    if (!object.is_object()) return malformed("not a JSON object");
    TraceLine line;
    if (!object.contains("hash_ids")) {
        const bool is_header = object.contains("version") || object.contains("block_size");
        if (!is_header) return malformed("'hash_ids' is missing");
        const auto header = parse_header(object);
        if (!header) return header.error();
        line.header = *header;
        return line;
    }
    auto row = parse_row(object);
    if (!row) return row.error();
    line.row = std::move(*row);
    return line;
}

}  // namespace prefix_router::sim
