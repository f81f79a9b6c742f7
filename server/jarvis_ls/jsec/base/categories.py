"""Families of rules and what people call them, in reports, at the terminal and in the editor.

The identifiers are in records and settings; `labels.ts` of the editor has the same names.
"""

from __future__ import annotations

from jarvis_ls.core.translations import Translations

CATEGORIES: dict[str, str] = {
    "unsafe_api": "Unsafe API",
    "buffer_overflow": "Buffer overflow",
    "integer_overflow": "Integer overflow",
    "memory_mgmt": "Memory management",
    "error_handling": "Error handling",
    "unsafe_usage": "Use of unsafe",
    "undefined_behaviour": "Undefined behaviour",
    "type_safety": "Type safety",
    "concurrency": "Concurrency",
    "thread_safety": "Thread safety",
    "race_condition": "Race condition",
    "input_validation": "Input validation",
    "path_traversal": "Path traversal",
    "crypto": "Cryptography",
    "secrets": "Secrets",
    "resource_leak": "Resource leak",
    "network_api": "Network API",
    "insecure_permissions": "Insecure permissions",
    "custom": "Patterns of your own",
    "suppression": "Suppression",
    "analysis": "Analysis",
}
"""Names by identifier, in the order reports show them; others come behind, by identifier."""


def category_name(category: str, say: Translations) -> str:
    """Return a family in words; of one that we do not know, its identifier made readable."""
    known = CATEGORIES.get(category)
    if known is not None:
        return say(known)
    words = category.replace("_", " ")
    return words[:1].upper() + words[1:]
