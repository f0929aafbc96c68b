"""Assembly: the exact list a model is sent, within its budget, and the emergency path when it cannot fit."""
