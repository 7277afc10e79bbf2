"""Random walks through random workflows: what the check accepts never fails. See README.md."""
