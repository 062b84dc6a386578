"""A platform that was written for STORIUM's server, as a script."""

from __future__ import annotations

from fakes.storium_games import FLOOD, LADLE, entry

SECRET = "the platform's own secret"
DOOR = "/api/storium"
MOVE = entry(9, None, target_challenge_card=FLOOD, cards_played_on_challenge=[LADLE])
FEEDBACK = [
    {"type": "fluency", "response": "5"},
    {"type": "relevance", "response": 2},
    {"type": "likeability", "response": "4"},
    {"type": "comments", "response": "the kettle!"},
]


class Platform:
    """Sends every request with the secret in its query, and needs the status that it names."""

    def __init__(self, client, token=SECRET):
        self.client, self.token = client, token

    def send(self, method, path, *, status, **other):
        answer = self.client.request(
            method,
            path if path.startswith(DOOR) else DOOR + path,
            params={"token": self.token},
            **other,
        )
        assert answer.status_code == status, answer.text
        return answer

    def get(self, path, status=200):
        return self.send("GET", path, status=status)

    def post(self, path, body, status):
        return self.send("POST", path, status=status, json=body)
