"""Look up a model's window, limits, encoding and prices by its name.

A name is compared in lower case, without the provider's prefix and the date, with dots as dashes. It gets the longest
row whose words and version numbers both begin the name's: `anthropic/claude-4.5-sonnet-20250929` gets
`claude-sonnet-4-5`. A version without a row gets the row of the version before it: gpt-5.7 that of gpt-5.6. If more of
the name is left than a date, a snapshot or a word such as `latest`, or the version is another, the limits are assumed
to be the row's and the prices are unknown. The same holds where another host runs a maker's open model. The user's own
rows come first. A marker `[1m]` widens the window to a million. A name without a matching row gets the default row,
whose `known` is False, with the tokenizer of the maker's nearest version and, as in `moonshot-v1-128k`, with the window
that the name gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any

from scoring.errors import Fault, InvalidSettings, shown
from scoring.models.table import BLUEPRINT_DEFAULT, BLUEPRINT_ROWS, DEFAULT, ROWS, Row
from scoring.settings import FORESIGHT, Limit, Settings, number

ASSUMED = "assumed"  # begins the source of limits that nobody gives for exactly this model
WIDE_MARKER, WIDE_WINDOW = "[1m]", 1_000_000
# Usual windows of providers, to choose from for an unknown model.
WINDOWS = (128_000, 200_000, 400_000, WIDE_WINDOW, 2_000_000, 10_000_000)
LOCAL = frozenset({"ollama", "ollama_chat", "lmstudio", "lm_studio", "llamacpp", "llama.cpp", "local", "mlx"})
# The names that agents use for the newest model of a line.
ALIASES: Mapping[str, str] = {
    "sonnet": "claude-sonnet-5-5",
    "opus": "claude-opus-5-5",
    "opusplan": "claude-opus-5-5",
    "haiku": "claude-haiku-5-5",
}
# Families whose version is sometimes written without a dash: llama3.1 is llama-3.1.
_JOINED = re.compile(r"\b(llama|gemma|glm|mistral|deepseek|phi)-?(v?\d)")
# Words that change neither limits nor price where a row is for all sizes of a model: its size, and how it is packed.
_SAME_LIMITS = re.compile(
    r"\d+(x\d+)?[bm]|[ae]\d+b|\d+e|gguf|mlx|awq|gptq|fp\d+|bf16|i?q\d\w*|int\d|[kmsl]|xs|hf|base|cloud"
)
# Words behind a row's name that do not change the price: the state of a model, how long it thinks, how it is packed.
_SAME_PRICE = re.compile(
    r"latest|preview|beta|chat|api|instruct|it|reasoning|non|thinking|multi|agent|minimal|low|medium|high|xhigh|free|v\d"
)
# A minor version; dates and snapshots are longer or begin with 0.
_VERSION = re.compile(r"0|[1-9]\d?")
_SIZE = re.compile(r"\b(\d+)\.(\d+b)\b")  # a size such as 6.7b is one word
# Numbers that are a date, a snapshot of a month and day (0709, 001), or a version .0.
_DATES = re.compile(r"\b(20\d\d \d\d \d\d|[01]\d( 20\d\d| \d\d)|(0\d|1[0-2])\d\d|0\d*)\b")
# Amazon's spelling: a region, the maker and the model, with dots between them.
_BEDROCK = re.compile(r"(?:(?P<region>[a-z][a-z-]*)\.)?(?P<maker>[a-z][a-z\d]*)\.(?=[a-z])")
# The versions of each maker's models from which an endpoint of a region costs more than the global one.
_REGIONAL_FROM: Mapping[str, tuple[int, ...]] = {"anthropic": (4, 5), "openai": (5, 4), "amazon": (2,)}
_REGIONAL_TIMES = 1.1
# Makers whose models other hosts offer too, at prices of their own: the first words of their rows, and their names
# before the slash.
_DEEPSEEK = frozenset({"deepseek", "deepseek-ai"})
_MISTRAL = frozenset({"mistral", "mistralai"})
_MOONSHOT = frozenset({"moonshot", "moonshotai"})
_MINIMAX = frozenset({"minimax", "minimaxai"})
_QWEN = frozenset({"qwen", "alibaba", "dashscope"})
_ZAI = frozenset({"zai", "z-ai", "zai-org", "zhipu", "zhipuai"})
_MAKERS: Mapping[str, frozenset[str]] = {
    "deepseek": _DEEPSEEK, "mistral": _MISTRAL, "ministral": _MISTRAL, "magistral": _MISTRAL, "devstral": _MISTRAL,
    "codestral": _MISTRAL, "kimi": _MOONSHOT, "minimax": _MINIMAX, "qwen": _QWEN, "glm": _ZAI,
}  # fmt: skip
# Hosts of open models, by their names before the slash; each gives a model the window that suits its machines.
_HOSTS = LOCAL | {
    "anyscale", "azure_ai", "baseten", "bedrock", "cerebras", "chutes", "cloudflare", "databricks", "deepinfra",
    "fireworks", "fireworks_ai", "friendliai", "groq", "huggingface", "hyperbolic", "lambda", "lambda_ai", "nebius",
    "novita", "nscale", "nvidia_nim", "oci", "openrouter", "ovhcloud", "parasail", "replicate", "sambanova",
    "snowflake", "together", "together_ai", "vertex_ai", "vllm", "watsonx",
}  # fmt: skip
# Subscriptions that give every model, open or not, a window of their own: Copilot 264,000 tokens of a million.
_RESELLERS = frozenset({"copilot", "cursor", "github-copilot", "github_copilot"})
# A window in thousands of tokens, as a word of a name.
_STATED = re.compile(r"([89]|[1-9]\d{1,3})k")
_PRICES = ("input_price", "cached_price", "cache_write_price", "output_price")
ALIKE = 0.05  # 1,000,000 and 1,048,576 are two spellings of one window
WINDOW_FOR_OUTPUT = 4  # the window of a model with only a known output limit, as a multiple of that limit


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """The limits and prices of a model. Tokens are whole numbers, prices US dollars per million tokens.

    `input_limit` is None where input and output share the window; a price of None is unknown. `token_factor` is the
    number of tokens the model counts for one of `encoding` on agent traffic. Above `dearer_above` tokens of input
    the provider charges more than these prices. `wider` is a larger window that the provider offers for the model.
    """

    name: str
    window: int
    input_limit: int | None = None
    output_limit: int | None = None
    encoding: str = "o200k_base"
    token_factor: float = 1.0
    input_price: float | None = None
    cached_price: float | None = None
    cache_write_price: float | None = None
    output_price: float | None = None
    dearer_above: int | None = None
    source: str = ""
    date: str = ""
    known: bool = True
    own: bool = False
    wider: int | None = None

    @property
    def free(self) -> bool:
        """Return whether calls cost nothing, as those of local models do."""
        return self.input_price == 0 and self.output_price == 0

    @property
    def assumed(self) -> bool:
        """Return whether nobody gives these limits for exactly this model."""
        return not self.known or self.source.startswith(ASSUMED)

    @property
    def limit(self) -> int:
        """Return the limit that utilization is relative to: the input limit, or the window without a separate one."""
        return self.input_limit or self.window

    def to_dict(self) -> dict[str, Any]:
        """Return all limits as JSON-ready data."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], overrides: Sequence[ModelLimits] = ()) -> ModelLimits:
        """Return a row of the user's own: the fields of `data`, and the others of the row that the model has already.

        Only `name` and one more field are required. For an unknown model with only an output limit, the window is four
        times that limit.

        Raises:
            InvalidSettings: a field is unknown, of a wrong type or out of range; one fault for each field.
        """
        return _own_row(data, overrides)


def find_model(
    name: str | None, overrides: Iterable[ModelLimits] = (), settings: Settings = FORESIGHT
) -> ModelLimits:
    """Return the limits of the model with this name: the user's row, else the table's, else the default row."""
    spelled = (name or "").strip()
    own = [(_key(row.name), row) for row in overrides]
    found = _best_match(own, _key(spelled)) if own else None
    return _adjusted(spelled, found) if found is not None else _find_in_table(spelled, settings.windows)


@lru_cache(maxsize=4_096)
def _find_in_table(spelled: str, windows: str) -> ModelLimits:
    """Return the table's row for a name, cached because each append asks for the rows of many sessions."""
    rows, default = _table(windows)
    key = _key(spelled)
    found = _best_match(rows, key, earlier=True) or _with_tokenizer(default, rows, key)
    return _adjusted(spelled, found)


def _with_tokenizer(default: ModelLimits, rows: Keyed, key: Key) -> ModelLimits:
    """Return the default row with the tokenizer of the maker's last version before this one, or else of the first.

    A maker keeps a tokenizer for many models: an unknown Claude is better counted as the nearest one than as a GPT.
    """
    if not key[0]:
        return default
    of_maker = [
        (tuple(map(int, numbers)), row)
        for (words, numbers), row in rows
        if words[0] == key[0][0] and numbers and all(map(_VERSION.fullmatch, numbers))
    ]
    if not of_maker:
        return default
    asked = tuple(int(one) for one in key[1] if _VERSION.fullmatch(one))
    before = [one for one in of_maker if one[0] <= asked or not asked]
    _, nearest = max(before, key=itemgetter(0)) if before else min(of_maker, key=itemgetter(0))
    return replace(default, encoding=nearest.encoding, token_factor=nearest.token_factor)


def _adjusted(spelled: str, found: ModelLimits) -> ModelLimits:
    """Return a model's row, with other limits or prices or the wide window where its name says so."""
    if found.known and not found.own:
        other_price, other_limits = _differs(spelled, found)
        hosted = _is_hosted(spelled, found)
        if other_limits or hosted or not _RESELLERS.isdisjoint(_hosts(spelled)):
            found = replace(found, source=f"{ASSUMED}: limits as {found.name}; {found.source}")
        if other_limits:
            found = _with_stated_window(spelled, found)
        if found.input_price is not None and (other_price or hosted):
            found = replace(_priced(found, None), source=f"{found.source}; prices unknown")
        elif _is_regional(spelled, found):
            found = _with_regional_prices(found)
    elif not found.known:
        found = _with_stated_window(spelled, found)
    if not found.own and costs_nothing(spelled):
        found = _priced(found, 0)
    if is_wide(spelled) and found.window < WIDE_WINDOW:
        found = replace(found, window=WIDE_WINDOW, input_limit=None)
    return found


def _priced(row: ModelLimits, price: float | None) -> ModelLimits:
    """Return a row with one price for everything: 0, or None for unknown."""
    return replace(row, dearer_above=None, **dict.fromkeys(_PRICES, price))


def _differs(spelled: str, found: ModelLimits) -> tuple[bool, bool]:
    """Return whether a name has other words or numbers than its row's, so that the price, or a limit, may differ."""
    (words, numbers), (row_words, row_numbers) = _key(spelled), _key(found.name)
    more = [word for word in words[len(row_words) :] if not _SAME_PRICE.fullmatch(word)]
    version = _DATES.sub("", " ".join(numbers[len(row_numbers) :])).strip()
    tuned = spelled.lower().rpartition("/")[2].startswith("ft:")
    other = tuned or bool(version) or numbers[: len(row_numbers)] != row_numbers
    return other or bool(more), other or not all(map(_SAME_LIMITS.fullmatch, more))


def _with_stated_window(spelled: str, found: ModelLimits) -> ModelLimits:
    """Return a row with the window that a name gives itself, if it is another: `phi-3-medium-128k-instruct`."""
    stated = [word for word in map(_STATED.fullmatch, _key(spelled)[0]) if word]
    window = 1_000 * int(stated[-1][1]) if stated else 0
    if not window or abs(found.window - window) <= ALIKE * window:
        return found
    output = found.output_limit if found.output_limit is not None and found.output_limit < window else None
    source = f"{ASSUMED}: the window that its name gives"
    return replace(found, window=window, input_limit=None, output_limit=output, source=source)


def _is_hosted(spelled: str, found: ModelLimits) -> bool:
    """Return whether a name says that another host than the maker runs an open model.

    Its prices and its window are then the host's.
    """
    makers = next((names for word, names in _MAKERS.items() if found.name.startswith(word)), None)
    hosts, model = _hosts(spelled), spelled.lower().rpartition("/")[2]
    elsewhere = _BEDROCK.match(model) is not None or not _HOSTS.isdisjoint(hosts)
    if found.input_price is None:  # there is no price for all hosts, and who packed the weights is not a host
        return elsewhere
    return makers is not None and (elsewhere or not makers.issuperset(hosts))


def _hosts(spelled: str) -> list[str]:
    """Return the names before the slashes of a name; Hugging Face adds its partner to its own."""
    hosts = spelled.lower().split("/")[:-1]
    return ["huggingface" if host.startswith("huggingface_") else host for host in hosts]


def _is_regional(spelled: str, found: ModelLimits) -> bool:
    """Return whether a name is that of a model in one region of Amazon Bedrock that costs less globally."""
    place = _BEDROCK.match(spelled.lower().rpartition("/")[2])
    if place is None or place["maker"] not in _REGIONAL_FROM or place["region"] == "global":
        return False
    version = tuple(map(int, _key(found.name)[1]))
    unnumbered = not version and place["maker"] == "anthropic"  # Claude Mythos is new, Nova Pro is old
    return unnumbered or version >= _REGIONAL_FROM[place["maker"]]


def _with_regional_prices(row: ModelLimits) -> ModelLimits:
    """Return a row with the prices of an endpoint of a region."""
    prices = {name: getattr(row, name) for name in _PRICES}
    more: dict[str, Any] = {
        n: None if p is None else round(p * _REGIONAL_TIMES, 6) for n, p in prices.items()
    }
    return replace(
        row, source=f"{row.source}; a region of Bedrock costs {_REGIONAL_TIMES} times as much", **more
    )


def name_at(provider: str, model: str) -> str:
    """Return a model's name, after its provider where that one gives the model a window or prices of its own."""
    theirs = provider.lower() in _HOSTS | _RESELLERS
    return f"{provider}/{model}" if theirs and model and not model.startswith(f"{provider}/") else model


def costs_nothing(name: str) -> bool:
    """Return whether a model's name says that it runs on the user's machine or is offered for free.

    Ollama writes the size after a colon (`llama3.1:8b`), and `cloud` after it for what runs on its servers; gateways
    mark free models (`:free`).
    """
    provider, _, model = name.lower().rpartition("/")
    tag = model.partition(":")[2]
    return not tag.endswith("cloud") and (
        provider.rpartition("/")[2] in LOCAL
        or tag == "free"
        or re.match(r"(\d+x)?\d+(\.\d+)?[bm]\b", tag) is not None
    )


def get_context_limit(
    model: str, overrides: Iterable[ModelLimits] = (), settings: Settings = FORESIGHT
) -> int:
    """Return the most tokens of input that a model takes, to which utilization is relative."""
    return find_model(model, overrides, settings).limit


def window_above(tokens: int, row: ModelLimits, window: int) -> int | None:
    """Return the next known window of the model above `window` that holds `tokens`; None if there is none."""
    own = sorted(w for w in (row.window, row.wider) if row.known and not row.own and w is not None)
    return next((w for w in own if w > window and w >= tokens), None)


def window_to_offer(tokens: int) -> int:
    """Return the smallest usual window that holds `tokens`, or `tokens` itself if none does."""
    return next((w for w in WINDOWS if w >= tokens), tokens)


def largest_call(row: ModelLimits) -> int:
    """Return the tokens that no call can exceed: the largest window of any model, or that of this row."""
    return max(WINDOWS[-1], row.window)


def is_wide(name: str | None) -> bool:
    """Return whether a model's name selects its window of a million tokens."""
    return WIDE_MARKER in (name or "").lower()


def without_marker(name: str) -> str:
    """Return a model's name in small letters, without the marker of its window of a million tokens."""
    return name.lower().replace(WIDE_MARKER, "")


def known_models() -> list[ModelLimits]:
    """Return the table's rows, in its order."""
    return [row for _, row in _table("current")[0]]


Key = tuple[tuple[str, ...], tuple[str, ...]]
Keyed = Sequence[tuple[Key, ModelLimits]]


def _best_match(rows: Keyed, key: Key, *, earlier: bool = False) -> ModelLimits | None:
    """Return the row whose words and version begin those of `key`, the longest; None if there is none.

    `earlier`: a row of an earlier version of the same generation is also found, the latest of them.
    """
    words, numbers = key
    best: ModelLimits | None = None
    rank = (0, 0, 0)
    for (row_words, row_numbers), row in rows:
        if row_words != words[: len(row_words)]:
            continue
        fits = row_numbers == numbers[: len(row_numbers)]
        before = None if fits or not earlier else _version_before((row_words, row_numbers), numbers)
        if fits or before is not None:
            found = (len(row_words) + len(row_numbers), len(row_words), 100 if before is None else before)
            if found > rank:
                best, rank = row, found
    return best


def _version_before(row: Key, numbers: Sequence[str]) -> int | None:
    """Return the last number of a row's version if it is an earlier one of the same generation; None otherwise."""
    words, version = row
    *generation, last = version or ("",)
    asked = numbers[len(generation)] if len(numbers) > len(generation) else ""
    same = list(numbers[: len(generation)]) == generation and (
        generation or re.search(r"\d", " ".join(words))
    )
    if not same or not _VERSION.fullmatch(last) or not _VERSION.fullmatch(asked):
        return None
    return int(last) if int(last) < int(asked) else None


@lru_cache(maxsize=4_096)
def _key(name: str) -> Key:
    """Return the words and the version numbers of a name in order, without provider, date and marker."""
    plain = without_marker(name).rsplit("/", 1)[-1].split("@")[0]
    plain = _without_maker(_SIZE.sub(r"\1\2", plain))
    plain = _JOINED.sub(r"\1-\2", ALIASES.get(plain, plain).replace("gpt-35-", "gpt-3.5-"))
    tokens = [t for t in re.split(r"[-_.:\s]+", plain) if t]
    begin = next((i for i, token in enumerate(tokens) if token in _first_words()), 0)
    tokens = [t for t in tokens[begin:] if not re.fullmatch(r"(?:19|20)\d{6}", t)]
    return tuple(t for t in tokens if not t.isdigit()), tuple(t for t in tokens if t.isdigit())


def _without_maker(name: str) -> str:
    """Return a name of Bedrock without region and maker, if the model's own name begins with a known word."""
    place = _BEDROCK.match(name)
    rest = name[place.end() :] if place else name
    return rest if _JOINED.sub(r"\1-\2", rest).split("-")[0] in _first_words() else name


@lru_cache(maxsize=1)
def _first_words() -> frozenset[str]:
    """Return the first words of the table's names; the words before one of them in a name are the provider's."""
    return frozenset(re.split(r"[-.]", row.name)[0] for row in (*ROWS, *BLUEPRINT_ROWS))


@lru_cache(maxsize=2)
def _table(windows: str) -> tuple[Keyed, ModelLimits]:
    rows, default = (BLUEPRINT_ROWS, BLUEPRINT_DEFAULT) if windows == "blueprint" else (ROWS, DEFAULT)
    return tuple((_key(row.name), _limits(row)) for row in rows), replace(_limits(default), known=False)


def _limits(row: Row) -> ModelLimits:
    values = row._asdict()
    return ModelLimits(token_factor=values.pop("factor"), **values)


_TOKENS = Limit(1_000, 100_000_000, 1_000, whole=True, optional=True)
_PRICE = Limit(0, 10_000, 0.01, optional=True)
_OWN_FIELDS: Mapping[str, Limit] = {
    "window": _TOKENS,
    "input_limit": _TOKENS,
    "output_limit": Limit(1, 100_000_000, 1_000, whole=True, optional=True),
    "token_factor": Limit(0.1, 10, 0.01, optional=True),
    **dict.fromkeys(_PRICES, _PRICE),
    "dearer_above": _TOKENS,
}
_OWN_TEXTS = ("encoding", "source", "date")


def _own_row(data: Mapping[str, Any], overrides: Sequence[ModelLimits]) -> ModelLimits:
    faults: list[Fault] = []
    name = data.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        faults.append(Fault("name", f"expected a model's name, got {shown(name)}"))
        raise InvalidSettings(faults)
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key in _OWN_FIELDS:
            values[key] = number(key, value, _OWN_FIELDS[key], faults)
        elif key in _OWN_TEXTS:
            if not isinstance(value, str) or len(value) > 500:
                faults.append(Fault(key, f"expected a short text, got {shown(value)}"))
            values[key] = value
        elif key not in ("name", "known", "own", "wider"):
            faults.append(
                Fault(str(key), f"unknown; expected one of {', '.join((*_OWN_FIELDS, *_OWN_TEXTS))}")
            )
    if faults:
        raise InvalidSettings(faults)
    base = find_model(name, overrides)
    values = {k: v for k, v in values.items() if v is not None or k not in ("window", "token_factor")}
    if not base.known and "window" not in values and values.get("output_limit"):
        values["window"] = WINDOW_FOR_OUTPUT * values["output_limit"]
    row = replace(base, **{"source": "own setting", "date": "", **values}, name=name, known=True, own=True)
    return _within_window(row, base, named="input_limit" in values)


def _within_window(row: ModelLimits, base: ModelLimits, named: bool) -> ModelLimits:
    """Return the row if its input limit fits its window; raise InvalidSettings otherwise.

    Unless `named`, the limit came with the window in `base`, and a row with another window has none.
    """
    if row.input_limit is None:
        return row
    if not named and (row.window > base.window or row.input_limit > row.window):
        return replace(row, input_limit=None)
    if row.input_limit <= row.window:
        return row
    wanted = f"expected at most the window of {row.window:,}, got {row.input_limit:,}"
    raise InvalidSettings([Fault("input_limit", wanted)])
