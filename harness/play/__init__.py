"""Running a bot: feeding, listening, measuring, stopping."""
