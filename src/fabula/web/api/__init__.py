"""Our own typed API, a module a resource, and STORIUM's (`storium.py`). Handlers are thin: verbs
of the studio do the work.

What a verb gives back is answered as it is: a frozen data-class of the studio is its own schema,
and the frozen OpenAPI document shows when one changes.
"""

from fabula.web.api import (
    account,
    campaigns,
    cards,
    drafts,
    exports,
    games,
    machines,
    people,
    rating,
    storium,
    suggestions,
)

ROUTERS = (
    account.router,
    people.router,
    games.router,
    cards.router,
    drafts.router,
    suggestions.router,
    machines.router,
    exports.router,
    campaigns.router,
    rating.router,
    storium.router,
)
