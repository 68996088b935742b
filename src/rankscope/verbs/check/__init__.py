"""Check data for problems that make numbers wrong."""
