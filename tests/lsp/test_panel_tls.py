"""The server starts without TLS; agents have it all the same once they are loaded."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.patience import HANGS

CODE = """
import sys
sys.modules["ssl"] = None  # as the server starts
import asyncio
assert asyncio.sslproto.ssl is None
from jarvis_ls.lsp.pygls_fixes.lean import load_tls
load_tls()
load_tls()
import ssl

async def main(port, certificate):
    context = ssl.create_default_context(cafile=certificate)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    writer.write(b"GET /plain HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n")
    print((await reader.read()).decode().splitlines()[-1])
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient
    http = DefaultAsyncHttpxClient(verify=context)
    client = AsyncOpenAI(api_key="k", base_url=f"https://127.0.0.1:{port}", http_client=http)
    print((await client.models.list()).data)
    await client.close()

asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
"""


async def test_agents_connect_over_tls_from_a_server_that_started_without(tmp_path):
    certificate, key = _certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            CODE,
            str(port),
            str(certificate),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), HANGS)
    assert process.returncode == 0, err.decode()
    assert out.decode().splitlines() == ['{"object": "list", "data": []}', "[]"]


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    body = b'{"object": "list", "data": []}'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n"
    writer.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)
    await writer.drain()
    writer.close()


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that lasts a day, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths
