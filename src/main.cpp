#include "prefix_router/app/run.hpp"

int main(int argc, char** argv) {
    return prefix_router::app::run({argv, static_cast<std::size_t>(argc)});
}
