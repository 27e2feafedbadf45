#include "prefix_router/pool/model_table.hpp"

namespace prefix_router::pool {
namespace {

constexpr std::size_t kMostNames = 65'535;

}  // namespace

ModelId ModelTable::intern(std::string_view name) {
    const ModelId known = find(name);
    if (known != kUnknownModel || name.empty() || names_.size() > kMostNames) {
        return known;
    }
    const ModelId id(static_cast<ModelId::Value>(names_.size()));
    names_.emplace_back(name);
    ids_.emplace(name, id);
    return id;
}

ModelId ModelTable::find(std::string_view name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? kUnknownModel : found->second;
}

std::string_view ModelTable::name(ModelId id) const {
    return id.index() < names_.size() ? std::string_view(names_[id.index()]) : names_.front();
}

}  // namespace prefix_router::pool
