#pragma once

// A codec turns one YAML value into one typed value and back, and knows its own bounds:
//   Result<T> parse(const RawNode&) const;   std::string show(const T&) const;
//   std::string accepts() const;             "a duration from 100ms to 1h"
// What show() writes, parse() reads. Messages of parse() name the value and what to write instead.

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "prefix_router/config/config.hpp"

#include "config/raw_yaml.hpp"

namespace prefix_router::config {

/// The text of a single value; a list, a map or nothing is an error that says what is accepted.
Result<std::string_view> scalar(const RawNode& node, const std::string& accepts);
/// "'5' is out of range; write a number from 10 to 20".
Error refused(std::string_view text, std::string_view why, const std::string& accepts);
/// Text as a YAML scalar, in double quotes when it would not be read back plain.
std::string yaml_text(const std::string& text);

enum class Zero : unsigned char { Refused, Allowed };

struct DurationCodec {
    milliseconds least;
    milliseconds most;
    Zero zero = Zero::Refused;

    Result<milliseconds> parse(const RawNode& node) const;
    std::string show(milliseconds value) const;
    std::string accepts() const;
};

struct SizeCodec {
    std::size_t least;
    std::size_t most;

    Result<std::size_t> parse(const RawNode& node) const;
    std::string show(std::size_t value) const;
    std::string accepts() const;
};

struct RealCodec {
    double least;
    double most;

    Result<double> parse(const RawNode& node) const;
    std::string show(double value) const;
    std::string accepts() const;
};

struct FlagCodec {
    Result<bool> parse(const RawNode& node) const;
    std::string show(bool value) const;
    std::string accepts() const;
};

struct ListenCodec {
    Result<ListenAddress> parse(const RawNode& node) const;
    std::string show(const ListenAddress& value) const;
    std::string accepts() const;
};

struct BackendUrlCodec {
    Result<BackendUrl> parse(const RawNode& node) const;
    std::string show(const BackendUrl& value) const;
    std::string accepts() const;
};

/// A name of a few letters, bounded.
struct NameCodec {
    std::size_t longest;
    bool (*allows)(char letter);
    std::string_view complaint;  ///< "is no id"
    std::string_view accepted;   ///< what accepts() says

    Result<std::string> parse(const RawNode& node) const;
    std::string show(const std::string& value) const;
    std::string accepts() const;
};
/// For metrics and logs: of a backend, of an API key.
NameCodec backend_ids();
/// Of a namespace, a Service, or a port (its number, too) in Kubernetes.
NameCodec cluster_names();
/// A DNS name or an IP address, as it stands in a certificate.
NameCodec host_names();

/// A list of model names, [] for none.
struct ModelNamesCodec {
    Result<std::vector<std::string>> parse(const RawNode& node) const;
    std::string show(const std::vector<std::string>& value) const;
    std::string accepts() const;
};

/// The path of a request: "/health", "/ping?deep=1".
struct RequestPathCodec {
    Result<std::string> parse(const RawNode& node) const;
    std::string show(const std::string& value) const;
    std::string accepts() const;
};

/// The name of a request header that reaches backends: not one that the router consumes.
struct HeaderNameCodec {
    Result<std::string> parse(const RawNode& node) const;
    std::string show(const std::string& value) const;
    std::string accepts() const;
};

/// A SHA-256 in hex, as `prefix-router hash-key` prints it.
struct Sha256Codec {
    Result<std::string> parse(const RawNode& node) const;
    std::string show(const std::string& value) const;
    std::string accepts() const;
};

struct AuthorizationCodec {
    Result<BackendAuthorization> parse(const RawNode& node) const;
    std::string show(const BackendAuthorization& value) const;
    std::string accepts() const;
};

/// env:NAME or file:/PATH.
struct SecretSourceCodec {
    Result<SecretSource> parse(const RawNode& node) const;
    std::string show(const SecretSource& value) const;
    std::string accepts() const;
};

/// The absolute path of a file; whether it can be read shows when it is.
struct FileCodec {
    Result<std::string> parse(const RawNode& node) const;
    std::string show(const std::string& value) const;
    std::string accepts() const;
};

/// A name server: "10.0.0.10:53", "[::1]:53".
struct NameserverCodec {
    Result<ListenAddress> parse(const RawNode& node) const;
    std::string show(const ListenAddress& value) const;
    std::string accepts() const;
};

/// Where lines go: off, the absolute path of a file and, where allowed, stdout or stderr.
struct SinkCodec {
    enum class Streams : unsigned char { Accepted, Refused };
    Streams streams = Streams::Accepted;

    Result<std::string> parse(const RawNode& node) const;
    std::string show(const std::string& value) const;
    std::string accepts() const;
};

template <class T>
struct IntegerCodec {
    T least;
    T most;

    Result<T> parse(const RawNode& node) const {
        const auto text = scalar(node, accepts());
        if (text.has_error()) {
            return text.error();
        }
        T value{};
        const char* const end = text->data() + text->size();
        const auto [rest, code] = std::from_chars(text->data(), end, value);
        if (rest != end || code == std::errc::invalid_argument) {
            return refused(*text, "is no whole number", accepts());
        }
        if (code != std::errc{} || value < least || value > most) {
            return refused(*text, "is out of range", accepts());
        }
        return value;
    }
    std::string show(T value) const { return std::to_string(value); }
    std::string accepts() const {
        return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    }
};

/// One of a few words, each with its value (std::string_view for the word itself).
template <class T>
struct ChoiceCodec {
    std::vector<std::pair<std::string_view, T>> words;

    Result<T> parse(const RawNode& node) const {
        const auto text = scalar(node, accepts());
        if (text.has_error()) {
            return text.error();
        }
        for (const auto& [word, value] : words) {
            if (word == *text) {
                return value;
            }
        }
        return refused(*text, "is not known", accepts());
    }
    std::string show(const T& shown) const {
        for (const auto& [word, value] : words) {
            if (value == shown) {
                return std::string(word);
            }
        }
        return {};
    }
    std::string accepts() const {
        std::string list;
        for (const auto& [word, value] : words) {
            list += (list.empty() ? "" : value == words.back().second ? " or " : ", ");
            list += word;
        }
        return list;
    }
};

/// high, normal or low.
ChoiceCodec<Priority> priorities();

/// What a codec reads, or a word for "none".
template <class Codec>
struct OrNoneCodec {
    std::string_view word;
    Codec codec;

    using Inner = typename std::decay_t<decltype(std::declval<const Codec&>().parse(
        std::declval<const RawNode&>()))>::value_type;

    Result<std::optional<Inner>> parse(const RawNode& node) const {
        if (node.kind == RawNode::Kind::Scalar && node.text == word) {
            return std::optional<Inner>();
        }
        auto value = codec.parse(node);
        if (value.has_error()) {
            return with_word(value.error());
        }
        return std::optional<Inner>(std::move(*value));
    }
    std::string show(const std::optional<Inner>& value) const {
        return value ? codec.show(*value) : std::string(word);
    }
    std::string accepts() const { return std::string(word) + ", or " + codec.accepts(); }

  private:
    Error with_word(const Error& error) const {
        return Error(error.kind(), error.message() + " (or " + std::string(word) + ")");
    }
};

/// What a codec reads, or a word that stands for zero.
template <class Codec, class T>
struct OrZeroCodec {
    std::string_view word;
    Codec codec;

    Result<T> parse(const RawNode& node) const {
        if (node.kind == RawNode::Kind::Scalar && node.text == word) {
            return T{};
        }
        auto value = codec.parse(node);
        if (value.has_error()) {
            return Error(value.error().kind(),
                         value.error().message() + " (or " + std::string(word) + ")");
        }
        return value;
    }
    std::string show(T value) const { return value == T{} ? std::string(word) : codec.show(value); }
    std::string accepts() const { return std::string(word) + ", or " + codec.accepts(); }
};

}  // namespace prefix_router::config
