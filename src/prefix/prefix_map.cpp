#include "prefix_router/prefix/prefix_map.hpp"

#include "prefix/table.hpp"

namespace prefix_router::prefix {

PrefixMap::PrefixMap(Options options) : table_(std::make_unique<Table>(options)) {}
PrefixMap::~PrefixMap() = default;

void PrefixMap::add_backend(BackendSlot backend, Tokens capacity) {
    table_->add_backend(backend.index(), capacity);
}
void PrefixMap::remove_backend(BackendSlot backend) {
    table_->remove_backend(backend.index());
}
void PrefixMap::clear_backend(BackendSlot backend) {
    table_->clear_backend(backend.index());
}
void PrefixMap::set_capacity(BackendSlot backend, Tokens capacity) {
    table_->set_capacity(backend.index(), capacity);
}
Tokens PrefixMap::capacity(BackendSlot backend) const {
    return table_->capacity(backend.index());
}

void PrefixMap::match(const Chain& chain, std::span<const BackendSlot> backends,
                      std::span<Match> out) const {
    table_->match(chain, backends, out);
}
std::size_t PrefixMap::copies(std::uint64_t hash) const {
    return table_->copies(hash);
}
void PrefixMap::distances(const Chain& chain, BackendSlot backend,
                          std::vector<StackDistance>& out) const {
    table_->distances(chain, backend.index(), out);
}
void PrefixMap::touch(const Chain& chain, BackendSlot backend, std::size_t from) {
    table_->touch(chain, backend.index(), from);
}
void PrefixMap::fill(BackendSlot backend, Tokens tokens) {
    table_->fill(backend.index(), tokens);
}
void PrefixMap::erase(const Chain& chain, BackendSlot backend, std::size_t from) {
    table_->erase(chain, backend.index(), from);
}

void PrefixMap::touch_and_pin(const Chain& chain, BackendSlot backend, std::size_t believed) {
    table_->touch_and_pin(chain, backend.index(), believed);
}
void PrefixMap::unpin_computed(const Chain& chain, BackendSlot backend) {
    table_->unpin_computed(chain, backend.index());
}
void PrefixMap::unpin_failed(const Chain& chain, BackendSlot backend) {
    table_->unpin_failed(chain, backend.index());
}
void PrefixMap::unpin_and_touch(const Chain& chain, BackendSlot backend, std::size_t from) {
    table_->unpin_and_touch(chain, backend.index(), from);
}
Tokens PrefixMap::pinned(BackendSlot backend) const {
    return table_->pinned(backend.index());
}

Tokens PrefixMap::working_set(BackendSlot backend) const {
    return table_->working_set(backend.index());
}
void PrefixMap::tick(double now_seconds, double window_seconds) {
    table_->tick(now_seconds, window_seconds);
}

Tokens PrefixMap::resident(BackendSlot backend) const {
    return table_->resident(backend.index());
}
std::size_t PrefixMap::entries() const {
    return table_->entries();
}
std::size_t PrefixMap::memory_bytes() const {
    return table_->memory_bytes();
}

}  // namespace prefix_router::prefix
