// For the daemon of a sanitized build, which tests leave without descriptors: UBSan reads an object
// whose class it sees for the first time through a pipe, and where it gets none every class looks
// like a wrong one. It takes the place of the runtime's own answer to a class that is not known
// yet. Routers inside test programs are checked.
#include <cstdint>

// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" void __ubsan_handle_dynamic_type_cache_miss_abort(void* /*check*/,
                                                             std::uintptr_t /*object*/,
                                                             std::uintptr_t /*hash*/) {}
