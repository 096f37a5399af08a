"""The paper's protocol, tables and figures reproduced, with verdicts; and beyond them."""
