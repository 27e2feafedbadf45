#include "prefix_router/net/frame_pool.hpp"

#include <array>
#include <new>
#include <utility>

namespace prefix_router::net::frame_pool {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsPooled = false;
#else
constexpr bool kIsPooled = true;
#endif

constexpr std::size_t kStep = 16;      // the heap's own
constexpr std::size_t kSizes = 256;    // larger frames come from the heap
constexpr std::size_t kMostKept = 64;  // of each size

struct Ended {
    Ended* next;
};

struct Shelf {
    Ended* first = nullptr;
    std::size_t count = 0;
};

/// One thread's. Frames that end on another thread than they began on, or after their thread's
/// shelves are gone, go to where they end.
class Shelves {
  public:
    Shelves() = default;
    Shelves(const Shelves&) = delete;
    Shelves& operator=(const Shelves&) = delete;
    ~Shelves() {
        for (Shelf& shelf : shelves_) {
            while (shelf.first != nullptr) {
                ::operator delete(std::exchange(shelf.first, shelf.first->next));
            }
            shelf.count = kMostKept;
        }
    }

    Shelf& of(std::size_t index) { return shelves_[index]; }

  private:
    std::array<Shelf, kSizes> shelves_{};
};

thread_local Shelves shelves;

constexpr std::size_t index_of(std::size_t bytes) {
    return (bytes - 1) / kStep;
}

}  // namespace

void* take(std::size_t bytes) {
    const std::size_t index = index_of(bytes);
    if (!kIsPooled || index >= kSizes) {
        return ::operator new(bytes);
    }
    Shelf& shelf = shelves.of(index);
    if (shelf.first == nullptr) {
        return ::operator new((index + 1) * kStep);
    }
    --shelf.count;
    return std::exchange(shelf.first, shelf.first->next);
}

void give_back(void* frame, std::size_t bytes) noexcept {
    const std::size_t index = index_of(bytes);
    if (kIsPooled && index < kSizes) {
        Shelf& shelf = shelves.of(index);
        if (shelf.count < kMostKept) {
            ++shelf.count;
            shelf.first = new (frame) Ended{shelf.first};
            return;
        }
    }
    ::operator delete(frame);
}

}  // namespace prefix_router::net::frame_pool
