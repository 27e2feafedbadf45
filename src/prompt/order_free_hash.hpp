#pragma once

#include <cstdint>

#include "prefix_router/base/hash.hpp"

#include "prompt/json_cursor.hpp"

namespace prefix_router::prompt {

/// What stands for a value that is not hashed as text of the prompt.
struct StandIn {
    std::uint64_t keyed = 0;  ///< under the router's secret: nobody can make two that are equal
    std::uint64_t plain = 0;  ///< for the home: equal on every router, of long texts a sample

    explicit operator bool() const { return keyed != 0; }
    StandIn& operator+=(const StandIn& other) {
        keyed += other.keyed;
        plain += other.plain;
        return *this;
    }
    StandIn mixed(std::uint64_t mark) const { return {mix(keyed, mark), mix(plain, mark)}; }
};

/// One stand-in for a small structure or a large medium (a picture's URL or data): the sum over its
/// leaves of hash(place, value), a place being the keys and indices on the way to it. The order of
/// keys, white space and the spelling of strings do not matter. `cache_control` and ids do not
/// count. Linear in the value's bytes, and text is hashed where it stands.
StandIn order_free_hash(const JsonValue& value, const StringTape& tape, const KeyedHash& keyed);

/// Of one string's canonical form.
StandIn stand_in(const JsonValue& string, const KeyedHash& keyed);

/// Hash of one string's canonical form, equal on every router.
std::uint64_t hash_string(const JsonValue& string);
/// The same of a text without escapes.
std::uint64_t hash_text(std::string_view text);

}  // namespace prefix_router::prompt
