# Used when no profile is named, and the base of the others: nothing but limits.
about   Any command, nothing of your settings
limit   memory=8G
