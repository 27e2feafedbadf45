#pragma once

#include <string>
#include <string_view>

#include "prompt/answer/answer_chain.hpp"
#include "prompt/answer/think_watch.hpp"
#include "prompt/json_minifier.hpp"
#include "prompt/text_escapes.hpp"

namespace prefix_router::prompt {

/// Writes an answer as the assistant's message in which the client will send it back
/// (canonical.hpp), from pieces as they come. PromptWriter writes the same bytes for the same
/// message of a request.
class AnswerWriter {
  public:
    explicit AnswerWriter(const PromptKey& key);

    void restart();  ///< the answer begins anew

    void text(std::string_view raw);  ///< inside of a JSON string, in pieces; text_end() follows
    void text_end();
    /// No credit for this answer: templates drop reasoning from the history.
    void reasoning();

    /// Arguments and a name, in any order, belong to one call until it ends: by this, by text, or
    /// by a second name.
    void end_tool_call();
    bool has_tool_name() const { return is_calling_ && !name_.empty(); }
    void tool_name(std::string_view raw);
    void tool_name_end();
    void tool_arguments(std::string_view raw);  ///< inside of a JSON string that holds JSON text
    void tool_arguments_end();
    void tool_arguments_json(std::string_view json);  ///< JSON text itself

    /// No string is open: the last one ended, whole.
    bool rests() const { return text_.rests() && arguments_.rests(); }

    /// Ends the message; the chain's hashes and ends are the result.
    AnswerChain& finish();

  private:
    void add_text(std::string_view canonical);
    void add(std::string_view canonical);
    void begin_tool_call();
    void add_to_name(std::string_view canonical);

    AnswerChain chain_;
    ThinkWatch think_;
    bool stopped_ = false;
    bool is_calling_ = false;
    bool has_arguments_ = false;
    std::string name_;  ///< canonical; written behind the arguments
    EscapeReader<EscapeStyle::Canonical> text_;
    EscapeReader<EscapeStyle::Decoded> arguments_;
    JsonMinifier minifier_;
};

}  // namespace prefix_router::prompt
