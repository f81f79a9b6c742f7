"""The providers whose models can be named without describing them in settings, as data.

Names, addresses and variables are those of the providers' own documentation. Where a provider has
separate accounts for China and for the rest of the world, a key of one is refused by the other:
these are two entries.
"""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_ls.core.words import Words


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """One provider, or one program that serves models on this machine."""

    name: str
    """As models are prefixed: `name/model`."""
    base: str | None = None
    """Base URL; None means the platform's own."""
    env_keys: tuple[str, ...] = ()
    """Environment variables that hold keys."""
    type: str = "openai"
    """Which platform speaks to it."""
    key_page: str = ""
    """Where a key is made."""
    domain: str = ""
    """Ending of its hosts, when its models want their reasoning back with the conversation and
    refuse it without."""
    here: bool = False
    """Whether it runs on this machine and takes any key."""
    title: str = ""
    """As people call it."""
    lists_openly: bool = False
    """Whether it lists its models to anyone: a list then proves no key."""


def _china(name: str) -> str:
    return Words("{name} (China)", name=name)


def _elsewhere(name: str) -> str:
    return Words("{name} (international)", name=name)


KNOWN: tuple[KnownProvider, ...] = (
    KnownProvider(
        "deepseek",
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY",),
        key_page="https://platform.deepseek.com/api_keys",
        domain="deepseek.com",
        title="DeepSeek",
    ),
    KnownProvider(
        "moonshot",
        "https://api.moonshot.cn/v1",
        ("MOONSHOT_API_KEY",),
        key_page="https://platform.moonshot.cn/console/api-keys",
        domain="moonshot.cn",
        title=_china("Moonshot Kimi"),
    ),
    KnownProvider(
        "moonshot-ai",
        "https://api.moonshot.ai/v1",
        ("MOONSHOT_API_KEY",),
        key_page="https://platform.moonshot.ai/console/api-keys",
        domain="moonshot.ai",
        title=_elsewhere("Moonshot Kimi"),
    ),
    KnownProvider(
        "zhipuai",
        "https://open.bigmodel.cn/api/paas/v4",
        ("ZHIPU_API_KEY",),
        key_page="https://bigmodel.cn/usercenter/proj-mgmt/apikeys",
        domain="bigmodel.cn",
        title=_china("Zhipu GLM"),
    ),
    KnownProvider(
        "zai",
        "https://api.z.ai/api/paas/v4",
        ("ZAI_API_KEY",),
        key_page="https://z.ai/manage-apikey/apikey-list",
        domain="z.ai",
        title=_elsewhere("Zhipu GLM, Z.ai"),
    ),
    KnownProvider(
        "minimax-cn",
        "https://api.minimaxi.com/v1",
        ("MINIMAX_API_KEY", "MINIMAX_API_KEY_2"),
        key_page="https://platform.minimaxi.com",
        domain="minimaxi.com",
        title=_china("MiniMax"),
    ),
    KnownProvider(
        "minimax",
        "https://api.minimax.io/v1",
        ("MINIMAX_API_KEY",),
        key_page="https://platform.minimax.io",
        domain="minimax.io",
        title=_elsewhere("MiniMax"),
    ),
    KnownProvider(
        "openai",
        None,
        ("OPENAI_API_KEY",),
        key_page="https://platform.openai.com/api-keys",
        title="OpenAI",
    ),
    KnownProvider(
        "anthropic",
        None,
        ("ANTHROPIC_API_KEY",),
        "anthropic",
        key_page="https://console.anthropic.com/settings/keys",
        title="Anthropic Claude",
    ),
    KnownProvider(
        "openrouter",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        key_page="https://openrouter.ai/keys",
        title="OpenRouter",
        lists_openly=True,
    ),
    KnownProvider("ollama", "http://127.0.0.1:11434/v1", here=True, title="Ollama"),
    KnownProvider("lmstudio", "http://127.0.0.1:1234/v1", here=True, title="LM Studio"),
)
