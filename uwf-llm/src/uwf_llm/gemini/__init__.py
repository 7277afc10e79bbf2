"""generateContent of Google's Gemini: `gemini`."""
