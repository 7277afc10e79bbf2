"""From a run and its trials to documents: text, Markdown, JUnit XML, one HTML page. All pure."""
