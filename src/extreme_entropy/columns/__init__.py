"""What a column holds, and how it becomes numbers."""
