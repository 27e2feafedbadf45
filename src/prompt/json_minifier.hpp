#pragma once

#include <string_view>

#include "prompt/text_escapes.hpp"

namespace prefix_router::prompt {

/// JSON text in pieces, cut anywhere -> its canonical text: no white space outside strings, strings
/// with canonical escapes, keys in the given order. Bytes that are no JSON come out as they can;
/// the same bytes always give the same result.
class JsonMinifier {
  public:
    template <class Sink>
    void feed(std::string_view text, Sink&& sink) {
        const char* p = text.data();
        const char* const end = p + text.size();
        while (p != end) p = in_string_ ? feed_string(p, end, sink) : feed_structure(p, end, sink);
    }

    template <class Sink>
    void finish(Sink&& sink) {
        escapes_.finish(sink);
        in_string_ = false;
    }

  private:
    static constexpr bool is_space(char c) {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }

    template <class Sink>
    const char* feed_string(const char* p, const char* end, Sink& sink) {
        const char* const quote = bare_quote(escapes_.ends_in_backslash() ? p + 1 : p, end);
        escapes_.feed({p, static_cast<std::size_t>(quote - p)}, sink);
        if (quote == end) return end;
        escapes_.finish(sink);
        in_string_ = false;
        sink(std::string_view(quote, 1));
        return quote + 1;
    }

    /// The first quote that no backslash escapes, or `end`.
    static const char* bare_quote(const char* p, const char* end) {
        for (;;) {
            p = find_string_special(p, end);
            if (p == end || *p == '"') return p;
            if (end - p < 2) return end;
            p += 2;
        }
    }

    /// Runs on over strings that stand in canonical form, so that compact text passes in one run.
    template <class Sink>
    const char* feed_structure(const char* p, const char* end, Sink& sink) {
        const char* run = p;
        while (p != end && !is_space(*p)) {
            if (*p++ != '"') continue;
            const char* const closing = canonical_string_end(p, end);
            if (closing == nullptr) {
                in_string_ = true;
                break;
            }
            p = closing + 1;
        }
        if (run != p) sink(std::string_view(run, static_cast<std::size_t>(p - run)));
        if (in_string_) return p;
        while (p != end && is_space(*p)) ++p;
        return p;
    }

    /// The closing quote of a string that is whole here and needs no conversion, else nullptr.
    static const char* canonical_string_end(const char* p, const char* end) {
        for (;;) {
            p = find_string_special(p, end);
            if (p == end) return nullptr;
            if (*p == '"') return p;
            if (end - p < 2 || p[1] == 'u' || p[1] == '/') return nullptr;
            p += 2;
        }
    }

    EscapeReader<EscapeStyle::Canonical> escapes_;
    bool in_string_ = false;
};

}  // namespace prefix_router::prompt
