# Compiler settings shared by every target of the project, as the interface target prefix_router_options.
add_library(prefix_router_options INTERFACE)
target_compile_features(prefix_router_options INTERFACE cxx_std_20)
target_compile_options(prefix_router_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Wextra-semi -Wundef -Werror)
target_compile_definitions(prefix_router_options INTERFACE
    BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE)

if(PREFIX_ROUTER_SANITIZE)
    target_compile_options(prefix_router_options INTERFACE
        -fsanitize=${PREFIX_ROUTER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(prefix_router_options INTERFACE -fsanitize=${PREFIX_ROUTER_SANITIZE})
    if(PREFIX_ROUTER_SANITIZE MATCHES "thread")
        target_compile_options(prefix_router_options INTERFACE -Wno-tsan)
    endif()
endif()

if(PREFIX_ROUTER_FUZZ)
    # The warnings are GCC's to judge: clang has others, some of them about GCC's own library.
    target_compile_options(prefix_router_options INTERFACE -Wno-error)
endif()

find_program(CCACHE ccache)
if(CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
