#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"

#include "routing/record.hpp"

namespace prefix_router::routing {

struct HoldTenant;

/// The held requests of one tenant for one model, in the order in which they would go.
struct HoldLine : boost::intrusive::set_base_hook<> {
    HoldLine(HoldTenant& tenant_, ModelId model_) : tenant(tenant_), model(model_) {}

    HoldTenant& tenant;
    ModelId model;
    boost::intrusive::multiset<Record> records;
};

/// One tenant's place in one class.
struct HoldTenant : boost::intrusive::set_base_hook<> {
    explicit HoldTenant(std::uint64_t id_) : id(id_) {}

    std::uint64_t id;
    Seconds tag = 0;  ///< virtual time at which its next request starts
    std::size_t held = 0;
    std::vector<std::unique_ptr<HoldLine>> lines;  ///< none empty
    // Of the pass under way (HoldPass).
    std::uint64_t pass = 0;
    Seconds pass_tag = 0;
};

/// The held requests of one priority, fair between tenants by start-time fair queueing (Goyal, Vin,
/// Cheng 1996) on expected prefill seconds: each tenant has the virtual time at which its next
/// request starts, and the smallest goes first. A request that goes moves its tenant's tag on by
/// its cost and the class's virtual time to where it started; a tenant that comes starts at the
/// virtual time, or at its own tag when that is later, so that holding one request at a time is no
/// way to the front. Within a tenant the order is that of HoldKey; with one tenant it is nothing
/// else. Models have lines of their own: requests for a model whose backends are all full stand in
/// nobody's way. Not thread-safe.
/// Example, costs 1: a holds three, b comes later with two at virtual time 0: a b a b a.
class HoldClass {
  public:
    struct ByTag {
        bool operator()(const HoldLine& a, const HoldLine& b) const;
        bool operator()(const HoldTenant& a, const HoldTenant& b) const { return a.tag < b.tag; }
    };
    struct ByAge {
        bool operator()(const Record& a, const Record& b) const {
            return a.key.order < b.key.order;
        }
    };
    using Lines = boost::intrusive::multiset<HoldLine, boost::intrusive::compare<ByTag>>;
    struct ModelLines {
        ModelId model;
        Lines lines;
    };

    HoldClass() = default;
    ~HoldClass();
    HoldClass(const HoldClass&) = delete;
    HoldClass& operator=(const HoldClass&) = delete;

    void insert(Record& record);
    /// Takes it out; charges its tenant when it goes to a backend.
    enum class Leaves : bool { Unsent, Sent };
    void remove(Record& record, Leaves leaves);

    std::size_t size() const { return size_; }
    std::size_t bytes() const { return bytes_; }
    /// The one that came last; nullptr: none.
    Record* youngest();
    /// Those with held requests, in no particular order.
    const std::vector<std::unique_ptr<ModelLines>>& models() const { return models_; }
    Seconds virtual_time() const { return virtual_time_; }
    /// nullptr: it has no tag of its own.
    HoldTenant* find(std::uint64_t tenant);

    static Seconds cost(const Record& record);

  private:
    using Idle = boost::intrusive::multiset<HoldTenant, boost::intrusive::compare<ByTag>>;
    using AgeHook = boost::intrusive::member_hook<Record, boost::intrusive::set_member_hook<>,
                                                  &Record::age_hook>;
    using Ages = boost::intrusive::multiset<Record, AgeHook, boost::intrusive::compare<ByAge>>;

    HoldTenant& active(std::uint64_t id);
    HoldLine& line(HoldTenant& tenant, ModelId model);
    Lines& lines_of(ModelId model);
    void drop(HoldLine& line);
    void charge(HoldTenant& tenant, Seconds cost);
    void rest(HoldTenant& tenant);
    void forget_idle();

    std::vector<std::unique_ptr<ModelLines>> models_;
    std::unordered_map<std::uint64_t, std::unique_ptr<HoldTenant>> tenants_;
    Idle idle_;  // hold nothing, but their tag is still ahead of the virtual time
    Ages ages_;
    Seconds virtual_time_ = 0;
    std::size_t size_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace prefix_router::routing
