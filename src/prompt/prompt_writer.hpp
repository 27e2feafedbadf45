#pragma once

#include <cstdint>
#include <string_view>

#include "prompt/block_chain.hpp"
#include "prompt/fixed_prefix.hpp"
#include "prompt/json_cursor.hpp"

namespace prefix_router::prompt {

/// Writes one prompt in canonical form (canonical.hpp) into the chain. The dialects call it in the
/// order in which a chat template renders; it knows nothing of their fields. Lives for one request.
class PromptWriter {
  public:
    /// `fixed_prefix` also receives the text of messages; nullptr when it is not wanted.
    PromptWriter(BlockChain& chain, FixedPrefix* fixed_prefix, const StringTape& tape)
        : chain_(chain), fixed_prefix_(fixed_prefix), tape_(tape) {}

    const StringTape& tape() const { return tape_; }
    const KeyedHash& keyed() const { return chain_.keyed(); }

    void begin_message(std::string_view role);
    void begin_message(const JsonValue& role);
    void text(const JsonValue& string);  ///< ignored unless a string
    void media(const JsonValue& part);   ///< a picture, a sound, a file: a stand-in of fixed size
    /// `arguments`: JSON text in a string, or an object.
    void tool_call(const JsonValue& arguments, const JsonValue& name);
    void name(const JsonValue& name);
    void end_message();
    bool last_is_assistant() const { return last_is_assistant_; }

    /// The messages are all written: an answer would continue here.
    void end_history() { chain_.mark_history(); }

    void raw(std::string_view canonical) { chain_.add(canonical); }
    void json(const JsonValue& value);  ///< as canonical JSON text
    void ids(const JsonValue& array);   ///< numbers, four bytes each
    void id(const JsonValue& number);   ///< one id amid text
    void end_segment() { chain_.close_block(); }
    void rendered(const StandIn& fields);  ///< small fields that a template renders

  private:
    void string(const JsonValue& value, FixedPrefix* also);
    void arguments(const JsonValue& value);

    BlockChain& chain_;
    FixedPrefix* fixed_prefix_;
    const StringTape& tape_;
    bool last_is_assistant_ = false;
    bool in_user_message_ = false;
};

}  // namespace prefix_router::prompt
