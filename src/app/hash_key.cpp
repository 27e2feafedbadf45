#include "app/hash_key.hpp"

#include <istream>
#include <ostream>
#include <string>

#include "prefix_router/base/sha256.hpp"

namespace prefix_router::app {
namespace {

constexpr int kUsageError = 2;
constexpr std::size_t kLongest = std::size_t{16} << 10;  // what a request's line may hold

}  // namespace

int hash_key(std::istream& in, std::ostream& out, std::ostream& err) {
    std::string key;
    std::getline(in, key);
    if (key.ends_with('\r')) {
        key.pop_back();
    }
    if (key.empty() || key.size() > kLongest || key.find_first_of(" \t") != std::string::npos) {
        err << "prefix-router hash-key: give one key on standard input, a line without spaces: "
               "openssl rand -hex 32 | tee key | prefix-router hash-key\n";
        return kUsageError;
    }
    out << to_hex(sha256(key)) << '\n';
    return 0;
}

}  // namespace prefix_router::app
