#include "integration/support/authority.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace prefix_router::testing {
namespace {

constexpr long kX509Version3 = 2;

void check(bool holds) {
    if (!holds) {
        throw std::runtime_error("the test's certificates cannot be made");
    }
}

std::shared_ptr<EVP_PKEY> make_key() {
    return {EVP_EC_gen("P-256"), EVP_PKEY_free};
}

template <class Write>
void write_pem(const std::string& path, Write write) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"),
                                                               std::fclose);
    check(file != nullptr && write(file.get()) == 1);
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    check(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

std::shared_ptr<X509> make_certificate(const std::string& name, EVP_PKEY* key,
                                       std::chrono::hours valid_for) {
    std::shared_ptr<X509> made(X509_new(), X509_free);
    X509* const raw = made.get();
    X509_set_version(raw, kX509Version3);
    std::uint32_t serial = 0;
    check(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1);
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(raw), serial);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(valid_for).count();
    X509_gmtime_adj(X509_getm_notBefore(raw), -100L * 24 * 3600);
    X509_gmtime_adj(X509_getm_notAfter(raw), static_cast<long>(seconds));
    X509_NAME_add_entry_by_txt(X509_get_subject_name(raw), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    check(X509_set_pubkey(raw, key) == 1);
    return made;
}

CertificateFiles write(const std::string& base, X509* certificate, EVP_PKEY* key) {
    CertificateFiles files{base + ".pem", base + ".key"};
    write_pem(files.certificate,
              [&](std::FILE* file) { return PEM_write_X509(file, certificate); });
    write_pem(files.key, [&](std::FILE* file) {
        return PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
    return files;
}

void use(SSL_CTX* context, const CertificateFiles& own) {
    check(SSL_CTX_use_certificate_chain_file(context, own.certificate.c_str()) == 1 &&
          SSL_CTX_use_PrivateKey_file(context, own.key.c_str(), SSL_FILETYPE_PEM) == 1);
}

}  // namespace

Authority::Authority(const std::string& name)
    : folder_(::testing::TempDir() + "prefix_router_tls_XXXXXX"), key_(make_key()) {
    check(::mkdtemp(folder_.data()) != nullptr);
    certificate_ = make_certificate(name, key_.get(), std::chrono::hours(24));
    X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
    add_extension(certificate_.get(), certificate_.get(), NID_basic_constraints,
                  "critical,CA:TRUE");
    check(X509_sign(certificate_.get(), key_.get(), EVP_sha256()) != 0);
    files_ = write(path("authority"), certificate_.get(), key_.get());
}

Authority::~Authority() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

CertificateFiles Authority::issue(const std::string& file_name, const std::string& names,
                                  std::chrono::hours valid_for) {
    const auto key = make_key();
    const auto made = make_certificate(file_name, key.get(), valid_for);
    X509_set_issuer_name(made.get(), X509_get_subject_name(certificate_.get()));
    add_extension(made.get(), certificate_.get(), NID_subject_alt_name, names);
    check(X509_sign(made.get(), key_.get(), EVP_sha256()) != 0);
    return write(path(file_name), made.get(), key.get());
}

std::shared_ptr<SSL_CTX> client_context(const std::string& authority_file,
                                        const std::optional<CertificateFiles>& own) {
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    check(SSL_CTX_load_verify_file(context.get(), authority_file.c_str()) == 1);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (own) {
        use(context.get(), *own);
    }
    return context;
}

std::shared_ptr<SSL_CTX> server_context(const CertificateFiles& own,
                                        const std::string& authority_file) {
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    use(context.get(), own);
    SSL_CTX_set_session_id_context(context.get(), reinterpret_cast<const unsigned char*>("t"), 1);
    if (!authority_file.empty()) {
        check(SSL_CTX_load_verify_file(context.get(), authority_file.c_str()) == 1);
        SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                           nullptr);
    }
    return context;
}

}  // namespace prefix_router::testing
