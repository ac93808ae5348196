"""Match records: their format, reading with a replay of every move, annotations, recording."""
