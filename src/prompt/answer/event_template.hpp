#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "prompt/answer/node.hpp"

namespace prefix_router::prompt {

/// The events of a stream are alike but for the text that each brings. Keeps the last one that was
/// read in full and recognises the next by two comparisons: the same bytes before the text and
/// behind it lead a reader that rests between events to the same place, so that only the text has
/// to be looked at.
///
///     learn("data: {\"content\":\"Hi\"}\n\n", "Hi", Node::Text)
///     match("data: {\"content\":\" you\"}\n\ndata: ...") -> text " you", size 25
class EventTemplate {
  public:
    struct Match {
        std::string_view text;  ///< raw inside of the string
        std::size_t size = 0;   ///< bytes of the event; 0: it is another kind of event
    };

    /// Whether `bytes` begin with an event of this form.
    Match match(std::string_view bytes) const;

    /// `text`: the raw inside of a string, as it lies in `event`; nothing else in the event may
    /// have had an effect. `node`: what the text is.
    void learn(std::string_view event, std::string_view text, Node node);

    Node node() const { return node_; }

  private:
    static constexpr std::size_t kMaxSize = 1024;

    std::string bytes_;  ///< of the event, without the text
    std::uint16_t before_ = 0;
    Node node_ = Node::Ignore;
};

}  // namespace prefix_router::prompt
