"""Co-authors over a wire: texts that come from servers, and a co-author offered to others."""
