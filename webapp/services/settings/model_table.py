"""The model table with the user's own rows, shared by all sessions."""

from __future__ import annotations

from scoring.errors import Fault, InvalidSettings
from scoring.models import ModelLimits, known_models
from webapp.bodies import ModelRow
from webapp.errors import NotFound
from webapp.events import ModelsChanged
from webapp.services.session.environment import Environment
from webapp.services.session.times import day
from webapp.services.settings.answers import Model, Models


class ModelTable:
    """The model table with the user's own rows on top."""

    def __init__(self, environment: Environment) -> None:
        self._environment, self._store = environment, environment.store

    def list(self) -> Models:
        """Return all rows, the user's own first, without those of the table that they replace."""
        own = self._environment.overrides()
        names = {row.name for row in own}
        others = [_model(row, overridden=False) for row in known_models() if row.name not in names]
        return Models(models=[*(_model(row, overridden=True) for row in own), *others])

    def put(self, name: str, limits: ModelRow) -> Model:
        """Override the limits of a model; a limit that was not sent keeps the value of the table.

        Raises:
            InvalidSettings: a number is out of range, or there is none; one error for each field.
        """
        given = limits.sent_fields()
        if not any(given.values()):
            raise InvalidSettings([Fault("window", "expected a number of tokens here or for output_limit")])
        others = [row for row in self._environment.overrides() if row.name != name]
        today = day(self._environment.clock())
        row = ModelLimits.from_dict({**given, "name": name, "date": today}, others)
        with self._store.write():
            self._store.small.put_model_override(name, {**given, "date": today})
        self._environment.forget()
        self._environment.bus.publish(ModelsChanged())
        return _model(row, overridden=True)

    def delete(self, name: str) -> None:
        """Remove an override.

        Raises:
            NotFound: the model has no override.
        """
        with self._store.write():
            if not self._store.small.put_model_override(name, None):
                raise NotFound("override of a model", name)
        self._environment.forget()
        self._environment.bus.publish(ModelsChanged())


def _model(row: ModelLimits, overridden: bool) -> Model:
    return Model(**row.to_dict(), overridden=overridden)
