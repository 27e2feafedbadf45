#include "config/make_option.hpp"

namespace prefix_router::config {

const OptionTable<Tls>& tls_options() {
    static const OptionTable<Tls> table{
        option(
            "certificate", Reload::Live, &Tls::certificate, OrNoneCodec<FileCodec>{"off", {}},
            "PEM file of the certificate, followed by its chain. Read again at each reload; a pair "
            "that cannot be used leaves the old one in force. off serves plain HTTP."),
        option("key", Reload::Live, &Tls::key, OrNoneCodec<FileCodec>{"off", {}},
               "PEM file of the certificate's private key, not encrypted. Read again at each "
               "reload."),
        option("min_version", Reload::Live, &Tls::min_version,
               ChoiceCodec<TlsVersion>{{{"1.2", TlsVersion::Tls12}, {"1.3", TlsVersion::Tls13}}},
               "Oldest version of TLS that is spoken."),
        option("client_ca", Reload::Live, &Tls::client_ca, OrNoneCodec<FileCodec>{"off", {}},
               "PEM file of authorities: only clients with a certificate signed by one of them are "
               "served (mutual TLS). Read again at each reload."),
    };
    return table;
}

}  // namespace prefix_router::config
