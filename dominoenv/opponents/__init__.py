"""Who plays the other seats: pools, snapshots, self-play, trained policies and their files."""
