#include "config/make_option.hpp"

namespace prefix_router::config {

const OptionTable<Reloading>& reload_options() {
    static const OptionTable<Reloading> table{
        option(
            "watch", Reload::Live, &Reloading::watch, FlagCodec{},
            "Whether this file, and the files of certificates and keys that it names, are looked "
            "at every second and read again when they have changed and stayed so for a second. "
            "Replaced files and ConfigMaps are seen, too."),
    };
    return table;
}

}  // namespace prefix_router::config
