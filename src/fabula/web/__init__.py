"""Floor 6: the studio over HTTP. A handler is fetch, authorise, act, answer; no SQL.

`app.py` puts the parts together: `security.py` stands in front of everything, `identity.py` says
who asks, `errors.py` what is answered when something is wrong; `api/` has a module a resource.
"""
