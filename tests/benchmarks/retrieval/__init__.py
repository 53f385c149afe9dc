"""`python -m tests.benchmarks.retrieval --data DIR`: quality of the library's search on public sets, beside the bars."""
