#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"

namespace prefix_router::prompt::test {
namespace {

/// Bodies that an engine renders to the same prompt.
struct Equals {
    const char* claim;
    Dialect first_dialect;
    const char* first;
    Dialect second_dialect;
    const char* second;
};

constexpr Dialect kChat = Dialect::OpenAiChat;
constexpr Dialect kResponses = Dialect::OpenAiResponses;
constexpr Dialect kMessages = Dialect::AnthropicMessages;
constexpr Dialect kOllama = Dialect::OllamaChat;
constexpr Dialect kText = Dialect::OpenAiCompletions;

const Equals kEquals[] = {
    {"white space", kChat, R"({"model":"m","messages":[{"role":"user","content":"hi"}]})", kChat,
     " {\n \"model\" : \"m\" ,\t\"messages\" : [ { \"role\" : \"user\" , \"content\" : \"hi\" } ] "
     "}"},
    {"parameters before or after the messages", kChat,
     R"({"model":"m","messages":[{"role":"user","content":"hi"}],"temperature":0.5,"stream":true})",
     kChat,
     R"({"stream":false,"user":"u","messages":[{"role":"user","content":"hi"}],"model":"m"})"},
    {"key order in a message", kChat, R"({"messages":[{"role":"user","content":"hi","name":"n"}]})",
     kChat, R"({"messages":[{"name":"n","content":"hi","role":"user"}]})"},
    {"tools before or after the messages", kChat,
     R"({"tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":"x"}]})",
     kChat,
     R"({"messages":[{"role":"user","content":"x"}],"tools":[ {"type":"function", "function":{"name":"\u0066"}} ]})"},
    {"escapes", kChat,
     R"({"messages":[{"role":"user","content":"caf\u00e9 \ud83d\ude00 a\/b \u000a"}]})", kChat,
     "{\"messages\":[{\"role\":\"user\",\"content\":\"caf\u00e9 \U0001f600 a/b \\n\"}]}"},
    {"escapes in keys and roles", kChat, R"({"messages":[{"role":"user","content":"x"}]})", kChat,
     R"({"m\u0065ssages":[{"\u0072ole":"us\u0065r","cont\u0065nt":"x"}]})"},
    {"escapes in types", kMessages,
     R"({"messages":[{"role":"user","content":[{"type":"tool_result","content":"r"}]}]})",
     kMessages,
     R"({"messages":[{"role":"user","content":[{"type":"tool\u005fresult","content":"r"}]}]})"},
    {"digits in a string among token ids", kText, R"({"prompt":[1,"3",2]})", kText,
     R"({"prompt":[1,"\u0033",2]})"},
    {"a string or one text part", kChat, R"({"messages":[{"role":"user","content":"ab"}]})", kChat,
     R"({"messages":[{"role":"user","content":[{"type":"text","text":"ab"}]}]})"},
    {"a string or several text parts", kChat, R"({"messages":[{"role":"user","content":"ab"}]})",
     kChat,
     R"({"messages":[{"role":"user","content":[{"text":"a","type":"text"},{"type":"text","text":"b"}]}]})"},
    {"ids of tool calls", kChat,
     R"({"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}]})",
     kChat,
     R"({"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"2","type":"function","function":{"arguments":"{\"a\":1}","name":"f"}}]},{"role":"tool","tool_call_id":"2","content":"r"}]})"},
    {"empty arguments", kChat,
     R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":""}}]}]})",
     kChat,
     R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]})"},
    {"reasoning in the history", kChat,
     R"({"messages":[{"role":"assistant","content":"a","reasoning_content":"hm"}]})", kChat,
     R"({"messages":[{"role":"assistant","content":"a"}]})"},
    {"order of template arguments", kChat,
     R"({"messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"a":1,"b":"y"}})",
     kChat,
     R"({"chat_template_kwargs":{"b":"\u0079", "a":1},"messages":[{"role":"user","content":"x"}]})"},
    {"the last of equal keys counts", kChat,
     R"({"model":"m0","messages":[{"role":"user","content":"old"}],"mod\u0065l":"m1","messages":[{"role":"user","content":"x"}]})",
     kChat, R"({"model":"m1","messages":[{"role":"user","content":"x"}]})"},
    {"a byte order mark", kChat, R"({"messages":[{"role":"user","content":"x"}]})", kChat,
     "\xef\xbb\xbf{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"},
    {"a picture's key order and escapes", kChat,
     R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image\/png;base64,AA\/B","detail":"low"}}]}]})",
     kChat,
     R"({"messages":[{"role":"user","content":[{"image_url":{"detail":"low","url":"data:image/png;base64,AA/B"},"type":"image_url"}]}]})"},
    {"system of messages and of chat", kMessages,
     R"({"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":"x"}]})",
     kChat,
     R"({"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"x"}]})"},
    {"system as a string or a part, cache_control", kMessages,
     R"({"system":"s","messages":[{"role":"user","content":"x"}]})", kMessages,
     R"({"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}],"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]})"},
    {"cache_control in tools", kMessages,
     R"({"tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"x"}]})",
     kMessages,
     R"({"tools":[{"name":"t","cache_control":{"type":"ephemeral"},"input_schema":{ "type":"object"}}],"messages":[{"role":"user","content":"x"}]})"},
    {"tool use in messages and chat", kMessages,
     R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"t"},{"type":"tool_use","id":"1","name":"f","input":{"a": "\u00e9"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"r"}]},{"type":"text","text":"more"}]}]})",
     kChat,
     "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":"
     "\"t\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":"
     "\\\"\u00e9\\\"}\"}}]},{\"role\":\"tool\",\"content\":\"r\"},{\"role\":\"user\",\"content\":"
     "\"more\"}]}"},
    {"instructions and input text of responses", kResponses, R"({"instructions":"s","input":"x"})",
     kChat, R"({"messages":[{"role":"system","content":"s"},{"role":"user","content":"x"}]})"},
    {"items of responses", kResponses,
     R"({"input":[{"role":"user","content":[{"type":"input_text","text":"q"}]},{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"t"}]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"r"}]})",
     kChat,
     R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"t","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"r"}]})"},
    {"api/chat", kOllama,
     R"({"model":"m","messages":[{"role":"assistant","content":"t","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}],"options":{"num_ctx":5}})",
     kChat,
     R"({"model":"m","messages":[{"role":"assistant","content":"t","tool_calls":[{"function":{"name":"f","arguments":"{\"a\": 1}"}}]}]})"},
    {"reasoning effort of responses and chat", kResponses,
     R"({"input":"x","reasoning":{"effort":"high","summary":"auto"}})", kChat,
     R"({"messages":[{"role":"user","content":"x"}],"reasoning_effort":"high"})"},
    {"invocations with messages", Dialect::SageMakerInvocations,
     R"({"messages":[{"role":"user","content":"x"}]})", kChat,
     R"({"messages":[{"role":"user","content":"x"}]})"},
    {"invocations with inputs", Dialect::SageMakerInvocations,
     R"({"inputs":"x","parameters":{"max_new_tokens":5}})", Dialect::Generate, R"({"inputs":"x"})"},
    {"prompt, inputs and text", kText, R"({"prompt":"x y"})", Dialect::Generate,
     R"({"text":"x y"})"},
    {"a prompt or the first of a list", kText, R"({"prompt":"x"})", kText,
     R"({"prompt":["x","y"]})"},
    {"ids in any spelling", kText, R"({"prompt":[1,2,3]})", kText, "{\"prompt\": [ 1 ,\n2, 3 ] }"},
    {"ids as prompt or as input_ids", kText, R"({"prompt":[1,2,3]})", Dialect::Generate,
     R"({"input_ids":[[1,2,3],[4]]})"},
    {"llama.cpp's prompt", Dialect::LlamaCppCompletion, R"({"prompt":"x"})", kText,
     R"({"prompt":"x"})"},
    {"generate_stream", Dialect::GenerateStream, R"({"inputs":"x"})", Dialect::Generate,
     R"({"inputs":"x"})"},
};

TEST(PromptSpelling, EqualPromptsHaveEqualKeys) {
    for (const Equals& c : kEquals) {
        const PromptKey first = key_of(c.first_dialect, c.first);
        const PromptKey second = key_of(c.second_dialect, c.second);
        EXPECT_FALSE(first.empty()) << c.claim;
        EXPECT_EQ(first.hashes, second.hashes) << c.claim;
        EXPECT_EQ(first.ends, second.ends) << c.claim;
        EXPECT_EQ(first.home, second.home) << c.claim;
        EXPECT_EQ(first.total, second.total) << c.claim;
    }
}

struct Differs {
    const char* claim;
    Dialect dialect;
    const char* first;
    const char* second;
};

const Differs kDiffers[] = {
    {"model", kChat, R"({"model":"a","messages":[{"role":"user","content":"x"}]})",
     R"({"model":"b","messages":[{"role":"user","content":"x"}]})"},
    {"cache_salt", kChat, R"({"cache_salt":"a","messages":[{"role":"user","content":"x"}]})",
     R"({"cache_salt":"b","messages":[{"role":"user","content":"x"}]})"},
    {"LoRA", Dialect::Generate, R"({"text":"x","lora_path":"a"})",
     R"({"text":"x","lora_path":"b"})"},
    {"TGI's adapter", Dialect::Generate, R"({"inputs":"x","parameters":{"adapter_id":"a"}})",
     R"({"inputs":"x"})"},
    {"a history that the engine holds", kResponses, R"({"input":"x"})",
     R"({"input":"x","previous_response_id":"resp_1"})"},
    {"role", kChat, R"({"messages":[{"role":"user","content":"x"}]})",
     R"({"messages":[{"role":"system","content":"x"}]})"},
    {"where a message ends", kChat,
     R"({"messages":[{"role":"user","content":"ab"},{"role":"user","content":"c"}]})",
     R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":"bc"}]})"},
    {"pictures", kChat,
     R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"a"}}]}]})",
     R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"b"}}]}]})"},
    {"where a picture stands", kChat,
     R"({"messages":[{"role":"user","content":["t",{"type":"image_url","image_url":"a"}]}]})",
     R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":"a"},"t"]}]})"},
    {"order of keys in a tool", kChat,
     R"({"tools":[{"a":1,"b":2}],"messages":[{"role":"user","content":"x"}]})",
     R"({"tools":[{"b":2,"a":1}],"messages":[{"role":"user","content":"x"}]})"},
    {"a key in a tool that looks like two fields", kMessages,
     R"({"tools":[{"a":1,"b":2}],"messages":[{"role":"user","content":"x"}]})",
     R"({"tools":[{"a:1,b":2}],"messages":[{"role":"user","content":"x"}]})"},
    {"a key in a tool that looks like a message", kMessages,
     R"({"tools":[{"a":1}],"messages":[{"role":"user","content":"x"}]})",
     R"({"tools":[{"a\u0001":1}],"messages":[{"role":"user","content":"x"}]})"},
    {"one tool and two", kMessages,
     R"({"tools":[{"a":1},{"b":2}],"messages":[{"role":"user","content":"x"}]})",
     R"({"tools":[{"a":1,"b":2}],"messages":[{"role":"user","content":"x"}]})"},
    {"order of pictures", Dialect::OllamaChat,
     R"({"messages":[{"role":"user","content":"x","images":["a","b"]}]})",
     R"({"messages":[{"role":"user","content":"x","images":["b","a"]}]})"},
    {"order of template arguments in a list", kChat,
     R"({"messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"a":[1,2]}})",
     R"({"messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"a":[2,1]}})"},
    {"an id and text of its bytes", Dialect::LlamaCppCompletion, R"({"prompt":["a",7,"bcde"]})",
     R"({"prompt":["a",7,1701077858]})"},
    {"an id and digits", Dialect::LlamaCppCompletion, R"({"prompt":["a",7,"8"]})",
     R"({"prompt":["a",78]})"},
    {"template arguments", kChat,
     R"({"messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"enable_thinking":true}})",
     R"({"messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"enable_thinking":false}})"},
    {"ids and text", kText, R"({"prompt":[49,50]})", R"({"prompt":"12"})"},
    {"an escaped backslash before n", kText, R"({"prompt":"\\n"})", R"({"prompt":"\n"})"},
    {"name of a tool call", kChat,
     R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]})",
     R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"g","arguments":"{}"}}]}]})"},
};

TEST(PromptSpelling, DifferentPromptsHaveDifferentKeys) {
    for (const Differs& c : kDiffers)
        EXPECT_NE(key_of(c.dialect, c.first).hashes, key_of(c.dialect, c.second).hashes) << c.claim;
}

TEST(PromptSpelling, TextAndChatNeverShare) {
    EXPECT_NE(key_of(kText, R"({"prompt":"x"})").hashes.front(),
              key_of(kChat, R"({"messages":[{"role":"user","content":"x"}]})").hashes.front());
}

TEST(PromptSpelling, TenantsNeverShare) {
    constexpr std::string_view kBody = R"({"prompt":"x"})";
    EXPECT_NE(read(kText, kBody, {}, 1).key.hashes, read(kText, kBody, {}, 2).key.hashes);
}

}  // namespace
}  // namespace prefix_router::prompt::test
