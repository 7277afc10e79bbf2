"""Child programs: started, fed, heard, limited and ended, with their whole tree."""
