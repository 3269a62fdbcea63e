"""The group of commands, which answers the name of a function, or of another package, with the command."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from calibstat.cli.terminal import one_line_errors


class Commands(TyperGroup):
    """Commands by their names, and by the names that Python and other packages have for what they do."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; raise for a name that means another one, and write that out."""
        with one_line_errors():
            from calibstat.data.names_elsewhere import command_meant

            if self.get_command(ctx, args[0]) is None and (meant := command_meant(args[0], self.commands)):
                raise ValueError(f"expected a command, found {args[0]!r}; write calibstat {meant}")
        return super().resolve_command(ctx, args)
