#include "support/failing_memory.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>

namespace {

std::array<std::atomic<long>, 64> victims{};  // 0: none
std::atomic<long> left{0};                    // allocations until one fails; 0: none does

bool is_victim() {
    thread_local const long self = ::syscall(SYS_gettid);
    return std::ranges::any_of(victims, [](const auto& victim) { return victim.load() == self; });
}

bool fails_now() {
    return left.load(std::memory_order_relaxed) > 0 && is_victim() && left.fetch_sub(1) == 1;
}

}  // namespace

void* operator new(std::size_t size) {
    void* const memory = fails_now() ? nullptr : std::malloc(std::max<std::size_t>(1, size));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
    std::free(memory);
}

namespace prefix_router::testing {

std::vector<long> threads() {
    std::vector<long> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
        found.push_back(std::stol(entry.path().filename().string()));
    }
    return found;
}

void set_victims(const std::vector<long>& threads) {
    for (std::size_t i = 0; i < victims.size(); ++i) {
        victims[i].store(i < threads.size() ? threads[i] : 0);
    }
}

void fail_allocation(long nth) {
    left.store(nth);
}

bool stop_failing() {
    return left.exchange(0) > 0;
}

}  // namespace prefix_router::testing
