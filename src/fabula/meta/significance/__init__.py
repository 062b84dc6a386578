"""Whether one metric agrees better with people than another, beyond chance."""
