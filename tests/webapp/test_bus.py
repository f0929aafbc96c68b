"""The bus: every subscriber gets each event, and one that fails stops no other."""

from __future__ import annotations

from webapp.bus import Bus
from webapp.events import Event, SessionCreated, SettingsChanged


class TestBus:
    """Publish and subscribe."""

    def test_gives_every_event_to_every_listener_in_order(self) -> None:
        """Events come as they were published."""
        bus, first, second = Bus(), list[Event](), list[Event]()
        bus.subscribe(first.append)
        bus.subscribe(second.append)
        bus.publish(SessionCreated("a"), SettingsChanged())
        assert first == second == [SessionCreated("a"), SettingsChanged()]

    def test_goes_on_when_a_listener_fails(self) -> None:
        """The others hear, the publisher does not notice."""
        bus, heard = Bus(), list[Event]()

        def fail(event: Event) -> None:
            raise RuntimeError(event)

        bus.subscribe(fail)
        bus.subscribe(heard.append)
        bus.publish(SettingsChanged())
        assert heard == [SettingsChanged()]

    def test_stops_telling_who_cancelled(self) -> None:
        """The function that `subscribe` returns removes the listener."""
        bus, heard = Bus(), list[Event]()
        cancel = bus.subscribe(heard.append)
        cancel()
        bus.publish(SettingsChanged())
        assert heard == []
