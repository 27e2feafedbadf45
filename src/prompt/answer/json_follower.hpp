#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "prompt/answer/node.hpp"

namespace prefix_router::prompt {

/// Receives what a JsonFollower meets at places other than Node::Ignore.
class JsonEvents {
  public:
    virtual Node child(Node parent, std::string_view key) = 0;
    virtual void begin_object(Node node) = 0;
    /// A string's raw (escaped) inside, in pieces cut anywhere; string_end() follows.
    virtual void string_piece(Node node, std::string_view raw) = 0;
    virtual void string_end(Node node) = 0;
    virtual void scalar(Node node, std::string_view text) = 0;
    /// Raw JSON text of an object at Node::ToolArguments, in pieces.
    virtual void json_piece(std::string_view raw) = 0;

  protected:
    ~JsonEvents() = default;
};

/// Follows JSON text that comes in pieces, cut anywhere: values one after the other, any depth,
/// bounded memory, linear time. Lenient; broken text only makes it miss things.
class JsonFollower {
  public:
    explicit JsonFollower(JsonEvents& events) : events_(&events) {}

    void feed(std::string_view piece);
    void reset();  ///< the next byte begins a new value
    bool rests() const {
        return state_ == State::Value && depth_ == 0 && node_ == Node::Root && !skips_next_;
    }

  private:
    enum class State : std::uint8_t { Value, Key, KeyString, String, Scalar, Skip };
    static constexpr std::size_t kMaxDepth = 12;
    static constexpr std::size_t kMaxToken = 32;

    const char* value(const char* p, const char* end);
    const char* key(const char* p, const char* end);
    const char* key_string(const char* p, const char* end);
    const char* string(const char* p, const char* end);
    const char* scalar(const char* p, const char* end);
    const char* skip(const char* p, const char* end);

    void open(bool is_object);
    void close();
    void value_done();
    bool in_object() const { return depth_ != 0 && is_object_[depth_ - 1]; }
    void keep(const char* begin, const char* end);
    /// The closing quote, or `end`.
    const char* string_end(const char* p, const char* end);

    JsonEvents* events_;
    State state_ = State::Value;
    Node node_ = Node::Root;   ///< of the value that is read or comes next
    bool skips_next_ = false;  ///< the last piece ended behind a backslash
    bool skipping_string_ = false;
    bool token_is_cut_ = false;
    std::uint8_t depth_ = 0;
    std::uint8_t token_size_ = 0;
    std::uint32_t skip_depth_ = 0;
    std::array<Node, kMaxDepth> nodes_{};
    std::array<bool, kMaxDepth> is_object_{};
    std::array<char, kMaxToken> token_;  ///< a key or scalar that pieces have cut
};

}  // namespace prefix_router::prompt
