#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <openssl/ssl.h>

namespace prefix_router::testing {

/// The PEM files of a certificate and its key.
struct CertificateFiles {
    std::string certificate;
    std::string key;
};

/// An authority that lives as long as one test and signs certificates for it; its files go with it.
class Authority {
  public:
    using Clock = std::chrono::system_clock;

    explicit Authority(const std::string& name = "authority");
    ~Authority();
    Authority(const Authority&) = delete;
    Authority& operator=(const Authority&) = delete;

    /// The file of the authority's own certificate.
    const std::string& file() const { return files_.certificate; }
    /// A file of this name in the authority's folder.
    std::string path(const std::string& name) const { return folder_ + "/" + name; }

    /// `names` as OpenSSL writes subjectAltName: "DNS:localhost,IP:127.0.0.1". Another certificate
    /// for the same file name replaces it.
    CertificateFiles issue(const std::string& file_name, const std::string& names,
                           std::chrono::hours valid_for = std::chrono::hours(24));

  private:
    std::string folder_;
    CertificateFiles files_;
    std::shared_ptr<EVP_PKEY> key_;
    std::shared_ptr<X509> certificate_;
};

/// Believes what `authority_file` signed; shows `own` when there is one.
std::shared_ptr<SSL_CTX> client_context(const std::string& authority_file,
                                        const std::optional<CertificateFiles>& own = {});
/// Shows `own`; asks for a certificate when there is an `authority_file`.
std::shared_ptr<SSL_CTX> server_context(const CertificateFiles& own,
                                        const std::string& authority_file = {});

}  // namespace prefix_router::testing
