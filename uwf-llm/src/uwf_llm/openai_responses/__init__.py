"""OpenAI's Responses: `openai-responses`."""
