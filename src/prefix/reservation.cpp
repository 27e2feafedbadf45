#include "prefix/reservation.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace prefix_router::prefix {

Reservation::Reservation(std::size_t bytes) : bytes_(bytes) {
    void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        throw std::bad_alloc();
    }
    // Huge pages would commit 2 MB for the first byte of each segment and make the bound a lie.
    ::madvise(mapped, bytes, MADV_NOHUGEPAGE);
    data_ = static_cast<std::byte*>(mapped);
}

Reservation::~Reservation() {
    ::munmap(data_, bytes_);
}

void Reservation::discard(std::size_t offset, std::size_t bytes) {
    if (::madvise(data_ + offset, bytes, MADV_DONTNEED) != 0) {
        std::memset(data_ + offset, 0, bytes);  // locked pages (mlockall) cannot be given back
    }
}

}  // namespace prefix_router::prefix
