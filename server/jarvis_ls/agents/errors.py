"""What can go wrong with the tree of agents.

TreeError
├── NoSuchNode          no node of the tree has this id
├── ConstraintBroken    the tree may not be changed like this; nothing was
├── IllegalTransition   a node cannot go from its state to this one; it did not
└── BusError
    ├── Undeliverable   a message could not be delivered and is among the dead letters
    └── NoAnswer        a query was not answered in time
"""

from __future__ import annotations

from jarvis_ls.core.errors import JarvisError


class TreeError(JarvisError):
    """Something that cannot be done with the tree; the text is for users and models."""


class NoSuchNode(TreeError):
    """No node has this id."""

    def __init__(self, node: str) -> None:
        super().__init__("There is no agent {node} in this session.", node=repr(node))


class ConstraintBroken(TreeError):
    """A rule of the tree forbids the change."""


class IllegalTransition(TreeError):
    """A state cannot follow another."""


class BusError(TreeError):
    """Two agents could not talk."""


class Undeliverable(BusError):
    """Sender and receiver are no parent and child, or the receiver is gone."""


class NoAnswer(BusError):
    """The other agent did not answer."""
