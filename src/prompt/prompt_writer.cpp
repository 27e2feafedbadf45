#include "prompt/prompt_writer.hpp"

#include <array>
#include <cstring>

#include "prompt/canonical.hpp"
#include "prompt/json_minifier.hpp"
#include "prompt/string_scan.hpp"

namespace prefix_router::prompt {
namespace {

constexpr std::uint64_t kFields = 1;  // fields are no media

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

void PromptWriter::begin_message(std::string_view role) {
    chain_.add(canonical::kMessage);
    chain_.add(role);
    chain_.add(canonical::kContent);
    last_is_assistant_ = role == canonical::kAssistant;
    in_user_message_ = role == "user";
}

void PromptWriter::begin_message(const JsonValue& role) {
    if (!role.is_string()) return begin_message(std::string_view{});
    if (role.plain) return begin_message(role.text());
    chain_.add(canonical::kMessage);
    string(role, nullptr);
    chain_.add(canonical::kContent);
    const Word word(role);
    last_is_assistant_ = word.text() == canonical::kAssistant;
    in_user_message_ = word.text() == "user";
}

void PromptWriter::end_message() {
    chain_.close_block();
    if (in_user_message_) chain_.mark_home();
}

void PromptWriter::text(const JsonValue& string_value) {
    if (string_value.is_string()) string(string_value, fixed_prefix_);
}

void PromptWriter::string(const JsonValue& value, FixedPrefix* also) {
    const auto add = [this, also](std::string_view piece) {
        chain_.add(piece);
        if (also != nullptr) also->add(piece);
    };
    if (value.plain) return add(value.text());
    EscapeReader<EscapeStyle::Canonical> reader;
    reader.feed(value.text(), add);
    reader.finish(add);
}

void PromptWriter::json(const JsonValue& value) {
    const auto add = [this](std::string_view piece) { chain_.add(piece); };
    if (value.is_string()) {
        add("\"");
        string(value, nullptr);
        add("\"");
        return;
    }
    JsonMinifier minifier;
    minifier.feed(value.text(), add);
    minifier.finish(add);
}

void PromptWriter::arguments(const JsonValue& value) {
    bool is_empty = true;
    const auto add = [&](std::string_view piece) {
        chain_.add(piece);
        is_empty = false;
    };
    JsonMinifier minifier;
    if (value.is_string()) {
        const auto minify = [&](std::string_view piece) { minifier.feed(piece, add); };
        EscapeReader<EscapeStyle::Decoded> reader;
        reader.feed(value.text(), minify);
        reader.finish(minify);
    } else if (value) {
        minifier.feed(value.text(), add);
    }
    minifier.finish(add);
    if (is_empty) chain_.add(canonical::kNoArguments);
}

void PromptWriter::tool_call(const JsonValue& arguments_value, const JsonValue& name_value) {
    chain_.add(canonical::kToolCall);
    arguments(arguments_value);
    chain_.add(canonical::kToolName);
    if (name_value.is_string()) string(name_value, nullptr);
}

void PromptWriter::media(const JsonValue& part) {
    chain_.add_media(order_free_hash(part, tape_, chain_.keyed()));
}

void PromptWriter::rendered(const StandIn& fields) {
    chain_.add_fields(fields.mixed(kFields));
}

void PromptWriter::name(const JsonValue& name_value) {
    if (!name_value.is_string()) return;
    chain_.add(canonical::kName);
    string(name_value, nullptr);
}

void PromptWriter::id(const JsonValue& number) {
    chain_.add(canonical::kIds);
    chain_.add(number.text());
    chain_.add(canonical::kIds);
}

void PromptWriter::ids(const JsonValue& array) {
    constexpr std::size_t kBatch = 64;
    std::array<std::uint32_t, kBatch> batch;
    std::size_t count = 0;
    const auto flush = [&] {
        chain_.add({reinterpret_cast<const char*>(batch.data()), count * kBytesPerId});
        count = 0;
    };
    for (const char* p = array.begin; p != array.end();) {
        if (*p == '"') {  // no id, whatever digits its spelling has
            p = scan_string(p + 1, array.end()).quote;
            if (p == array.end()) break;
        }
        if (!is_digit(*p)) {
            ++p;
            continue;
        }
        std::uint32_t value = 0;
        for (; p != array.end() && is_digit(*p); ++p)
            value = value * 10 + static_cast<std::uint32_t>(*p - '0');
        batch[count++] = value;
        if (count == kBatch) flush();
    }
    flush();
}

}  // namespace prefix_router::prompt
