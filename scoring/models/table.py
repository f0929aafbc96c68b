"""The table of models: windows, limits and prices, each with its source and date.

Tokens are whole numbers. Prices are US dollars per million tokens, for prompts of up to `dearer_above` tokens if a
provider charges more for longer ones. `input_limit` is None where input and output share the window. A None price for
writing to the cache means that the provider publishes none and a write costs as much as input.

Change a row together with its source and date. Names are matched by `scoring.models.lookup`, longest first. A row
also holds the assumed limits of later versions and variants until they get a row of their own; their prices are unknown
until then.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One model. `factor` is the number of tokens it counts for one of the encoding's, on agent traffic.

    `wider` is a larger window that the provider offers for it on request.
    """

    name: str
    window: int
    input_limit: int | None
    output_limit: int | None
    input_price: float | None = None
    cached_price: float | None = None
    cache_write_price: float | None = None
    output_price: float | None = None
    source: str = ""
    date: str = ""
    dearer_above: int | None = None
    encoding: str = "o200k_base"
    factor: float = 1.0
    wider: int | None = None


M = 1_000_000
MIB = 1_048_576  # 1024 x 1024, as Google, DeepSeek and Meta spell a million
# A maker's page alone: the numbers were read there. "as in": a list that was read gives that page as their source. The
# lists were read on the date of the row; numbers from neither are marked as not confirmed.
GENAI, LITELLM = "genai-prices 0.2.3", "litellm 1.109.1"
LISTS = f"{GENAI} and {LITELLM}"
CLAUDE = "platform.claude.com, models; prices of the cache as in " + LISTS
ANTHROPIC = f"platform.claude.com, pricing, as in {LISTS}"
NO_OUTPUT = f"{GENAI}; output limit not confirmed"
UNSURE = f"{GENAI}; limits not confirmed"
OLDER_CLAUDE = f"platform.claude.com, as in {GENAI}; output limit not confirmed"
OPENAI = f"developers.openai.com, models and pricing, as in {LISTS}"
OPENAI_PAGE = "developers.openai.com, models"
GOOGLE = f"ai.google.dev, pricing, as in {LISTS}"
OLDER_GOOGLE = f"ai.google.dev, pricing, as in {GENAI}; limits not confirmed"
ARGON = f"ai.google.dev, Gemini 4 Argon, and {LISTS}; the price doubles on 2026-12-01"
FLASH = f"{LISTS}; introductory price until 2026-12-31"
MISTRAL = f"docs.mistral.ai, as in {GENAI}"
NO_WINDOW = f"docs.mistral.ai, as in {GENAI}; window not confirmed"
CARDS = f"docs.mistral.ai, model cards, as in {LITELLM}"
DEEPSEEK = "api-docs.deepseek.com, pricing"
WITHDRAWN = f"{DEEPSEEK}, as in {LITELLM}; the name was withdrawn on 2026-07-24"
XAI = f"docs.x.ai, models, and {LISTS}"
QWEN = f"alibabacloud.com, Model Studio, international, as in {LITELLM}"
GATEWAY = "vercel.com, AI gateway, for the window; the rest not confirmed"
META = f"dev.meta.ai, pricing, as in {LISTS}"
LLAMA = "huggingface.co, Llama 4 release; output limit not confirmed"
ZAI = f"{GENAI}, of z.ai; output limit not confirmed"
ZAI_HOSTS = f"{ZAI}; window as hosts offer it"
MOONSHOT = f"{GENAI}, of moonshotai; output limit not confirmed"
MINIMAX = f"{GENAI}, of minimax; output limit not confirmed"
AMAZON = f"{GENAI}, of aws; output limit not confirmed"
HOSTS = f"{GENAI}, window as hosts offer it; not confirmed"
OLDER_LLAMA = "assumed: 128,000 as Meta announced; not confirmed"
NEWER_LITELLM = "litellm 1.110.2"
NEWER_OPENAI = f"developers.openai.com, models, as in {NEWER_LITELLM}"
HYDROGEN = f"{NEWER_LITELLM}; output limit not confirmed"
SPARK = f"{NEWER_LITELLM}, of ChatGPT; prices not confirmed"
PI = "pi 1.6.0, its list of models; not confirmed"
CARD = "assumed: as the maker's model card says; not confirmed"

# Claude up to 4.6 counts some 15 % more tokens than o200k on agent traffic, 4.7 and later some 50 %, Gemini 8 %.
OLD_CLAUDE, NEW_CLAUDE, GEMINI, OPEN = 1.15, 1.5, 1.08, 1.1

ROWS: tuple[Row, ...] = (
    # Anthropic: input and output share the window.
    Row("claude-fable-5", M, None, 128_000, 10, 1, 12.5, 50, ANTHROPIC, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-fable-5-1", M, None, 128_000, 10, 0.25, 12.5, 50, CLAUDE, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-fable-5-2", M, None, 128_000, 8, 0.2, 10, 40, NO_OUTPUT, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-mythos-5", M, None, 128_000, 10, 1, 12.5, 50, ANTHROPIC, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-mythos-5-1", M, None, 128_000, 10, 0.25, 12.5, 50, ANTHROPIC, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-mythos-5-2", M, None, 128_000, 8, 0.2, 10, 40, NO_OUTPUT, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-mythos-preview", M, None, 128_000, 10, 1, 12.5, 50, LITELLM, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-opus-5-5", M, None, 128_000, 4, 0.2, 5, 20, CLAUDE, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-opus-5", M, None, 128_000, 5, 0.5, 6.25, 25, CLAUDE, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-opus-4-8", M, None, 128_000, 5, 0.5, 6.25, 25, CLAUDE, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-opus-4-7", M, None, 128_000, 5, 0.5, 6.25, 25, ANTHROPIC, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-opus-4-6", M, None, 128_000, 5, 0.5, 6.25, 25, CLAUDE, "2026-11-20", None, factor=OLD_CLAUDE),
    Row("claude-opus-4-5", 200_000, None, 64_000, 5, 0.5, 6.25, 25, CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-opus-4-1", 200_000, None, 32_000, 15, 1.5, 18.75, 75, OLDER_CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-opus-4", 200_000, None, 32_000, 15, 1.5, 18.75, 75, OLDER_CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-sonnet-5-5", M, None, 128_000, 2, 0.1, 2.5, 10, CLAUDE, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-sonnet-5", M, None, 128_000, 2, 0.2, 2.5, 10, CLAUDE, "2026-11-20", None, factor=NEW_CLAUDE),
    Row("claude-sonnet-4-6", M, None, 128_000, 3, 0.3, 3.75, 15, CLAUDE, "2026-11-20", None, factor=OLD_CLAUDE),
    Row(
        "claude-sonnet-4-5", 200_000, None, 64_000, 3, 0.3, 3.75, 15, CLAUDE, "2026-11-29", 200_000,
        factor=OLD_CLAUDE, wider=M,
    ),
    Row(
        "claude-sonnet-4", 200_000, None, 64_000, 3, 0.3, 3.75, 15, OLDER_CLAUDE, "2026-11-29", 200_000,
        factor=OLD_CLAUDE, wider=M,
    ),
    Row("claude-haiku-5-5", M, None, 128_000, 0.1, 0.01, 0.125, 0.5, CLAUDE, "2026-11-20", 100_000, factor=NEW_CLAUDE),
    Row("claude-haiku-4-5", 200_000, None, 64_000, 1, 0.1, 1.25, 5, CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-3-7-sonnet", 200_000, None, 64_000, 3, 0.3, 3.75, 15, OLDER_CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-3-5-sonnet", 200_000, None, 8_192, 3, 0.3, 3.75, 15, OLDER_CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-3-5-haiku", 200_000, None, 8_192, 0.8, 0.08, 1, 4, OLDER_CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-3-opus", 200_000, None, 4_096, 15, 1.5, 18.75, 75, OLDER_CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-3-sonnet", 200_000, None, 4_096, 3, 0.3, 3.75, 15, OLDER_CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-3-haiku", 200_000, None, 4_096, 0.25, 0.03, 0.3, 1.25, OLDER_CLAUDE, "2026-11-20", factor=OLD_CLAUDE),
    Row("claude-3", 200_000, None, 4_096, source="assumed: as Claude 3 Haiku", date="2026-11-20", factor=OLD_CLAUDE),
    # OpenAI: a separate input limit, the window less the output limit.
    Row("gpt-6-astra", 1_050_000, 922_000, 128_000, 10, 1, 12.5, 50, OPENAI, "2026-11-20", 272_000),
    Row("gpt-6-sol", 1_050_000, 922_000, 128_000, 2, 0.2, 2.5, 10, OPENAI, "2026-11-20", 272_000),
    Row("gpt-6-luna", 1_050_000, 922_000, 128_000, 0.1, 0.01, 0.125, 0.5, OPENAI, "2026-11-20", 272_000),
    Row("gpt-6.1-sol", 1_050_000, 922_000, 128_000, 2, 0.1, 2.5, 10, LISTS, "2026-11-20", 272_000),
    Row("gpt-6.1-terra", 1_050_000, 922_000, 128_000, 1, 0.05, 1.25, 5, LISTS, "2026-11-20", 272_000),
    Row("gpt-6.2-astra", 1_050_000, 922_000, 128_000, 8, 0.4, 10, 40, PI, "2026-11-27", 272_000),
    Row("gpt-6.2-sol", 1_050_000, 922_000, 128_000, 2, 0.1, 2.5, 10, PI, "2026-11-27", 272_000),
    Row("gpt-6-cyber", 1_050_000, 922_000, 128_000, 20, 2, 25, 100, UNSURE, "2026-11-20"),
    Row("gpt-6-rosalind", 1_050_000, 922_000, 128_000, 15, 1.5, 18.75, 75, LISTS, "2026-11-29", 272_000),
    Row("gpt-6", 1_050_000, 922_000, 128_000, source="assumed: as gpt-6-sol", date="2026-11-20"),
    Row("gpt-daybreak-blue", 1_050_000, 922_000, 128_000, 4, 0.4, 5, 20, NEWER_OPENAI, "2026-11-27", 272_000),
    Row("gpt-daybreak-red", 400_000, 272_000, 128_000, 12.5, 1.25, 15.625, 75, NEWER_OPENAI, "2026-11-27"),
    Row("gpt-5.6-sol", 1_050_000, 922_000, 128_000, 4, 0.4, 5, 20, OPENAI, "2026-11-20", 272_000),
    Row("gpt-5.6-terra", 1_050_000, 922_000, 128_000, 2, 0.2, 2.5, 12, OPENAI, "2026-11-20", 272_000),
    Row("gpt-5.6-luna", 1_050_000, 922_000, 128_000, 0.2, 0.02, 0.25, 1.2, OPENAI, "2026-11-20", 272_000),
    Row("gpt-5.6", 1_050_000, 922_000, 128_000, 4, 0.4, 5, 20, OPENAI, "2026-11-20", 272_000),
    Row("gpt-5.6-cyber", 528_000, 400_000, 128_000, 12.5, 1.25, 15.625, 75, LISTS, "2026-11-20"),
    Row("gpt-5.5-cyber", 528_000, 400_000, 128_000, 12.5, 1.25, None, 75, UNSURE, "2026-11-20"),
    Row("gpt-5.5-pro", 1_050_000, 922_000, 128_000, 30, None, None, 180, LISTS, "2026-11-20", 272_000),
    Row("gpt-5.4-pro", 1_050_000, 922_000, 128_000, 30, None, None, 180, LISTS, "2026-11-20", 272_000),
    Row("gpt-5.2-pro", 400_000, 272_000, 128_000, 21, None, None, 168, LISTS, "2026-11-20"),
    Row("gpt-5-pro", 400_000, None, 272_000, 15, None, None, 120, OPENAI, "2026-11-20"),
    Row("gpt-5.4-mini", 400_000, 272_000, 128_000, 0.75, 0.075, None, 4.5, LISTS, "2026-11-20"),
    Row("gpt-5.4-nano", 400_000, 272_000, 128_000, 0.2, 0.02, None, 1.25, LISTS, "2026-11-20"),
    Row("gpt-5.5", 1_050_000, 922_000, 128_000, 5, 0.5, None, 30, OPENAI, "2026-11-20", 272_000),
    Row("gpt-5.4", 1_050_000, 922_000, 128_000, 2.5, 0.25, None, 15, OPENAI, "2026-11-20", 272_000),
    Row("gpt-5.3-codex", 400_000, 272_000, 128_000, 1.75, 0.175, None, 14, OPENAI, "2026-11-20"),
    Row("gpt-5.3-codex-spark", 128_000, None, None, source=SPARK, date="2026-11-27"),
    Row("gpt-5.2-codex", 400_000, 272_000, 128_000, 1.75, 0.175, None, 14, NEWER_LITELLM, "2026-11-27"),
    Row("gpt-5.1-codex", 400_000, 272_000, 128_000, 1.25, 0.125, None, 10, NEWER_LITELLM, "2026-11-27"),
    Row("gpt-5.1-codex-max", 400_000, 272_000, 128_000, 1.25, 0.125, None, 10, NEWER_LITELLM, "2026-11-27"),
    Row("gpt-5-codex", 400_000, 272_000, 128_000, 1.25, 0.125, None, 10, NEWER_LITELLM, "2026-11-27"),
    Row("gpt-5.3", 128_000, None, 16_384, 1.75, 0.175, None, 14, NO_OUTPUT, "2026-11-20"),
    Row("gpt-5.3-chat", 128_000, None, 16_384, 1.75, 0.175, None, 14, LISTS, "2026-11-20"),
    Row("gpt-5.2-chat", 128_000, None, 16_384, 1.75, 0.175, None, 14, LISTS, "2026-11-20"),
    Row("gpt-5-chat", 128_000, None, 16_384, 1.25, 0.125, None, 10, LISTS, "2026-11-20"),
    Row("gpt-chat", 400_000, None, 128_000, 5, 0.5, None, 30, LISTS, "2026-11-20"),
    Row("gpt-5.2", 400_000, 272_000, 128_000, 1.75, 0.175, None, 14, OPENAI, "2026-11-20"),
    Row("gpt-5.1", 400_000, 272_000, 128_000, 1.25, 0.125, None, 10, OPENAI, "2026-11-20"),
    Row("gpt-5-mini", 400_000, 272_000, 128_000, 0.25, 0.025, None, 2, OPENAI, "2026-11-20"),
    Row("gpt-5.1-codex-mini", 400_000, 272_000, 128_000, 0.25, 0.025, None, 2, OPENAI, "2026-11-20"),
    Row("gpt-5-nano", 400_000, 272_000, 128_000, 0.05, 0.005, None, 0.4, OPENAI, "2026-11-20"),
    Row("gpt-5", 400_000, 272_000, 128_000, 1.25, 0.125, None, 10, OPENAI, "2026-11-20"),
    Row("gpt-4.1-mini", 1_047_576, None, 32_768, 0.4, 0.1, None, 1.6, OPENAI, "2026-11-20"),
    Row("gpt-4.1-nano", 1_047_576, None, 32_768, 0.1, 0.025, None, 0.4, OPENAI, "2026-11-20"),
    Row("gpt-4.1", 1_047_576, None, 32_768, 2, 0.5, None, 8, OPENAI, "2026-11-20"),
    Row("gpt-4o-mini", 128_000, None, 16_384, 0.15, 0.075, None, 0.6, OPENAI, "2026-11-20"),
    Row("gpt-4o", 128_000, None, 16_384, 2.5, 1.25, None, 10, OPENAI, "2026-11-20"),
    Row("gpt-4o-2024-05-13", 128_000, None, 4_096, 5, None, None, 15, LISTS, "2026-11-20"),
    Row("gpt-4-turbo", 128_000, None, 4_096, 10, None, None, 30, OPENAI, "2026-11-20", encoding="cl100k_base"),
    Row("gpt-4.5-preview", 128_000, None, 16_384, 75, 37.5, None, 150, UNSURE, "2026-11-20"),
    Row("gpt-4-32k", 32_768, None, 32_768, 60, None, None, 120, NO_OUTPUT, "2026-11-20", encoding="cl100k_base"),
    Row("gpt-4-0125", 128_000, None, 4_096, 10, None, None, 30, LISTS, "2026-11-29", encoding="cl100k_base"),
    Row("gpt-4-vision", 128_000, None, 4_096, 10, None, None, 30, NO_OUTPUT, "2026-11-29", encoding="cl100k_base"),
    Row("gpt-4-1106", 128_000, None, 4_096, 10, None, None, 30, LITELLM, "2026-11-20", encoding="cl100k_base"),
    Row("gpt-4", 8_192, None, 8_192, 30, None, None, 60, OPENAI, "2026-11-20", encoding="cl100k_base"),
    Row("gpt-3.5-turbo", 16_385, None, 4_096, 0.5, None, None, 1.5, OPENAI, "2026-11-20", encoding="cl100k_base"),
    Row("gpt-3.5-turbo-1106", 16_385, None, 4_096, 1, None, None, 2, NO_OUTPUT, "2026-11-20", encoding="cl100k_base"),
    Row("gpt-3.5-turbo-0301", 4_096, None, 4_096, 1.5, None, None, 2, UNSURE, "2026-11-29", encoding="cl100k_base"),
    Row("gpt-3.5-turbo-0613", 16_385, None, 4_096, 1.5, None, None, 2, UNSURE, "2026-11-20", encoding="cl100k_base"),
    Row("gpt-3.5-turbo-instruct", 4_096, None, 4_096, 1.5, None, None, 2, UNSURE, "2026-11-20", encoding="cl100k_base"),
    Row("o4-mini", 200_000, None, 100_000, 1.1, 0.275, None, 4.4, OPENAI, "2026-11-20"),
    Row("codex-mini", 200_000, None, 100_000, 1.5, 0.375, None, 6, NO_OUTPUT, "2026-11-20"),
    Row("chatgpt-4o", 128_000, None, 16_384, 5, None, None, 15, NO_OUTPUT, "2026-11-20"),
    Row("o3-pro", 200_000, None, 100_000, 20, None, None, 80, LISTS, "2026-11-20"),
    Row("o1-pro", 200_000, None, 100_000, 150, None, None, 600, LISTS, "2026-11-20"),
    Row("o1-mini", 128_000, None, 65_536, 1.1, 0.55, None, 4.4, NO_OUTPUT, "2026-11-20"),
    Row("o1-preview", 128_000, None, 32_768, 15, 7.5, None, 60, NO_OUTPUT, "2026-11-20"),
    Row("o3-mini", 200_000, None, 100_000, 1.1, 0.55, None, 4.4, OPENAI, "2026-11-20"),
    Row("o3", 200_000, None, 100_000, 2, 0.5, None, 8, OPENAI, "2026-11-20"),
    Row("o1", 200_000, None, 100_000, 15, 7.5, None, 60, OPENAI, "2026-11-20"),
    Row("gpt-oss", 131_072, None, 131_072, source=OPENAI_PAGE, date="2026-11-20"),
    # Google: the window is for input alone, output has a limit of its own.
    Row("gemini-4-argon", MIB, None, 65_536, 2, 0.1, None, 10, ARGON, "2026-11-20", factor=GEMINI),
    Row("gemini-4-hydrogen", MIB, None, None, 1.5, 0.075, None, 7.5, HYDROGEN, "2026-11-27", factor=GEMINI),
    Row("gemini-4-carbon", MIB, None, 32_768, 2, 0.1, None, 10, PI, "2026-11-27", factor=GEMINI),
    Row("gemini-4-neon", MIB, None, 65_536, 3, 0.15, None, 15, PI, "2026-11-27", factor=GEMINI),
    Row("gemini-4", MIB, None, 65_536, source="assumed: as gemini-4-argon", date="2026-11-20", factor=GEMINI),
    Row("gemini-3.8-flash", MIB, MIB, 65_536, 0.75, 0.075, None, 3.75, GOOGLE, "2026-11-20", factor=GEMINI),
    Row("gemini-3.7-flash", MIB, MIB, 65_536, 0.75, 0.075, None, 3.75, FLASH, "2026-11-20", factor=GEMINI),
    Row("gemini-3.6-flash", MIB, MIB, 65_536, 0.75, 0.075, None, 3.75, FLASH, "2026-11-20", factor=GEMINI),
    Row("gemini-flash-latest", MIB, MIB, 65_536, 0.75, 0.075, None, 3.75, FLASH, "2026-11-20", factor=GEMINI),
    Row("gemini-flash-lite-latest", MIB, MIB, 65_536, 0.3, 0.03, None, 2.5, LISTS, "2026-11-20", factor=GEMINI),
    Row("gemini-pro-latest", MIB, MIB, 65_536, 2, 0.2, None, 12, LISTS, "2026-11-20", 200_000, factor=GEMINI),
    Row("gemini-3.5-flash-lite", MIB, MIB, 65_536, 0.3, 0.03, None, 2.5, LISTS, "2026-11-20", factor=GEMINI),
    Row("gemini-3.5-flash", MIB, MIB, 65_536, 1.5, 0.15, None, 9, GOOGLE, "2026-11-20", factor=GEMINI),
    Row("gemini-3.1-pro", MIB, MIB, 65_536, 2, 0.2, None, 12, GOOGLE, "2026-11-20", 200_000, factor=GEMINI),
    Row("gemini-3.1-flash-lite", MIB, MIB, 65_536, 0.25, 0.025, None, 1.5, GOOGLE, "2026-11-20", factor=GEMINI),
    Row("gemini-3-pro", M, M, 64_000, 2, 0.2, None, 12, OLDER_GOOGLE, "2026-11-20", 200_000, factor=GEMINI),
    Row("gemini-3-flash", MIB, MIB, 65_536, 0.5, 0.05, None, 3, GOOGLE, "2026-11-20", factor=GEMINI),
    Row("gemini-2.5-pro", MIB, MIB, 65_536, 1.25, 0.125, None, 10, GOOGLE, "2026-11-20", 200_000, factor=GEMINI),
    Row("gemini-2.5-flash-lite", MIB, MIB, 65_536, 0.1, 0.01, None, 0.4, GOOGLE, "2026-11-20", factor=GEMINI),
    Row("gemini-2.5-flash", MIB, MIB, 65_536, 0.3, 0.03, None, 2.5, GOOGLE, "2026-11-20", factor=GEMINI),
    Row("gemini-2.0-flash", MIB, MIB, 8_192, 0.1, 0.025, None, 0.4, OLDER_GOOGLE, "2026-11-20", factor=GEMINI),
    Row("gemini-2.0-flash-lite", MIB, MIB, 8_192, 0.075, None, None, 0.3, NO_OUTPUT, "2026-11-20", factor=GEMINI),
    Row("gemini-1.5-pro", 2 * MIB, 2 * MIB, 8_192, 1.25, 0.3125, None, 5, UNSURE, "2026-11-20", 128_000, factor=GEMINI),
    Row("gemini-1.5-flash", MIB, MIB, 8_192, 0.075, 0.01875, None, 0.3, UNSURE, "2026-11-20", 128_000, factor=GEMINI),
    # Mistral
    Row("mistral-large-4", MIB, None, None, 0.7, 0.07, None, 2.1, MISTRAL, "2026-11-20", factor=OPEN),
    Row("mistral-large", 262_144, None, 262_144, 0.5, 0.05, None, 1.5, LISTS, "2026-11-20", factor=OPEN),
    Row("mistral-large-2512", 262_144, None, 262_144, 0.5, 0.05, None, 1.5, LISTS, "2026-11-20", factor=OPEN),
    Row("mistral-medium-3-5", 262_144, None, 262_144, 1.5, 0.15, None, 7.5, LISTS, "2026-11-20", factor=OPEN),
    Row("mistral-medium-2604", 262_144, None, 262_144, 1.5, 0.15, None, 7.5, LISTS, "2026-11-20", factor=OPEN),
    Row("mistral-medium-latest", 262_144, None, 262_144, 1.5, 0.15, None, 7.5, LISTS, "2026-11-20", factor=OPEN),
    Row("mistral-small-2603", 262_144, None, 262_144, 0.15, 0.015, None, 0.6, LISTS, "2026-11-20", factor=OPEN),
    Row("mistral-small-latest", 262_144, None, 262_144, 0.15, 0.015, None, 0.6, LISTS, "2026-11-20", factor=OPEN),
    Row("ministral-14b", 262_144, None, 262_144, 0.2, 0.02, None, 0.2, LISTS, "2026-11-20", factor=OPEN),
    Row("ministral-14b-2512", 262_144, None, 262_144, 0.2, 0.02, None, 0.2, LISTS, "2026-11-20", factor=OPEN),
    Row("ministral-8b", 262_144, None, 262_144, 0.15, 0.015, None, 0.15, LISTS, "2026-11-20", factor=OPEN),
    Row("ministral-8b-2512", 262_144, None, 262_144, 0.15, 0.015, None, 0.15, LISTS, "2026-11-20", factor=OPEN),
    Row("ministral-3b", 131_072, None, 131_072, 0.1, 0.01, None, 0.1, LISTS, "2026-11-20", factor=OPEN),
    Row("ministral-3b-2512", 131_072, None, 131_072, 0.1, 0.01, None, 0.1, LISTS, "2026-11-20", factor=OPEN),
    Row("mistral-medium-3", 262_144, None, 262_144, 1.5, 0.15, None, 7.5, CARDS, "2026-11-20", factor=OPEN),
    Row("mistral-medium", 262_144, None, 262_144, 1.5, 0.15, None, 7.5, CARDS, "2026-11-20", factor=OPEN),
    Row("mistral-medium-3-1", 131_072, None, None, 0.4, 0.04, None, 2, NO_WINDOW, "2026-11-20", factor=OPEN),
    Row("mistral-medium-2505", 131_072, None, None, 0.4, 0.04, None, 2, NO_WINDOW, "2026-11-20", factor=OPEN),
    Row("mistral-medium-2508", 131_072, None, None, 0.4, 0.04, None, 2, NO_WINDOW, "2026-11-20", factor=OPEN),
    Row("mistral-small", 128_000, None, None, 0.1, 0.01, None, 0.3, NO_WINDOW, "2026-11-20", factor=OPEN),
    Row("magistral-medium-latest", 262_144, None, 262_144, 1.5, 0.15, None, 7.5, CARDS, "2026-11-20", factor=OPEN),
    Row("magistral-small-latest", 262_144, None, 262_144, 0.15, 0.015, None, 0.6, CARDS, "2026-11-20", factor=OPEN),
    Row("magistral-small", 128_000, None, None, 0.5, None, None, 1.5, NO_WINDOW, "2026-11-20", factor=OPEN),
    Row("magistral", 128_000, None, None, 2, None, None, 5, NO_WINDOW, "2026-11-20", factor=OPEN),
    Row("devstral", 262_144, None, 262_144, 0.4, 0.04, None, 2, LISTS, "2026-11-20", factor=OPEN),
    Row("devstral-2512", 262_144, None, 262_144, 0.4, 0.04, None, 2, LISTS, "2026-11-20", factor=OPEN),
    Row("devstral-small", 262_144, None, 262_144, 0.1, 0.01, None, 0.3, LISTS, "2026-11-20", factor=OPEN),
    Row("codestral", 128_000, None, 128_000, 0.3, 0.03, None, 0.9, CARDS, "2026-11-20", factor=OPEN),
    Row("codestral-2508", 128_000, None, 128_000, 0.3, 0.03, None, 0.9, CARDS, "2026-11-20", factor=OPEN),
    # DeepSeek: the prices of the peak hours; off-peak they are half.
    Row("deepseek-v4-pro", MIB, None, 384_000, 1.32, 0.044, None, 3.96, DEEPSEEK, "2026-11-20", factor=OPEN),
    Row("deepseek-v4-flash", M, None, 384_000, 0.3, 0.006, None, 1.2, DEEPSEEK, "2026-11-20", factor=OPEN),
    Row("deepseek-v4.1-flash", MIB, None, 384_000, 0.3, 0.006, None, 1.2, DEEPSEEK, "2026-11-20", factor=OPEN),
    Row("deepseek-flash", M, None, 384_000, 0.3, 0.006, None, 1.2, DEEPSEEK, "2026-11-20", factor=OPEN),
    Row("deepseek-v3.2", 131_072, None, None, 0.28, 0.028, None, 0.42, WITHDRAWN, "2026-11-20", factor=OPEN),
    Row("deepseek-v3", 65_536, None, 8_192, 0.27, 0.07, None, 1.1, LISTS, "2026-11-20", factor=OPEN),
    Row("deepseek-r1", 65_536, None, 8_192, 0.55, 0.14, None, 2.19, LISTS, "2026-11-20", factor=OPEN),
    Row("deepseek-chat", 131_072, None, 8_192, 0.28, 0.028, None, 0.42, WITHDRAWN, "2026-11-20", factor=OPEN),
    Row("deepseek-reasoner", 131_072, None, 65_536, 0.28, 0.028, None, 0.42, WITHDRAWN, "2026-11-20", factor=OPEN),
    # xAI
    Row("grok-4.7", 500_000, None, None, 2, 0.5, None, 6, XAI, "2026-11-20", 200_000, factor=OPEN),
    Row("grok-4.6", 500_000, None, None, 2, 0.5, None, 6, XAI, "2026-11-20", 200_000, factor=OPEN),
    Row("grok-4.5", 500_000, None, None, 2, 0.3, None, 6, XAI, "2026-11-20", 200_000, factor=OPEN),
    Row("grok-4.3", M, None, None, 1.25, 0.2, None, 2.5, XAI, "2026-11-20", 200_000, factor=OPEN),
    Row("grok-4.20", M, None, None, 1.25, 0.2, None, 2.5, XAI, "2026-11-20", 200_000, factor=OPEN),
    Row("grok-4-1-fast", 2 * M, None, None, 0.2, 0.05, None, 0.5, GENAI, "2026-11-29", 128_000, factor=OPEN),
    Row("grok-4-fast", 2 * M, None, None, 0.2, 0.05, None, 0.5, GENAI, "2026-11-29", 128_000, factor=OPEN),
    Row("grok-4", 256_000, None, None, 3, 0.75, None, 15, GENAI, "2026-11-20", factor=OPEN),
    Row("grok-code-fast", 256_000, None, None, 1, 0.2, None, 2, LITELLM, "2026-11-20", factor=OPEN),
    Row("grok-code-fast-1", 256_000, None, None, 1, 0.2, None, 2, LITELLM, "2026-11-20", factor=OPEN),
    Row("grok-build", 500_000, None, None, 2, 0.3, None, 6, LISTS, "2026-11-20", factor=OPEN),
    Row("grok-build-0.1", 256_000, None, None, 1, 0.2, None, 2, LISTS, "2026-11-29", 200_000, factor=OPEN),
    Row("grok-3", 131_072, None, None, 3, 0.75, None, 15, LISTS, "2026-11-20", factor=OPEN),
    Row("grok-3-mini", 131_072, None, None, 0.3, 0.075, None, 0.5, LISTS, "2026-11-20", factor=OPEN),
    # Qwen
    Row("qwen4-max-preview", M, None, 393_216, source=PI, date="2026-11-27", factor=OPEN),
    Row("qwen3.8-max", M, 991_808, 131_072, 2, 0.25, None, 6, LISTS, "2026-11-20", factor=OPEN),
    Row("qwen3.8-flash", M, 991_808, 131_072, 0.15, 0.016, 0.2, 0.47, LISTS, "2026-11-20", factor=OPEN),
    Row("qwen3.7-max", M, 991_808, 65_536, 2.5, 0.5, 3.125, 7.5, QWEN, "2026-11-20", factor=OPEN),
    Row("qwen3.7-plus", M, 991_808, 65_536, 0.4, 0.08, None, 1.6, QWEN, "2026-11-20", 256_000, factor=OPEN),
    Row("qwen3.6-plus", M, None, 65_536, 0.5, 0.05, 0.625, 3, GATEWAY, "2026-11-20", 256_000, factor=OPEN),
    Row("qwen3.5-plus", M, 991_808, 65_536, 0.4, None, None, 2.4, QWEN, "2026-11-20", 256_000, factor=OPEN),
    Row("qwen3-max", 262_144, 258_048, 65_536, 1.2, None, None, 6, QWEN, "2026-11-20", 32_000, factor=OPEN),
    Row("qwen3-coder-plus", M, 997_952, 65_536, 1, 0.1, None, 5, QWEN, "2026-11-20", 32_000, factor=OPEN),
    Row("qwen3-coder-flash", M, 997_952, 65_536, 0.3, 0.08, None, 1.5, QWEN, "2026-11-20", 32_000, factor=OPEN),
    Row("qwen-flash", M, 997_952, 32_768, 0.05, None, None, 0.4, QWEN, "2026-11-20", 256_000, factor=OPEN),
    Row("qwen-max", 32_768, 30_720, 8_192, 1.6, None, None, 6.4, QWEN, "2026-11-20", factor=OPEN),
    Row("qwen-plus-latest", M, 997_952, 32_768, 0.4, None, None, 1.2, QWEN, "2026-11-20", 256_000, factor=OPEN),
    Row("qwen-plus", 131_072, 129_024, 16_384, 0.4, None, None, 1.2, QWEN, "2026-11-20", factor=OPEN),
    Row("qwen-turbo", 131_072, 129_024, 16_384, 0.05, None, None, 0.2, QWEN, "2026-11-20", factor=OPEN),
    # Meta
    Row("muse-ember-1.0", MIB, None, None, 0.1, 0.004, None, 0.5, PI, "2026-11-27", 200_000, factor=OPEN),
    Row("muse-spark", MIB, None, 131_072, 1.25, 0.15, None, 4.25, META, "2026-11-20", factor=OPEN),
    Row("muse-spark-1.1", MIB, None, 131_072, 1.25, 0.15, None, 4.25, META, "2026-11-20", factor=OPEN),
    Row("muse-spark-1.2", MIB, None, 131_072, 1.25, 0.15, None, 4.25, META, "2026-11-20", factor=OPEN),
    Row("muse-spark-1.3", MIB, None, 131_072, 1.25, 0.15, None, 4.25, META, "2026-11-20", factor=OPEN),
    Row("muse-spark-1.2-contributor", MIB, None, 131_072, 0.1, 0.002, None, 0.2, LISTS, "2026-11-20", factor=OPEN),
    Row("muse-spark-1.3-contributor", MIB, None, 131_072, 0.1, 0.002, None, 0.2, LISTS, "2026-11-20", factor=OPEN),
    Row("muse-wonder", MIB, None, 131_072, 4, 0.2, None, 20, LISTS, "2026-11-20", factor=OPEN),
    Row("muse-wonder-1.0", MIB, None, 131_072, 4, 0.2, None, 20, LISTS, "2026-11-20", factor=OPEN),
    Row("llama-4-maverick", M, None, None, source=LLAMA, date="2026-11-20", factor=OPEN),
    Row("llama-4-scout", 10 * M, None, None, source=LLAMA, date="2026-11-20", factor=OPEN),
    Row("llama-3.3", 128_000, None, None, source=OLDER_LLAMA, date="2026-11-20", factor=OPEN),
    Row("llama-3.1", 128_000, None, None, source=OLDER_LLAMA, date="2026-11-20", factor=OPEN),
    # Z.ai
    Row("glm-5-turbo", 200_000, None, 131_072, 1.2, 0.24, None, 4, PI, "2026-11-27", factor=OPEN),
    Row("glm-5.3", M, None, None, 1.4, 0.26, None, 4.4, ZAI, "2026-11-22", factor=OPEN),
    Row("glm-5.3-flash", M, None, None, 0.15, 0.03, None, 0.5, ZAI, "2026-11-22", factor=OPEN),
    Row("glm-5.2", M, None, None, 1.4, 0.26, None, 4.4, ZAI, "2026-11-22", factor=OPEN),
    Row("glm-5.1", 200_000, None, None, 1.4, 0.26, None, 4.4, ZAI, "2026-11-22", factor=OPEN),
    Row("glm-5", 200_000, None, None, 1, 0.2, None, 3.2, ZAI, "2026-11-22", factor=OPEN),
    Row("glm-4.7", 200_000, None, None, 0.6, 0.11, None, 2.2, ZAI, "2026-11-22", factor=OPEN),
    Row("glm-4.6", 204_800, None, None, 0.6, 0.11, None, 2.2, ZAI_HOSTS, "2026-11-22", factor=OPEN),
    Row("glm-4.5", 131_072, None, None, 0.6, 0.11, None, 2.2, ZAI_HOSTS, "2026-11-22", factor=OPEN),
    Row("glm-4.5-air", 131_072, None, None, 0.2, 0.03, None, 1.1, ZAI_HOSTS, "2026-11-22", factor=OPEN),
    # Moonshot and MiniMax
    Row("kimi-k3.1-pro", MIB, None, None, 2, 0.2, 2, 10, MOONSHOT, "2026-11-27", factor=OPEN),
    Row("kimi-k3.1-pro-highspeed", MIB, None, None, 4, 0.2, 4, 20, MOONSHOT, "2026-11-27", factor=OPEN),
    Row("kimi-k3", MIB, None, None, 3, 0.3, 3, 15, MOONSHOT, "2026-11-27", factor=OPEN),
    Row("kimi-for-coding", MIB, None, 32_768, 0.95, 0.19, None, 4, PI, "2026-11-27", factor=OPEN),
    Row("kimi-for-coding-highspeed", 262_144, None, 32_768, 1.9, 0.38, None, 8, PI, "2026-11-27", factor=OPEN),
    Row("kimi-k2.7-code-highspeed", 262_144, None, None, 1.9, 0.38, None, 8, MOONSHOT, "2026-11-27", factor=OPEN),
    Row("kimi-k2.7-code", 262_144, None, None, 0.95, 0.19, None, 4, MOONSHOT, "2026-11-22", factor=OPEN),
    Row("kimi-k2.6", 262_144, None, None, 0.95, 0.16, None, 4, MOONSHOT, "2026-11-22", factor=OPEN),
    Row("kimi-k2.5", 262_144, None, None, 0.6, 0.1, None, 3, MOONSHOT, "2026-11-22", factor=OPEN),
    Row("kimi-k2-thinking", 262_144, None, None, 0.6, 0.15, None, 2.5, MOONSHOT, "2026-11-22", factor=OPEN),
    Row("kimi-k2-0905", 262_144, None, None, 0.6, 0.15, None, 2.5, MOONSHOT, "2026-11-22", factor=OPEN),
    Row("kimi-k2", 131_072, None, None, 0.6, 0.15, None, 2.5, MOONSHOT, "2026-11-22", factor=OPEN),
    Row("minimax-m3.1-flash", M, None, None, 0.15, 0.015, None, 0.6, MINIMAX, "2026-11-27", factor=OPEN),
    Row("minimax-m3", M, None, None, 0.3, 0.06, None, 1.2, MINIMAX, "2026-11-27", 512_000, factor=OPEN),
    Row("minimax-m2.7-highspeed", 204_800, None, None, 0.6, 0.06, None, 2.4, PI, "2026-11-27", factor=OPEN),
    Row("minimax-m2.7", 204_800, None, None, 0.3, 0.06, 0.375, 1.2, MINIMAX, "2026-11-22", factor=OPEN),
    Row("minimax-m2", 204_800, None, None, 0.3, 0.03, 0.375, 1.2, MINIMAX, "2026-11-22", factor=OPEN),
    # Microsoft, as GitHub Copilot offers them
    Row("mai-code-2", 1_050_000, None, 128_000, 0.5, 0.025, None, 2.5, PI, "2026-11-27", factor=OPEN),
    Row("mai-code-2-flash", 1_050_000, None, 128_000, 0.05, 0.005, None, 0.25, PI, "2026-11-27", factor=OPEN),
    Row("mai-code-1.1-flash", 256_000, None, 128_000, 0.2, 0.02, None, 1.2, PI, "2026-11-27", factor=OPEN),
    # Amazon
    Row("nova-2-lite", M, None, None, 0.3, 0.075, None, 2.5, AMAZON, "2026-11-22", factor=OPEN),
    Row("nova-premier", M, None, None, 2.5, 0.625, None, 12.5, AMAZON, "2026-11-22", factor=OPEN),
    Row("nova-pro", 300_000, None, None, 0.8, 0.2, None, 3.2, AMAZON, "2026-11-22", factor=OPEN),
    Row("nova-lite", 300_000, None, None, 0.06, 0.015, None, 0.24, AMAZON, "2026-11-22", factor=OPEN),
    Row("nova-micro", 128_000, None, None, 0.035, 0.00875, None, 0.14, AMAZON, "2026-11-22", factor=OPEN),
    # Open weights: each host has prices of its own.
    Row("qwen3-coder", 262_144, None, None, source=HOSTS, date="2026-11-22", factor=OPEN),
    Row("qwen3-235b-a22b-2507", 262_144, None, None, source=HOSTS, date="2026-11-22", factor=OPEN),
    Row("qwen3-30b-a3b-2507", 262_144, None, None, source=HOSTS, date="2026-11-22", factor=OPEN),
    Row("qwen3", 40_960, None, None, source=HOSTS, date="2026-11-22", factor=OPEN),
    Row("qwen3.5", 262_144, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("qwen3-vl", 262_144, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("qwen3-next", 262_144, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("qwen2.5", 32_768, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("qwen-2.5", 32_768, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("qwq", 131_072, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("mistral-nemo", 131_072, None, None, source=CARD, date="2026-11-23", factor=OPEN),
    Row("mistral-7b", 32_768, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("mixtral-8x7b", 32_768, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("mixtral-8x22b", 65_536, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("phi-4", 16_384, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("phi-4-mini", 131_072, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("phi-4-reasoning", 32_768, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("command-r", 128_000, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("command-r7b", 128_000, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("command-a", 256_000, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("deepseek-coder", 16_384, None, None, source=CARD, date="2026-11-23", factor=OPEN),
    Row("deepseek-coder-v2", 131_072, None, None, source=CARD, date="2026-11-23", factor=OPEN),
    Row("glm-4-9b", 131_072, None, None, source=CARD, date="2026-11-23", factor=OPEN),
    Row("glm-4.5v", 65_536, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("glm-4.6v", 131_072, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("gemma-3n", 32_768, None, None, source=HOSTS, date="2026-11-23", factor=OPEN),
    Row("gemma-4", 262_144, None, None, source=HOSTS, date="2026-11-22", factor=OPEN),
    Row("gemma-3", 131_072, None, None, source=HOSTS, date="2026-11-22", factor=OPEN),
    Row("gemma-3-1b", 32_768, None, None, source=CARD, date="2026-11-29", factor=OPEN),
    Row("gemma-3-270m", 32_768, None, None, source=CARD, date="2026-11-29", factor=OPEN),
    Row("gemma-2", 8_192, None, None, source=HOSTS, date="2026-11-22", factor=OPEN),
    Row("llama-3.2", 131_072, None, None, source=HOSTS, date="2026-11-22", factor=OPEN),
    Row("llama-3", 8_192, None, None, source=HOSTS, date="2026-11-22", factor=OPEN),
)  # fmt: skip

# For unknown models: a window small enough to be safe with most current models.
DEFAULT = Row("default", 100_000, None, 4_096, source="assumed: the model is not in the table")

# The fixed windows of the preset Blueprint; they belong to it and are not looked up.
_BLUEPRINT = "preset Blueprint"
BLUEPRINT_ROWS: tuple[Row, ...] = (
    Row("gemini-2.5-flash", M, None, None, source=_BLUEPRINT),
    Row("claude-4.5", 200_000, None, None, source=_BLUEPRINT),
    Row("gpt-5", 128_000, None, None, source=_BLUEPRINT),
)
BLUEPRINT_DEFAULT = Row("default", 100_000, None, None, source=_BLUEPRINT)
