#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace prefix_router {

/// A number that cannot be mixed up with another kind of number.
template <class Tag, class Representation>
class StrongId {
  public:
    using Value = Representation;

    constexpr StrongId() = default;
    constexpr explicit StrongId(Representation value) : value_(value) {}
    constexpr Representation value() const { return value_; }
    constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }
    friend constexpr auto operator<=>(StrongId, StrongId) = default;

  private:
    Representation value_ = 0;
};

/// A backend's place in the pool's dense arrays, the map and the routing state. A slot is reused
/// only after every trace of its former backend is gone (map cleared, nothing in flight, no
/// decision that names it).
using BackendSlot = StrongId<struct BackendSlotTag, std::uint16_t>;
inline constexpr std::size_t kMaxBackends = 1024;

/// A model name interned by pool::ModelTable; 0 is "unknown", shared by all names that no backend
/// serves.
using ModelId = StrongId<struct ModelIdTag, std::uint16_t>;
inline constexpr ModelId kUnknownModel{0};

/// Numbers of KV-cache tokens.
using Tokens = std::int64_t;

}  // namespace prefix_router

template <class Tag, class Representation>
struct std::hash<prefix_router::StrongId<Tag, Representation>> {
    std::size_t operator()(prefix_router::StrongId<Tag, Representation> id) const noexcept {
        return std::hash<Representation>{}(id.value());
    }
};
