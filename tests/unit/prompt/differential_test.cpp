#include <random>

#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"
#include "unit/prompt/reference_key.hpp"

namespace prefix_router::prompt::test {
namespace {

/// Random bodies, and random spellings of them.
class Generator {
  public:
    explicit Generator(std::uint32_t seed) : random_(seed) {}

    std::size_t below(std::size_t limit) { return random_() % limit; }
    bool chance(std::size_t one_in) { return below(one_in) == 0; }

    std::string text() {
        static const std::vector<std::string> kPieces = {
            "a",  "the prompt", " ", "\n", "\"", "\\", "/",    "\u00e9", "\u20ac", "\U0001f600",
            "\t", "\x01",       "{", "]",  ":",  ",",  "\x7f", "uD83D",  "code()"};
        std::string text;
        for (std::size_t n = below(chance(12) ? 500 : 25); n > 0; --n)
            text += kPieces[below(kPieces.size())];
        return text;
    }

    Json value(int depth) {
        switch (below(depth > 0 ? 6 : 4)) {
            case 0:
                return static_cast<std::uint64_t>(below(100000));
            case 1:
                return chance(2);
            case 2:
                return nullptr;
            case 3:
                return text();
            case 4: {
                Json list = Json::array();
                for (std::size_t n = below(4); n > 0; --n) list.push_back(value(depth - 1));
                return list;
            }
            default: {
                Json object = Json::object();
                for (std::size_t n = below(4); n > 0; --n) object[text()] = value(depth - 1);
                return object;
            }
        }
    }

    Json content() {
        if (!chance(4)) return text();
        if (chance(4)) return nullptr;
        Json parts = Json::array();
        for (std::size_t n = below(4); n > 0; --n)
            parts.push_back(Json{{"type", "text"}, {"text", text()}});
        return parts;
    }

    Json message() {
        static const std::vector<std::string> kRoles = {"system", "user", "assistant", "tool"};
        Json message{{"role", kRoles[below(kRoles.size())]}, {"content", content()}};
        if (chance(6)) message["name"] = text();
        if (!chance(4)) return message;
        Json calls = Json::array();
        for (std::size_t n = 1 + below(2); n > 0; --n) {
            const std::string arguments = spell(Json{{"q", value(2)}, {"r", text()}}, false);
            calls.push_back(Json{{"id", text()},
                                 {"type", "function"},
                                 {"function", {{"name", text()}, {"arguments", arguments}}}});
        }
        message["tool_calls"] = calls;
        return message;
    }

    Json chat() {
        Json body{{"model", text()}, {"stream", chance(2)}, {"temperature", 1}};
        Json messages = Json::array();
        for (std::size_t n = below(6); n > 0; --n) messages.push_back(message());
        body["messages"] = messages;
        if (chance(3)) body["tools"] = Json::array({value(4), value(3)});
        if (chance(3)) body["metadata"] = Json{{"model", "inner"}, {"messages", value(3)}};
        return body;
    }

    Json completion() {
        Json body{{"prompt", nullptr}, {"model", text()}};
        if (chance(2)) {
            body["prompt"] = text();
            return body;
        }
        Json ids = Json::array();
        for (std::size_t n = 1 + below(600); n > 0; --n)
            ids.push_back(static_cast<std::uint64_t>(below(150000)));
        body["prompt"] = ids;
        return body;
    }

    /// JSON text of `value` with white space, escapes and, if wanted, key order at random. Inside
    /// "tools" the order of keys is kept: engines render it.
    std::string spell(const Json& value, bool shuffle) {
        if (value.is_string()) return spell_string(value);
        if (!value.is_structured()) return value.dump();
        std::vector<std::string> members;
        for (const auto& item : value.items()) {
            const bool inner = shuffle && item.key() != "tools";
            std::string member = spell(item.value(), inner);
            if (value.is_object())
                member = spell_string(item.key()) + space() + ":" + space() + member;
            members.push_back(std::move(member));
        }
        if (value.is_object() && shuffle) std::shuffle(members.begin(), members.end(), random_);
        std::string text(1, value.is_object() ? '{' : '[');
        for (std::size_t i = 0; i < members.size(); ++i)
            text += (i == 0 ? "" : ",") + space() + members[i] + space();
        return text + (value.is_object() ? '}' : ']');
    }

  private:
    std::string space() {
        return chance(6) ? std::string(below(3), ' ') + (chance(2) ? "\n" : "") : "";
    }

    std::string spell_string(const std::string& text) {
        const std::string plain = Json(text).dump();
        if (chance(2)) return plain;
        std::string quoted = Json(text).dump(-1, ' ', true);
        std::string spelled;
        for (std::size_t i = 0; i < quoted.size(); ++i) {
            if (quoted[i] == '\\') {
                const std::size_t length = quoted[i + 1] == 'u' ? 6 : 2;
                spelled += quoted.substr(i, length);
                i += length - 1;
            } else if (quoted[i] == '/' && chance(2)) {
                spelled += "\\/";
            } else if (quoted[i] == 'e' && chance(4)) {
                spelled += "\\u0065";
            } else {
                spelled += quoted[i];
            }
        }
        return spelled;
    }

    std::mt19937 random_;
};

void expect_like_reference(Dialect dialect, const Json& body, const std::string& spelled) {
    const auto expected =
        dialect == Dialect::OpenAiChat ? reference_chat_key(body) : reference_completion_key(body);
    if (!expected) return;
    const RequestFacts facts = read(dialect, spelled);
    ASSERT_EQ(facts.key.hashes, expected->hashes) << spelled;
    ASSERT_EQ(facts.key.ends, expected->ends) << spelled;
    const Json model = body.value("model", Json());
    if (model.is_string() && model.get_ref<const std::string&>().size() <= 256) {
        ASSERT_EQ(facts.model, model.get<std::string>()) << spelled;
    }
    ASSERT_EQ(facts.streams, body.value("stream", Json()) == Json(true)) << spelled;
}

TEST(PromptDifferential, EverySpellingOfAChatHasTheKeyThatADomGives) {
    Generator generator(1);
    for (int round = 0; round < 250; ++round) {
        const Json body = generator.chat();
        expect_like_reference(Dialect::OpenAiChat, body, generator.spell(body, true));
        if (HasFatalFailure()) return;
    }
}

TEST(PromptDifferential, EverySpellingOfACompletionHasTheKeyThatADomGives) {
    Generator generator(2);
    for (int round = 0; round < 100; ++round) {
        const Json body = generator.completion();
        expect_like_reference(Dialect::OpenAiCompletions, body, generator.spell(body, true));
        if (HasFatalFailure()) return;
    }
}

/// No object of `value` holds one key twice: then both readers may take either.
bool has_unique_keys(const std::string& text) {
    std::vector<std::vector<std::string>> keys;
    bool unique = true;
    const auto check = [&](int, Json::parse_event_t event, Json& parsed) {
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key) {
            for (const std::string& key : keys.back()) unique &= key != parsed;
            keys.back().push_back(parsed);
        }
        return true;
    };
    const Json ignored = Json::parse(text, check, false);
    return unique;
}

TEST(PromptDifferential, MutatedBodiesThatAreStillJsonAreReadAsADomReadsThem) {
    Generator generator(3);
    int compared = 0;
    for (int round = 0; round < 400; ++round) {
        std::string text = generator.spell(generator.chat(), true);
        if (text.size() > 3000) continue;
        for (std::size_t n = 1 + generator.below(2); n > 0; --n) {
            const std::size_t at = generator.below(text.size());
            const std::string kBytes = "\"\\{}[]:,u/ 0ntex\x80";
            if (generator.chance(3))
                text.erase(at, 1);
            else
                text[at] = kBytes[generator.below(kBytes.size())];
        }
        const Json body = Json::parse(text, nullptr, false);
        if (body.is_discarded() || !body.is_object() || !has_unique_keys(text)) {
            read(Dialect::OpenAiChat, text);  // must come back
            continue;
        }
        ++compared;
        expect_like_reference(Dialect::OpenAiChat, body, text);
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(compared, 40);
}

}  // namespace
}  // namespace prefix_router::prompt::test
