"""Samples out of a Prometheus exposition, for the tests that drive the daemon."""
import re


def metric(page, name):
    """Sum of the samples of prefix_router_NAME. KeyError when there are none: a wrong name is not zero."""
    values = [float(line.rsplit(" ", 1)[1]) for line in page.splitlines()
              if re.split("[{ ]", line)[0] == "prefix_router_" + name]
    if not values:
        raise KeyError("no samples of prefix_router_" + name)
    return sum(values)
