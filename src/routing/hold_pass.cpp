#include "routing/hold_pass.hpp"

#include <algorithm>
#include <iterator>

namespace prefix_router::routing {

void HoldPass::begin(HoldClasses& classes) {
    classes_ = &classes;
    class_ = 0;
    ++pass_;
    heap_.clear();
    skipped_.clear();
    open(classes[0]);
}

bool HoldPass::goes_later(const Entry& a, const Entry& b) {
    return a.tag != b.tag ? a.tag > b.tag : b.record->key < a.record->key;
}

void HoldPass::open(HoldClass& of) {
    for (const auto& model : of.models()) {
        HoldLine& line = *model->lines.begin();
        push({line.tenant.tag, &line, &*line.records.begin(), true});
    }
}

HoldPass::Step HoldPass::next() {
    while (true) {
        if (heap_.empty()) {
            if (class_ + 1 == classes_->size()) {
                return {};
            }
            open((*classes_)[++class_]);
            continue;
        }
        Entry entry = pop();
        if (is_skipped(entry.line->model)) {
            continue;
        }
        if (entry.is_first) {
            bring_in_after(*entry.line);
            entry.is_first = false;
        }
        HoldTenant& tenant = entry.line->tenant;
        if (const Seconds current = tag(tenant); current > entry.tag) {
            entry.tag = current;  // another line of its tenant was shown since
            push(entry);
            continue;
        }
        tenant.pass = pass_;
        tenant.pass_tag = entry.tag + HoldClass::cost(*entry.record);
        entry.record->shown_in = pass_;
        if (Record* const following = unshown_after(entry)) {
            push({tenant.pass_tag, entry.line, following, false});
        }
        return {entry.record, class_, entry.tag};
    }
}

void HoldPass::skip(ModelId model) {
    skipped_.push_back(model);
}

Seconds HoldPass::tag_of(const HoldClass& in, const HoldTenant* tenant) const {
    if (tenant == nullptr) {
        return in.virtual_time();
    }
    return tenant->held > 0 ? tag(*tenant) : std::max(tenant->tag, in.virtual_time());
}

void HoldPass::push(Entry entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), goes_later);
}

HoldPass::Entry HoldPass::pop() {
    std::pop_heap(heap_.begin(), heap_.end(), goes_later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    return entry;
}

/// One whose key was changed after it was shown may stand further back now.
Record* HoldPass::unshown_after(const Entry& entry) const {
    auto& records = entry.line->records;
    auto following = std::next(records.iterator_to(*entry.record));
    while (following != records.end() && following->shown_in == pass_) {
        ++following;
    }
    return following != records.end() ? &*following : nullptr;
}

void HoldPass::bring_in_after(HoldLine& line) {
    for (const auto& model : (*classes_)[class_].models()) {
        if (model->model != line.model) {
            continue;
        }
        const auto following = std::next(model->lines.iterator_to(line));
        if (following != model->lines.end()) {
            push({following->tenant.tag, &*following, &*following->records.begin(), true});
        }
        return;
    }
}

Seconds HoldPass::tag(const HoldTenant& tenant) const {
    return tenant.pass == pass_ ? tenant.pass_tag : tenant.tag;
}

bool HoldPass::is_skipped(ModelId model) const {
    return std::find(skipped_.begin(), skipped_.end(), model) != skipped_.end();
}

}  // namespace prefix_router::routing
