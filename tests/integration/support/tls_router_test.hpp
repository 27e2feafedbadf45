#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/ssl.h>

#include "integration/support/authority.hpp"
#include "integration/support/router_test.hpp"

namespace prefix_router::testing {

/// A router that speaks TLS to its clients, with a certificate for localhost.
class TlsRouterTest : public RouterTest {
  protected:
    TlsRouterTest() : files(authority.issue("router", "DNS:localhost,IP:127.0.0.1")) {
        config.tls.certificate = files.certificate;
        config.tls.key = files.key;
        trusting = client_context(authority.file());
    }

    /// Connected and secured; its socket is closed when that failed.
    TestClient connect() { return connect(trusting.get()); }
    TestClient connect(SSL_CTX* context) {
        Socket socket = Socket::connect_to(port());
        if (!socket.secure_as_client(context, "localhost")) {
            socket.close();
        }
        return TestClient(std::move(socket));
    }
    /// As clients see it.
    static long serial_of(TestClient& client) {
        X509* const certificate = SSL_get1_peer_certificate(client.socket().tls());
        const long serial = ASN1_INTEGER_get(X509_get0_serialNumber(certificate));
        X509_free(certificate);
        return serial;
    }

    Authority authority;
    CertificateFiles files;
    std::shared_ptr<SSL_CTX> trusting;
};

/// Bytes that follow no pattern of the transport's.
inline std::string noise(std::size_t size, std::uint32_t seed = 1) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
        seed = seed * 1664525U + 1013904223U;
        byte = static_cast<char>(seed >> 24);
    }
    return bytes;
}

}  // namespace prefix_router::testing
