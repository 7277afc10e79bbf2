"""Servers of the Model Context Protocol, whose tools the agent offers to its model.

The official package is the oracle of the tests. It is not used here: importing its client takes
over 100 times as long as starting Python, in each process of a step, and it starts servers by
asyncio, outside the reaper that ends whatever a step started.
"""
