"""What tests/conftest.py promises to every test: no network, and asyncio's own loop away from Qt."""

import asyncio
import logging
import socket

import pytest

pytest_plugins = ["pytester"]


def test_a_connection_that_leaves_the_machine_is_refused() -> None:
    with socket.socket() as away, pytest.raises(PermissionError, match="only loopback"):
        away.connect(("192.0.2.1", 9))


def test_looking_up_a_name_that_is_not_local_is_refused() -> None:
    with pytest.raises(PermissionError, match="only loopback"):
        socket.getaddrinfo("devflow.example", 443)


def test_a_connection_to_loopback_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as near:
        assert near.getpeername() == server.getsockname()


async def test_async_tests_away_from_the_ui_run_on_a_plain_loop() -> None:
    assert type(asyncio.get_running_loop()).__module__.startswith("asyncio.")


@pytest.mark.expects_log
def test_a_test_that_expects_a_log_record_can_read_it(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("devflow.tests").warning("the disk is nearly full")
    assert caplog.messages == ["the disk is nearly full"]


@pytest.mark.expects_log
def test_an_unexpected_warning_in_the_log_fails_the_test(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.conftest import _no_unexpected_log  # noqa: F401\n")
    pytester.makeini("[pytest]\nmarkers =\n    expects_log: for the guard\n")
    pytester.makepyfile(
        """
        import logging

        def test_it_warns():
            logging.getLogger("devflow").warning("unexpected")
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:asyncio", "-p", "no:pytest-qt")
    result.stdout.fnmatch_lines(["*unexpected log records*", "*WARNING devflow: unexpected*"])


@pytest.mark.expects_log
def test_a_failure_that_nobody_awaited_fails_the_test(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.conftest import _no_unexpected_log  # noqa: F401\n")
    pytester.makeini(
        "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
        "markers =\n    expects_log: for the guard\n"
    )
    pytester.makepyfile(
        """
        import asyncio

        async def fail():
            raise ValueError("lost")

        async def test_it_forgets_a_task():
            asyncio.ensure_future(fail())
            await asyncio.sleep(0)
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:pytest-qt")
    result.stdout.fnmatch_lines(["*unexpected log records*", "*Task exception was never retrieved*"])
