"""The collection that ships with rankscope, evaluated."""
