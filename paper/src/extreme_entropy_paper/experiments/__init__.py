"""The paper's tables as runnable claims: what it prints, what we measure, and a verdict on each."""
