"""The paper's protocol, tables and figures measured anew, with verdicts; and beyond them."""
