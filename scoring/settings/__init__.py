"""Settings: every threshold and weight a person may change, their validation, presets and task types."""
