"""Whether plugins and agents are ready: each is loaded, created and checked in a child process."""
