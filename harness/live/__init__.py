"""The live view of a tournament: the runs of a folder, read every second and sent to browsers."""
