"""A gate's document as people and machines read it: terminal, Markdown, JUnit, a comment."""
