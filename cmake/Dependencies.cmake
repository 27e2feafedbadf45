# Third-party libraries, all from the distribution (Debian 12 and 13, Ubuntu 24.04).
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)                       # Asio and Beast, header-only
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(CURL 7.88 REQUIRED)

find_path(CARES_INCLUDE_DIR ares.h REQUIRED)
find_library(CARES_LIBRARY cares REQUIRED)
add_library(prefix_router_cares INTERFACE)
target_include_directories(prefix_router_cares SYSTEM INTERFACE ${CARES_INCLUDE_DIR})
target_link_libraries(prefix_router_cares INTERFACE ${CARES_LIBRARY} resolv)  # resolv: of glibc
# c-ares 1.34 (Debian 13) deprecates calls whose successors c-ares 1.18 (Debian 12) does not have.
target_compile_definitions(prefix_router_cares INTERFACE CARES_NO_DEPRECATED)

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
add_library(prefix_router_xxhash INTERFACE)
target_include_directories(prefix_router_xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
target_link_libraries(prefix_router_xxhash INTERFACE ${XXHASH_LIBRARY})

# yaml-cpp 0.7 exports a plain target, later versions a namespaced one.
if(TARGET yaml-cpp::yaml-cpp)
    set(PREFIX_ROUTER_YAML yaml-cpp::yaml-cpp)
else()
    set(PREFIX_ROUTER_YAML yaml-cpp)
endif()
