"""What scripts/record-frames is made of: a client, rows, a catalogue, expectations."""
