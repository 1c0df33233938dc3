"""The strategy `champion`: propagation, belief propagation and conflict learning."""

from nonobot.bot.champion.strategy import ChampionStrategy

__all__ = ["ChampionStrategy"]
