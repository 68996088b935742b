"""One page that tells it all: the verdict, what it rests on, and every query to look into."""
