#pragma once

#include <vector>

namespace prefix_router::testing {

/// The program's operator new, which fails where a test says so.

/// The threads of this process, by their numbers.
std::vector<long> threads();
/// Whose allocations may fail; at most 64.
void set_victims(const std::vector<long>& threads);
/// Of the victims' allocations from here on the `nth` fails, once.
void fail_allocation(long nth);
/// True when none has failed since fail_allocation(); from here on none does.
bool stop_failing();

}  // namespace prefix_router::testing
