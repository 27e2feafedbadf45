#include "routing/hold_class.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace prefix_router::routing {
namespace {

// A tenant of many tiny requests pays for each, too.
constexpr Seconds kLeastCost = 0.001;
// Tenants that hold nothing are remembered while their tag is ahead; names come from clients.
constexpr std::size_t kMostIdle = 4'096;

}  // namespace

bool HoldClass::ByTag::operator()(const HoldLine& a, const HoldLine& b) const {
    return a.tenant.tag < b.tenant.tag;
}

HoldClass::~HoldClass() {
    ages_.clear();
    idle_.clear();
    for (const auto& model : models_) {
        for (HoldLine& line : model->lines) {
            line.records.clear();
        }
        model->lines.clear();
    }
}

Seconds HoldClass::cost(const Record& record) {
    return std::max(kLeastCost, record.wants_own);
}

HoldTenant* HoldClass::find(std::uint64_t tenant) {
    const auto found = tenants_.find(tenant);
    return found != tenants_.end() ? found->second.get() : nullptr;
}

void HoldClass::insert(Record& record) {
    HoldTenant& tenant = active(record.ticket->ask().tenant);
    HoldLine& place = line(tenant, record.ticket->ask().model);
    record.line = &place;
    place.records.insert(record);
    ages_.insert(record);
    ++tenant.held;
    ++size_;
    bytes_ += record.ticket->ask().bytes;
}

void HoldClass::remove(Record& record, Leaves leaves) {
    HoldLine& place = *record.line;
    HoldTenant& tenant = place.tenant;
    place.records.erase(place.records.iterator_to(record));
    ages_.erase(ages_.iterator_to(record));
    record.line = nullptr;
    --tenant.held;
    --size_;
    bytes_ -= record.ticket->ask().bytes;
    if (place.records.empty()) {
        drop(place);
    }
    if (leaves == Leaves::Sent && !record.is_charged) {
        record.is_charged = true;
        charge(tenant, cost(record));
    }
    if (size_ == 0) {
        idle_.clear();  // nobody is behind anybody any more
        tenants_.clear();
        virtual_time_ = 0;
    } else if (tenant.held == 0) {
        rest(tenant);
    }
}

Record* HoldClass::youngest() {
    return ages_.empty() ? nullptr : &*ages_.rbegin();
}

HoldTenant& HoldClass::active(std::uint64_t id) {
    auto& made = tenants_[id];
    if (!made) {
        made = std::make_unique<HoldTenant>(id);
        made->tag = virtual_time_;
    } else if (made->is_linked()) {
        idle_.erase(idle_.iterator_to(*made));
        made->tag = std::max(made->tag, virtual_time_);
    }
    return *made;
}

HoldLine& HoldClass::line(HoldTenant& tenant, ModelId model) {
    for (const auto& line : tenant.lines) {
        if (line->model == model) {
            return *line;
        }
    }
    auto made = std::make_unique<HoldLine>(tenant, model);
    tenant.lines.reserve(tenant.lines.size() + 1);
    lines_of(model).insert(*made);  // from here on nothing throws
    tenant.lines.push_back(std::move(made));
    return *tenant.lines.back();
}

HoldClass::Lines& HoldClass::lines_of(ModelId model) {
    for (const auto& lines : models_) {
        if (lines->model == model) {
            return lines->lines;
        }
    }
    models_.push_back(std::make_unique<ModelLines>());
    models_.back()->model = model;
    return models_.back()->lines;
}

void HoldClass::drop(HoldLine& line) {
    const ModelId model = line.model;
    Lines& lines = lines_of(model);
    lines.erase(lines.iterator_to(line));
    if (lines.empty()) {
        std::erase_if(models_, [&](const auto& each) { return each->model == model; });
    }
    std::erase_if(line.tenant.lines, [&](const auto& each) { return each.get() == &line; });
}

void HoldClass::charge(HoldTenant& tenant, Seconds cost) {
    for (const auto& line : tenant.lines) {
        Lines& lines = lines_of(line->model);
        lines.erase(lines.iterator_to(*line));
    }
    virtual_time_ = std::max(virtual_time_, tenant.tag);
    tenant.tag += cost;
    for (const auto& line : tenant.lines) {
        lines_of(line->model).insert(*line);
    }
    forget_idle();
}

void HoldClass::rest(HoldTenant& tenant) {
    idle_.insert(tenant);
    forget_idle();
}

void HoldClass::forget_idle() {
    while (!idle_.empty() && (idle_.begin()->tag <= virtual_time_ || idle_.size() > kMostIdle)) {
        const std::uint64_t id = idle_.begin()->id;
        idle_.erase(idle_.begin());
        tenants_.erase(id);
    }
}

}  // namespace prefix_router::routing
