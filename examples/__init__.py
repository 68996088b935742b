"""Programs that use rankscope as others would."""
