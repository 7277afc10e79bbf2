"""The pages: each module reads the documents of commands for one page, or a few that are alike."""
