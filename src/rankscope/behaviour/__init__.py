"""How users look at a list, and which lists a system shows: browsing models, logging policies, ways of mixing rankings."""
