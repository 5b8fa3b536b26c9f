"""The benchmark: one module for each noun, `main` puts them together.

configs    what each proxy is told
processes  starting, reading the counters of, and stopping a process
proxies    a proxy under test: one variant, running
load       the backend and the client (tools/bench/*.cc)
workloads  what is asked of every proxy, and what weir is to reach
rounds     the measurement itself: all proxies interleaved
ratios     medians and their bootstrap intervals
report     the table and the JSON
machine    what the numbers depend on
core       the other benchmark, scripts/bench core
"""
