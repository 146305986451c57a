from reviews.models.reviews import Review, ReviewBattle, ReviewItem, RunReader

__all__ = ["Review", "ReviewBattle", "ReviewItem", "RunReader"]
