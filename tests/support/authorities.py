"""The certificates of authorities, read once for all clients of a process and of its forks.

To read them takes a twentieth of a second, for each client of a model, though those of tests speak
plain HTTP. They are those that a client would read by itself.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


def share_authorities() -> None:
    """Let clients that ask for the authorities of this machine share one context."""
    import httpcore2

    plain = httpcore2.default_ssl_context

    @cache
    def read(trust_env: bool, file: str | None, folder: str | None) -> ssl.SSLContext:
        return plain(_trust_env=trust_env)

    def shared(*, _trust_env: bool = True) -> ssl.SSLContext:
        return read(_trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))

    httpcore2.default_ssl_context = shared
