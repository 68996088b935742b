"""The launch ledger: offline and online differences of past launches in a database."""
