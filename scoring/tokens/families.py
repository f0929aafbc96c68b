"""The tokens that families of models count around the text: for messages, calls, images.

The text itself is counted by a tokenizer and a factor (`token_factor` in the table of models). Providers publish
overheads only for images; the others were measured on real transcripts, in tokens of o200k (the factor applies to them
too). `scoring.models.family_of` finds the family of a model by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, floor, sqrt

from scoring.tokens.reports import STEADY_SHARE

ImageRule = Callable[[int, int], int]  # width and height in pixels -> tokens
# A page of a PDF is sent as its text and a picture of it (platform.claude.com and developers.openai.com, PDF files).
# Measured in public (pdf-token-cost, October 2026): a page of text takes 2,100 on Claude 4.5, 2,340 on 5.5 and 560 on
# Gemini 3, for which ai.google.dev documents the same, and 258 for Gemini 2. For others a picture and 500 are assumed.
PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Family:
    """The overheads of a family of models, in tokens.

    `calls` is added for a message that calls tools, `message` for any other, `argument` for each argument of a call,
    `definition` for a tool that a result gives by name only. Encrypted reasoning has `sealed_chars` characters for
    each token, after the first `seal_chars`. `image` returns an image's tokens, `image_unknown` is the cost of an
    image of unknown size, `page` that of a page of a PDF; `details` has the rules for images sent with a wish for
    their detail ("low", "high", "original"), where the provider offers it. `least` is the smallest share of its count
    that a user's text can really take: it depends on whether the tokenizer is the model's own, measured, or another's.
    """

    name: str
    source: str
    image: ImageRule
    image_unknown: int
    page: int = PAGE
    calls: int = 4
    message: int = 4
    argument: int = 0
    definition: int = 200
    seal_chars: int = 1_040
    sealed_chars: float = 5.95
    ids: bool = True
    least: float = STEADY_SHARE
    details: Mapping[str, ImageRule] = field(default_factory=dict)

    def image_tokens(self, width: int, height: int, detail: str = "") -> int:
        """Return the tokens of an image of so many pixels, 0 for unknown, that was sent with a `detail`, "" for none.

        With low detail the size is known: the provider shrinks every image to it.
        """
        rule = self.details.get(detail, self.image)
        if width > 0 and height > 0:
            return rule(width, height)
        return rule(_LOW, _LOW) if detail == "low" and detail in self.details else self.image_unknown

    def sealed(self, chars: int) -> int:
        """Return the tokens of reasoning known only by an encrypted copy or a signature of `chars` characters."""
        return max(0, ceil((chars - self.seal_chars) / self.sealed_chars))


def _patches(width: int, height: int, side: int) -> int:
    return ceil(width / side) * ceil(height / side)


# The rules: the pixels of the image come last, what precedes them is bound by `partial`. No closures: rules are sent to
# other processes.


def _by_patches(side: int, edge: int, most: int, width: int, height: int) -> int:
    """Return one token for each patch of `side` pixels, after shrinking to `edge` and to `most` patches."""
    shrink = min(1.0, edge / max(width, height))
    return min(most, _patches(ceil(width * shrink), ceil(height * shrink), side))


def _by_budget(times: float, edge: int, most: int, width: int, height: int) -> int:
    """Return OpenAI's tokens: `times` the patches of 32 pixels, of an image that fits `edge` and `most` patches."""
    shrink = min(1.0, edge / max(width, height))
    if _patches(ceil(width * shrink), ceil(height * shrink), _PATCH) > most:
        fitting = sqrt(_PATCH * _PATCH * most / (width * height))
        across, down = width * fitting / _PATCH, height * fitting / _PATCH
        # As documented: then the side that loses most by it is shrunk to whole patches, and the other along with it.
        fitting *= min(max(1, floor(across)) / across, max(1, floor(down)) / down)
        shrink = min(shrink, fitting)
    # Pixels are whole; the product of a size and a quotient of it may lie just below the pixel it is meant to be.
    wide, high = (max(1, floor(side * shrink + 1e-6)) for side in (width, height))
    return ceil(round(times * min(most, _patches(wide, high, _PATCH)), 6))


def _by_tiles(base: int, tile: int, width: int, height: int) -> int:
    """Return OpenAI's older tokens: within 2048 x 2048, the shorter side to 768, then tiles of 512."""
    shrink = min(1.0, 2_048 / max(width, height))
    shrink *= min(1.0, 768 / (shrink * min(width, height)))
    return base + tile * _patches(ceil(width * shrink), ceil(height * shrink), 512)


def _by_crops(width: int, height: int) -> int:
    """Return tokens for Gemini 2, 258 a tile: a small image is one; others, shrunk to 3072, are cut into tiles."""
    if max(width, height) <= 384:
        return 258
    shrink = min(1.0, 3_072 / max(width, height))
    width, height = ceil(width * shrink), ceil(height * shrink)
    side = min(768, max(256, int(min(width, height) / 1.5)))
    return 258 * _patches(width, height, side)


def _flat(tokens: int, _width: int, _height: int) -> int:
    """Return the tokens that an image of any size takes."""
    return tokens


def _by_area(width: int, height: int) -> int:
    """Return tokens where no rule is published: one for 28 x 28 pixels, as in most open models, at most 1,600."""
    shrink = min(1.0, sqrt(1_600 * 28 * 28 / (width * height)))
    return min(1_600, _patches(ceil(width * shrink), ceil(height * shrink), 28))


# Of 193 stretches of 1,000 tokens and more on Claude, none grew by less than 0.86 of the count; of 18 on gpt-5.1, 0.94.
# Claude from 4.7 was measured on agents' traffic alone.
# Measured on 340 calls of Claude 4.5 to 4.7: a call takes 17-30 tokens beside its text, an argument 11-24. Ids take
# none: a call of 1 to 4 arguments is 51, 57, 70 and 92 tokens longer than its text on 4.6 (70 calls; with the id, 22
# tokens, it would be 70 to 112), a short result 10 to 18 (83 results). A tool that tool search loads takes 720-1,470
# on 4.7, most often 730. A signature has 300 characters, and 5.4 for each token of reasoning. Images:
# platform.claude.com on vision, checked by measurement (one token for each patch of 28 pixels; up to 1,568 pixels and
# some 1,600 tokens, 2,000 pixels from 4.7 on).
_ON_CLAUDE = "measured on Claude 4.5 to 4.7; images: platform.claude.com, vision"
CLAUDE = Family(
    "Claude up to 4.6", _ON_CLAUDE, partial(_by_patches, 28, 1_568, 1_600), 1_600,
    page=2_100, calls=24, argument=12, definition=500, seal_chars=300, sealed_chars=5.4,
    ids=False, least=0.8,
)  # fmt: skip
NEW_CLAUDE = replace(
    CLAUDE,
    name="Claude from 4.7",
    least=0.7,
    image=partial(_by_patches, 28, 2_000, 4_784),
    image_unknown=2_500,
    page=2_340,
)

# Measured on 38 calls of gpt-5.1-codex: 14 tokens for a call and 24-48 for a result (counted call ids make up for
# them); encrypted reasoning 1,040 characters and 5.95 for each token.
_ON_GPT = "measured on gpt-5.1-codex; images: developers.openai.com, images and vision"
_PATCH, _LOW = 32, 512
# (pixels of the longer side, patches): what an image is shrunk to.
_SMALL, _HIGH, _ORIGINAL, _WHOLE = (2_048, 1_536), (2_048, 2_500), (6_000, 10_000), (65_535, 30_000)
# No multiplier is published for 5.2 to 5.5 and the Codex models; that of 5.5 was measured.
_TIMES, _MINI, _NANO, _O4_MINI = 1.2, 1.62, 2.46, 1.72


def _with_tiles(name: str, base: int, tile: int) -> Family:
    """Return a family with tiles: four of them in an image of unknown size, none with low detail."""
    low = {"low": partial(_flat, base)}
    return Family(name, _ON_GPT, partial(_by_tiles, base, tile), base + 4 * tile, least=0.9, details=low)


def _with_patches(
    name: str, times: float, unknown: int, fits: tuple[int, int], **details: tuple[int, int]
) -> Family:
    """Return a family with patches: `fits` is what an image sent without a detail is shrunk to."""
    rules = {detail: partial(_by_budget, times, *to) for detail, to in details.items()}
    rules["low"] = partial(_by_budget, times, _LOW, _HIGH[1])
    return Family(name, _ON_GPT, partial(_by_budget, times, *fits), unknown, least=0.9, details=rules)


GPT_4 = _with_tiles("GPT-4", 85, 170)
# Its text is so cheap that an image, at the price of one on GPT-4o, is billed as many more tokens.
GPT_4O_MINI = _with_tiles("GPT-4o mini", 2_833, 5_667)
GPT_5 = _with_tiles("GPT-5 and 5.1", 70, 140)
O_SERIES = _with_tiles("o1, o3, o4", 75, 150)
COMPUTER_USE = _with_tiles("computer use", 65, 129)
GPT_SMALL = _with_patches("small GPT", _MINI, 1_600, _SMALL)
GPT_NANO = _with_patches("smallest GPT", _NANO, 2_400, _SMALL)
O4_MINI = _with_patches("o4-mini", _O4_MINI, 1_700, _SMALL)
GPT_5_2 = _with_patches("GPT-5.2 and 5.3, Codex", _TIMES, 1_200, _SMALL)
GPT_5_4 = _with_patches("GPT-5.4", _TIMES, 1_500, _HIGH, original=_ORIGINAL)
GPT_5_5 = _with_patches("GPT-5.5", _TIMES, 1_500, _ORIGINAL, high=_HIGH)
GPT = _with_patches("GPT from 5.6", _TIMES, 1_500, _WHOLE, high=(_WHOLE[0], _HIGH[1]))

_ON_GEMINI = "ai.google.dev, tokens and media resolution; around messages as for GPT, not measured"
GEMINI_2 = Family("Gemini 2", _ON_GEMINI, _by_crops, 1_032, page=258)
# Any image is scaled to at most 1,120 tokens; 1,065-1,101 were measured.
GEMINI = Family("Gemini 3", _ON_GEMINI, partial(_flat, 1_090), 1_090, page=560)

OTHER = Family("other", "assumed: as GPT", _by_area, 1_600)

# The beginning of a model's name -> its family; the longest beginning decides.
FAMILIES: Mapping[str, Family] = {
    "claude": NEW_CLAUDE,
    **dict.fromkeys(("claude-instant", "claude-2", "claude-3"), CLAUDE),
    **dict.fromkeys(("claude-opus-4", "claude-sonnet-4", "claude-haiku-4"), CLAUDE),
    **dict.fromkeys(
        ("claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-4-7", "claude-sonnet-4-8"), NEW_CLAUDE
    ),
    "gpt": GPT,
    **dict.fromkeys(("gpt-3", "gpt-4", "chatgpt"), GPT_4),
    "gpt-4o-mini": GPT_4O_MINI,
    **dict.fromkeys(("gpt-5", "codex"), GPT_5),
    **dict.fromkeys(("gpt-5-2", "gpt-5-3", "gpt-5-codex-mini", "gpt-5-1-codex-mini"), GPT_5_2),
    "gpt-5-4": GPT_5_4,
    "gpt-5-5": GPT_5_5,
    "gpt-5-6": GPT,
    **dict.fromkeys(("gpt-4-1-mini", "gpt-5-mini", "gpt-5-4-mini"), GPT_SMALL),
    **dict.fromkeys(("gpt-4-1-nano", "gpt-5-nano", "gpt-5-4-nano"), GPT_NANO),
    **dict.fromkeys(("o4-mini", "codex-mini"), O4_MINI),
    **dict.fromkeys(("o1", "o3", "o4"), O_SERIES),
    "computer-use-preview": COMPUTER_USE,
    "gemini": GEMINI,
    **dict.fromkeys(("gemini-1", "gemini-2"), GEMINI_2),
}
