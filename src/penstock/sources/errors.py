"""What a provider raises while it reads; the sync decides by the type what happens next."""

from __future__ import annotations

from penstock.errors import PenstockError


class SourceError(PenstockError):
    """A read could not go on; `code` is stored with the sync and shown in the source's health."""

    code = "source_error"


class TokenRejected(SourceError):
    """The provider rejected the access token (401); the next run gets a new one."""

    code = "token_rejected"

    def __init__(self, provider: str) -> None:
        super().__init__(f"{provider} rejected the access token", "Penstock refreshes it automatically")
        self.provider = provider
        self.args = (provider,)


class AccessForbidden(SourceError):
    """The token is valid but may not read this (403); only a person can change that."""

    code = "access_forbidden"

    def __init__(self, provider: str, what: str, reason: str | None = None) -> None:
        because = "" if reason is None else f" ({reason})"
        super().__init__(
            f"{provider} does not allow reading {what}{because}",
            "Grant the missing permission at the provider, then connect the source again",
        )
        self.provider = provider
        self.what = what
        self.reason = reason
        self.args = (provider, what, reason)


class LoginRejected(SourceError):
    """The server rejects the user name or the password; only a person can change that."""

    code = "login_rejected"

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(
            f"{provider} rejects the login: {reason}", "Set the password again: penstock source set-password"
        )
        self.provider = provider
        self.reason = reason
        self.args = (provider, reason)


class Throttled(SourceError):
    """The provider asks to wait (429); this does not count as a failure."""

    code = "throttled"

    def __init__(self, provider: str, retry_after: float, reason: str | None = None) -> None:
        because = "" if reason is None else f" ({reason})"
        super().__init__(
            f"{provider} asked to wait {retry_after:.0f} s{because}", "Penstock continues automatically"
        )
        self.provider = provider
        self.retry_after = retry_after
        self.reason = reason
        self.args = (provider, retry_after, reason)


class ProviderUnavailable(SourceError):
    """A server error, a timeout or no connection; the queue tries again."""

    code = "provider_unavailable"

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"{provider} does not answer: {reason}", "Penstock retries automatically")
        self.provider = provider
        self.reason = reason
        self.args = (provider, reason)


class BindingMismatch(SourceError):
    """The provider's server no longer offers a tool or an argument that the sync needs."""

    code = "binding_mismatch"

    def __init__(self, provider: str, binding: str, problem: str) -> None:
        super().__init__(
            f"{provider} does not match the binding {binding}: {problem}",
            "Update Penstock, or choose another binding in the source's settings",
        )
        self.provider = provider
        self.binding = binding
        self.problem = problem
        self.args = (provider, binding, problem)


class CursorExpired(SourceError):
    """The provider no longer knows the cursor; the stream is read in full again."""

    code = "cursor_expired"

    def __init__(self, provider: str, stream: str) -> None:
        super().__init__(
            f"{provider} no longer knows where the last sync of {stream} ended",
            "Penstock reads it in full again",
        )
        self.provider = provider
        self.stream = stream
        self.args = (provider, stream)


class RefreshTokenInvalid(SourceError):
    """A source has to be connected again: its refresh token is no longer valid.

    `reason` is the provider's error code and nothing else.
    """

    code = "refresh_token_invalid"

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"{provider} rejected the refresh token: {reason}", "Connect the source again")
        self.provider = provider
        self.reason = reason
        self.args = (provider, reason)


class ClientMissing(SourceError):
    """This installation has no OAuth client at the provider; `variable` is the setting that is missing."""

    code = "client_missing"

    def __init__(self, provider: str, variable: str) -> None:
        super().__init__(
            f"{provider} cannot be connected: {variable} is not set",
            "Register an OAuth client there with the redirect URI PENSTOCK_PUBLIC_URL/oauth/callback"
            " and set its id and secret; see docs/operate/settings.md",
        )
        self.provider = provider
        self.variable = variable
        self.args = (provider, variable)


class ClientRejected(SourceError):
    """A provider rejected the OAuth client of this installation; `variables` are the settings to check."""

    code = "client_rejected"

    def __init__(self, provider: str, reason: str, variables: str) -> None:
        super().__init__(f"{provider} rejected Penstock's OAuth client: {reason}", f"Check {variables}")
        self.provider = provider
        self.reason = reason
        self.variables = variables
        self.args = (provider, reason, variables)


class GrantRejected(SourceError):
    """The provider rejected a code or a refresh token; `reason` is its error code and nothing else."""

    code = "grant_rejected"

    def __init__(self, provider: str, reason: str) -> None:
        super().__init__(f"{provider} rejected the grant: {reason}", "Connect the source again")
        self.provider = provider
        self.reason = reason
        self.args = (provider, reason)


class ConnectFailed(SourceError):
    """A source was not connected: access was denied, the link was used or expired, or the provider failed.

    `reason` is a code that may be shown to anybody.
    """

    code = "connect_failed"

    def __init__(self, message: str, reason: str, remedy: str = "Start again") -> None:
        super().__init__(message, remedy)
        self.reason = reason
        self.args = (message, reason, remedy)
