"""A header that is read before each file: what the tree does not tell becomes calls with names.

libclang shows `va_arg` and the builtins for atomic access as nodes without a name. Written as
calls of functions that do not exist they can be distinguished; the size of what is accessed is the
last argument. `__PRETTY_FUNCTION__` is the plain name in gcc's C, and with its types in clang's.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from jarvis_ls.codeintel import clang

MARK = "__jc2r_"

_FETCHING = ("add", "sub", "and", "or", "xor", "nand")

TEXT = """
void *__jc2r_va_arg(__builtin_va_list);
unsigned long long __jc2r_load(const volatile void *, unsigned long);
void __jc2r_load_to(const volatile void *, void *, unsigned long);
void __jc2r_store(volatile void *, unsigned long long, unsigned long);
unsigned long long __jc2r_swap(volatile void *, unsigned long long, unsigned long);
_Bool __jc2r_compare(volatile void *, void *, unsigned long long, unsigned long);
_Bool __jc2r_same(volatile void *, unsigned long long, unsigned long long, unsigned long);
unsigned long long __jc2r_was(volatile void *, unsigned long long, unsigned long long,
                              unsigned long);
void __jc2r_fence(void);
#define __PRETTY_FUNCTION__ __func__
#define CMPLX(R, I) __builtin_complex((double)(R), (double)(I))
#define CMPLXF(R, I) __builtin_complex((float)(R), (float)(I))
#define __jc2r_at(P) (volatile void *)(P)
#define __jc2r_type(P) __typeof__(((void)0, *(P)))
#define __jc2r_word(V) (unsigned long long)(V)
#define __builtin_va_arg(A, T) (*(__typeof__(T) *)__jc2r_va_arg(A))
#define __atomic_load_n(P, O) (__jc2r_type(P))__jc2r_load(__jc2r_at(P), sizeof(*(P)))
#define __atomic_load(P, R, O) __jc2r_load_to(__jc2r_at(P), (void *)(R), sizeof(*(P)))
#define __atomic_store_n(P, V, O) __jc2r_store(__jc2r_at(P), __jc2r_word(V), sizeof(*(P)))
#define __atomic_store(P, V, O) __jc2r_store(__jc2r_at(P), __jc2r_word(*(V)), sizeof(*(P)))
#define __atomic_exchange_n(P, V, O) \\
  (__jc2r_type(P))__jc2r_swap(__jc2r_at(P), __jc2r_word(V), sizeof(*(P)))
#define __atomic_exchange(P, V, R, O) \\
  ((void)(*(R) = (__jc2r_type(P))__jc2r_swap(__jc2r_at(P), __jc2r_word(*(V)), sizeof(*(P)))))
#define __atomic_compare_exchange_n(P, E, D, W, S, F) \\
  __jc2r_compare(__jc2r_at(P), (void *)(E), __jc2r_word(D), sizeof(*(P)))
#define __atomic_compare_exchange(P, E, D, W, S, F) \\
  __jc2r_compare(__jc2r_at(P), (void *)(E), __jc2r_word(*(D)), sizeof(*(P)))
#define __atomic_test_and_set(P, O) ((_Bool)__jc2r_swap(__jc2r_at(P), 1, 1))
#define __atomic_clear(P, O) __jc2r_store(__jc2r_at(P), 0, 1)
#define __atomic_thread_fence(O) __jc2r_fence()
#define __atomic_signal_fence(O) __jc2r_fence()
#define __sync_synchronize() __jc2r_fence()
#define __sync_lock_test_and_set(P, V, ...) \\
  (__jc2r_type(P))__jc2r_swap(__jc2r_at(P), __jc2r_word(V), sizeof(*(P)))
#define __sync_lock_release(P, ...) __jc2r_store(__jc2r_at(P), 0, sizeof(*(P)))
#define __sync_bool_compare_and_swap(P, E, D, ...) \\
  __jc2r_same(__jc2r_at(P), __jc2r_word(E), __jc2r_word(D), sizeof(*(P)))
#define __sync_val_compare_and_swap(P, E, D, ...) \\
  (__jc2r_type(P))__jc2r_was(__jc2r_at(P), __jc2r_word(E), __jc2r_word(D), sizeof(*(P)))
""" + "".join(
    f"unsigned long long __jc2r_fetch_{name}(volatile void *, unsigned long long, unsigned long);\n"
    f"unsigned long long __jc2r_{name}_fetch(volatile void *, unsigned long long, unsigned long);\n"
    f"#define __atomic_fetch_{name}(P, V, O) (__jc2r_type(P))"
    f"__jc2r_fetch_{name}(__jc2r_at(P), __jc2r_word(V), sizeof(*(P)))\n"
    f"#define __atomic_{name}_fetch(P, V, O) (__jc2r_type(P))"
    f"__jc2r_{name}_fetch(__jc2r_at(P), __jc2r_word(V), sizeof(*(P)))\n"
    f"#define __sync_fetch_and_{name}(P, V, ...) __atomic_fetch_{name}(P, V, 5)\n"
    f"#define __sync_{name}_and_fetch(P, V, ...) __atomic_{name}_fetch(P, V, 5)\n"
    for name in _FETCHING
)


_VERSION = re.compile(r'^#define __VERSION__ ".*"$', re.MULTILINE)


@functools.cache
def version() -> str:
    """Return what the machine's compiler says of itself, which programs print; clang would say
    another thing. Empty without a compiler.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        return ""
    asked = subprocess.run(
        [compiler, "-dM", "-E", "-x", "c", os.devnull],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=30,
        check=False,
    )
    match = _VERSION.search(asked.stdout)
    return "" if match is None else f"#undef __VERSION__\n{match[0]}\n"


@functools.cache
def atomics() -> str:
    """Return the machine's `stdatomic.h` for a second try: that of gcc makes `atomic_flag` an
    atomic record, which clang gives no value.
    """
    for folder in clang.system_includes():
        path = Path(folder, "stdatomic.h")
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            return re.sub(r"typedef\s+_Atomic\s+struct", "typedef struct", text)
    return ""
