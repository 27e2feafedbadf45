#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/report.hpp"

namespace prefix_router::config {

inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

/// One node of a YAML document before any meaning is given to it. Scalars keep their text: types
/// come from the option tables. A node inside a map carries its key.
struct RawNode {
    enum class Kind : unsigned char { Null, Scalar, List, Map };

    Kind kind = Kind::Null;
    int line = 0;  ///< from 1
    std::string text;
    std::string key;
    int key_line = 0;
    std::vector<RawNode> children;  ///< of a list or a map, in the order of the file
};

/// Reads one document. Bounded in size, depth and number of nodes; aliases, tags, and bytes that
/// are not text are problems, and there is no tree. Repeated keys are problems, too, but each is in
/// the tree, so that what else is wrong can be told with them.
std::optional<RawNode> read_yaml(std::string_view text, Report& report);

}  // namespace prefix_router::config
