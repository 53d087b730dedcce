"""The ports in memory, for tests of this program and of programs that embed it."""
