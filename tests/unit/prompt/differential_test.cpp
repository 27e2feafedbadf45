#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "prompt/message_list.hpp"
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

    Json tool_use() {
        return Json{{"type", "tool_use"},
                    {"id", text()},
                    {"name", text()},
                    {"input", Json{{"q", value(2)}}}};
    }

    Json anthropic_block() {
        switch (below(4)) {
            case 0:
                return tool_use();
            case 1:
                return Json{
                    {"type", "tool_result"}, {"tool_use_id", text()}, {"content", content()}};
            case 2:
                return Json{{"type", "thinking"}, {"thinking", text()}};
            default:
                return Json{{"type", "text"}, {"text", text()}};
        }
    }

    /// Anthropic's API.
    Json messages() {
        Json list = Json::array();
        for (std::size_t n = below(6); n > 0; --n) {
            Json blocks = Json::array();
            for (std::size_t k = below(4); k > 0; --k) blocks.push_back(anthropic_block());
            list.push_back(Json{{"role", chance(2) ? "user" : "assistant"},
                                {"content", chance(3) ? Json(text()) : blocks}});
        }
        Json body{{"model", text()}, {"messages", list}, {"max_tokens", 5}};
        if (chance(2)) body["system"] = content();
        if (chance(2))
            body["tools"] = Json::array(
                {Json{{"name", text()}, {"input_schema", value(3)}, {"cache_control", value(1)}}});
        return body;
    }

    Json response_item() {
        switch (below(4)) {
            case 0:
                return Json{{"type", "function_call"},
                            {"call_id", text()},
                            {"name", text()},
                            {"arguments", spell(Json{{"q", value(2)}}, false)}};
            case 1:
                return Json{{"type", "function_call_output"}, {"output", text()}};
            case 2:
                return Json{{"type", "reasoning"}, {"summary", value(2)}};
            default:
                return Json{{"role", chance(2) ? "user" : "assistant"}, {"content", content()}};
        }
    }

    Json responses() {
        Json items = Json::array();
        for (std::size_t n = below(7); n > 0; --n) items.push_back(response_item());
        Json body{{"input", chance(4) ? Json(text()) : items}, {"model", text()}};
        if (chance(2)) body["instructions"] = text();
        if (chance(3)) body["tools"] = Json::array({value(3)});
        return body;
    }

    Json plain() {
        static const std::vector<std::string> kFields = {"prompt", "inputs", "text", "input_ids"};
        Json body = completion();
        body[kFields[below(kFields.size())]] =
            chance(3) ? Json::array({text(), text()}) : body["prompt"];
        if (chance(2)) body["system"] = text();
        if (chance(2)) body["context"] = Json::array({1, 2, 300});
        return body;
    }

    Json body_of(Dialect dialect) {
        switch (dialect) {
            case Dialect::OpenAiChat:
            case Dialect::OllamaChat:
                return chat();
            case Dialect::OpenAiResponses:
                return responses();
            case Dialect::AnthropicMessages:
                return messages();
            case Dialect::SageMakerInvocations:
                return chance(2) ? chat() : plain();
            default:
                return plain();
        }
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

/// False when the reference cannot tell.
bool is_like_reference(Dialect dialect, const std::string& spelled) {
    const auto expected = reference_key(dialect, spelled);
    if (!expected) return false;
    const PromptKey key = key_of(dialect, spelled);
    EXPECT_EQ(key.hashes, expected->hashes) << static_cast<int>(dialect) << ": " << spelled;
    EXPECT_EQ(key.ends, expected->ends) << static_cast<int>(dialect) << ": " << spelled;
    return true;
}

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

TEST(PromptDifferential, EveryDialectIsReadAsADomReadsIt) {
    Generator generator(4);
    for (int number = 1; number <= static_cast<int>(Dialect::OllamaGenerate); ++number) {
        const auto dialect = static_cast<Dialect>(number);
        int compared = 0;
        for (int round = 0; round < 60 && !HasFailure(); ++round)
            compared +=
                is_like_reference(dialect, generator.spell(generator.body_of(dialect), true));
        EXPECT_GT(compared, 15) << static_cast<int>(dialect);
    }
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
        read(Dialect::OpenAiChat, text);  // must come back, whatever it is
        compared += is_like_reference(Dialect::OpenAiChat, text);
        if (HasFailure()) return;
    }
    EXPECT_GT(compared, 40);
}

TEST(PromptDifferential, MoreMessagesThanAreListedAreReadAsADomReadsThem) {
    Json messages = Json::array();
    for (std::size_t i = 0; i < MessageList::kMost + 2; ++i) {
        const Json body{{"messages", messages}, {"model", "m"}};
        if (i + 1 >= MessageList::kMost) {
            EXPECT_TRUE(is_like_reference(Dialect::OpenAiChat, body.dump())) << i;
        }
        messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"},
                            {"content", "message " + std::to_string(i) + std::string(60, '.')}});
    }
}

}  // namespace
}  // namespace prefix_router::prompt::test
