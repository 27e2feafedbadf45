#pragma once

#include <string_view>
#include <utility>

#include "config/codecs.hpp"
#include "config/option_tables.hpp"

namespace prefix_router::config {

/// A row of an option table: `codec` reads and writes `field`.
template <class Section, class T, class Codec>
Option<Section> option(std::string_view name, Reload reload, T Section::* field, const Codec& codec,
                       std::string_view help) {
    Option<Section> made;
    made.name = name;
    made.reload = reload;
    made.help = help;
    made.accepts = codec.accepts();
    made.read = [field, codec](Section& section, const RawNode& node) -> Result<void> {
        auto value = codec.parse(node);
        if (value.has_error()) {
            return value.error();
        }
        section.*field = std::move(*value);
        return {};
    };
    made.show = [field, codec](const Section& section) { return codec.show(section.*field); };
    return made;
}

}  // namespace prefix_router::config
