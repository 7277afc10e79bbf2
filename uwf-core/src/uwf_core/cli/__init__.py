"""The command `uwf`: parse, call one function, render. One module per noun."""
