"""OpenAI's chat completions, which most services speak: `openai-chat`."""
