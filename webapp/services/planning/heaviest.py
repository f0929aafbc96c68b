"""The heaviest parts of a context: by file with its reads, by tool with its results, by role, repeated outputs (X19).

A read is superseded if a later read or write of the same file contains all of it; an output is a duplicate if the
same text comes again later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from scoring.history import READ, Features, History, Touch
from webapp.errors import NotFound
from webapp.services.planning.answers import GroupMember, GroupMembers, Heaviest, HeavyGroup, HeavyKind
from webapp.services.planning.planning import Planning
from webapp.services.session.environment import Environment
from webapp.services.session.histories import Histories
from webapp.services.session.session import Scale

SHOWN = 6
MEMBERS = 500


@dataclass(slots=True)
class Group:
    """Messages by position with their estimated tokens, the files they touch, and which are redundant."""

    tokens: dict[int, int] = field(default_factory=dict)
    touches: list[tuple[int, Touch]] = field(default_factory=list)
    redundant: set[int] = field(default_factory=set)

    @property
    def size(self) -> int:
        """Return the tokens of all messages."""
        return sum(self.tokens.values())

    def superseded(self) -> set[int]:
        """Return the positions of the reads that a later touch of the file covers."""
        return {
            position
            for n, (position, touch) in enumerate(self.touches)
            if touch.kind == READ and any(later.covers(touch) for _, later in self.touches[n + 1 :])
        }


Groups = dict[str, Group]


class Grouping:
    """The groups of a history by name. A role has its messages without calls and results."""

    def __init__(self, history: History) -> None:
        self.files: Groups = defaultdict(Group)
        self.tools: Groups = defaultdict(Group)
        self.roles: Groups = defaultdict(Group)
        self.repeated = Group()
        self.by_kind: dict[HeavyKind, Groups] = {
            "file": self.files,
            "tool": self.tools,
            "role": self.roles,
            "repeated": {"": self.repeated},
        }
        self._tokens = history.tokens
        self._called: dict[str, tuple[str, tuple[Touch, ...]]] = {}
        self._last_with: dict[str, int] = {}
        for position, features in enumerate(history.features):
            if features.calls:
                self._add_calls(position, features)
            elif features.results:
                self._add_results(position, features)
            else:
                self.roles[features.role].tokens[position] = self._tokens[position]
        for group in self.files.values():
            group.redundant = group.superseded()

    def _add_calls(self, position: int, features: Features) -> None:
        names = features.names[0]
        for call, name, touches in zip(features.calls, names, features.traced.touches, strict=False):
            self._called[call] = name, touches
            self._touch(position, [touch for touch in touches if touch.kind != READ])
        self.tools[names[0] or "calls"].tokens[position] = self._tokens[position]

    def _add_results(self, position: int, features: Features) -> None:
        for result, output in zip(features.results, features.traced.outputs, strict=False):
            touches = self._called.get(result, ("", ()))[1]
            self._touch(position, [touch for touch in touches if touch.kind == READ])
            if not output.digest:
                continue
            if (before := self._last_with.get(output.digest)) is not None:
                self.repeated.tokens[before] = self._tokens[before]
            self._last_with[output.digest] = position
        name = self._called.get(features.results[0], ("", ()))[0]
        self.tools[name or "tool results"].tokens[position] = self._tokens[position]

    def _touch(self, position: int, touches: Iterable[Touch]) -> None:
        for touch in touches:
            group = self.files[touch.path]
            group.touches.append((position, touch))
            group.tokens[position] = self._tokens[position]


class HeaviestGroups:
    """The heaviest groups of a session's pruned view."""

    def __init__(self, environment: Environment, histories: Histories, planning: Planning) -> None:
        self._store, self._histories, self._planning = environment.store, histories, planning

    def of(self, session_id: str) -> Heaviest:
        """Return the heaviest files, tools, roles and repeated outputs of the context that our operations leave.

        Raises:
            NotFound: there is no such session.
        """
        with self._planning.reading(session_id) as session:
            history = self._histories.of(session).history
        made = Grouping(history)
        found = [one for kind, groups in made.by_kind.items() for one in _largest(kind, groups)]
        scale = session.pruned.scale
        groups = [_answer(kind, name, group, history, scale) for kind, name, group in found]
        return Heaviest(tokens=scale.tokens, certainty=scale.certainty, groups=groups)

    def members(self, session_id: str, kind: HeavyKind, name: str) -> GroupMembers:
        """Return the messages of a group that a plan may take.

        Raises:
            NotFound: there is no such session or group.
        """
        with self._planning.reading(session_id) as session:
            view = self._histories.of(session)
            made = Grouping(view.history)
            groups = made.by_kind[kind]
            if name not in groups:
                raise NotFound(kind, name)
            chosen = _removable(view.history, groups[name])[:MEMBERS]
            rows = self._store.log.messages(session.key, sorted(view.nos[i] for i in chosen))
        return GroupMembers(members=[GroupMember(id=row.mid, number=no) for no, row in sorted(rows.items())])


def _largest(kind: HeavyKind, groups: Groups) -> list[tuple[HeavyKind, str, Group]]:
    ranked = sorted(groups.items(), key=lambda one: (-one[1].size, one[0]))
    return [(kind, name, group) for name, group in ranked[:SHOWN] if group.tokens]


def _removable(history: History, group: Group) -> list[int]:
    """Return the positions of a group that a plan may take, the heaviest first."""
    free = [i for i in group.tokens if i not in history.pinned and history.roles[i] != "system"]
    return sorted(free, key=lambda i: -group.tokens[i])


def _answer(kind: HeavyKind, name: str, group: Group, history: History, scale: Scale) -> HeavyGroup:
    return HeavyGroup(
        kind=kind,
        name=name,
        tokens=scale.part(group.size),
        messages=len(group.tokens),
        reads=sum(touch.kind == READ for _, touch in group.touches),
        writes=sum(touch.kind != READ for _, touch in group.touches),
        superseded=len(group.redundant),
        superseded_tokens=scale.part(sum(group.tokens[i] for i in group.redundant)),
        removable=len(_removable(history, group)),
    )
