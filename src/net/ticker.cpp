#include "prefix_router/net/ticker.hpp"

#include "prefix_router/base/contain.hpp"

namespace prefix_router::net {

Ticked::~Ticked() {
    if (list_ != nullptr) {
        list_->remove(*this);
    }
}

TickList::~TickList() {
    while (first_ != nullptr) {
        remove(*first_);
    }
}

void TickList::add(Ticked& entry) {
    if (entry.list_ != nullptr) {
        entry.list_->remove(entry);
    }
    entry.list_ = this;
    entry.next_ = first_;
    if (first_ != nullptr) {
        first_->previous_ = &entry;
    }
    first_ = &entry;
}

void TickList::remove(Ticked& entry) {
    if (entry.list_ != this) {
        return;
    }
    if (cursor_ == &entry) {
        cursor_ = entry.next_;
    }
    if (entry.previous_ != nullptr) {
        entry.previous_->next_ = entry.next_;
    } else {
        first_ = entry.next_;
    }
    if (entry.next_ != nullptr) {
        entry.next_->previous_ = entry.previous_;
    }
    entry.list_ = nullptr;
    entry.previous_ = nullptr;
    entry.next_ = nullptr;
}

void TickList::advance() {
    ++now_;
    for_each([this](Ticked& entry) { contain("a tick", [&] { entry.on_tick(now_); }); });
}

}  // namespace prefix_router::net
