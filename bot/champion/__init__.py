"""The champion."""
