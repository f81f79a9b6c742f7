"""Use of an obsolete network function.

## What it does
Finds `gethostbyname`, `gethostbyaddr`, `inet_ntoa`, `inet_addr`, `inet_aton` and the like.

## Why is this bad?
`gethostby...` and `inet_ntoa` return static memory that the next call overwrites, also from
another thread. `inet_addr` returns the same value for 255.255.255.255 and for an error, and
accepts forms such as `0x7f.1`. None of them supports IPv6.

## Example
```c
address.sin_addr.s_addr = inet_addr(argument);
```

Use instead:
```c
if (inet_pton(AF_INET, argument, &address.sin_addr) != 1)
    return -1;
```

## References
- CWE-477: Use of Obsolete Function
- CWE-676: Use of Potentially Dangerous Function
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, rule

BETTER = {
    "gethostbyname": "getaddrinfo",
    "gethostbyname2": "getaddrinfo",
    "gethostbyaddr": "getnameinfo",
    "inet_addr": "inet_pton",
    "inet_aton": "inet_pton",
    "inet_ntoa": "inet_ntop",
    "inet_network": "inet_pton",
    "inet_makeaddr": "inet_pton",
    "WSAAsyncGetHostByName": "GetAddrInfoEx",
    "getservbyname": "getaddrinfo",
    "getservbyport": "getnameinfo",
}


@rule(
    query=calls(*BETTER),
    category="network_api",
    cwe=(477, 676),
    confidence=0.35,
    severity="low",
    suggestion="Use '{better}'.",
)
def legacy_inet_function(call: Call) -> Iterator[Report]:
    yield Report(
        call.node,
        "'{name}' is obsolete: it lacks IPv6 support and error or thread safety.",
        pattern=call.name,
        name=call.written,
        better=BETTER[call.name],
    )
