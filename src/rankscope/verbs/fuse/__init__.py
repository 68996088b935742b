"""Fuse several runs into one."""
