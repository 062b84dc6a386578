"""Our own typed API, a module a resource. Handlers are thin: verbs of the studio do the work.

What a verb gives back is answered as it is: a frozen data-class of the studio is its own schema,
and the frozen OpenAPI document shows when one changes.
"""

from fabula.web.api import account, cards, drafts, exports, games, machines, people, suggestions

ROUTERS = (
    account.router,
    people.router,
    games.router,
    cards.router,
    drafts.router,
    suggestions.router,
    machines.router,
    exports.router,
)
