"""One shape language: what a typed class says about data, for every format that uwf reads."""
