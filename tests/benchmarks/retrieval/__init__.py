"""`python -m tests.benchmarks.retrieval --data DIR`: the library's search on public sets, beside the bars."""
