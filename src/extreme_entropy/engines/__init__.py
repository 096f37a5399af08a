"""Where summaries are added up; never what they add up to."""
